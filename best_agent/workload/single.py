"""One function alone at one size: absolute figures with the interval of each."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from best_agent.measure.intervals import MIN_PAIRS, trimmed_mean
from best_agent.measure.student import quantile
from best_agent.model.measurement import Interval
from best_agent.model.run import Meter
from best_agent.workload.figures import Figure, SizeMeasurement
from best_agent.workload.paired import SHORT_CALL_NS, retained_calls
from best_agent.workload.rounds import FAILURES, SizeReadings
from best_agent.workload.subject import Subject


def figure(readings: Sequence[float], meter: Meter) -> Figure:
    """The median of readings and its 95% interval, by a trimmed t on the logarithms.

    The interval is widened to hold the median. None where all readings agree (the figure is exact) or
    where there are too few or one is 0.
    """
    middle = statistics.median(readings)
    varied = len(set(readings)) > 1
    interval = None
    if varied and len(readings) >= MIN_PAIRS and min(readings) > 0:
        centre, error, df = trimmed_mean([math.log(reading) for reading in readings])
        half = quantile(0.975, df) * error
        low, high = math.exp(centre - half), math.exp(centre + half)
        interval = Interval(low=min(middle, low), high=max(middle, high))
    if varied and interval is None and meter is Meter.EXACT:
        meter = Meter.ESTIMATED
    return Figure(value=middle, ci=interval, meter=meter, n=len(readings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Memory of one function at one size; None with a reason."""

    peak: Figure | None = None
    retained: Figure | None = None
    reason: str = ""


def memory(side: Subject, size: int, seed: int, *, call_ns: float, meter: Meter) -> Held:
    """Peak of a call, and bytes that stay behind per call."""
    short = call_ns < SHORT_CALL_NS
    try:
        peaks = [float(side.peak(size, seed)) for _ in range(3 if short else 1)]
        kept = side.retained(size, seed, retained_calls(call_ns))
    except FAILURES as error:
        side.revive()
        return Held(reason=f"memory: {error}, under tracemalloc only")
    return Held(peak=figure(peaks, meter), retained=figure([kept], meter))


def row(readings: SizeReadings, held: Held) -> SizeMeasurement:
    """The figures at one size."""
    if readings.failure or not readings.rounds:
        return SizeMeasurement(n=readings.n, reason=readings.failure or "there was no time for it")
    return SizeMeasurement(
        n=readings.n,
        cpu=figure(readings.cpu[0], Meter.EXACT),
        wall=figure(readings.wall[0], Meter.EXACT),
        peak=held.peak,
        retained=held.retained,
        reason=held.reason,
    )
