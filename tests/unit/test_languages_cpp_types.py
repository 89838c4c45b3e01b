"""Signatures in C++, and the strictness of the input that is made from them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import TaskError
from best_agent.languages import cpp
from best_agent.languages.cpp_types import encode, parameter_types, result_type
from best_agent.model.task import Signature


def signature(*kinds: str, returns: str = "int") -> Signature:
    return Signature(parameters=tuple((f"p{i}", kind) for i, kind in enumerate(kinds)), returns=returns)


@pytest.mark.parametrize(
    ("kind", "spelled"),
    [
        ("int", "long long"),
        ("float", "double"),
        ("bool", "bool"),
        ("str", "std::string"),
        ("list[int]", "std::vector<long long>"),
        (" list [ list[ str ] ] ", "std::vector<std::vector<std::string>>"),
        ("tuple[int, str]", "std::pair<long long, std::string>"),
        ("tuple[int]", "std::tuple<long long>"),
        ("tuple[int, float, bool]", "std::tuple<long long, double, bool>"),
        ("list[tuple[int,list[bool]]]", "std::vector<std::pair<long long, std::vector<bool>>>"),
    ],
)
def test_types_are_spelled_as_documented(kind, spelled):
    assert parameter_types(signature(kind)) == [spelled]
    assert result_type(signature(returns=kind)) == spelled


def test_a_function_may_have_no_result():
    assert result_type(signature(returns="None")) == "void"


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "None",
        "dict[str, int]",
        "list",
        "list[]",
        "list[int, int]",
        "list[int",
        "int]",
        "object",
        "list[None]",
    ],
)
def test_types_that_c_cannot_be_given_are_refused_by_name(kind):
    with pytest.raises(TaskError):
        parameter_types(signature(kind))
    with pytest.raises(TaskError):
        encode((1,), signature(kind))


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_eight_bytes_after_their_count(values):
    assert encode((values,), signature("list[int]")) == struct.pack(f"=Q{len(values)}q", len(values), *values)


@given(st.lists(st.tuples(st.text(), st.floats(), st.booleans())))
def test_mixed_values_are_laid_out_part_by_part(values):
    expected = struct.pack("=Q", len(values))
    for text, number, flag in values:
        data = text.encode()
        expected += struct.pack("=Q", len(data)) + data + struct.pack("=d?", number, flag)
    assert encode((values,), signature("list[tuple[str, float, bool]]")) == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", 2**63),
        ("int", -(2**63) - 1),
        ("list[int]", [1, 2**63]),
        ("int", True),
        ("list[int]", [True]),
        ("list[int]", [1.0]),
        ("list[int]", (1, 2)),
        ("bool", 1),
        ("float", "1"),
        ("float", True),
        ("float", 2**60 + 1),
        ("str", b"bytes"),
        ("str", "\ud800"),
        ("tuple[int, int]", (1,)),
        ("tuple[int, int]", [1, 2]),
        ("list[list[int]]", [[1], None]),
        ("str", None),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_parameter(kind, value):
    with pytest.raises(TaskError, match="parameter 'p1'"):
        encode(("first", value), signature("str", kind))


def test_a_whole_number_that_a_float_holds_exactly_is_one():
    assert encode((3,), signature("float")) == struct.pack("=d", 3.0)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_values_is_refused(count):
    with pytest.raises(TaskError, match="2 parameters"):
        encode((1,) * count, signature("int", "int"))


def test_without_a_signature_there_is_no_input_for_c():
    with pytest.raises(TaskError, match="signature"):
        cpp.encode_arguments((1,), None)
