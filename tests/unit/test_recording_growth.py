"""Arguments grown from recorded ones: what grows, what stays, and what is kept true on the way."""

import collections
import enum
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.worker.recorded import CannotGrowError, base_size, builder, grown

Point = collections.namedtuple("Point", "x y")
Colour = enum.Enum("Colour", "RED GREEN")
Word = type("Word", (str,), {})


def grow(*args, size, seed=1, vary=True, **kwargs):
    return grown((args, kwargs), size, seed, vary)


@pytest.mark.parametrize(
    ("args", "size"),
    [
        (([1, 2, 3],), 3),
        (([1, 2, 3], "strict"), 3),
        (("a long text", "a"), 11),
        ((7, 8.5, None, True), None),
        (([],), None),
        (("",), None),
        (("x",), None),
        (({1, 2},), 2),
        ((frozenset("ab"),), 2),
        ((collections.deque([1]),), 1),
        (((1, 2),), None),  # a point
        (((1, 2, 3, 4),), 4),
        ((("Ann", 3, None, 1.5),), None),  # a record
        (({"a": 1, "b": 2},), 2),
        (({"mode": "x", "limit": 3},), None),  # options
        (({"a": 1},), None),
        ((b"some bytes",), 10),
        ((Point(1, 2),), None),
        ((Word("a subclass"),), None),
        ((object(),), None),
        ((range(5),), None),
    ],
)
def test_what_can_grow_has_a_size(args, size):
    assert base_size((args, {})) == size


def test_keyword_arguments_grow_too():
    assert grow(size=4, items=[1, 2]) == ((), {"items": [1, 2, 3, 4]})


def test_arguments_of_equal_length_grow_together():
    (names, ages), _ = grow(["a", "b"], [30, 40], size=6)
    assert len(names) == len(ages) == 6


def test_shorter_arguments_stay():
    assert grow([1, 2, 3], [9], "ab", size=4)[0][1:] == ([9], "ab")


def test_a_short_text_of_the_length_of_a_list_is_chance():
    assert grow([1, 2, 3], "abc", size=30)[0][1] == "abc"


def test_numbers_that_are_arguments_stay():
    assert grow([1, 2, 3], 3, size=30, k=3)[1] == {"k": 3}
    assert grow([1, 2, 3], 3, size=30)[0][1] == 3


def test_what_was_recorded_is_the_start_of_what_is_grown():
    assert grow([5, 1, 5], size=9)[0][0][:3] == [5, 1, 5]


def test_a_permutation_stays_one():
    (order,), _ = grow([2, 0, 1], size=300)
    assert sorted(order) == list(range(300))


@given(st.lists(st.integers(), min_size=1, max_size=20, unique=True), st.integers(1, 200))
def test_distinct_numbers_stay_distinct(items, size):
    (new,), _ = grow(items, size=size)
    assert len(new) == len(set(new)) == size


@given(
    st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.integers(1, 200),
)
def test_sorted_numbers_stay_sorted_and_the_recorded_ones_untouched(items, size):
    items.sort()
    (new,), _ = grow(items, size=size)
    assert new == sorted(new)
    assert new[: len(items)] == items[:size]


_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9)
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
        | st.frozensets(_LEAVES, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(_VALUES, max_size=4), st.integers(1, 60), st.booleans())
def test_arguments_of_any_shape_grow_to_the_size_or_say_that_they_cannot(args, size, vary):
    pickled = pickle.dumps(args)
    try:
        new, _ = grow(*args, size=size, vary=vary)
    except CannotGrowError:
        return
    assert size in [len(value) for value in new if hasattr(value, "__len__")]
    assert [type(value) for value in new] == [type(value) for value in args]
    assert pickle.dumps(args) == pickled, "what was given is not changed"


@given(st.lists(_VALUES, min_size=1, max_size=3), st.integers(1, 40), st.integers())
def test_equal_size_and_seed_give_equal_arguments(args, size, seed):
    def built():
        try:
            return repr(grow(*pickle.loads(pickle.dumps(args)), size=size, seed=seed))
        except CannotGrowError as error:
            return repr(error)

    assert built() == built()


def test_words_get_endings_and_keep_their_case_and_what_stands_between():
    (new,), _ = grow(["Pear-tree, OK!"], size=3, seed=0)
    assert new[0] == "Pear-tree, OK!"
    assert len(set(new)) == 3
    assert all(len(text.split("-")) == 2 and text.endswith("!") for text in new)
    assert new[1].split()[1][:-1].isupper()


