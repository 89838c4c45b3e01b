"""The types of a task's signature: read from their words, and held against values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from best_agent.errors import TaskError
from best_agent.model.task import Signature

SCALARS = {"int": int, "float": float, "str": str, "bool": bool}
_TOKEN = re.compile(r"\s*([a-z]+|[\[\],])", re.ASCII)
_MAX_DEPTH = 8
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueType:
    """`int`, `float`, `str`, `bool`, or a `list` or `tuple` of others."""

    name: str
    items: tuple["ValueType", ...] = ()
    """`list`: one; `tuple`: one for each position."""

    def __str__(self) -> str:
        inside = ", ".join(str(item) for item in self.items)
        return f"{self.name}[{inside}]" if inside else self.name


def parse_type(text: str) -> ValueType:
    """The type that a text such as `list[tuple[int, str]]` names.

    Raises:
        TaskError: it names none.
    """
    parser = _Parser(text)
    found = parser.value_type(0)
    parser.expect_end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split(text))
        self._at = 0

    def _split(self, text: str) -> Iterator[str]:
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error()
            yield match[1]
            position = match.end()

    def _error(self) -> TaskError:
        scalars = ", ".join(SCALARS)
        return TaskError(
            f"'{self._text}' is not a type; the types are {scalars}, list[T] and tuple[T, ...] of these"
        )

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise self._error()
        self._at += 1
        return self._tokens[self._at - 1]

    def value_type(self, depth: int) -> ValueType:
        name = self._next()
        if name in SCALARS:
            return ValueType(name=name)
        if name not in ("list", "tuple") or depth >= _MAX_DEPTH or self._next() != "[":
            raise self._error()
        items = [self.value_type(depth + 1)]
        while (separator := self._next()) == ",":
            items.append(self.value_type(depth + 1))
        if separator != "]" or (name == "list" and len(items) > 1):
            raise self._error()
        return ValueType(name=name, items=tuple(items))

    def expect_end(self) -> None:
        if self._at != len(self._tokens):
            raise self._error()


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
    for number, item in enumerate(value):
        inner = expected.items[0] if expected.name == "list" else expected.items[number]
        if (problem := mismatch(item, inner, f"{where}[{number}]")) is not None:
            return problem
    return None


def _scalar_mismatch(value: object, name: str, where: str) -> str | None:
    if type(value) is not SCALARS[name]:
        return f"{where} is {_named(value)}, not {name}"
    if isinstance(value, int) and value not in _INT64:
        return f"{where} does not fit into 64 bits"
    return None


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
