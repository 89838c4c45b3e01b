import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import MeasureError
from best_agent.measure.sequential import Outcome, Plan, closing_look, look, not_worse

PLAN = Plan()


class Machine:
    """Log-normal noise of 5% and bursts: about one pair in eight is off by more than a tenth."""

    def __init__(self, seed: int, noise: float = 0.05) -> None:
        self._rng = random.Random(seed)
        self._noise = noise

    def reading(self, truth: float) -> float:
        burst = 1 + self._rng.expovariate(4) if self._rng.random() < 0.06 else 1
        return truth * self._rng.lognormvariate(0, self._noise) * burst

    def decide(self, ratio: float, plan: Plan = PLAN) -> tuple[Outcome, int]:
        before: list[float] = []
        after: list[float] = []
        while True:
            before.append(self.reading(1e7))
            after.append(self.reading(1e7 * ratio))
            outcome = look(before, after, plan)
            if outcome is not Outcome.CONTINUE:
                return outcome, len(before)


def test_the_same_code_is_hardly_ever_called_different() -> None:
    claims = [Machine(seed).decide(1.0)[0] for seed in range(400)]
    assert sum(claim is not Outcome.NOT_SHOWN for claim in claims) <= 6


def test_a_quarter_more_or_less_is_found() -> None:
    less = [Machine(seed).decide(0.75) for seed in range(100)]
    more = [Machine(seed).decide(1.25) for seed in range(100)]
    assert sum(outcome is Outcome.LESS for outcome, _ in less) >= 97
    assert sum(outcome is Outcome.MORE for outcome, _ in more) >= 97
    assert sum(pairs for _, pairs in less) / 100 < PLAN.cap


def test_twenty_candidates_share_one_alpha_and_a_quarter_is_still_found() -> None:
    plan = Plan(share=1 / 20)
    assert sum(Machine(seed).decide(0.75, plan)[0] is Outcome.LESS for seed in range(60)) >= 54


def test_a_clear_difference_ends_at_the_first_look() -> None:
    before = [100.0, 101, 99, 100, 100.5]
    assert look(before, [value / 50 for value in before]) is Outcome.LESS
    assert look(before, [value * 50 for value in before]) is Outcome.MORE


@pytest.mark.parametrize("pairs", [0, 1, 4, 6, 7, 9, 19])
def test_between_looks_it_only_goes_on(pairs: int) -> None:
    assert look([1.0] * pairs, [0.001] * pairs) is Outcome.CONTINUE


def test_a_difference_within_the_least_effect_is_not_claimed_however_certain() -> None:
    assert look([1.0] * 20, [0.995] * 20) is Outcome.NOT_SHOWN
    assert look([1.0] * 20, [1.005] * 20) is Outcome.NOT_SHOWN
    assert look([1.0] * 20, [0.985] * 20) is Outcome.LESS


def test_alpha_over_all_looks_is_what_was_promised_and_most_is_kept_for_the_last() -> None:
    levels = [PLAN.level(pairs) for pairs in PLAN.looks]
    assert sum(levels) == pytest.approx(PLAN.alpha)
    assert levels == sorted(levels)
    assert sum(Plan(share=0.25).level(pairs) for pairs in PLAN.looks) == pytest.approx(PLAN.alpha / 4)


@given(st.lists(st.integers(3, 200), min_size=1, max_size=8, unique=True).map(sorted), st.floats(0.001, 0.5))
def test_the_levels_of_any_plan_add_up_to_alpha(looks: list[int], alpha: float) -> None:
    plan = Plan(looks=tuple(looks), alpha=alpha)
    assert sum(map(plan.level, looks)) == pytest.approx(alpha)
    assert all(plan.level(pairs) > 0 for pairs in looks)


@pytest.mark.parametrize(
    "wrong",
    [
        {"looks": ()},
        {"looks": (2, 5)},
        {"looks": (5, 5)},
        {"looks": (8, 5)},
        {"alpha": 0},
        {"alpha": 1},
        {"share": 0},
        {"share": 1.5},
        {"min_effect": -0.1},
        {"min_effect": 1},
    ],
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"look|alpha"):
        Plan(**wrong)  # type: ignore[arg-type]  # the wrong values are the point


def test_more_pairs_than_the_plan_has_are_refused() -> None:
    with pytest.raises(ValueError, match="ends at 20 pairs; there are 21"):
        look([1.0] * 21, [1.0] * 21)


def test_unequal_lengths_are_refused_between_looks_too() -> None:
    with pytest.raises(ValueError, match="as many"):
        look([1.0] * 3, [1.0] * 4)


def test_a_zero_reading_is_an_error_and_never_a_difference() -> None:
    with pytest.raises(MeasureError, match="is 0"):
        look([1.0] * 5, [0.0] * 5)


def test_an_equal_candidate_is_not_worse() -> None:
    passed = 0
    for seed in range(100):
        machine = Machine(seed, noise=0.03)
        passed += not_worse([machine.reading(1) for _ in range(20)], [machine.reading(1) for _ in range(20)])
    assert passed >= 90


def test_a_tenth_more_is_never_passed_as_not_worse() -> None:
    passed = 0
    for seed in range(200):
        machine = Machine(seed)
        passed += not_worse(
            [machine.reading(1) for _ in range(20)], [machine.reading(1.1) for _ in range(20)]
        )
    assert passed <= 2


def test_noise_is_never_a_pass() -> None:
    assert not not_worse([1.0, 5.0, 0.2], [1.0, 0.2, 5.0])


def test_less_is_not_worse_and_the_margin_is_open() -> None:
    assert not_worse([2.0] * 3, [1.0] * 3)
    assert not not_worse([1.0] * 3, [1.05] * 3)
    assert not_worse([1.0] * 3, [1.049] * 3)


def test_a_comparison_that_runs_out_of_time_still_makes_few_false_claims_and_finds_what_is_large() -> None:
    def closed(seed: int, ratio: float, pairs: int) -> Outcome:
        machine = Machine(seed)
        before, after = [], []
        for _ in range(pairs):
            before.append(machine.reading(1))
            after.append(machine.reading(ratio))
            outcome = look(before, after)
            if outcome is not Outcome.CONTINUE:
                return outcome
        return closing_look(before, after)

    same = [closed(seed, 1.0, 4 + seed % 14) for seed in range(400)]
    assert sum(outcome is not Outcome.NOT_SHOWN for outcome in same) <= 8
    half = [closed(seed, 0.5, 7) for seed in range(100)]
    assert sum(outcome is Outcome.LESS for outcome in half) >= 97


def test_a_closing_look_never_asks_for_more_and_refuses_what_an_interval_cannot_be_had_of() -> None:
    assert closing_look([1.0] * 3, [1.0] * 3) is Outcome.NOT_SHOWN
    assert closing_look([1.0, 1.01, 0.99], [4.0, 4.01, 4.0]) is Outcome.MORE
    assert closing_look([1.0] * 20, [1.0] * 20) is Outcome.NOT_SHOWN
    with pytest.raises(MeasureError, match="at least 3 pairs"):
        closing_look([1.0] * 2, [1.0] * 2)
    with pytest.raises(ValueError, match="ends at 20"):
        closing_look([1.0] * 21, [1.0] * 21)
