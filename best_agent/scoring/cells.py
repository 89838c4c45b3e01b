"""From recorded cases to the cells that each sample passes: where the two protocols part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from best_agent.model.score import (
    Attempt,
    Column,
    Missing,
    Protocol,
    ScoredTask,
    TaskResults,
    cumulative,
    union,
)
from best_agent.model.verdict import Grid

REFERENCES = "std"
"""The name under which the references appear beside models."""
BEST_2026_SAMPLES = 10
"""The public harness reads samples 1 to 10 and divides by 10, whatever was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCells:
    """The grids of everybody on one task under one protocol."""

    task: ScoredTask
    attainable: Grid
    references: tuple[Grid, ...]
    models: Mapping[str, tuple[Grid, ...]]
    """Exactly n grids for each model that is scored on the task."""
    missing: tuple[Missing, ...]


def task_cells(
    results: TaskResults, *, protocol: Protocol, samples: Mapping[str, int], scored: Sequence[str]
) -> TaskCells:
    """The grids of all references and of all samples of a task.

    Args:
        results: what was recorded.
        protocol: decides what a gap counts as and over which cells the minimum runs.
        samples: n for each model, over the whole task set.
        scored: models to give grids to; one without any results here has n grids of missing cells.
    """
    task = results.task
    theirs = protocol is Protocol.BEST_2026
    missing = [gap for one in results.references for gap in _gaps(task, REFERENCES, one.id, one)]
    references = tuple(
        _their_reference(task, one.columns) if theirs else _our_reference(task, one.columns)
        for one in results.references
    )
    models: dict[str, tuple[Grid, ...]] = {}
    for model in scored:
        attempts = results.models.get(model, {})
        numbers = range(1, samples[model] + 1)
        missing += _missing(task, model, numbers, attempts)
        nothing = (None,) * task.space_levels
        columns = [attempts[number].columns if number in attempts else nothing for number in numbers]
        models[model] = tuple(
            _their_grid(task, one) if theirs else _our_grid(results, one) for one in columns
        )
    return TaskCells(
        task=task,
        attainable=union(references),
        references=references,
        models=models,
        missing=tuple(missing),
    )


def _our_reference(task: ScoredTask, columns: Sequence[Column | None]) -> Grid:
    """A reference is one program, so the minimum runs over both directions; what is missing failed."""
    return cumulative(_transposed([_complete(task, column) for column in columns]))


def _their_reference(task: ScoredTask, columns: Sequence[Column | None]) -> Grid:
    """No minimum. A missing level failed, but a missing case passed."""
    by_level = []
    for column in columns:
        passed = [column is not None] * task.scales
        for case in column or ():
            passed[(case.number - 1) // task.cases_per_scale] &= case.passed
        by_level.append(passed)
    return _transposed(by_level)


def _our_grid(results: TaskResults, columns: Sequence[Column | None]) -> Grid:
    """What is missing failed. The minimum never ties one program's cells to another program's."""
    by_level = [_complete(results.task, column) for column in columns]
    if not results.separate_programs:
        return cumulative(_transposed(by_level))
    own = [cumulative(tuple((cell,) for cell in column)) for column in by_level]
    return tuple(tuple(column[scale][0] for column in own) for scale in range(results.task.scales))


def _their_grid(task: ScoredTask, columns: Sequence[Column | None]) -> Grid:
    """What is missing passed, a case counts by its place, and the minimum runs over all columns."""
    by_level = []
    for column in columns:
        passed = [True] * task.scales
        for place, case in enumerate(column or ()):
            passed[place // task.cases_per_scale] &= case.passed
        by_level.append(passed)
    return cumulative(_transposed(by_level))


def _transposed(by_level: Sequence[Sequence[bool]]) -> Grid:
    return tuple(zip(*by_level, strict=True))


def _complete(task: ScoredTask, column: Column | None) -> tuple[bool, ...]:
    """For each scale whether all of its cases are there and passed."""
    passed = {case.number for case in column or () if case.passed}
    size = task.cases_per_scale
    return tuple(
        passed.issuperset(range(scale * size + 1, (scale + 1) * size + 1)) for scale in range(task.scales)
    )


def _missing(
    task: ScoredTask, model: str, numbers: Sequence[int], attempts: Mapping[int, Attempt]
) -> list[Missing]:
    absent = [number for number in numbers if number not in attempts]
    what = f"sample {_ranges(absent)}" if attempts else "no results at all"
    missing = [Missing(model=model, task=task.id, what=what)] if absent else []
    for number in numbers:
        if number in attempts:
            missing += _gaps(task, model, f"sample {number}", attempts[number])
    return missing


def _gaps(task: ScoredTask, model: str, who: str, attempt: Attempt) -> list[Missing]:
    gaps = []
    everything = set(range(1, task.scales * task.cases_per_scale + 1))
    for level, column in enumerate(attempt.columns):
        if column is None:
            gaps.append(f"{who}, level{level}")
            continue
        absent = sorted(everything - {case.number for case in column})
        if absent:
            gaps.append(f"{who}, level{level}, case {_ranges(absent)}")
    return [Missing(model=model, task=task.id, what=gap) for gap in gaps]


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as people write them: `3, 5-9`."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
