"""What judging a candidate on a task gives."""

from dataclasses import dataclass
from typing import Literal

from best_agent.model.measurement import Compared
from best_agent.model.run import Isolation, Meter, Status

Shown = Literal["less", "more", "none"]
"""What a paired measurement shows of a candidate relative to its baseline."""

Grid = tuple[tuple[bool, ...], ...]
"""[scale][space level], both from 0: which cells are passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """One case of one program: judged, and measured against one baseline where there is one."""

    case: str
    scale: int
    status: Status
    detail: str = ""
    answered: bool = False
    """The program came to its end by itself with a right answer, whatever it cost."""
    cpu_ns: int | None = None
    """Median over the runs of this case."""
    wall_ns: int | None = None
    peak_bytes: int | None = None
    memory_meter: Meter = Meter.UNAVAILABLE
    time_limit_ns: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramVerdict:
    """One program on all cases of a task."""

    id: str
    language: str
    status: Status
    """The first failure over the cases, or ok."""
    detail: str = ""
    cases: tuple[CaseVerdict, ...] = ()
    grid: Grid = ()
    isolation: Isolation = Isolation.NONE
    time_meter: Meter = Meter.UNAVAILABLE
    memory_meter: Meter = Meter.UNAVAILABLE

    @property
    def admissible(self) -> bool:
        """No wrong answer and no failure but for limits: slow or fat, but a solution."""
        return self.status in (Status.OK, Status.TIME_LIMIT, Status.MEMORY_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCase:
    """A case on which candidate and baseline ran in turn."""

    case: str
    scale: int
    time: Compared | None
    wall: Compared | None
    memory: Compared | None
    reason: str = ""
    """Why a quantity is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A candidate against one baseline over the cases of a task."""

    baseline: str
    cases: tuple[PairedCase, ...]
    scale: int | None
    """The scale that `time`, `wall` and `memory` speak of: the largest on which both finish."""
    time: Compared | None
    """Sum over the cases of that scale, one pair for each pass over them."""
    wall: Compared | None = None
    memory: Compared | None
    """Highest peak over the cases of that scale."""
    time_shown: Shown = "none"
    """What the sequential test shows at the error budget of the race; an interval alone shows nothing."""
    memory_shown: Shown = "none"
    """Beyond the resolution of the meter and 5%."""
    flags: tuple[str, ...] = ()
    """What a reader must know of the candidate: `work-outside-region`, `suspect`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerdict:
    """A candidate on a task, beside the task's references."""

    task: str
    title: str
    protocol: str
    sizes: tuple[int, ...]
    memory_limits: tuple[tuple[int, ...], ...]
    candidate: ProgramVerdict
    references: tuple[ProgramVerdict, ...]
    contests: tuple[Contest, ...]
    """The candidate against each reference, in order; empty where it is not admissible."""
    attainable: Grid
    """The cells that the union of the references passes."""
    dual: float | None
    """Weighted share of the attainable cells that the candidate passes; None where there are none."""
    time_share: float | None
    space_share: float | None
    beyond_references: float | None
    notes: tuple[str, ...] = ()
