"""The figures of a model or of the references on each task, under one protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from best_agent.model.score import GridScore, Protocol
from best_agent.model.verdict import Grid
from best_agent.scoring.cells import TaskCells
from best_agent.scoring.dual import score_shares
from best_agent.scoring.passk import plug_in, unbiased

BEYOND = "beyond_references"
"""At the smallest k that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Figures by task."""

    by_task: Mapping[str, Mapping[str, tuple[float, ...]]]
    """{task: {figure: values}}; only references under best-2026 bring several values a task."""
    not_scored: Mapping[str, str]
    """Figures that cannot be had, with the reason."""


def model_values(
    model: str, samples: int, cells: Sequence[TaskCells], protocol: Protocol, ks: Sequence[int]
) -> Values:
    """The figures of a model on every task on which it is scored."""
    usable = [k for k in ks if k <= samples or protocol is Protocol.BEST_2026]
    reason = f"the model has {samples} {'sample' if samples == 1 else 'samples'} a task"
    return Values(
        by_task={
            one.task.id: {
                figure: (value,)
                for figure, value in _figures(one.models[model], one, protocol, usable).items()
            }
            for one in cells
            if model in one.models
        },
        not_scored={
            f"{name}@{k}": reason for k in ks if k not in usable for name in ("dual", "time", "space", "pass")
        },
    )


def reference_values(cells: Sequence[TaskCells], protocol: Protocol, ks: Sequence[int]) -> Values:
    """The figures of the references: each is one program, so that every k beyond 1 would be the same.

    Under `default` a task counts once, with the mean over its references; under best-2026 each
    reference counts, and every k is given.
    """
    theirs = protocol is Protocol.BEST_2026
    by_task: dict[str, dict[str, tuple[float, ...]]] = {}
    for one in cells:
        several = [_figures((grid,), one, protocol, ks if theirs else (1,)) for grid in one.references]
        if not several:
            continue
        by_task[one.task.id] = {}
        for figure in several[0]:
            values = tuple(figures[figure] for figures in several)
            by_task[one.task.id][figure] = values if theirs else (sum(values) / len(values),)
    return Values(by_task=by_task, not_scored={})


def _figures(
    grids: Sequence[Grid], one: TaskCells, protocol: Protocol, ks: Sequence[int]
) -> dict[str, float]:
    passed = [
        [sum(grid[scale][level] for grid in grids) for level in range(one.task.space_levels)]
        for scale in range(one.task.scales)
    ]
    figures: dict[str, float] = {}
    for k in ks:
        theirs = protocol is Protocol.BEST_2026
        shares = [[_share(len(grids), count, k, theirs=theirs) for count in row] for row in passed]
        score = score_shares(
            shares,
            one.attainable,
            tau=one.task.tau,
            sigma=one.task.sigma,
            only_attainable=protocol is Protocol.DEFAULT,
        )
        figures |= {f"{name}@{k}": value for name, value in _named(score).items()}
        figures[f"pass@{k}"] = shares[0][0]
        if k == ks[0]:
            figures[BEYOND] = _had(score.beyond_references)
    return figures


def _share(samples: int, passed: int, k: int, *, theirs: bool) -> float:
    return plug_in(passed / samples, k) if theirs else unbiased(samples, passed, k)


def _named(score: GridScore) -> dict[str, float]:
    return {"dual": _had(score.dual), "time": _had(score.time), "space": _had(score.space)}


def _had(value: float | None) -> float:
    """A figure of a task that was found to be scorable."""
    assert value is not None, "tasks without attainable cells in a needed row or column are left out before"
    return value
