"""Compared quantities as JSON: a ratio stands there only with its 95% interval, or where it is exact."""

from typing import Any

from best_agent.model.measurement import Compared, Interval
from best_agent.model.run import Meter

NO_INTERVAL = "no interval: a reading is 0, or there are fewer than three pairs"
"""Why a ratio is not shown although both figures are there."""


def compared(quantity: Compared | None, *, timed: bool) -> dict[str, Any] | None:
    """A compared quantity by contract; `timed` says that it is a time, which never repeats exactly."""
    if quantity is None:
        return None
    return {
        "before": quantity.before,
        "after": quantity.after,
        "ratio": ratio(quantity, timed=timed),
        "ratio_ci": interval(quantity.ratio_ci),
        "meter": quantity.meter,
        "n": quantity.n,
    }


def ratio(quantity: Compared | None, *, timed: bool) -> float | None:
    """The ratio, or None where it is neither exact nor has an interval.

    That is so with fewer than three pairs, and where a reading is 0: how far such a ratio can be trusted
    is not known.
    """
    if quantity is None:
        return None
    exact = quantity.meter is Meter.EXACT and not timed
    return quantity.ratio if exact or quantity.ratio_ci is not None else None


def interval(found: Interval | None) -> list[float] | None:
    """[low, high] of a 95% interval."""
    return None if found is None else [found.low, found.high]
