"""Readings of one function alone: absolute figures with the interval of each."""

import math
import statistics
import time
from collections.abc import Sequence

from best_agent.measure.intervals import MIN_PAIRS, trimmed_mean
from best_agent.measure.student import quantile
from best_agent.model.measurement import Interval
from best_agent.model.run import Meter
from best_agent.workload.figures import Figure, SizeMeasurement
from best_agent.workload.paired import RETAINED_CALLS, SHORT_CALL_NS, Budget
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.subject import Reading, Subject


def figure(readings: Sequence[float], meter: Meter) -> Figure:
    """The median of readings and its 95% interval, by a trimmed t on the logarithms.

    The interval is widened to hold the median. None where all readings agree (the figure is exact) or
    where there are too few or one is 0.
    """
    middle = statistics.median(readings)
    interval = None
    if len(set(readings)) > 1 and len(readings) >= MIN_PAIRS and min(readings) > 0:
        centre, error, df = trimmed_mean([math.log(reading) for reading in readings])
        half = quantile(0.975, df) * error
        interval = Interval(
            low=min(middle, math.exp(centre - half)), high=max(middle, math.exp(centre + half))
        )
    if len(set(readings)) > 1 and interval is None and meter is Meter.EXACT:
        meter = Meter.ESTIMATED
    return Figure(value=middle, ci=interval, meter=meter, n=len(readings))


def one_size(side: Subject, size: int, seed: int, *, budget: Budget, meter: Meter) -> SizeMeasurement:
    """All quantities of one function at one size."""
    try:
        loops = side.calibrate(size, seed)
        readings: list[Reading] = []
        deadline = time.monotonic() + budget.seconds / 2
        while len(readings) < budget.pairs[-1] and (len(readings) < MIN_PAIRS or time.monotonic() < deadline):
            readings.append(side.time(size, seed, loops))
    except (WorkerTimeoutError, WorkerDiedError, RequestRefusedError) as error:
        side.revive()
        return SizeMeasurement(n=size, reason=str(error))
    cpu = figure([max(reading.cpu_ns, 1.0) for reading in readings], Meter.EXACT)
    wall = figure([max(reading.wall_ns, 1.0) for reading in readings], Meter.EXACT)
    peak, retained, reason = _memory(side, size, seed, max(cpu.value, wall.value), meter)
    return SizeMeasurement(n=size, cpu=cpu, wall=wall, peak=peak, retained=retained, reason=reason)


def _memory(
    side: Subject, size: int, seed: int, call_ns: float, meter: Meter
) -> tuple[Figure | None, Figure | None, str]:
    short = call_ns < SHORT_CALL_NS
    try:
        peaks = [float(side.peak(size, seed)) for _ in range(3 if short else 1)]
        kept = side.retained(size, seed, RETAINED_CALLS if short else 2)
    except (WorkerTimeoutError, WorkerDiedError, RequestRefusedError) as error:
        side.revive()
        return None, None, f"memory: {error}, under tracemalloc only"
    return figure(peaks, meter), figure([kept], meter), ""
