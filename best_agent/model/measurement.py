"""Paired figures: what a candidate costs relative to a baseline measured in the same run."""

from dataclasses import dataclass

from best_agent.model.run import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95% interval."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an interval runs from low to high, not from {self.low} to {self.high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One quantity before and after; ratio = after / before, below 1 is better."""

    before: float
    after: float
    ratio: float | None
    """None where `before` is 0."""
    ratio_ci: Interval | None
    """None where the quantity is exact (n runs agreed) or could not be had."""
    meter: Meter
    n: int
    """Pairs of runs behind the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Exponent b of a power law cost = a * size^b fitted over the sizes, with its 95% interval."""

    exponent: float
    ci: Interval | None
    """None with fewer than three sizes."""
    sizes: int
