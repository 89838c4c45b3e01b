import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.worker.canon import Walker
from best_agent.workload import equality


def observed(value, arguments=(), raised=None, kind="plain"):
    walker = Walker(lambda module: False)

    def canon(part):
        found = walker.canon(part)
        return {
            "exact": found.exact,
            "shape": found.shape,
            "floats": [x if math.isfinite(x) else repr(x) for x in found.floats],
            "opaque": list(found.opaque),
        }

    return {
        "raised": raised,
        "result": canon(value),
        "arguments": canon(arguments),
        "type": type(value).__name__,
        "shown": repr(value),
        "kind": kind,
    }


@given(st.lists(st.floats()))
def test_floats_equal_themselves_even_nan(values):
    assert equality.difference(observed(values), observed(list(values))) is None


def test_floats_may_differ_in_the_last_digits_and_that_is_said():
    before, after = observed([0.1 + 0.2, 1]), observed([0.3, 1])
    assert equality.difference(before, after) is None
    assert equality.tolerated(before, after)
    assert not equality.tolerated(before, before)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ([1, 2], [2, 1], "another value: [1, 2] before, [2, 1] after"),
        ([1, 2], (1, 2), "another type: list before, tuple after"),
        (1, 1.0, "another type: int before, float after"),
        (True, 1, "another type: bool before, int after"),
        ([1.0], [1.001], "another value"),
        ([1.0], [math.nan], "another value"),
        ([math.inf], [-math.inf], "another value"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "another value"),
    ],
)
def test_what_is_different_is_said_in_words(before, after, says):
    assert says in equality.difference(observed(before), observed(after))


def test_an_argument_changed_in_another_way_is_a_difference():
    found = equality.difference(observed(None, ([1],)), observed(None, ([],)))
    assert found == "the arguments are changed in another way"


def test_an_exception_is_a_result():
    fine = observed(1)
    raising = {**observed(["ValueError", "no"], raised=["ValueError", "no"]), "shown": "ValueError: no"}
    other = {**observed(["KeyError", "no"], raised=["KeyError", "no"]), "shown": "KeyError: no"}
    assert equality.difference(raising, raising) is None
    assert equality.difference(fine, raising) == "before: 1; after: ValueError: no"
    assert "another exception: ValueError: no before, KeyError: no after" in equality.difference(
        raising, other
    )


def test_results_too_large_to_compare_are_neither_equal_nor_different():
    nothing = {"exact": None, "shape": None, "floats": None, "opaque": []}
    large = {**observed(1), "result": nothing}
    assert equality.difference(large, large) is None
    assert equality.too_large(large, large)
