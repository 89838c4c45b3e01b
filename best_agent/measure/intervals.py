"""The interval of a ratio after / before, from pairs of readings taken in turn."""

import math
import statistics
from collections.abc import Sequence

from best_agent.errors import MeasureError
from best_agent.measure.student import quantile
from best_agent.model.measurement import Interval

MIN_PAIRS = 3
TRIM = 0.2


def log_ratio_interval(
    before: Sequence[float], after: Sequence[float], *, confidence: float = 0.95, trim: float = TRIM
) -> tuple[float, Interval]:
    """The ratio after / before of paired readings, and its two-sided interval.

    Yuen's trimmed t on the logarithms of the ratios of pairs: the mean of what is left when the share
    `trim` is cut off at each end, its error from the winsorised variance, t with (kept - 1) degrees of
    freedom (Yuen 1974; Wilcox, Introduction to Robust Estimation, 5.9). One pair that a burst of the
    machine spoiled does not move it.

    Args:
        before: readings of the baseline, all above 0, in the order in which they were taken.
        after: readings of the candidate, each taken next to the one of `before` at the same place.
        confidence: coverage of the interval, inside (0, 1).
        trim: share cut off at each end, in [0, 0.5).

    Raises:
        MeasureError: fewer than three pairs, or a reading that is not above 0.
        ValueError: the two differ in length, or `confidence` or `trim` is out of its range.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies inside (0, 1), not at {confidence}")
    centre, error, df = trimmed_mean(log_ratios(before, after), trim=trim)
    half = quantile(0.5 + confidence / 2, df) * error
    return math.exp(centre), Interval(low=_exp(centre - half), high=_exp(centre + half))


def log_ratios(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Logarithm of after / before for each pair.

    Raises:
        MeasureError: fewer than three pairs, or a reading that is not above 0.
        ValueError: the two differ in length.
    """
    if len(before) != len(after):
        raise ValueError(f"pairs need as many readings after as before, not {len(after)} and {len(before)}")
    if len(before) < MIN_PAIRS:
        raise MeasureError(f"an interval needs at least {MIN_PAIRS} pairs of readings, not {len(before)}")
    for name, readings in (("before", before), ("after", after)):
        for place, reading in enumerate(readings, 1):
            if not 0 < reading < math.inf:
                raise MeasureError(
                    f"reading {place} {name} is {reading}: a ratio needs readings above 0; "
                    "the call may be too small for the meter"
                )
    return [math.log(b) - math.log(a) for a, b in zip(before, after, strict=True)]


def trimmed_mean(values: Sequence[float], *, trim: float = TRIM) -> tuple[float, float, int]:
    """Trimmed mean, its standard error and the degrees of freedom of that error.

    Where the winsorised values all agree although the values do not (a coarse clock gives ties), the
    error of the plain mean stands in, so that ties never claim certainty.

    Raises:
        ValueError: fewer than two values would be left, or `trim` is not in [0, 0.5).
    """
    if not 0 <= trim < 0.5:
        raise ValueError(f"trim lies in [0, 0.5), not at {trim}")
    ordered = sorted(values)
    n = len(ordered)
    cut = int(trim * n)
    kept = ordered[cut : n - cut]
    if len(kept) < 2:
        raise ValueError(f"{n} values trimmed by {trim} leave fewer than two")
    centre = math.fsum(kept) / len(kept)
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    variance = statistics.variance(winsorised)
    if variance == 0 and ordered[0] != ordered[-1]:
        return centre, math.sqrt(statistics.variance(ordered) / n), len(kept) - 1
    error = math.sqrt((n - 1) * variance / (len(kept) * (len(kept) - 1)))
    return centre, error, len(kept) - 1


def degrees_of_freedom(pairs: int, *, trim: float = TRIM) -> int:
    """Degrees of freedom of the interval that `log_ratio_interval` gives for so many pairs."""
    return pairs - 2 * int(trim * pairs) - 1


def _exp(value: float) -> float:
    """The exponential, capped at the largest float: a bound may be beyond all reason, never infinite."""
    return math.exp(min(value, 709.0))
