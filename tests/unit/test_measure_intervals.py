import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import MeasureError
from best_agent.measure.intervals import degrees_of_freedom, log_ratio_interval, trimmed_mean

readings = st.floats(1e-3, 1e12)
pairs = st.lists(st.tuples(readings, readings), min_size=3, max_size=30)


@given(pairs)
def test_the_ratio_lies_in_its_interval(sample: list[tuple[float, float]]) -> None:
    before, after = zip(*sample, strict=True)
    ratio, interval = log_ratio_interval(before, after)
    assert interval.low <= ratio * (1 + 1e-9)
    assert ratio <= interval.high * (1 + 1e-9)


@given(pairs)
def test_swapping_before_and_after_inverts_the_ratio(sample: list[tuple[float, float]]) -> None:
    before, after = zip(*sample, strict=True)
    ratio, _ = log_ratio_interval(before, after)
    inverse, _ = log_ratio_interval(after, before)
    assert ratio * inverse == pytest.approx(1, rel=1e-9)


@given(pairs, st.floats(0.01, 100))
def test_the_unit_of_the_readings_does_not_matter(sample: list[tuple[float, float]], unit: float) -> None:
    before, after = zip(*sample, strict=True)
    ratio, _ = log_ratio_interval(before, after)
    scaled, _ = log_ratio_interval([one * unit for one in before], [one * unit for one in after])
    assert scaled == pytest.approx(ratio, rel=1e-9)


@given(pairs, st.randoms())
def test_the_order_of_the_pairs_does_not_matter(
    sample: list[tuple[float, float]], rng: random.Random
) -> None:
    shuffled = sample.copy()
    rng.shuffle(shuffled)
    assert log_ratio_interval(*zip(*sample, strict=True)) == log_ratio_interval(*zip(*shuffled, strict=True))


def test_without_trimming_it_is_the_classical_t_interval_of_the_logarithms() -> None:
    ratio, interval = log_ratio_interval([1, 1, 1], [math.exp(1), math.exp(2), math.exp(3)], trim=0)
    half = 4.302652729749464 * 1 / math.sqrt(3)
    assert ratio == pytest.approx(math.exp(2))
    assert interval.low == pytest.approx(math.exp(2 - half), rel=1e-9)
    assert interval.high == pytest.approx(math.exp(2 + half), rel=1e-9)


def test_yuens_error_on_an_example_worked_by_hand() -> None:
    # n = 5, one value cut at each end: kept 2, 3, 4; winsorised 2, 2, 3, 4, 4 with variance 1.
    centre, error, df = trimmed_mean([1, 2, 3, 4, 100])
    assert (centre, df) == (3, 2)
    assert error == pytest.approx(math.sqrt(4 * 1 / (3 * 2)))


def test_one_spoiled_pair_of_ten_does_not_move_the_ratio() -> None:
    before, after = [100.0] * 10, [90 + place * 0.1 for place in range(10)]
    calm, _ = log_ratio_interval(before, after)
    spoiled, interval = log_ratio_interval(before, [*after[:-1], 5000.0])
    assert spoiled == pytest.approx(calm, rel=0.01)
    assert interval.high < 1


def test_readings_that_agree_leave_no_width() -> None:
    ratio, interval = log_ratio_interval([2.0] * 5, [4.0] * 5)
    assert ratio == interval.low == interval.high == pytest.approx(2)


def test_ties_of_a_coarse_clock_never_claim_certainty() -> None:
    # The middle three agree; the winsorised variance is 0 although the pairs differ.
    _, interval = log_ratio_interval([10.0] * 5, [5.0, 10.0, 10.0, 10.0, 20.0])
    assert interval.low < 1 < interval.high


def test_coverage_of_the_interval_is_near_its_name() -> None:
    rng = random.Random(20)
    hits = 0
    for _ in range(600):
        before = [rng.lognormvariate(0, 0.05) for _ in range(12)]
        after = [1.1 * rng.lognormvariate(0, 0.05) for _ in range(12)]
        _, interval = log_ratio_interval(before, after)
        hits += interval.low <= 1.1 <= interval.high
    assert 0.92 <= hits / 600 <= 0.98


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_pairs_are_refused(count: int) -> None:
    with pytest.raises(MeasureError, match=f"at least 3 pairs of readings, not {count}"):
        log_ratio_interval([1.0] * count, [1.0] * count)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf])
def test_a_reading_that_is_not_above_zero_is_named_by_its_place(bad: float) -> None:
    with pytest.raises(MeasureError, match="reading 2 after is"):
        log_ratio_interval([1.0, 1.0, 1.0], [1.0, bad, 1.0])


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="as many readings after as before, not 4 and 3"):
        log_ratio_interval([1.0] * 3, [1.0] * 4)


@pytest.mark.parametrize("confidence", [0, 1, -1, 95])
def test_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence lies inside"):
        log_ratio_interval([1.0] * 3, [1.0] * 3, confidence=confidence)


def test_a_trim_of_half_or_more_is_refused() -> None:
    with pytest.raises(ValueError, match="trim lies in"):
        trimmed_mean([1, 2, 3], trim=0.5)
    with pytest.raises(ValueError, match="fewer than two"):
        trimmed_mean([1, 2, 3], trim=0.4)


def test_a_bound_beyond_all_floats_stays_finite() -> None:
    _, interval = log_ratio_interval([1e-150, 1e150, 1.0], [1e150, 1e-150, 1.0])
    assert math.isfinite(interval.high)
    assert interval.low >= 0


@pytest.mark.parametrize(("pairs", "df"), [(3, 2), (5, 2), (8, 5), (12, 7), (16, 9), (20, 11)])
def test_degrees_of_freedom_follow_the_pairs_that_are_kept(pairs: int, df: int) -> None:
    assert degrees_of_freedom(pairs) == df
    assert trimmed_mean(range(pairs))[2] == df
