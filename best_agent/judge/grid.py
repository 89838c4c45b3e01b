"""Which cells of a task's grid a program passes."""

from collections.abc import Sequence
from typing import NamedTuple

from best_agent.model.score import cumulative, union
from best_agent.model.verdict import Grid

__all__ = ["ProgramCase", "build", "of_program", "union"]


class ProgramCase(NamedTuple):
    """One judged and measured case of a program."""

    scale: int
    """From 1."""
    ok: bool
    """The answer is right and the program ended well."""
    peak_bytes: int | None
    """None where memory could not be read; no space level can be claimed then."""
    cpu_ns: int | None
    time_limit_ns: int | None
    """None: the case has no time limit."""


def build(passed: Sequence[Sequence[bool]]) -> Grid:
    """The grid of what one program passed, [scale][space level], with the cumulative rule.

    A cell counts only if every easier cell does, so passing a hard cell by luck earns nothing.

    Raises:
        ValueError: the rows differ in length, or there are none.
    """
    if not passed or not passed[0] or len({len(row) for row in passed}) != 1:
        raise ValueError("a grid has rows of one length, at least one of each")
    return cumulative(tuple(tuple(bool(cell) for cell in row) for row in passed))


def of_program(
    cases: Sequence[ProgramCase], memory_limits: Sequence[Sequence[int]], *, keep_minimum: bool = True
) -> Grid:
    """The grid of one program from its cases: its measured peak decides all space levels at once.

    A cell (scale, space level) is passed if the scale has cases and each of them is right, within its
    time limit and within the cell's memory limit; a bound itself is still within. What was not measured
    is not passed.

    Args:
        cases: all cases of the program, each once.
        memory_limits: bytes, [scale][space level], tighter to the right.
        keep_minimum: apply the cumulative rule. Protocol best-2026 leaves it out for references.

    Raises:
        ValueError: a case's scale has no limits, or the limits are not a grid.
    """
    scales = range(1, len(memory_limits) + 1)
    for case in cases:
        if case.scale not in scales:
            raise ValueError(f"a case of scale {case.scale} in a grid of {len(memory_limits)} scales")
    raw = [
        [_cell([case for case in cases if case.scale == scale], limit) for limit in memory_limits[scale - 1]]
        for scale in scales
    ]
    grid = build(raw)
    return grid if keep_minimum else tuple(tuple(row) for row in raw)


def _cell(cases: Sequence[ProgramCase], limit: int) -> bool:
    return bool(cases) and all(_in_time(case) and _in_space(case, limit) for case in cases)


def _in_time(case: ProgramCase) -> bool:
    if not case.ok:
        return False
    if case.time_limit_ns is None:
        return True
    return case.cpu_ns is not None and case.cpu_ns <= case.time_limit_ns


def _in_space(case: ProgramCase, limit: int) -> bool:
    return case.peak_bytes is not None and case.peak_bytes <= limit
