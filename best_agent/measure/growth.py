"""How a cost grows with the size of the input."""

import math
from collections.abc import Sequence

from best_agent.measure.student import quantile
from best_agent.model.measurement import Growth, Interval


def fit(sizes: Sequence[int], costs: Sequence[float]) -> Growth | None:
    """The exponent b of cost = a * size^b by least squares on the logarithms, with its 95% interval.

    A size may come several times. None where there is nothing to fit: fewer than two different sizes,
    a size below 1, or a cost that is not above 0. The interval is None with fewer than three sizes.

    Raises:
        ValueError: there are not as many costs as sizes.
    """
    if len(sizes) != len(costs):
        raise ValueError(f"each size has a cost: {len(sizes)} sizes, {len(costs)} costs")
    different = len(set(sizes))
    if different < 2 or min(sizes) < 1 or not all(0 < cost < math.inf for cost in costs):
        return None
    x = [math.log(size) for size in sizes]
    y = [math.log(cost) for cost in costs]
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    spread = math.fsum((value - mean_x) ** 2 for value in x)
    slope = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    if different < 3:
        return Growth(exponent=slope, ci=None, sizes=different)
    residual = math.fsum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y, strict=True))
    df = len(x) - 2
    half = quantile(0.975, df) * math.sqrt(residual / df / spread)
    return Growth(exponent=slope, ci=Interval(low=slope - half, high=slope + half), sizes=different)
