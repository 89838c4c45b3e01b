import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.model.measurement import Compared, Interval
from best_agent.model.run import Meter
from best_agent.workload.figures import Figure, SameResults, SizeComparison, SizeMeasurement, State
from best_agent.workload.verdict import describe, judge

SAME = SameResults(equal=3, of=3)


def pair(before, after, spread=1.01):
    ratio = after / before if before else None
    interval = Interval(low=ratio / spread, high=ratio * spread) if ratio else None
    return Compared(before=before, after=after, ratio=ratio, ratio_ci=interval, meter=Meter.EXACT, n=12)


def exact(before, after):
    ratio = after / before if before else None
    return Compared(before=before, after=after, ratio=ratio, ratio_ci=None, meter=Meter.EXACT, n=3)


def size(n=1000, *, cpu=1.0, shown=None, peak=(100_000, 100_000), kept=(0, 0), waits=False, **more):
    shown = shown or ("less" if cpu < 0.97 else "more" if cpu > 1.03 else "not-shown")
    return SizeComparison(
        n=n,
        cpu=pair(1e6, 1e6 * cpu),
        wall=pair(2e6, 2e6 * cpu),
        cpu_shown=shown,
        wall_shown=shown,
        peak=exact(*peak) if peak else None,
        retained=exact(*kept),
        waits=waits,
        **more,
    )


def line(*sizes, same=SAME):
    return judge(sizes, same)


@pytest.mark.parametrize(
    ("sizes", "status", "begins"),
    [
        (
            [size()],
            State.OK,
            "no difference shown: CPU time the same (within 1.0%), memory the same, same results",
        ),
        (
            [size(cpu=1 / 12)],
            State.IMPROVED,
            "faster: 12.0x less CPU time, memory the same, same results on 3 of 3",
        ),
        ([size(cpu=2)], State.REGRESSION, "slower: 2.00x more CPU time"),
        ([size(peak=(100_000, 300_000))], State.REGRESSION, "heavier: CPU time the same"),
        ([size(peak=(300_000, 100_000))], State.IMPROVED, "leaner: CPU time the same"),
        (
            [size(cpu=0.5, peak=(300_000, 100_000))],
            State.IMPROVED,
            "better: 2.00x less CPU time, 3.00x less peak",
        ),
        (
            [size(cpu=2, peak=(100_000, 300_000))],
            State.REGRESSION,
            "worse: 2.00x more CPU time, 3.00x more peak",
        ),
        (
            [size(cpu=0.5, peak=(100_000, 300_000))],
            State.REGRESSION,
            "a trade: 2.00x less CPU time, 3.00x more peak",
        ),
        (
            [size(kept=(0, 100))],
            State.REGRESSION,
            "heavier: CPU time the same (within 1.0%), memory the same, 100 B",
        ),
        ([size(waits=True, cpu=2)], State.REGRESSION, "slower: 2.00x more wall time"),
        ([size(peak=None)], State.PARTIAL, "CPU time the same (within 1.0%), memory not measured"),
    ],
)
def test_status_and_line(sizes, status, begins):
    found, words = line(*sizes)
    assert found is status
    assert words.startswith(begins)


def test_the_largest_size_speaks_and_a_smaller_one_that_got_worse_is_said():
    found, words = line(size(10, cpu=1.5), size(1000, cpu=0.1))
    assert found is State.IMPROVED
    assert words.endswith("; but 1.50x more CPU time at n=10")


def test_small_changes_of_the_peak_are_no_finding():
    assert line(size(peak=(1000, 3000)))[0] is State.OK
    assert line(size(peak=(0, 3000)))[0] is State.OK
    assert line(size(peak=(0, 30_000)))[0] is State.REGRESSION


def test_a_growth_step_of_a_container_is_no_regression():
    """More at n and the same a little above it: the list only grew one append earlier."""
    step = size(peak=(100_000, 112_500), peak_ratio_low=1.0, peak_ratio_high=1.125)
    assert line(step)[0] is State.OK
    grown = size(peak=(100_000, 112_500), peak_ratio_low=1.11, peak_ratio_high=1.125)
    assert line(grown)[0] is State.REGRESSION


def test_a_leak_is_one_at_every_size():
    assert line(size(10), size(100, kept=(0, 100)))[0] is State.OK
    assert line(size(10, kept=(0, 100)), size(100, kept=(0, 100)))[0] is State.REGRESSION


def test_different_results_come_first_and_are_a_regression():
    same = SameResults(equal=1, of=3, differences=("n=10: another value: 1 before, 2 after",))
    found, words = line(size(cpu=0.1), same=same)
    assert found is State.REGRESSION
    assert words.startswith(
        "DIFFERENT RESULTS on 2 of 3 inputs (n=10: another value: 1 before, 2 after); faster: "
    )


def test_nothing_timed_is_not_measured_with_the_reason():
    found, words = line(SizeComparison(n=10, reason="it hangs"))
    assert (found, words) == (State.NOT_MEASURED, "not measured: it hangs")


def test_a_size_that_is_missing_is_partial_and_named():
    found, words = line(size(10), SizeComparison(n=1000, reason="it hangs"))
    assert found is State.PARTIAL
    assert words.endswith("; not measured at n=1,000")


def test_results_of_a_random_function_are_called_not_comparable():
    same = SameResults(equal=0, of=3, uncertain=("the function before is not deterministic: ...",))
    assert "results not comparable (the function is not deterministic)" in line(size(), same=same)[1]


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.booleans())
def test_better_on_both_counts_is_never_a_regression_and_worse_never_an_improvement(time, memory, waits):
    found, words = line(size(cpu=time, peak=(1e6, 1e6 * memory), waits=waits))
    if time <= 1 and memory <= 1:
        assert found in (State.OK, State.IMPROVED)
    if time >= 1 and memory >= 1:
        assert found in (State.OK, State.REGRESSION)
    assert words
    assert not math.isnan(len(words))


def test_a_single_function_is_described_at_its_largest_size():
    figure = Figure(value=2e6, ci=None, meter=Meter.EXACT, n=3)
    rows = [
        SizeMeasurement(n=10, cpu=figure, peak=figure, retained=figure),
        SizeMeasurement(n=99, reason="no"),
    ]
    assert describe(rows) == "2.00 ms CPU time, 1.91 MiB peak memory, 1.91 MiB kept after each call at n=10"
    assert describe(rows[1:]) == "not measured: no"
