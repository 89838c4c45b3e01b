"""The types in a task's signature, read from their words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from best_agent.errors import TaskError

SCALARS = {"int": int, "float": float, "str": str, "bool": bool}
_TOKEN = re.compile(r"\s*([a-z]+|[\[\],])", re.ASCII)
_MAX_DEPTH = 8


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
            f"'{self._text[:60]}' is not a type; the types are {scalars}, list[T] and tuple[T, ...] of these"
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
