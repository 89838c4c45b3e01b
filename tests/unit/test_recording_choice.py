"""What of a recording is measured: decided by trying the calls on the baseline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import UsageError
from best_agent.workload.recording import RecordedCall
from best_agent.workload.scaling import LARGEST, LONGEST_NS, Attempt, choose


def call(index, size=None, pickled_bytes=10, text=False):
    return RecordedCall(index=index, test=f"test_{index}", size=size, text=text, pickled_bytes=pickled_bytes)


class Function:
    """A stand-in for the baseline: costs by size, and raises where it is told to."""

    def __init__(self, cost=lambda n: n * 100, raises=lambda index, mode, n: None):
        self.cost = cost
        self.raises = raises
        self.tried = []

    def __call__(self, index, mode, size):
        self.tried.append((index, mode, size))
        return Attempt(raised=self.raises(index, mode, size), cpu_ns=int(self.cost(size)))


def test_the_largest_call_is_grown_tenfold_and_tenfold_again():
    chosen = choose((call(0, 3), call(1, 7)), Function())
    assert chosen.measured.index == 1
    assert chosen.measured.mode == "varied"
    assert chosen.measured.sizes == (700, 7_000, 70_000)
    assert chosen.measured.label == "recorded, scaled"
    assert chosen.compared == (0, 1)


def test_collections_are_grown_before_texts():
    """There are few characters: a grown text has little in it that is distinct."""
    chosen = choose((call(0, 90, text=True), call(1, 3)), Function())
    assert chosen.measured.index == 1


def test_a_slow_function_is_grown_as_far_as_it_can_be_repeated():
    quadratic = choose((call(0, 10),), Function(lambda n: 100 * n * n))
    assert quadratic.measured.sizes == (10, 100, 1000)
    slow = choose((call(0, 10),), Function(lambda n: n * 2_000_000))
    assert slow.measured == choose((call(0, 10),), Function(lambda n: n * 2_000_000)).measured
    assert slow.measured.label == "recorded"


@given(
    st.integers(1, 10**6),
    st.floats(0.5, 3),
    st.integers(1, 10**6),
)
def test_no_size_is_tried_that_is_expected_to_take_too_long(size, exponent, unit):
    function = Function(lambda n: unit * n**exponent)
    choose((call(0, size),), function)
    for _, mode, tried in function.tried:
        assert mode == "recorded" or tried <= LARGEST
        assert mode == "recorded" or unit * (tried / 10) ** exponent <= LONGEST_NS


def test_what_raises_when_varied_is_repeated_as_it_is():
    chosen = choose(
        (call(0, 5),), Function(raises=lambda i, mode, n: "ValueError" if mode == "varied" else None)
    )
    assert chosen.measured.mode == "repeated"


def test_what_raises_when_grown_is_used_as_recorded():
    chosen = choose(
        (call(0, 5),), Function(raises=lambda i, mode, n: None if mode == "recorded" else "ValueError")
    )
    assert chosen.measured.mode == "recorded"
    assert chosen.measured.sizes == (5,)
    assert chosen.measured.label == "recorded"


def test_what_raises_from_some_size_on_is_grown_up_to_there():
    chosen = choose((call(0, 5),), Function(raises=lambda i, mode, n: "too many" if n > 500 else None))
    assert chosen.measured.sizes == (5, 50, 500)


def test_calls_that_do_not_run_outside_of_their_tests_are_left_out_with_the_reason():
    chosen = choose(
        (call(0, 90), call(1, 5)), Function(raises=lambda i, mode, n: "no database" if i == 0 else None)
    )
    assert chosen.measured.index == 1
    assert chosen.compared == (1,)
    assert chosen.left_out == ((0, "no database"),)


def test_no_call_that_runs_is_an_error_with_the_first_reason():
    with pytest.raises(
        UsageError, match=r"none of the 2 recorded calls .*; the first: no database; give the"
    ):
        choose((call(0), call(1)), Function(raises=lambda i, mode, n: "no database"))


def test_calls_of_which_nothing_can_grow_are_used_as_recorded_the_longest_one():
    costs = {1: 10, 2: 30, 3: 20}
    chosen = choose(
        (call(0), call(1, pickled_bytes=99), call(2)),
        lambda i, mode, n: Attempt(raised=None, cpu_ns=costs[i + 1]),
    )
    assert chosen.measured.index == 1
    assert chosen.measured.sizes == (1,)


def test_sizes_that_were_asked_for_are_the_only_ones_tried():
    function = Function()
    chosen = choose((call(0, 3),), function, sizes=(100, 200))
    assert chosen.measured.sizes == (100, 200)
    assert {n for _, mode, n in function.tried if mode != "recorded"} == {100, 200}


def test_sizes_that_were_asked_for_and_cannot_be_had_all_leave_what_was_recorded():
    chosen = choose(
        (call(0, 3),), Function(raises=lambda i, m, n: "no" if n == 200 else None), sizes=(100, 200)
    )
    assert chosen.measured.mode == "recorded"


def test_trying_ends_after_a_few_calls_that_do_not_grow():
    function = Function(raises=lambda i, mode, n: None if mode == "recorded" else "no")
    choose(tuple(call(i, 5) for i in range(64)), function)
    assert len([1 for _, mode, _ in function.tried if mode != "recorded"]) <= 8
