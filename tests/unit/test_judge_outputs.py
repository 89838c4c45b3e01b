import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.judge.answers import Iterated, Opaque
from best_agent.judge.outputs import text_difference, value_difference

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=12,
)


@given(values)
def test_a_value_equals_itself(value: object) -> None:
    assert value_difference(value, value) is None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1.0, 1),
        (0.1 + 0.2, 0.3),
        (math.nan, math.nan),
        (math.inf, math.inf),
        ({1, 2}, {2, 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([1, (2.0,)], [1, (2.0 + 1e-12,)]),
        (10**400, 10**400),
        (Iterated((1,)), Iterated((1,))),
    ],
)
def test_these_count_as_the_same(expected: object, got: object) -> None:
    assert value_difference(expected, got) is None


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (1, 1.0, "the int 1, got the float 1.0"),
        (1, True, "int, got bool"),
        ([1], (1,), "list, got tuple"),
        ([1, 2], [1], "2 elements, got 1"),
        ([1, [2, 3]], [1, [2, 4]], "at [1][1]: expected 3, got 4"),
        ({"a": 1}, {}, "'a' is missing"),
        ({}, {"a": 1}, "'a' is not expected"),
        ({"a": 1}, {"a": 2}, "at ['a']"),
        ({1, 2}, {1}, "2 is missing"),
        ({1}, {1, 2}, "1 elements, got 2"),
        (math.inf, -math.inf, "expected inf"),
        (10**400, 1.0, "bits, got the float"),
        (10**400, 10**400 + 1, "bits"),
        (1.0, 10**400, "bits"),
        (None, 0, "nothing"),
        (deque([1]), deque([2]), "at [0]"),
        (1, Opaque("x.Y"), "x.Y"),
        ([1], Iterated((1,)), "list, got Iterated"),
        ("a" * 500, "b", "..."),
        (math.nan, 1.0, "nan"),
        ([[10**9000]], [[10**9000, 1]], "elements"),
        ({"a": [10**9000]}, {"b": 1}, "missing"),
        ([10**9000], 3, "list, got int"),
        ({(10**9000,)}, set(), "tuple is missing"),
    ],
)
def test_the_first_difference_is_told(expected: object, got: object, words: str) -> None:
    difference = value_difference(expected, got)
    assert difference is not None
    assert words in str(difference)
    assert "\n" not in str(difference)


def test_text_is_compared_by_tokens_unless_exact() -> None:
    assert text_difference(b"1 2\r\n3\n\n", b"1 2 3", exact=False) is None
    assert text_difference(b"1 2\n", b"1 2\n", exact=True) is None
    assert text_difference(b"1 2\n", b"1 2", exact=True) is not None


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (b"1 2 3", b"1 2 4", "token 3: expected '3', got '4'"),
        (b"1 2", b"1 2 3", "2 tokens, got 3"),
        (b"1", b"", "1 tokens, got 0"),
        (b"a", b"\xff\xfe", "token 1"),
    ],
)
def test_the_first_differing_token_is_told(expected: bytes, got: bytes, words: str) -> None:
    assert words in str(text_difference(expected, got, exact=False))
