"""How the page of `compare` writes what is nearly nothing."""

from best_agent.model.measurement import Growth, Interval
from best_agent.report.console.compare import _power


def test_a_growth_of_nothing_has_no_sign() -> None:
    flat = Growth(exponent=-1e-9, ci=Interval(low=-1e-4, high=1e-4), sizes=3)
    assert _power(flat) == "n^0.00 (0.00 to 0.00)"
    falling = Growth(exponent=-0.25, ci=Interval(low=-0.5, high=-0.0), sizes=3)
    assert _power(falling) == "n^-0.25 (-0.50 to 0.00)"