def test_numbers_in_texts_count_up_at_their_width():
    (new,), _ = grow(["2021-01-07"], size=4)
    assert new == ["2021-01-07", "2021-01-08", "2021-01-09", "2021-01-10"]


def test_another_seed_gives_other_words():
    assert grow(["pear"], size=9, seed=1) != grow(["pear"], size=9, seed=2)
    assert grow(["pear"], size=9, seed=1)[0][0][0] == grow(["pear"], size=9, seed=2)[0][0][0]


def test_a_text_grows_to_the_character():
    assert len(grow("the quick fox ", size=1000)[0][0]) == 1000
    assert grow("ab", size=5, vary=False)[0][0] == "ababa"
    assert grow(b"ab", size=5, vary=False)[0][0] == b"ababa"
    assert grow(bytearray(b"ab"), size=5, vary=False)[0][0] == bytearray(b"ababa")


def test_rows_are_varied_inside():
    (edges,), _ = grow([(1, 2), (2, 3)], size=4)
    assert edges == [(1, 2), (2, 3), (4, 5), (5, 6)]
    (rows,), _ = grow([{"id": 1, "tags": ["a"]}], size=2, seed=0)
    assert rows == [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": ["aa"]}]
    (points,), _ = grow([Point(0, 0)], size=2)
    assert points == [Point(0, 0), Point(1, 1)]
    assert type(points[1]) is Point


def test_numbers_of_other_types_are_varied():
    (new,), _ = grow([Decimal("1.5"), Decimal("2.5")], size=4)
    assert new == [Decimal("1.5"), Decimal("2.5"), Decimal("3.5"), Decimal("4.5")]
    assert grow([Fraction(1, 2)], size=2)[0][0] == [Fraction(1, 2), Fraction(3, 2)]


def test_what_is_no_number_stays():
    (new,), _ = grow([float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), True, None], size=12)
    assert len(new) == 12
    assert grow([1.0, 10**400], size=4)[0][0][2] == 1.0, "a step beyond all floats"
    assert new[10:] == [True, None]


def test_mutable_items_are_not_shared_between_rounds():
    (rows,), _ = grow([[1], {2}, {"a": [3]}], size=9, vary=False)
    rows[0].append("changed")
    rows[1].add("changed")
    assert rows[3] == [1]
    assert rows[4] == {2}


def test_a_set_of_things_that_cannot_vary_says_that_it_cannot_grow():
    with pytest.raises(CannotGrowError, match="a set of 2 items grew to 2 only"):
        grow({Colour.RED, Colour.GREEN}, size=20)


def test_a_set_and_a_mapping_grow_by_new_keys_also_where_nothing_is_to_be_varied():
    assert len(grow({1, 2}, size=50, vary=False)[0][0]) == 50
    (counts,), _ = grow({"a": 1, "b": 2}, size=50, vary=False)
    assert len(counts) == 50
    assert {type(value) for value in counts.values()} == {int}


def test_a_size_below_the_recorded_one_cuts():
    assert grow([1, 2, 3], size=2)[0][0] == [1, 2]


def test_arguments_that_cannot_grow_say_so():
    with pytest.raises(CannotGrowError, match="no argument of this call"):
        grow(3, size=10)


def test_every_call_is_built_anew(tmp_path):
    pickled = pickle.dumps((([1, 2], [[]]), {}))
    (tmp_path / "calls").write_bytes(b'{"recording": 1}\n{"length": %d}\n' % len(pickled) + pickled)
    for mode in ("varied", "repeated", "recorded"):
        build = builder(str(tmp_path / "calls"), 0, mode)
        first, second = build(2, 1)[0], build(2, 1)[0]
        assert first == second
        first[0].clear()
        assert second[0] == build(2, 1)[0][0] == [1, 2]
    build = builder(str(tmp_path / "calls"), 0, "varied")
    assert [len(build(size, 1)[0][0]) for size in (2, 20, 2)] == [2, 20, 2]


def test_the_file_of_another_program_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b'{"other": 1}\n')
    with pytest.raises(ValueError, match="not a recording"):
        builder(str(tmp_path / "file"), 0, "recorded")
    (tmp_path / "file").write_bytes(b'{"recording": 1}\n')
    with pytest.raises(ValueError, match="has no call 0"):
        builder(str(tmp_path / "file"), 0, "recorded")
