import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.worker import canon

hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=4)
    ),
    max_leaves=12,
)


def digest(value, own=lambda module: False, **options):
    return canon.Walker(own, **options).canon(value)


def plain(value):
    """Equality that knows types and NaN, written another way than the digest."""
    if isinstance(value, float):
        return ("float", "nan" if value != value else value.hex())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [plain(item) for item in value])
    if isinstance(value, dict):
        return ("dict", [(plain(key), plain(item)) for key, item in value.items()])
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, sorted(repr(plain(item)) for item in value))
    return (type(value).__name__, repr(value))


@given(values)
def test_a_copy_has_the_same_digest(value):
    assert digest(copy.deepcopy(value)) == digest(value)


@given(values, values)
def test_digests_are_equal_exactly_where_values_are(one, other):
    assert (digest(one).exact == digest(other).exact) == (plain(one) == plain(other))


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.data())
def test_the_shape_does_not_hang_on_the_values_of_floats(numbers, data):
    others = data.draw(st.lists(st.floats(allow_nan=False), min_size=len(numbers), max_size=len(numbers)))
    one, other = digest({"x": numbers}), digest({"x": others})
    assert one.shape == other.shape
    assert one.floats == tuple(numbers)


def test_lists_are_taken_in_at_once_or_one_by_one_with_the_same_distinctions():
    lists = [
        [1, 2],
        ["1", 2],
        [True, 2],
        [1, None],
        [1.0, 2.0],
        [1.0, 2],
        [[1], [2]],
        [[1, 2], []],
        [(1,), (2,)],
    ]
    assert len({digest(one).exact for one in lists}) == len(lists)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Words(list):
    pass


Pair = collections.namedtuple("Pair", "a b")

UNLIKE = [
    Point(1, 2.0),
    Point(1, 2.5),
    Point(2, 2.0),
    Slotted(1),
    Slotted(2),
    Words([1]),
    Words([2]),
    [1],
    Pair(1, 2),
    (1, 2),
    Colour.RED,
    Colour.BLUE,
    collections.OrderedDict(a=1),
    {"a": 1},
    collections.Counter("aab"),
    collections.deque([1, 2]),
    collections.deque([1, 2], maxlen=2),
    decimal.Decimal("1.0"),
    decimal.Decimal("1.00"),
    fractions.Fraction(1, 3),
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    pathlib.PurePosixPath("a"),
    re.compile("a"),
    re.compile("a", re.I),
    bytearray(b"a"),
    b"a",
    range(3),
    range(0, 3, 2),
    1 + 2j,
    Ellipsis,
    int,
    str,
    len,
    ValueError("a"),
    ValueError("b"),
    "\ud800",
    10**400,
]


def test_objects_are_compared_by_type_and_state():
    assert len({digest(value).exact for value in UNLIKE}) == len(UNLIKE)
    for value in UNLIKE:
        assert digest(copy.deepcopy(value)).exact == digest(value).exact
        assert digest(value).opaque == ()


def test_what_cannot_be_looked_into_is_compared_by_type_and_named():
    found = digest([threading.Lock(), sys.stdout.buffer, (n for n in ())])
    assert len(found.opaque) == 3


class Hostile:
    def __reduce_ex__(self, protocol):
        raise RuntimeError("no")


class Lying:
    def __reduce_ex__(self, protocol):
        return 5


@pytest.mark.parametrize("value", [Hostile(), Lying()])
def test_a_class_that_refuses_is_no_trouble(value):
    assert len(digest(value).opaque) == 1


def test_cycles_end():
    ring = [1]
    ring.append(ring)
    other = [1]
    other.append(other)
    deeper = [1, [1]]
    deeper[1].append(deeper)
    assert digest(ring).exact == digest(other).exact
    assert digest(ring).exact != digest(deeper).exact


def test_a_million_links_are_not_too_deep():
    head = None
    for number in range(200_000):
        head = (number, head)
    assert digest(head).exact == digest(head).exact
    while head:  # taken apart link by link: the interpreter frees nested tuples by recursion
        head = head[1]


def test_more_parts_than_can_be_compared_are_an_answer(monkeypatch):
    monkeypatch.setattr(canon, "MAX_NODES", 10)
    with pytest.raises(canon.TooLarge):
        digest([[[n]] for n in range(20)])


def test_classes_of_the_target_itself_are_named_without_its_module():
    walker = canon.Walker(lambda module: module == __name__)
    assert walker.type_name(Point) == ".Point"
    assert digest(Point(1, 2.0), own=lambda module: module == __name__) != digest(Point(1, 2.0))


def test_inputs_compare_instances_of_own_classes_by_type_only():
    own = {"own": lambda module: module == __name__, "opaque_own": True}
    assert digest([Point(1, 2.0)], **own) == digest([Point(5, 6.0)], **own)
    assert digest([Point(1, 2.0)], **own) != digest([Slotted(1)], **own)


def test_sets_of_strings_are_equal_in_processes_with_other_hash_seeds():
    program = (
        "from best_agent.worker import canon\n"
        "pairs = {frozenset({'a', 'b', n}) for n in range(20)}\n"
        "value = [{str(n) for n in range(50)}, pairs, {0.1, 0.2, 'x'}]\n"
        "print(canon.Walker(lambda module: False).canon(value).exact)"
    )
    answers = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        answers.add(subprocess.check_output([sys.executable, "-c", program], env=environment))
    assert len(answers) == 1


def test_numpy_arrays_are_compared_by_dtype_shape_and_contents():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed here")
    arrays = [
        numpy.zeros(3),
        numpy.zeros(3, dtype="float32"),
        numpy.zeros((1, 3)),
        numpy.ones(3),
        numpy.float64(1),
    ]
    assert len({digest(array).exact for array in arrays}) == len(arrays)


def test_addresses_are_taken_out_of_messages():
    assert canon.without_addresses(f"no {object()!r}") == canon.without_addresses(f"no {object()!r}")
