"""When to stop taking pairs: looks at fixed counts, with a bound on false claims over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from best_agent.measure.intervals import MIN_PAIRS, log_ratio_interval

_LATE = 2
"""Exponent of the spending function: most of alpha is kept for the late looks, which have the power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """At which counts of pairs to look, and what may be claimed there."""

    looks: tuple[int, ...] = (5, 8, 12, 16, 20)
    """Growing counts of pairs; the last is the cap."""
    alpha: float = 0.01
    """Bound for the probability to claim a difference, over all looks, where there is none."""
    min_effect: float = 0.01
    """A difference is claimed only if the interval lies beyond 1 -+ this."""
    share: float = 1.0
    """Share of alpha that this comparison may spend: 1/m where m candidates are compared."""

    def __post_init__(self) -> None:
        if not self.looks or self.looks[0] < MIN_PAIRS:
            raise ValueError(f"the first look needs at least {MIN_PAIRS} pairs, not {self.looks[:1]}")
        if any(late <= early for early, late in zip(self.looks, self.looks[1:], strict=False)):
            raise ValueError(f"looks grow, {self.looks} do not")
        if not (0 < self.alpha < 1 and 0 < self.share <= 1 and 0 <= self.min_effect < 1):
            raise ValueError("alpha lies in (0, 1), share in (0, 1], min_effect in [0, 1)")

    @property
    def cap(self) -> int:
        """Pairs after which the comparison ends, decided or not."""
        return self.looks[-1]

    def level(self, pairs: int) -> float:
        """The part of alpha spent at the look after so many pairs.

        The spending function is alpha * (pairs / cap)^2 and each look is tested at its own increment;
        by the union bound the total stays within alpha however the looks hang together.

        Raises:
            ValueError: there is no look at this count.
        """
        place = self.looks.index(pairs)
        earlier = self.looks[place - 1] if place else 0
        return self.alpha * self.share * ((pairs / self.cap) ** _LATE - (earlier / self.cap) ** _LATE)


class Outcome(StrEnum):
    """What the pairs so far say of after / before."""

    LESS = "less"
    MORE = "more"
    CONTINUE = "continue"
    """Take another pair."""
    NOT_SHOWN = "not-shown"
    """The cap is reached and no difference was shown; that is not a proof that there is none."""


DEFAULT_PLAN = Plan()


def look(before: Sequence[float], after: Sequence[float], plan: Plan = DEFAULT_PLAN) -> Outcome:
    """What to do after the pairs so far; to be called after each pair.

    Raises:
        MeasureError: a reading is not above 0 (at a look).
        ValueError: the two differ in length, or there are more pairs than the plan's cap.
    """
    pairs = _pairs(before, after, plan)
    if pairs not in plan.looks:
        return Outcome.CONTINUE
    outcome = _claim(before, after, level=plan.level(pairs), min_effect=plan.min_effect)
    if outcome is Outcome.NOT_SHOWN and pairs < plan.cap:
        return Outcome.CONTINUE
    return outcome


def closing_look(before: Sequence[float], after: Sequence[float], plan: Plan = DEFAULT_PLAN) -> Outcome:
    """The outcome of a comparison that has to end now, before its cap: never `CONTINUE`.

    The looks that are given up leave their part of alpha to this one, so that the total is the same. When
    to end must not depend on what the ratios show: a budget of time is fine, a wish is not.

    Raises:
        MeasureError: fewer than three pairs, or a reading that is not above 0.
        ValueError: the two differ in length, or there are more pairs than the plan's cap.
    """
    pairs = _pairs(before, after, plan)
    taken = max((count for count in plan.looks if count < pairs), default=0)
    level = plan.alpha * plan.share * (1 - (taken / plan.cap) ** _LATE)
    return _claim(before, after, level=level, min_effect=plan.min_effect)


def _pairs(before: Sequence[float], after: Sequence[float], plan: Plan) -> int:
    if len(after) != len(before):
        raise ValueError(f"pairs need as many readings after as before, not {len(after)} and {len(before)}")
    if len(before) > plan.cap:
        raise ValueError(f"the plan ends at {plan.cap} pairs; there are {len(before)}")
    return len(before)


def _claim(before: Sequence[float], after: Sequence[float], *, level: float, min_effect: float) -> Outcome:
    _, interval = log_ratio_interval(before, after, confidence=1 - level)
    if interval.high < 1 - min_effect:
        return Outcome.LESS
    return Outcome.MORE if interval.low > 1 + min_effect else Outcome.NOT_SHOWN


def not_worse(
    before: Sequence[float], after: Sequence[float], *, margin: float = 0.05, confidence: float = 0.95
) -> bool:
    """Whether the pairs show that after is at most `margin` (a share) above before.

    True only if the upper end of the two-sided interval lies below 1 + margin: too few or too noisy
    pairs are never a pass.

    Raises:
        MeasureError: fewer than three pairs, or a reading that is not above 0.
        ValueError: the two differ in length.
    """
    _, interval = log_ratio_interval(before, after, confidence=confidence)
    return interval.high < 1 + margin
