"""Types of a function task's signature in C++, and the input format of its driver.

| signature | C++ |
|---|---|
| `int` | `long long` |
| `float` | `double` |
| `bool` | `bool` |
| `str` | `std::string` (UTF-8) |
| `list[T]` | `std::vector<T>` |
| `tuple[A, B]` | `std::pair<A, B>` |
| `tuple[A, B, C, ...]` of any other length | `std::tuple<A, B, C, ...>` |
| `None` (result only) | `void` |

Values travel in the machine's own byte order, which they never leave: int and float as 8 bytes, bool
as one, str and list as a length of 8 bytes and their content, a tuple as its parts.
"""

import struct
from array import array
from collections.abc import Sequence

from best_agent.errors import TaskError
from best_agent.model.task import Signature
from best_agent.model.value_types import ValueType, parse_type

_SCALARS = {"int": "long long", "float": "double", "bool": "bool", "str": "std::string"}
_LENGTH = struct.Struct("=Q")
_INT = struct.Struct("=q")
_FLOAT = struct.Struct("=d")
_EXACT_FLOAT = 1 << 53


def spelling(kind: ValueType) -> str:
    """The type as C++ writes it."""
    if not kind.items:
        return _SCALARS[kind.name]
    inner = ", ".join(map(spelling, kind.items))
    if kind.name == "list":
        return f"std::vector<{inner}>"
    return f"std::pair<{inner}>" if len(kind.items) == 2 else f"std::tuple<{inner}>"


def parameter_types(signature: Signature) -> list[str]:
    """The parameters' types in C++.

    Raises:
        TaskError: a type is none that a signature knows.
    """
    return [spelling(parse_type(text)) for _, text in signature.parameters]


def result_type(signature: Signature) -> str:
    """The result's type in C++; `None` is void.

    Raises:
        TaskError: the type is none that a signature knows.
    """
    return "void" if signature.returns.strip() == "None" else spelling(parse_type(signature.returns))


def encode(arguments: tuple[object, ...], signature: Signature) -> bytes:
    """The arguments as the generated driver reads them.

    Raises:
        TaskError: a value does not fit the signature; names the parameter.
    """
    if len(arguments) != len(signature.parameters):
        raise TaskError(
            f"the signature has {len(signature.parameters)} parameters, the input {len(arguments)} values"
        )
    out = bytearray()
    for value, (name, text) in zip(arguments, signature.parameters, strict=True):
        try:
            _encode(value, parse_type(text), out)
        except (OverflowError, UnicodeEncodeError, struct.error, TypeError) as error:
            raise TaskError(f"the value of parameter '{name}' is no {text} in C++: {error}") from None
    return bytes(out)


def _encode(value: object, kind: ValueType, out: bytearray) -> None:
    if kind.name == "list":
        _encode_list(value, kind.items[0], out)
    elif kind.name == "tuple":
        if type(value) is not tuple or len(value) != len(kind.items):
            raise TypeError(f"{_shown(value)} is not a tuple of {len(kind.items)}")
        for item, part in zip(value, kind.items, strict=True):
            _encode(item, part, out)
    else:
        _encode_scalar(value, kind.name, out)


def _encode_scalar(value: object, name: str, out: bytearray) -> None:
    if name == "int" and type(value) is int:
        out += _INT.pack(value)
    elif name == "float" and _is_float(value):
        out += _FLOAT.pack(value)
    elif name == "bool" and type(value) is bool:
        out.append(value)
    elif name == "str" and type(value) is str:
        data = value.encode("utf-8")
        out += _LENGTH.pack(len(data)) + data
    else:
        raise TypeError(f"{_shown(value)} is not {name}")


def _encode_list(value: object, part: ValueType, out: bytearray) -> None:
    if type(value) is not list:
        raise TypeError(f"{_shown(value)} is not a list")
    out += _LENGTH.pack(len(value))
    if part.name == "int" and _all_of(value, int):
        out += array("q", value).tobytes()
    elif part.name == "float" and _all_of(value, float):
        out += array("d", value).tobytes()
    else:
        for item in value:
            _encode(item, part, out)


def _all_of(values: Sequence[object], kind: type) -> bool:
    return set(map(type, values)) <= {kind}


def _is_float(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= _EXACT_FLOAT)


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, list | tuple | dict | set) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."
