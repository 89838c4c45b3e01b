"""Results of models over a task set, as they are scored, and the scores themselves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from best_agent.model.measurement import Interval
from best_agent.model.verdict import Grid


class Protocol(StrEnum):
    """Which rules turn results into scores; docs/scoring.md sets the two side by side."""

    DEFAULT = "default"
    BEST_2026 = "best-2026"
    """The public harness of the BEST benchmark as it is, number for number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTask:
    """What scoring needs to know of a task; every figure is data of the task set."""

    id: str
    scales: int
    """Time levels."""
    space_levels: int
    cases_per_scale: int
    """Case i, from 1, belongs to scale ceil(i / cases_per_scale)."""
    tau: float = 1.2
    """Weight of a scale relative to the one before it."""
    sigma: float = 1.2
    """Weight of a space level relative to the one before it."""
    difficulty: str = "unrated"
    """As the task set writes it."""
    categories: tuple[str, ...] = ()


class CaseResult(NamedTuple):
    """One judged case of one program under the limits of one space level."""

    number: int
    """From 1."""
    passed: bool


Column = tuple[CaseResult, ...]
"""The cases of a program under one space level, in the order in which they were judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What is known of one reference or one sample: a column for each space level."""

    id: str
    columns: tuple[Column | None, ...]
    """None where nothing was recorded for the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResults:
    """All results on one task."""

    task: ScoredTask
    references: tuple[Attempt, ...]
    models: Mapping[str, Mapping[int, Attempt]]
    """By model, then by number of the sample from 1."""
    separate_programs: bool = True
    """Whether the columns of a sample come from different programs, written for one level each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over tasks."""

    value: float
    ci: Interval | None
    """Bootstrap over tasks; None with fewer than two tasks."""
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GridScore:
    """Weighted share of the grid that is passed; `None` where no reference passes a needed cell."""

    dual: float | None
    time: float | None
    """The loosest space level alone."""
    space: float | None
    """The smallest scale alone."""
    beyond_references: float | None
    """Weight of what is passed although no reference passes it, over the weight of the attainable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Results that should be there and are not."""

    model: str
    task: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A task that takes no part in any score."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """One model over the task set."""

    model: str
    samples: int
    """Samples a task, n of the estimator."""
    tasks: int
    scores: Mapping[str, Estimate]
    """`dual@1`, `time@10`, `pass@1`, ... and `beyond_references`."""
    not_scored: Mapping[str, str] = field(default_factory=dict)
    """Figures that were asked for and cannot be had, with the reason."""
    by_difficulty: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    by_category: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    per_task: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By task, then by figure; for references the mean over a task's references."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far a model is behind the leading one, paired over the tasks that both have."""

    leader: str
    model: str
    figure: str
    difference: Estimate
    """Leader minus model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Everything that `report` shows."""

    protocol: Protocol
    ks: tuple[int, ...]
    models: tuple[ModelScore, ...]
    """Best first."""
    references: ModelScore
    """The references themselves, as if they were a model of one sample."""
    tasks: int
    """Tasks that were scored."""
    excluded: tuple[Excluded, ...]
    missing: tuple[Missing, ...]
    differences: tuple[Difference, ...]


def cumulative(grid: Grid) -> Grid:
    """The grid in which a cell is passed only if all easier cells are: min(itself, t-1, l-1)."""
    rows: list[tuple[bool, ...]] = []
    for row in grid:
        easier = rows[-1] if rows else (True,) * len(row)
        kept: list[bool] = []
        for cell, above in zip(row, easier, strict=True):
            kept.append(cell and above and (kept[-1] if kept else True))
        rows.append(tuple(kept))
    return tuple(rows)


def union(grids: Iterable[Grid]) -> Grid:
    """The cells that at least one of the grids passes; `()` of no grids.

    Raises:
        ValueError: the grids differ in shape.
    """
    merged: Grid = ()
    for grid in grids:
        if not merged:
            merged = grid
            continue
        merged = tuple(
            tuple(one or other for one, other in zip(first, second, strict=True))
            for first, second in zip(merged, grid, strict=True)
        )
    return merged
