import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.measure.student import cdf, incomplete_beta, quantile

probabilities = st.floats(1e-9, 1 - 1e-9)


@given(probabilities)
def test_one_degree_of_freedom_is_the_cauchy_distribution(p: float) -> None:
    tail = min(p, 1 - p)
    exact = math.copysign(1 / math.tan(math.pi * tail), p - 0.5)
    assert quantile(p, 1) == pytest.approx(exact, rel=1e-8, abs=1e-10)


@given(probabilities)
def test_two_degrees_of_freedom_have_a_closed_form(p: float) -> None:
    exact = (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    assert quantile(p, 2) == pytest.approx(exact, rel=1e-8, abs=1e-10)


@given(st.floats(-50, 50))
def test_four_degrees_of_freedom_have_a_closed_form(t: float) -> None:
    u = t / math.sqrt(4 + t * t)
    assert cdf(t, 4) == pytest.approx(0.5 + 0.75 * (u - u**3 / 3), abs=1e-13)


@pytest.mark.parametrize(
    ("p", "df", "table"),
    [
        (0.975, 3, 3.182446305284263),
        (0.975, 5, 2.5705818366147395),
        (0.995, 7, 3.4994832973505026),
        (0.975, 19, 2.093024054408263),
        (0.975, 30, 2.0422724563012373),
        (0.975, 1000, 1.9623390808264078),
    ],
)
def test_published_quantiles(p: float, df: float, table: float) -> None:
    assert quantile(p, df) == pytest.approx(table, abs=1e-9)


@given(probabilities, st.floats(0.5, 500))
def test_the_quantile_inverts_the_distribution(p: float, df: float) -> None:
    assert cdf(quantile(p, df), df) == pytest.approx(p, rel=1e-6, abs=1e-12)


@given(st.integers(0, 1024), st.floats(0.1, 50), st.floats(0.1, 50))
def test_incomplete_beta_is_symmetric_and_a_probability(step: int, a: float, b: float) -> None:
    x = step / 1024  # 1 - x is exact then
    value = incomplete_beta(a, b, x)
    assert -1e-12 <= value <= 1 + 1e-12
    assert value == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-9)


def test_quantiles_are_symmetric_about_zero() -> None:
    assert quantile(0.5, 3) == 0
    assert quantile(0.01, 7) == -quantile(0.99, 7)


@pytest.mark.parametrize(
    ("p", "df"), [(0, 3), (1, 3), (-0.1, 3), (math.nan, 3), (0.5, 0), (0.5, -1), (0.9, math.nan)]
)
def test_nonsense_is_refused(p: float, df: float) -> None:
    with pytest.raises(ValueError, match=r"probability|degrees"):
        quantile(p, df)


def test_x_outside_of_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="x lies in"):
        incomplete_beta(1, 1, 1.5)
    with pytest.raises(ValueError, match="degrees"):
        cdf(0, 0)
