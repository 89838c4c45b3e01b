"""A result as restricted JSON: what the target sends is data, never something that is run or unpickled.

Only exact types are encoded as themselves. An instance of a subclass could do its work while it is being
read, outside of the measured call; it is sent as the name of its type.
"""

import collections
import json
import math
from collections.abc import Callable
from typing import Any, Final

DEPTH_AT_MOST: Final = 200
_EXACT_INT: Final = 1 << 53
_PLAIN: Final = frozenset({int, str, bool, type(None)})


class Whole(list[Any]):
    """The items of an iterator, drawn inside the measured call."""


class UnencodableError(Exception):
    """The answer is nested too deep."""


def make_whole(result: Any) -> Any:  # noqa: ANN401  (whatever a solution returns)
    """A result that costs nothing more to read: an iterator is drawn to its end."""
    if hasattr(type(result), "__next__"):
        return Whole(result)
    return result


def encode(value: Any) -> bytes:  # noqa: ANN401  (whatever a solution returns)
    """The text of an answer.

    Raises:
        UnencodableError: it is nested deeper than 200 levels.
    """
    return json.dumps(_tagged(value, 0), allow_nan=False, separators=(",", ":")).encode("ascii")


def _tagged(value: Any, depth: int) -> Any:  # noqa: ANN401  (whatever a solution returns)
    if depth > DEPTH_AT_MOST:
        raise UnencodableError
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_EXACT_INT < value < _EXACT_INT else {"i": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"f": repr(value)}
    convert = _CONVERSIONS.get(kind)
    if convert is None:
        return {"o": f"{kind.__module__}.{kind.__qualname__}"}
    return convert(value, depth)


def _items(values: Any, depth: int) -> list[Any]:  # noqa: ANN401  (whatever a solution returns)
    """Encoded items; a flat list of plain values, the common case, is taken as it is."""
    items = values if type(values) is list else list(values)
    kinds = set(map(type, items))
    if kinds <= _PLAIN:
        numbers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
        if int not in kinds or (min(numbers) > -_EXACT_INT and max(numbers) < _EXACT_INT):
            return items
    return [_tagged(item, depth + 1) for item in items]


def decode(text: bytes) -> Any:  # noqa: ANN401  (whatever was encoded)
    """A value that encodes to this text again, to find out what encoding it costs.

    Types that cannot be sent come back as something else; nothing is believed of the result.
    """
    return json.loads(text, object_hook=_rebuilt)


def _rebuilt(tagged: dict[str, Any]) -> Any:  # noqa: ANN401  (whatever a solution returns)
    tag, value = next(iter(tagged.items()))
    rebuild = _REBUILDING.get(tag)
    return value if rebuild is None else rebuild(value)


_REBUILDING: Final[dict[str, Callable[[Any], Any]]] = {
    "i": lambda text: int(text, 16),
    "f": float,
    "t": tuple,
    "s": lambda items: set(_hashable(items)),
    "z": lambda items: frozenset(_hashable(items)),
    "q": collections.deque,
    "g": Whole,
    "b": bytes.fromhex,
    "a": bytearray.fromhex,
    "c": lambda parts: complex(*parts),
    "r": lambda parts: range(*parts),
    "d": lambda pairs: dict(
        zip(_hashable([key for key, _ in pairs]), [item for _, item in pairs], strict=True)
    ),
}


def _hashable(items: list[Any]) -> list[Any]:
    return [repr(item) if isinstance(item, (list, dict, set)) else item for item in items]


_CONVERSIONS: Final[dict[type, Callable[[Any, int], Any]]] = {
    list: _items,
    tuple: lambda value, depth: {"t": _items(value, depth)},
    set: lambda value, depth: {"s": _items(value, depth)},
    frozenset: lambda value, depth: {"z": _items(value, depth)},
    collections.deque: lambda value, depth: {"q": _items(value, depth)},
    Whole: lambda value, depth: {"g": _items(value, depth)},
    bytes: lambda value, _: {"b": value.hex()},
    bytearray: lambda value, _: {"a": value.hex()},
    complex: lambda value, depth: {"c": [_tagged(value.real, depth), _tagged(value.imag, depth)]},
    range: lambda value, depth: {
        "r": [_tagged(part, depth) for part in (value.start, value.stop, value.step)]
    },
    dict: lambda value, depth: {
        "d": [[_tagged(key, depth + 1), _tagged(item, depth + 1)] for key, item in value.items()]
    },
}
