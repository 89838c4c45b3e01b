"""From lists of readings to one compared quantity, and from several quantities to one."""

import math
import statistics
from collections.abc import Sequence

from best_agent.measure.intervals import MIN_PAIRS, degrees_of_freedom, log_ratio_interval
from best_agent.measure.student import quantile
from best_agent.model.measurement import Compared, Interval
from best_agent.model.run import Meter

_CONFIDENCE = 0.95


def compared(before: Sequence[float], after: Sequence[float], *, meter: Meter, exact: bool) -> Compared:
    """One quantity from paired readings: medians, their ratio and its 95% interval.

    Args:
        before: readings of the baseline, at least one, none negative.
        after: readings of the candidate, paired with `before` by place.
        meter: how far the readings can be trusted.
        exact: the quantity repeats exactly. Where all readings of each side do agree, the ratio is of
            these values and has no interval; where they do not, the claim is dropped and the meter
            is `estimated`.

    With fewer than three pairs, or a reading of 0, there is no interval and the ratio is that of the
    medians (None where the median before is 0).

    Raises:
        ValueError: no readings, unequal lengths, or a negative reading.
    """
    if len(before) != len(after) or not before:
        raise ValueError(f"need as many readings after as before, at least one: {len(after)}, {len(before)}")
    if not all(0 <= reading < math.inf for reading in (*before, *after)):
        raise ValueError("a reading is never negative and never infinite")
    middle_before, middle_after = statistics.median(before), statistics.median(after)
    ratio = middle_after / middle_before if middle_before else None
    agreed = exact and len(set(before)) == len(set(after)) == 1
    interval = None
    if not agreed:
        if exact and meter is Meter.EXACT:
            meter = Meter.ESTIMATED
        if len(before) >= MIN_PAIRS and min(*before, *after) > 0:
            ratio, interval = log_ratio_interval(before, after, confidence=_CONFIDENCE)
    return Compared(
        before=middle_before,
        after=middle_after,
        ratio=ratio,
        ratio_ci=interval,
        meter=meter,
        n=len(before),
    )


def combine(parts: Sequence[Compared]) -> Compared | None:
    """Several sizes or cases as one figure: geometric means, with a 95% interval on the logarithms.

    The standard error of each part is taken back from its interval, the errors of independent parts
    add in squares, and the degrees of freedom are Welch and Satterthwaite's. A part that was exact adds
    no error. Parts in which both sides are 0 say nothing and are left out.

    None where a mean cannot be had: nothing is left, or a part has only one side at 0. The interval is
    None where all parts were exact, or where one that is not exact has none. The meter is the worst of
    the parts', and n is the sum of their pairs.
    """
    used = [part for part in parts if part.before or part.after]
    if not used or any(part.before <= 0 or part.after <= 0 for part in used):
        return None
    ratios = [math.log(part.ratio or part.after / part.before) for part in used]
    centre = math.fsum(ratios) / len(ratios)
    before = math.exp(math.fsum(math.log(part.before) for part in used) / len(used))
    return Compared(
        before=before,
        after=before * math.exp(centre),
        ratio=math.exp(centre),
        ratio_ci=_combined_interval(centre, used),
        meter=Meter.worst(part.meter for part in used),
        n=sum(part.n for part in used),
    )


def _combined_interval(centre: float, parts: Sequence[Compared]) -> Interval | None:
    if any(part.ratio_ci is None and part.meter is not Meter.EXACT for part in parts):
        return None
    measured = [(part.ratio_ci, degrees_of_freedom(part.n)) for part in parts if part.ratio_ci is not None]
    if not measured:
        return None
    variances = [(_standard_error(interval, df) ** 2, df) for interval, df in measured]
    total = math.fsum(variance for variance, _ in variances)
    half = 0.0
    if total > 0:
        df = total**2 / math.fsum(variance**2 / df for variance, df in variances)
        half = quantile(0.5 + _CONFIDENCE / 2, df) * math.sqrt(total) / len(parts)
    return Interval(low=math.exp(centre - half), high=math.exp(centre + half))


def _standard_error(interval: Interval, df: int) -> float:
    width = math.log(interval.high) - math.log(interval.low)
    return width / 2 / quantile(0.5 + _CONFIDENCE / 2, df)
