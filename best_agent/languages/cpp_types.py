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

import re
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from best_agent.errors import TaskError
from best_agent.model.task import Signature

_SCALARS = {"int": "long long", "float": "double", "bool": "bool", "str": "std::string"}
_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[\[\],]|\S)")
_DEPTH = 16
_LENGTH = struct.Struct("=Q")
_INT = struct.Struct("=q")
_FLOAT = struct.Struct("=d")
_EXACT_FLOAT = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True)
class CppType:
    """A parsed type of a signature: `list`, `tuple`, `None` or a scalar, with its parts."""

    name: str
    parts: tuple["CppType", ...] = ()

    @property
    def spelling(self) -> str:
        """The type as C++ writes it."""
        if self.name == "None":
            return "void"
        if not self.parts:
            return _SCALARS[self.name]
        inner = ", ".join(part.spelling for part in self.parts)
        if self.name == "list":
            return f"std::vector<{inner}>"
        return f"std::pair<{inner}>" if len(self.parts) == 2 else f"std::tuple<{inner}>"


def parse_type(text: str, *, result: bool = False) -> CppType:
    """The type that a signature's text names; `None` only as a result.

    Raises:
        TaskError: C++ solutions cannot be given such a type.
    """
    tokens = _TOKEN.findall(text)
    if result and tokens == ["None"]:
        return CppType(name="None")
    parsed, rest = _parse(tokens, text, _DEPTH)
    if rest:
        raise TaskError(f"type '{text}': '{rest[0]}' is not expected here")
    return parsed


def _parse(tokens: list[str], text: str, depth: int) -> tuple[CppType, list[str]]:
    name, *rest = tokens or [""]
    if name in _SCALARS:
        return CppType(name=name), rest
    if name not in ("list", "tuple"):
        known = ", ".join((*_SCALARS, "list[T]", "tuple[A, B]"))
        raise TaskError(f"type '{text}': '{name}' is not a type that C++ solutions know; they know {known}")
    if depth == 0:
        raise TaskError(f"type '{text}': nested too deeply")
    parts: list[CppType] = []
    opening = "["
    while rest[:1] == [opening]:
        part, rest = _parse(rest[1:], text, depth - 1)
        parts.append(part)
        opening = ","
    if rest[:1] != ["]"] or not parts or (name == "list" and len(parts) != 1):
        raise TaskError(f"type '{text}': write {name} as {'list[T]' if name == 'list' else 'tuple[A, B]'}")
    return CppType(name=name, parts=tuple(parts)), rest[1:]


def declaration(signature: Signature, entry: str) -> str:
    """The function as a solution may declare it, for messages and prompts."""
    parameters = ", ".join(_parameter(parse_type(kind)) + name for name, kind in signature.parameters)
    return f"{parse_type(signature.returns, result=True).spelling} {entry}({parameters})"


def _parameter(kind: CppType) -> str:
    return f"{kind.spelling} " if kind.name in ("int", "float", "bool") else f"{kind.spelling}& "


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


def _encode(value: object, kind: CppType, out: bytearray) -> None:
    if kind.name == "list":
        _encode_list(value, kind.parts[0], out)
    elif kind.name == "tuple":
        if type(value) is not tuple or len(value) != len(kind.parts):
            raise TypeError(f"{_shown(value)} is not a tuple of {len(kind.parts)}")
        for item, part in zip(value, kind.parts, strict=True):
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


def _encode_list(value: object, part: CppType, out: bytearray) -> None:
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
