"""What comparing or measuring a user's function gives: values, ready to be judged and shown."""

from dataclasses import dataclass
from enum import StrEnum

from best_agent.model.measurement import Compared, Growth, Interval
from best_agent.model.run import Meter

QUANTITIES = ("cpu", "wall", "peak", "retained")


class State(StrEnum):
    """What became of the comparison."""

    OK = "ok"
    REGRESSION = "regression"
    IMPROVED = "improved"
    NEW = "new"
    PARTIAL = "partial"
    NOT_MEASURED = "not-measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One quantity of one side: cpu_ns, wall_ns, bytes."""

    value: float
    """Median of the readings."""
    ci: Interval | None
    """95% interval of the median; None where the readings all agree or there are too few."""
    meter: Meter
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeComparison:
    """Both sides on inputs of one size."""

    n: int
    cpu: Compared | None = None
    wall: Compared | None = None
    peak: Compared | None = None
    retained: Compared | None = None
    reason: str = ""
    """Why something is None."""
    cpu_shown: str = "not-shown"
    """What the pairs show after correction for repeated looks: `less`, `more` or `not-shown`."""
    wall_shown: str = "not-shown"
    waits: bool = False
    """The function mostly waits, on both sides: wall time is what counts."""
    peak_ratio_low: float | None = None
    """Smallest and largest ratio of the peaks at n and at sizes a little above it: growth steps of
    containers move single sizes."""
    peak_ratio_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeMeasurement:
    """One side on inputs of one size."""

    n: int
    cpu: Figure | None = None
    wall: Figure | None = None
    peak: Figure | None = None
    retained: Figure | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideGrowth:
    """How time and memory of one side grow with n."""

    cpu: Growth | None = None
    peak: Growth | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SameResults:
    """Whether both sides do the same, on how many inputs."""

    equal: int
    of: int
    within_tolerance: int = 0
    """Among the equal: those whose floats differ in the last digits."""
    differences: tuple[str, ...] = ()
    """One line for each kind of difference, the first input that shows it named."""
    uncertain: tuple[str, ...] = ()
    """What could not be compared, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReport:
    """Where one side's code came from."""

    label: str
    target: str
    file: str
    modules: int
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """How it was measured."""

    inputs: str
    """In words: `workload benchmarks/bench_text.py::dedupe_input`, `--call ...`."""
    python: str
    interpreter: str
    found_by: str
    notes: tuple[str, ...] = ()
    memory_meter: Meter = Meter.EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What `compare` gives."""

    before: SideReport | None
    after: SideReport | None
    conditions: Conditions
    status: State
    verdict: str
    """One line for people."""
    sizes: tuple[SizeComparison, ...] = ()
    growth_before: SideGrowth = SideGrowth()
    growth_after: SideGrowth = SideGrowth()
    same_results: SameResults | None = None
    absolute: tuple[SizeMeasurement, ...] = ()
    """Of the side after, where the function is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absolute:
    """What `measure` gives."""

    side: SideReport | None
    conditions: Conditions
    status: State
    verdict: str
    sizes: tuple[SizeMeasurement, ...] = ()
    growth: SideGrowth = SideGrowth()
