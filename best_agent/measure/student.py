"""Student's t distribution from the regularised incomplete beta function, in double precision."""

import math
from functools import lru_cache

_TINY = 1e-300
_CONVERGED = 1e-16
_STEPS = 500


def cdf(t: float, df: float) -> float:
    """Probability that a t variable with `df` degrees of freedom is at most `t`.

    By P(|T| > t) = I_x(df/2, 1/2) with x = df / (df + t^2) (Abramowitz and Stegun, 26.7.1).

    Raises:
        ValueError: `df` is not above 0.
    """
    if not df > 0:
        raise ValueError(f"degrees of freedom are above 0, not {df}")
    if t * t < df:
        # Around the middle df / (df + t^2) rounds to 1; the complement keeps the digits of a small t.
        centre = 0.5 * incomplete_beta(0.5, df / 2, t * t / (df + t * t))
        return 0.5 + math.copysign(centre, t)
    tail = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t))
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=512)
def quantile(probability: float, df: float) -> float:
    """The t below which a variable with `df` degrees of freedom stays with this probability.

    Raises:
        ValueError: the probability is not inside (0, 1), or `df` is not above 0.
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability lies inside (0, 1), not at {probability}")
    if not df > 0:
        raise ValueError(f"degrees of freedom are above 0, not {df}")
    if probability == 0.5:
        return 0.0
    # The tail is inverted on its own: 1 - 1e-9 has lost digits that 1e-9 still carries.
    tail = min(probability, 1 - probability)
    low, high = 0.0, 1.0
    while cdf(-high, df) > tail:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if cdf(-middle, df) > tail:
            low = middle
        else:
            high = middle
    return high if probability > 0.5 else -high


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]."""
    if not 0 <= x <= 1:
        raise ValueError(f"x lies in [0, 1], not at {x}")
    if x in (0.0, 1.0):
        return x
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # The continued fraction converges fast on this side of the mean; on the other, use the symmetry.
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of I_x(a, b) (DLMF 8.17.22), by Lentz's method."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        value *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        value *= c * d
        if abs(c * d - 1) < _CONVERGED:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
