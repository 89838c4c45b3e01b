"""Are two outputs the same? Values by type and content, floats by tolerance; text by tokens or exactly."""

import math
from collections import deque
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from best_agent.judge.answers import Opaque

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
_SHOWN = 60


class Difference(NamedTuple):
    """Where two outputs part, in words: `at [3][0]: expected 5, got 6`."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"at {self.path}: {self.what}" if self.path else self.what


def value_difference(expected: object, got: object) -> Difference | None:
    """The first difference between two values, or None.

    Types must be the same, except that an int may stand where a float is expected: both are one number. Sets
    and dicts have no order. Floats are equal within a relative tolerance of 1e-9 (inside of sets: exactly).
    """
    return _difference(expected, got, "")


def text_difference(expected: bytes, got: bytes, *, exact: bool) -> Difference | None:
    """The first difference between two standard outputs, or None; by white-space tokens unless `exact`."""
    if exact:
        if expected == got:
            return None
        return _first_pair(expected.split(b"\n"), got.split(b"\n"), "line")
    return _first_pair(expected.split(), got.split(), "token")


def _first_pair(expected: Sequence[bytes], got: Sequence[bytes], unit: str) -> Difference | None:
    for number, (left, right) in enumerate(zip(expected, got, strict=False), 1):
        if left != right:
            return Difference("", f"{unit} {number}: expected {_show(left)}, got {_show(right)}")
    if len(expected) != len(got):
        return Difference("", f"expected {len(expected)} {unit}s, got {len(got)}")
    return None


def _difference(expected: object, got: object, path: str) -> Difference | None:
    if isinstance(got, Opaque):
        return Difference(path, f"got a {got.type_name}, a type that is no plain value")
    if _is_number(expected) and _is_number(got):
        return _number_difference(expected, got, path)
    if type(expected) is not type(got):
        return Difference(path, f"expected {_kind(expected)}, got {_kind(got)}")
    if isinstance(expected, (list, tuple, deque)) and isinstance(got, (list, tuple, deque)):
        return _sequence_difference(expected, got, path)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return _mapping_difference(expected, got, path)
    if isinstance(expected, Set) and isinstance(got, Set):
        return _set_difference(expected, got, path)
    return None if expected == got else _unequal(expected, got, path)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _number_difference(expected: object, got: object, path: str) -> Difference | None:
    assert isinstance(expected, (int, float))
    assert isinstance(got, (int, float))
    if type(expected) is int and type(got) is float:
        return Difference(path, f"expected the int {_show(expected)}, got the float {_show(got)}")
    return None if _close(expected, got) else _unequal(expected, got, path)


def _close(expected: float, got: float) -> bool:
    if type(expected) is int and type(got) is int:
        return expected == got
    try:
        left, right = float(expected), float(got)
    except OverflowError:
        return False
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)


def _sequence_difference(expected: Sequence[object], got: Sequence[object], path: str) -> Difference | None:
    for index, (left, right) in enumerate(zip(expected, got, strict=False)):
        found = _difference(left, right, f"{path}[{index}]")
        if found is not None:
            return found
    if len(expected) != len(got):
        return Difference(path, f"expected {len(expected)} elements, got {len(got)}")
    return None


def _mapping_difference(
    expected: Mapping[object, object], got: Mapping[object, object], path: str
) -> Difference | None:
    for key, value in expected.items():
        if key not in got:
            return Difference(path, f"the key {_show(key)} is missing")
        found = _difference(value, got[key], f"{path}[{_show(key)}]")
        if found is not None:
            return found
    for key in got:
        if key not in expected:
            return Difference(path, f"the key {_show(key)} is not expected")
    return None


def _set_difference(expected: Set[object], got: Set[object], path: str) -> Difference | None:
    if expected == got:
        return None
    for element in expected:
        if element not in got:
            return Difference(path, f"the element {_show(element)} is missing")
    return Difference(path, f"expected {len(expected)} elements, got {len(got)}")


def _unequal(expected: object, got: object, path: str) -> Difference:
    return Difference(path, f"expected {_show(expected)}, got {_show(got)}")


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else type(value).__name__


def _show(value: object) -> str:
    if isinstance(value, bytes):
        value = value[: 4 * _SHOWN].decode("utf-8", "replace")
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value[: 4 * _SHOWN] if isinstance(value, str) else value)
    except ValueError:  # a number inside is longer than CPython prints
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
