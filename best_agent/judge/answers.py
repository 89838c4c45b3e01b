"""The restricted encoding in which a function's result leaves the sandbox, read back without trust.

The encoding is JSON with one tagged object for each type that JSON lacks. Lists, strings, booleans, None,
integers below 2**53 in magnitude and finite floats stand for themselves; everything else is an object with
exactly one key:

    {"i": "-0x1f"} big integer     {"f": "nan" | "inf" | "-inf"}   {"c": [re, im]} complex
    {"t": [...]} tuple             {"s": [...]} set                {"z": [...]} frozenset
    {"q": [...]} deque             {"d": [[key, value], ...]} dict {"r": [start, stop, step]} range
    {"b": "hex"} bytes             {"a": "hex"} bytearray          {"g": [...]} iterator, made whole
    {"o": "module.Type"} a value that cannot be told

Nothing here evaluates or unpickles: every byte is the candidate's word.
"""

import json
import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_DEPTH = 200
MAX_NUMERAL = 100_000
"""Characters of a big integer; parsing hexadecimal is linear, so this bounds memory only."""


class AnswerError(ValueError):
    """The bytes are not an answer. The judge calls it a wrong answer, never harness trouble."""


class Opaque(NamedTuple):
    """A value of a type that answers cannot carry; equal to nothing, itself included."""

    type_name: str

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(self.type_name)


class Iterated(NamedTuple):
    """The elements of an iterator that was returned and made whole inside the measured call."""

    elements: tuple[object, ...]


def decode(data: bytes) -> object:
    """The value that an answer stands for.

    Raises:
        AnswerError: malformed, too deep, or using an unknown tag.
    """
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant, parse_int=_small_int)
        return _value(document, 0)
    except AnswerError:
        raise
    except RecursionError:
        raise AnswerError(f"nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        raise AnswerError(f"not an answer: {error}") from None


def _refuse_constant(text: str) -> object:
    raise AnswerError(f"the number {text} stands without its tag")


def _small_int(text: str) -> int:
    if len(text) > 17:
        raise AnswerError("an integer beyond 2**53 stands without its tag")
    return int(text)


def _value(node: object, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise AnswerError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(node, list):
        return [_value(item, depth + 1) for item in node]
    if isinstance(node, dict):
        return _tagged(node, depth)
    if isinstance(node, float) and not math.isfinite(node):
        raise AnswerError("a float that is not finite stands without its tag")
    return node


def _tagged(node: dict[str, object], depth: int) -> object:
    if len(node) != 1:
        raise AnswerError(f"an object with {len(node)} keys where a tag is expected")
    ((tag, content),) = node.items()
    reader = _READERS.get(tag)
    if reader is None:
        raise AnswerError(f"unknown tag {tag[:20]!r}")
    return reader(content, depth + 1)


def _items(content: object, depth: int) -> Iterator[object]:
    if not isinstance(content, list):
        raise AnswerError("a tag that holds no list")
    return (_value(item, depth) for item in content)


def _hashable(content: object, depth: int) -> frozenset[object]:
    try:
        return frozenset(_items(content, depth))
    except TypeError:
        raise AnswerError("a set with an element that cannot be hashed") from None


def _mapping(content: object, depth: int) -> dict[object, object]:
    result: dict[object, object] = {}
    for pair in _items(content, depth):
        if not isinstance(pair, list) or len(pair) != 2:
            raise AnswerError("a dict entry that is no pair")
        try:
            result[pair[0]] = pair[1]
        except TypeError:
            raise AnswerError("a dict key that cannot be hashed") from None
    return result


def _text(content: object) -> str:
    if not isinstance(content, str):
        raise AnswerError("a tag that holds no text")
    return content


def _big_int(content: object, _depth: int) -> int:
    text = _text(content)
    if len(text) > MAX_NUMERAL:
        raise AnswerError(f"an integer of more than {MAX_NUMERAL} digits")
    return int(text, 16)


def _special_float(content: object, _depth: int) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise AnswerError("an unknown special float")
    return float(_text(content))


def _complex(content: object, depth: int) -> complex:
    parts = list(_items(content, depth))
    if len(parts) != 2 or not all(type(part) is float for part in parts):
        raise AnswerError("a complex number that is no pair of floats")
    real, imaginary = parts
    assert isinstance(real, float)
    assert isinstance(imaginary, float)
    return complex(real, imaginary)


def _range(content: object, depth: int) -> range:
    parts = list(_items(content, depth))
    if len(parts) != 3 or not all(type(part) is int for part in parts):
        raise AnswerError("a range that is no triple of integers")
    start, stop, step = (part for part in parts if isinstance(part, int))
    return range(start, stop, step)


_READERS: dict[str, Callable[[object, int], object]] = {
    "i": _big_int,
    "f": _special_float,
    "c": _complex,
    "t": lambda content, depth: tuple(_items(content, depth)),
    "s": lambda content, depth: set(_hashable(content, depth)),
    "z": _hashable,
    "q": lambda content, depth: deque(_items(content, depth)),
    "d": _mapping,
    "r": _range,
    "b": lambda content, _depth: bytes.fromhex(_text(content)),
    "a": lambda content, _depth: bytearray.fromhex(_text(content)),
    "g": lambda content, depth: Iterated(tuple(_items(content, depth))),
    "o": lambda content, _depth: Opaque(_text(content)[:200]),
}
