"""dual@k, time@k and space@k of one task: the weighted share of a grid of any shape."""

import math
from collections.abc import Callable, Sequence

from best_agent.model.score import GridScore
from best_agent.model.verdict import Grid

Shares = Sequence[Sequence[float]]
"""[scale][space level]: with which probability a cell is passed."""


def weight(scale: int, level: int, *, tau: float, sigma: float) -> float:
    """w(t, l) = tau^(t-1) * sigma^(l-1); scale and level count from 0 here."""
    return float(tau**scale * sigma**level)


def score_shares(
    shares: Shares, attainable: Grid, *, tau: float, sigma: float, only_attainable: bool = True
) -> GridScore:
    """Scores of one task from the probability to pass each cell.

    Args:
        shares: probabilities, in the shape of `attainable`.
        attainable: the cells that the union of the references passes; they are the denominator.
        tau: weight of a scale relative to the one before it.
        sigma: weight of a space level relative to the one before it.
        only_attainable: count in the numerator only attainable cells, which keeps the score within
            [0, 1]; otherwise all cells count, and the score may exceed 1.

    A score is None where no reference passes any cell that it needs.

    Raises:
        ValueError: the two differ in shape.
    """
    if [len(row) for row in shares] != [len(row) for row in attainable]:
        raise ValueError("the shares and the attainable cells are grids of different shape")
    cells = [
        (scale, level, share, attainable[scale][level], weight(scale, level, tau=tau, sigma=sigma))
        for scale, row in enumerate(shares)
        for level, share in enumerate(row)
    ]

    def ratio(wanted: Callable[[int, int], bool]) -> float | None:
        chosen = [cell for cell in cells if wanted(cell[0], cell[1])]
        below = math.fsum(weighed for *_, reached, weighed in chosen if reached)
        above = math.fsum(
            share * weighed for _, _, share, reached, weighed in chosen if reached or not only_attainable
        )
        return above / below if below else None

    below = math.fsum(weighed for *_, reached, weighed in cells if reached)
    beyond = math.fsum(share * weighed for _, _, share, reached, weighed in cells if not reached)
    return GridScore(
        dual=ratio(lambda _scale, _level: True),
        time=ratio(lambda _scale, level: level == 0),
        space=ratio(lambda scale, _level: scale == 0),
        beyond_references=beyond / below if below else None,
    )


def score_grid(
    grid: Grid, attainable: Grid, *, tau: float, sigma: float, only_attainable: bool = True
) -> GridScore:
    """Scores of one program by its own grid; see `score_shares`."""
    shares = [[float(cell) for cell in row] for row in grid]
    return score_shares(shares, attainable, tau=tau, sigma=sigma, only_attainable=only_attainable)


def lacking(attainable: Grid) -> str | None:
    """Why a task cannot be scored, in words, or None where it can."""
    if not any(any(row) for row in attainable):
        return "no reference passes any cell"
    if not any(row[0] for row in attainable):
        return "no reference passes any scale at the loosest space level, which time@k needs"
    if not any(attainable[0]):
        return "no reference passes the smallest scale at any space level, which space@k needs"
    return None
