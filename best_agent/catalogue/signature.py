"""Values held against the types of a task's signature."""

from typing import cast

from best_agent.model.task import Signature
from best_agent.model.value_types import SCALARS, ValueType, parse_type

_INT64 = range(-(2**63), 2**63)


def mismatch(value: object, expected: ValueType, where: str) -> str | None:
    """How a value differs from a type, in one line that starts with `where`, or None.

    Types are exact: True is no int, a subclass of list is no list. Integers must fit 64 bits, so that
    every language can take them.
    """
    if expected.name in SCALARS:
        return _scalar_mismatch(value, expected.name, where)
    kind: type = list if expected.name == "list" else tuple
    if type(value) is not kind:
        return f"{where} is {_named(value)}, not {expected}"
    assert isinstance(value, list | tuple)
    if expected.name == "tuple" and len(value) != len(expected.items):
        return f"{where} has {len(value)} items, not the {len(expected.items)} of {expected}"
    if expected.name == "list" and _all_fit(value, expected.items[0].name):
        return None
    for number, item in enumerate(value):
        inner = expected.items[0] if expected.name == "list" else expected.items[number]
        if (problem := mismatch(item, inner, f"{where}[{number}]")) is not None:
            return problem
    return None


def _all_fit(values: list[object] | tuple[object, ...], name: str) -> bool:
    """Whether all values are of a scalar type, seen at the speed that inputs of a million items need."""
    if name not in SCALARS or not set(map(type, values)) <= {SCALARS[name]}:
        return False
    if name == "str":
        return all(map(_is_whole, cast("list[str]", values)))
    if name != "int" or not values:
        return True
    numbers = cast("list[int]", values)
    return min(numbers) in _INT64 and max(numbers) in _INT64


def _scalar_mismatch(value: object, name: str, where: str) -> str | None:
    if type(value) is not SCALARS[name]:
        return f"{where} is {_named(value)}, not {name}"
    if isinstance(value, int) and value not in _INT64:
        return f"{where} does not fit into 64 bits"
    if isinstance(value, str) and not _is_whole(value):
        return f"{where} holds half of a character (a lone surrogate)"
    return None


def _is_whole(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _named(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def arguments_mismatch(arguments: object, signature: Signature) -> str | None:
    """How the arguments of a call differ from a signature, or None."""
    if type(arguments) is not tuple:
        return f"the arguments are {_named(arguments)}, not a tuple"
    if len(arguments) != len(signature.parameters):
        return f"{len(arguments)} arguments, but the signature has {len(signature.parameters)}"
    for value, (name, type_text) in zip(arguments, signature.parameters, strict=True):
        if (problem := mismatch(value, parse_type(type_text), f"'{name}'")) is not None:
            return problem
    return None
