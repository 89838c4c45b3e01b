import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.measure.noise import aa_floor
from best_agent.measure.quantity import combine, compared
from best_agent.model.measurement import Compared
from best_agent.model.run import Meter


def exact(before: float, after: float, n: int = 3) -> Compared:
    return compared([before] * n, [after] * n, meter=Meter.EXACT, exact=True)


def test_an_exact_quantity_has_a_ratio_and_no_interval() -> None:
    quantity = exact(4096, 1024)
    assert quantity == Compared(before=4096, after=1024, ratio=0.25, ratio_ci=None, meter=Meter.EXACT, n=3)


def test_one_exact_reading_is_enough() -> None:
    assert exact(10, 20, n=1).ratio == 2


def test_readings_that_should_agree_and_do_not_lose_the_claim_to_be_exact() -> None:
    quantity = compared([10, 10, 11], [20, 20, 20], meter=Meter.EXACT, exact=True)
    assert quantity.meter is Meter.ESTIMATED
    assert quantity.ratio_ci is not None
    assert quantity.ratio_ci.low < 2 < quantity.ratio_ci.high


def test_a_noisy_quantity_has_medians_and_an_interval_around_the_paired_ratio() -> None:
    quantity = compared([10, 12, 11, 10, 10], [20, 25, 22, 20, 90], meter=Meter.EXACT, exact=False)
    assert (quantity.before, quantity.after, quantity.n) == (10, 22, 5)
    assert quantity.meter is Meter.EXACT
    assert quantity.ratio_ci is not None
    assert quantity.ratio_ci.low <= (quantity.ratio or 0) <= quantity.ratio_ci.high


@pytest.mark.parametrize("pairs", [1, 2])
def test_too_few_pairs_give_a_ratio_without_interval(pairs: int) -> None:
    quantity = compared([10.0] * pairs, [30.0] * pairs, meter=Meter.EXACT, exact=False)
    assert quantity.ratio == 3
    assert quantity.ratio_ci is None


def test_nothing_before_gives_no_ratio() -> None:
    assert exact(0, 100).ratio is None
    assert exact(0, 0).ratio is None
    assert compared([0, 0, 1], [5, 5, 5], meter=Meter.ESTIMATED, exact=False).ratio is None


def test_nothing_after_is_a_ratio_of_zero_without_interval() -> None:
    quantity = compared([5, 5, 6], [0, 0, 0], meter=Meter.ESTIMATED, exact=False)
    assert quantity.ratio == 0
    assert quantity.ratio_ci is None


@pytest.mark.parametrize(
    ("before", "after"), [([], []), ([1.0], []), ([1.0], [1.0, 2.0]), ([-1.0], [1.0]), ([1.0], [math.nan])]
)
def test_malformed_readings_are_refused(before: list[float], after: list[float]) -> None:
    with pytest.raises(ValueError, match=r"reading"):
        compared(before, after, meter=Meter.EXACT, exact=False)


@given(st.lists(st.tuples(st.floats(1, 1e9), st.floats(1, 1e9)), min_size=1, max_size=9))
def test_the_combined_ratio_is_the_geometric_mean(sides: list[tuple[float, float]]) -> None:
    combined = combine([exact(before, after) for before, after in sides])
    assert combined is not None
    mean = math.exp(sum(math.log(after / before) for before, after in sides) / len(sides))
    assert combined.ratio == pytest.approx(mean, rel=1e-9)
    assert combined.after / combined.before == pytest.approx(mean, rel=1e-9)
    assert combined.ratio_ci is None
    assert combined.meter is Meter.EXACT
    assert combined.n == 3 * len(sides)


def measured(ratio: float, rng: random.Random, pairs: int = 8) -> Compared:
    before = [100 * rng.lognormvariate(0, 0.05) for _ in range(pairs)]
    after = [100 * ratio * rng.lognormvariate(0, 0.05) for _ in range(pairs)]
    return compared(before, after, meter=Meter.EXACT, exact=False)


