"""Readings of both sides, taken in turn, at one size."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from best_agent.measure import quantity, sequential
from best_agent.measure.intervals import MIN_PAIRS, log_ratio_interval
from best_agent.model.measurement import Compared
from best_agent.model.run import Meter
from best_agent.workload.figures import SizeComparison
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.subject import Reading, Subject

PLAN = sequential.Plan(min_effect=0.02)
SHORT_CALL_NS = 200_000_000
"""Calls below this are traced several times; longer ones once, as tracing makes them longer still."""
RETAINED_CALLS = 5
_JITTER = (1.07, 1.19)
SUSPICIOUS = 1.03
"""A ratio of peaks this far from 1 is looked at again at sizes a little larger: containers grow in steps."""
_OUTSIDE_SHARE = 0.8
_OUTSIDE_SLACK_NS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long the pairs of one size may take, beyond the smallest number of them."""

    seconds: float
    pairs: tuple[int, ...] = PLAN.looks

    def plan(self) -> sequential.Plan:
        """When to look, with the caps of this budget."""
        return sequential.Plan(min_effect=PLAN.min_effect, looks=self.pairs)


DEFAULT_BUDGET = Budget(seconds=20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What the pairs gave."""

    cpu: Compared
    wall: Compared
    cpu_shown: sequential.Outcome
    wall_shown: sequential.Outcome
    after_cpu: tuple[float, ...]
    outside_agrees: bool


def timed(before: Subject, after: Subject, size: int, seed: int, budget: Budget) -> Timed:
    """Time both in turn until a difference is shown, the cap is reached or the time is over.

    Raises:
        WorkerDiedError, WorkerTimeoutError, RequestRefusedError: one side fails.
    """
    loops = (before.calibrate(size, seed), after.calibrate(size, seed))
    sides = (before, after)
    readings: tuple[list[Reading], list[Reading]] = ([], [])
    plan = budget.plan()
    deadline = time.monotonic() + budget.seconds
    for pair in range(plan.cap):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            readings[which].append(sides[which].time(size, seed, loops[which]))
        if pair + 1 >= MIN_PAIRS and time.monotonic() > deadline:
            break
        if sequential.look(*_column(readings, _cpu), plan) in (
            sequential.Outcome.LESS,
            sequential.Outcome.MORE,
        ):
            break
    cpu, wall = _column(readings, _cpu), _column(readings, _wall)
    return Timed(
        cpu=quantity.compared(*cpu, meter=Meter.EXACT, exact=False),
        wall=quantity.compared(*wall, meter=Meter.EXACT, exact=False),
        cpu_shown=_final(*cpu, plan),
        wall_shown=_final(*wall, plan),
        after_cpu=tuple(cpu[1]),
        outside_agrees=_outside_agrees(readings[0], loops[0]) and _outside_agrees(readings[1], loops[1]),
    )


def _cpu(reading: Reading) -> float:
    return max(reading.cpu_ns, 1.0)


def _wall(reading: Reading) -> float:
    return max(reading.wall_ns, 1.0)


def _column(
    readings: tuple[list[Reading], list[Reading]], what: Callable[[Reading], float]
) -> tuple[list[float], list[float]]:
    return [what(reading) for reading in readings[0]], [what(reading) for reading in readings[1]]


def _final(before: list[float], after: list[float], plan: sequential.Plan) -> sequential.Outcome:
    """What all pairs together show; where the time was over between two looks, at a level of its own."""
    if len(before) in plan.looks:
        found = sequential.look(before, after, plan)
        return sequential.Outcome.NOT_SHOWN if found is sequential.Outcome.CONTINUE else found
    _, interval = log_ratio_interval(before, after, confidence=1 - plan.alpha)
    if interval.high < 1 - plan.min_effect:
        return sequential.Outcome.LESS
    return sequential.Outcome.MORE if interval.low > 1 + plan.min_effect else sequential.Outcome.NOT_SHOWN


def _outside_agrees(readings: list[Reading], loops: int) -> bool:
    """Whether the clock read from outside leaves no large part of the work unseen from inside."""
    excess = [
        (reading.outside_ns - reading.cpu_ns) * loops - (1 / _OUTSIDE_SHARE - 1) * reading.cpu_ns * loops
        for reading in readings
        if reading.outside_ns is not None
    ]
    return not excess or statistics.median(excess) < _OUTSIDE_SLACK_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Peaks and what stays behind; None with a reason."""

    peak: Compared | None
    retained: Compared | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def memory(
    before: Subject, after: Subject, size: int, seed: int, *, call_ns: float, meter: Meter, jitter: bool
) -> Memory:
    """Peaks of both sides, and bytes that stay behind per call, in passes of their own.

    A side that fails here worked without tracemalloc, so a failure is the meter's: it gives a reason and
    no figure.
    """
    passes = 3 if call_ns < SHORT_CALL_NS else 1
    try:
        peaks = [_peaks(side, size, seed, passes) for side in (before, after)]
        peak = quantity.compared(*peaks, meter=meter, exact=meter is Meter.EXACT)
        calls = RETAINED_CALLS if call_ns < SHORT_CALL_NS else 2
        kept = [[side.retained(size, seed, calls)] for side in (before, after)]
        retained = quantity.compared(*kept, meter=meter, exact=meter is Meter.EXACT)
        ratios = [peak.ratio] if peak.ratio is not None else []
        if jitter and peak.ratio is not None and not 1 / SUSPICIOUS < peak.ratio < SUSPICIOUS:
            ratios += _at_other_sizes(before, after, size, seed)
    except (WorkerDiedError, WorkerTimeoutError, RequestRefusedError) as error:
        for side in (before, after):
            side.revive()
        return Memory(peak=None, retained=None, reason=f"memory: {error}, under tracemalloc only")
    return Memory(peak=peak, retained=retained, low=min(ratios, default=None), high=max(ratios, default=None))


def _peaks(side: Subject, size: int, seed: int, passes: int) -> list[float]:
    return [float(side.peak(size, seed)) for _ in range(passes)]


def _at_other_sizes(before: Subject, after: Subject, size: int, seed: int) -> list[float]:
    ratios = []
    for factor in _JITTER:
        other = max(size + 1, round(size * factor))
        base = before.peak(other, seed)
        if base:
            ratios.append(after.peak(other, seed) / base)
    return ratios


def one_size(
    before: Subject, after: Subject, size: int, seed: int, *, budget: Budget, meter: Meter, jitter: bool
) -> tuple[SizeComparison, Timed | None]:
    """All quantities at one size."""
    try:
        found = timed(before, after, size, seed, budget)
    except (WorkerTimeoutError, WorkerDiedError, RequestRefusedError) as error:
        for side in (before, after):
            side.revive()
        return SizeComparison(n=size, reason=str(error)), None
    call_ns = max(found.cpu.before, found.cpu.after, found.wall.before, found.wall.after)
    held = memory(before, after, size, seed, call_ns=call_ns, meter=meter, jitter=jitter)
    comparison = SizeComparison(
        n=size,
        cpu=found.cpu,
        wall=found.wall,
        cpu_shown=found.cpu_shown.value,
        wall_shown=found.wall_shown.value,
        peak=held.peak,
        retained=held.retained,
        peak_ratio_low=held.low,
        peak_ratio_high=held.high,
        reason=held.reason,
    )
    return comparison, found


def a_core() -> int | None:
    """A core for both workers to take turns on, or None where the system has no such thing."""
    try:
        cores = sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None
    return cores[os.getpid() % len(cores)]
