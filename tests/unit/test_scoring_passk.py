import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.scoring.passk import plug_in, unbiased

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(counts)
def test_the_product_is_the_quotient_of_binomials(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert unbiased(n, c, k) == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.parametrize(("n", "c", "k"), [(6, 2, 3), (5, 1, 2), (7, 0, 3), (4, 4, 1)])
def test_it_is_the_share_of_draws_in_which_one_passes(n: int, c: int, k: int) -> None:
    draws = list(itertools.combinations(range(n), k))
    share = sum(any(sample < c for sample in draw) for draw in draws) / len(draws)
    assert unbiased(n, c, k) == pytest.approx(share)


@given(st.integers(1, 40), st.floats(0.02, 0.98))
def test_it_has_no_bias_where_the_plug_in_is_low(n: int, p: float) -> None:
    k = min(10, n)
    truth = 1 - (1 - p) ** k
    chance = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    assert math.fsum(w * unbiased(n, c, k) for c, w in enumerate(chance)) == pytest.approx(truth, abs=1e-9)
    if k > 1:
        assert math.fsum(w * plug_in(c / n, k) for c, w in enumerate(chance)) < truth + 1e-9


def test_large_numbers_neither_overflow_nor_cancel() -> None:
    assert unbiased(10**9, 1, 10) == pytest.approx(1e-8, rel=1e-12)
    assert unbiased(10**9, 10**5, 10**5) == pytest.approx(-math.expm1(-10.0005), rel=1e-6)
    assert unbiased(10**15, 1, 1) == pytest.approx(1e-15, rel=1e-12)
    assert unbiased(100_000, 99_999, 2) == 1


def test_k_of_one_is_the_passed_share() -> None:
    for passed in range(11):
        assert unbiased(10, passed, 1) == pytest.approx(passed / 10, abs=1e-15)
        assert plug_in(passed / 10, 1) == pytest.approx(passed / 10, abs=1e-15)


@given(counts)
def test_more_passing_samples_never_lower_it(drawn: tuple[int, int, int]) -> None:
    n, c, k = drawn
    assert 0 <= unbiased(n, c, k) <= 1
    if c:
        assert unbiased(n, c, k) >= unbiased(n, c - 1, k)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (0, 0, 1), (5, 2, 0), (5, 2, 6)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"cannot have passed|needs at least"):
        unbiased(n, c, k)
