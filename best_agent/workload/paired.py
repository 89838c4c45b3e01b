"""Both sides at one size: timing from the rounds, memory in passes of its own."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from best_agent.measure import quantity
from best_agent.measure.intervals import MIN_PAIRS, log_ratio_interval
from best_agent.measure.sequential import Outcome, Plan, look
from best_agent.model.measurement import Compared
from best_agent.model.run import Meter
from best_agent.workload.figures import SizeComparison
from best_agent.workload.rounds import FAILURES, SizeReadings
from best_agent.workload.subject import Subject

SHORT_CALL_NS = 200_000_000
"""Calls below this are traced several times; longer ones once, as tracing makes them longer still."""
_JITTER = (1.07, 1.19)
_SUSPICIOUS = 1.03
"""A ratio of peaks this far from 1 is looked at again at sizes a little larger: containers grow in steps."""


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
    no figure. With `jitter` a difference is looked at again at sizes a little larger.
    """
    short = call_ns < SHORT_CALL_NS
    exact = meter is Meter.EXACT
    sides = (before, after)
    try:
        peaks = [[float(side.peak(size, seed)) for _ in range(3 if short else 1)] for side in sides]
        peak = quantity.compared(*peaks, meter=meter, exact=exact)
        kept = [[side.retained(size, seed, retained_calls(call_ns))] for side in sides]
        retained = quantity.compared(*kept, meter=meter, exact=exact)
        ratios = [peak.ratio] if peak.ratio is not None else []
        if jitter and peak.ratio is not None and not 1 / _SUSPICIOUS < peak.ratio < _SUSPICIOUS:
            ratios += _at_other_sizes(before, after, size, seed)
    except FAILURES as error:
        for side in sides:
            side.revive()
        return Memory(peak=None, retained=None, reason=f"memory: {error}, under tracemalloc only")
    return Memory(peak=peak, retained=retained, low=min(ratios, default=None), high=max(ratios, default=None))


def retained_calls(call_ns: float) -> int:
    """Calls in a series whose leavings are weighed: fewer of long ones, which are ten times longer there."""
    return 5 if call_ns < SHORT_CALL_NS / 40 else 2 if call_ns < SHORT_CALL_NS else 1


def _at_other_sizes(before: Subject, after: Subject, size: int, seed: int) -> list[float]:
    ratios = []
    for factor in _JITTER:
        other = max(size + 1, round(size * factor))
        base = before.peak(other, seed)
        if base:
            ratios.append(after.peak(other, seed) / base)
    return ratios


def row(readings: SizeReadings, held: Memory, plan: Plan) -> SizeComparison:
    """The comparison at one size."""
    if readings.failure or not readings.rounds:
        return SizeComparison(n=readings.n, reason=readings.failure or "there was no time for it")
    return SizeComparison(
        n=readings.n,
        cpu=quantity.compared(*readings.cpu, meter=Meter.EXACT, exact=False),
        wall=quantity.compared(*readings.wall, meter=Meter.EXACT, exact=False),
        cpu_shown=shown(*readings.cpu, plan=plan).value,
        wall_shown=shown(*readings.wall, plan=plan).value,
        waits=readings.waits,
        peak=held.peak,
        retained=held.retained,
        peak_ratio_low=held.low,
        peak_ratio_high=held.high,
        reason=held.reason,
    )


def unusable(size: int, reason: str) -> SizeComparison:
    """A size at which nothing could be timed."""
    return SizeComparison(n=size, reason=reason or "not tried")


def shown(before: Sequence[float], after: Sequence[float], *, plan: Plan) -> Outcome:
    """What all pairs together show, never `continue`: there will be no more of them.

    Where the time was over before the plan was, the last look may spend what is left of alpha.
    """
    if len(before) < MIN_PAIRS:
        return Outcome.NOT_SHOWN
    found = look(before, after, plan)
    if found is not Outcome.CONTINUE:
        return found
    spent = sum(plan.level(pairs) for pairs in plan.looks if pairs <= len(before))
    _, interval = log_ratio_interval(before, after, confidence=1 - (plan.alpha * plan.share - spent))
    if interval.high < 1 - plan.min_effect:
        return Outcome.LESS
    return Outcome.MORE if interval.low > 1 + plan.min_effect else Outcome.NOT_SHOWN


def a_core() -> int | None:
    """A core for both workers to take turns on, or None where the system has no such thing."""
    try:
        cores = sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None
    return cores[os.getpid() % len(cores)]
