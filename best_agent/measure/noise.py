"""The A/A floor: what two measurements of the same code differ by on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from best_agent.measure.intervals import log_ratio_interval
from best_agent.model.measurement import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """What pairs of readings of identical code gave; the truth is a ratio of 1."""

    ratio: float
    ratio_ci: Interval
    """95% interval of the ratio."""
    pairs: int

    @property
    def floor(self) -> float:
        """Relative difference, as a share, below which as many pairs say nothing on this machine."""
        return max(abs(self.ratio_ci.low - 1), abs(self.ratio_ci.high - 1))

    def biased(self, tolerance: float = 0.01) -> bool:
        """Whether one side of a pair is favoured: the interval lies beyond 1 -+ tolerance."""
        return self.ratio_ci.low > 1 + tolerance or self.ratio_ci.high < 1 - tolerance


def aa_floor(first: Sequence[float], second: Sequence[float]) -> NoiseFloor:
    """The floor from pairs of readings of the same code, taken as a comparison would take them.

    Raises:
        MeasureError: fewer than three pairs, or a reading that is not above 0.
        ValueError: the two differ in length.
    """
    ratio, interval = log_ratio_interval(first, second)
    return NoiseFloor(ratio=ratio, ratio_ci=interval, pairs=len(first))
