import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.measure.growth import fit

sizes = st.lists(st.integers(1, 10**7), min_size=3, max_size=8, unique=True)


@given(sizes, st.floats(-1, 4), st.floats(1e-6, 1e6))
def test_a_power_law_gives_back_its_exponent(sizes: list[int], exponent: float, factor: float) -> None:
    growth = fit(sizes, [factor * size**exponent for size in sizes])
    assert growth is not None
    assert growth.exponent == pytest.approx(exponent, abs=1e-6)
    assert growth.ci is not None
    assert growth.ci.low <= growth.exponent <= growth.ci.high
    assert growth.sizes == len(sizes)


def test_a_line_through_noise_has_an_interval_that_holds_the_truth() -> None:
    growth = fit([1000, 2000, 4000, 8000], [10.2, 19.5, 41.0, 79.0])
    assert growth is not None
    assert growth.ci is not None
    assert growth.ci.low < 1 < growth.ci.high
    assert growth.ci.high - growth.ci.low < 0.2


def test_two_sizes_give_an_exponent_without_an_interval() -> None:
    growth = fit([100, 1000], [1.0, 100.0])
    assert growth is not None
    assert growth.exponent == pytest.approx(2)
    assert growth.ci is None
    assert growth.sizes == 2


def test_repeats_of_two_sizes_are_still_two_sizes() -> None:
    growth = fit([100, 100, 1000, 1000], [1.0, 1.1, 10.0, 10.1])
    assert growth is not None
    assert growth.ci is None


def test_repeats_of_three_sizes_narrow_the_interval() -> None:
    once = fit([10, 100, 1000], [1.0, 11.0, 95.0])
    twice = fit([10, 100, 1000] * 2, [1.0, 11.0, 95.0] * 2)
    assert once is not None
    assert twice is not None
    assert once.ci is not None
    assert twice.ci is not None
    assert twice.ci.high - twice.ci.low < once.ci.high - once.ci.low


@pytest.mark.parametrize(
    ("sizes", "costs"),
    [
        ([], []),
        ([100], [1.0]),
        ([100, 100, 100], [1.0, 2.0, 3.0]),
        ([100, 1000, 10000], [1.0, 0.0, 3.0]),
        ([100, 1000], [1.0, -3.0]),
        ([100, 1000], [1.0, float("nan")]),
        ([100, 1000], [1.0, float("inf")]),
        ([0, 1000], [1.0, 2.0]),
    ],
)
def test_what_cannot_be_fitted_is_none(sizes: list[int], costs: list[float]) -> None:
    assert fit(sizes, costs) is None


def test_a_cost_for_each_size_is_needed() -> None:
    with pytest.raises(ValueError, match="2 sizes, 1 costs"):
        fit([1, 2], [1.0])
