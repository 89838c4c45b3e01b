import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from best_agent.scoring.bootstrap import clustered_mean, mean

values = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(values)
@settings(max_examples=50)
def test_the_mean_lies_in_its_interval_and_repeats(drawn: list[float]) -> None:
    estimate = mean(drawn)
    assert estimate.ci is not None
    assert min(drawn) - 1e-12 <= estimate.ci.low <= estimate.value <= estimate.ci.high <= max(drawn) + 1e-12
    assert mean(drawn) == estimate
    assert estimate.tasks == len(drawn)


def test_one_task_has_no_interval() -> None:
    estimate = mean([0.3])
    assert (estimate.value, estimate.ci, estimate.tasks) == (0.3, None, 1)


def test_tasks_that_agree_leave_no_width() -> None:
    estimate = mean([0.1] * 7)
    assert estimate.ci is not None
    assert estimate.ci.low == pytest.approx(0.1)
    assert estimate.ci.high == pytest.approx(0.1)


def test_other_seeds_give_other_intervals_of_the_same_mean() -> None:
    drawn = [random.Random(3).random() for _ in range(20)] + [0.0, 1.0, 0.5]
    first, second = mean(drawn, seed=1), mean(drawn, seed=2)
    assert first.value == second.value
    assert first.ci != second.ci


def test_coverage_is_near_its_name() -> None:
    rng = random.Random(12)
    hits = 0
    for _ in range(300):
        estimate = mean([rng.random() ** 2 for _ in range(40)], resamples=400)
        assert estimate.ci is not None
        hits += estimate.ci.low <= 1 / 3 <= estimate.ci.high
    assert 0.89 <= hits / 300 <= 0.985


def test_a_task_with_several_values_weighs_by_them_and_is_drawn_as_one() -> None:
    estimate = clustered_mean([(1.0, 1.0, 1.0), (0.0,)])
    assert estimate.value == 0.75
    assert estimate.ci is not None
    assert (estimate.ci.low, estimate.ci.high) == (0, 1)
    assert estimate.tasks == 2


@pytest.mark.parametrize("groups", [[], [()], [(1.0,), ()]])
def test_nothing_has_no_mean(groups: list[tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="needs tasks"):
        clustered_mean(groups)
