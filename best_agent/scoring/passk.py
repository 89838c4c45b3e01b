"""Estimators of pass@k: the probability that at least one of k samples passes."""

import math


def unbiased(samples: int, passed: int, k: int) -> float:
    """pass@k = 1 - C(n-c, k) / C(n, k), without bias for k samples drawn from n (Chen et al., 2021).

    The quotient is a product of 1 - k/i, taken through logarithms, so large n neither overflows nor
    cancels, and a small probability keeps its digits.

    Args:
        samples: n, at least k.
        passed: c, how many of them passed.
        k: at least 1.

    Raises:
        ValueError: not 0 <= c <= n, or not 1 <= k <= n: fewer than k samples say nothing of k.
    """
    if not 0 <= passed <= samples:
        raise ValueError(f"{passed} of {samples} samples cannot have passed")
    if not 1 <= k <= samples:
        raise ValueError(f"pass@{k} needs at least {k} samples; there are {samples}")
    if samples - passed < k:
        return 1.0
    # C(n-c, k) / C(n, k) is symmetric in c and k; the shorter product is taken.
    few, many = sorted((passed, k))
    return -math.expm1(math.fsum(math.log1p(-many / i) for i in range(samples - few + 1, samples + 1)))


def plug_in(passed_share: float, k: int) -> float:
    """1 - (1-p)^k with the observed share p: low for k > 1 on average, kept for protocol best-2026."""
    # For p = 1 and p = 0 exactly as for others: no special cases, so that figures match to the last digit.
    return float(1 - (1 - passed_share) ** k)
