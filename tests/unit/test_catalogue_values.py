import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.catalogue.signature import arguments_mismatch, mismatch
from best_agent.errors import TaskError
from best_agent.model.task import Signature
from best_agent.model.value_types import SCALARS, ValueType, parse_type

scalars = st.sampled_from(sorted(SCALARS)).map(lambda name: ValueType(name=name))
types = st.recursive(
    scalars,
    lambda inner: st.one_of(
        inner.map(lambda item: ValueType(name="list", items=(item,))),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda items: ValueType(name="tuple", items=tuple(items))
        ),
    ),
    max_leaves=5,
)
VALUES = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False),
    "str": st.text(st.characters(codec="utf-8"), max_size=5),
    "bool": st.booleans(),
}


def values_of(kind):
    if kind.name == "list":
        return st.lists(values_of(kind.items[0]), max_size=4)
    if kind.name == "tuple":
        return st.tuples(*map(values_of, kind.items))
    return VALUES[kind.name]


@given(types)
def test_the_words_of_a_type_name_it(kind):
    assert parse_type(str(kind)) == kind
    assert parse_type(f"  {str(kind).replace(',', ' , ').replace('[', '[ ')} ") == kind


@given(types.flatmap(lambda kind: st.tuples(st.just(kind), values_of(kind))))
def test_a_value_of_a_type_fits_it(pair):
    kind, value = pair
    assert mismatch(value, kind, "x") is None


@given(types.flatmap(lambda kind: st.tuples(st.just(kind), values_of(kind))))
def test_a_value_does_not_fit_inside_of_one_list_more(pair):
    kind, value = pair
    assert mismatch([value], kind, "x") is not None or mismatch([], kind, "x") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "integer",
        "List[int]",
        "list",
        "list[]",
        "list[int",
        "list[int]]",
        "list[int,]",
        "list[int, int]",
        "tuple[]",
        "tuple[,int]",
        "[int]",
        "int int",
        "int[int]",
        "list(int)",
        "dict[str, int]",
        "int | str",
        "None",
        "list[" * 50 + "int" + "]" * 50,
        "l" * 10_000,
        "list[int];import os",
        "ïnt",
    ],
)
def test_what_is_no_type_is_refused_in_one_line(text):
    with pytest.raises(TaskError) as caught:
        parse_type(text)
    assert "is not a type; the types are int, float, str, bool, list[T]" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (True, "int", "x is of type bool, not int"),
        (1, "float", "x is of type int, not float"),
        (2**63, "int", "x does not fit into 64 bits"),
        ([1, 2**63], "list[int]", "x[1] does not fit into 64 bits"),
        ([1, 2.0], "list[int]", "x[1] is of type float, not int"),
        ((1,), "tuple[int, int]", "x has 1 items, not the 2 of tuple[int, int]"),
        ([(1, "a"), (2, 3)], "list[tuple[int, str]]", "x[1][1] is of type int, not str"),
        ("\ud800", "str", "x holds half of a character (a lone surrogate)"),
        (["a", "\udfff"], "list[str]", "x[1] holds half of a character (a lone surrogate)"),
    ],
)
def test_a_value_that_does_not_fit_is_found_where_it_is(value, text, expected):
    assert mismatch(value, parse_type(text), "x") == expected


def test_arguments_are_named_as_the_signature_names_them():
    signature = Signature(parameters=(("a", "int"), ("b", "list[int]")), returns="int")
    assert arguments_mismatch((1, [2]), signature) is None
    assert arguments_mismatch((1, [2, None]), signature) == "'b'[1] is None, not int"
    assert arguments_mismatch([1, [2]], signature) == "the arguments are of type list, not a tuple"