def test_the_combined_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = random.Random(5)
    truths = (0.5, 0.8, 1.3)
    truth = math.exp(sum(map(math.log, truths)) / 3)
    hits = 0
    for _ in range(400):
        combined = combine([measured(ratio, rng) for ratio in truths])
        assert combined is not None
        assert combined.ratio_ci is not None
        hits += combined.ratio_ci.low <= truth <= combined.ratio_ci.high
    assert 0.92 <= hits / 400 <= 0.985


def test_several_parts_have_a_narrower_interval_than_one() -> None:
    rng = random.Random(6)
    parts = [measured(0.5, rng) for _ in range(9)]
    combined = combine(parts)
    assert combined is not None
    assert combined.ratio_ci is not None
    widths = [part.ratio_ci.high - part.ratio_ci.low for part in parts if part.ratio_ci]
    assert combined.ratio_ci.high - combined.ratio_ci.low < min(widths)


def test_one_part_combines_to_itself() -> None:
    part = measured(0.5, random.Random(7))
    combined = combine([part])
    assert combined is not None
    assert combined.ratio == pytest.approx(part.ratio)
    assert combined.ratio_ci is not None
    assert part.ratio_ci is not None
    assert combined.ratio_ci.low == pytest.approx(part.ratio_ci.low)
    assert combined.ratio_ci.high == pytest.approx(part.ratio_ci.high)


def test_an_exact_part_beside_a_measured_one_adds_no_error() -> None:
    part = measured(0.5, random.Random(8))
    combined = combine([part, exact(100, 100)])
    assert combined is not None
    assert combined.ratio_ci is not None
    assert part.ratio_ci is not None
    half = math.log(part.ratio_ci.high / part.ratio_ci.low) / 2
    assert math.log(combined.ratio_ci.high / combined.ratio_ci.low) / 2 == pytest.approx(half / 2)


def test_parts_in_which_nothing_was_used_say_nothing() -> None:
    combined = combine([exact(0, 0), exact(10, 20)])
    assert combined is not None
    assert combined.ratio == 2


def test_a_part_with_one_side_at_zero_makes_no_mean() -> None:
    assert combine([exact(0, 100), exact(10, 20)]) is None
    assert combine([exact(100, 0), exact(10, 20)]) is None
    assert combine([exact(0, 0)]) is None
    assert combine([]) is None


def test_a_part_that_lacks_its_interval_takes_it_from_the_whole() -> None:
    lacking = compared([10.0, 10.0], [20.0, 20.1], meter=Meter.ESTIMATED, exact=False)
    combined = combine([lacking, measured(0.5, random.Random(9))])
    assert combined is not None
    assert combined.ratio_ci is None
    assert combined.meter is Meter.ESTIMATED


def test_readings_without_any_spread_combine_to_an_interval_without_width() -> None:
    still = compared([10.0] * 5, [20.0] * 5, meter=Meter.EXACT, exact=False)
    combined = combine([still, still])
    assert combined is not None
    assert combined.ratio_ci is not None
    assert combined.ratio_ci.low == combined.ratio_ci.high == pytest.approx(2)


def test_the_floor_of_identical_code_is_what_its_interval_reaches() -> None:
    rng = random.Random(10)
    floor = aa_floor(*([rng.lognormvariate(0, 0.03) for _ in range(20)] for _ in range(2)))
    assert floor.pairs == 20
    assert floor.floor == max(1 - floor.ratio_ci.low, floor.ratio_ci.high - 1)
    assert 0 < floor.floor < 0.05
    assert not floor.biased()


def test_a_harness_that_favours_one_side_is_found_out() -> None:
    rng = random.Random(11)
    first = [rng.lognormvariate(0, 0.01) for _ in range(20)]
    floor = aa_floor(first, [value * 1.05 for value in first])
    assert floor.biased()
    assert not floor.biased(tolerance=0.1)
