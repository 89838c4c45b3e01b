"""Strict reading of TOML: every key is asked for by its type, and what nobody asked for is an error."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn, TypeGuard

from best_agent.errors import TaskError

_REQUIRED: Final = object()
_MAX_NUMBER: Final = 1e30
Number = int | float


def suggestion(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'sizes'?)` where a known word is near, else nothing."""
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(repr(name) for name in near)}?)" if near else ""


def read_table(path: Path, text: str) -> "Table":
    """The top table of a TOML file.

    Raises:
        TaskError: the text is not TOML; the message names the file and the line.
    """
    try:
        return Table(tomllib.loads(text), path)
    except ValueError as error:  # TOMLDecodeError is one; so is a number of thousands of digits
        raise TaskError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise TaskError(f"{path}: nested too deeply") from None


class Table:
    """A table of a TOML file whose keys are taken one by one.

    Every method that takes a key raises TaskError, naming the file and the key, where the key is missing
    (and has no default) or its value has another type.
    """

    def __init__(self, values: Mapping[str, object], path: Path, prefix: str = "") -> None:
        self._values = values
        self._path = path
        self._prefix = prefix
        self._asked: list[str] = []

    def refuse(self, key: str, problem: str) -> NoReturn:
        """Raise TaskError about a key of this table."""
        raise TaskError(f"{self._path}: {self._prefix}{key}: {problem}")

    def _take(self, key: str, default: object = _REQUIRED) -> object:
        self._asked.append(key)
        if key in self._values:
            return self._values[key]
        if default is _REQUIRED:
            near = difflib.get_close_matches(key, list(self._values), n=1)
            self.refuse(key, f"missing (is '{near[0]}' meant to be it?)" if near else "missing")
        return default

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not blank."""
        value = self._take(key, _REQUIRED if default is None else default)
        if not isinstance(value, str) or not value.strip():
            self.refuse(key, f"must be text, not {_shown(value)}")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number from 1."""
        value = self._take(key, _REQUIRED if default is None else default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.refuse(key, f"must be a whole number from 1, not {_shown(value)}")
        return value

    def number(self, key: str, default: Number | None = None) -> float:
        """A finite number above 0."""
        value = self._take(key, _REQUIRED if default is None else default)
        if not is_positive(value):
            self.refuse(key, f"must be a number above 0, not {_shown(value)}")
        return float(value)

    def optional_number(self, key: str) -> float | None:
        """A finite number above 0, or None where the key is absent."""
        self._asked.append(key)
        return self.number(key) if key in self._values else None

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """An array of strings, each not blank."""
        values = self._array(key, default)
        for value in values:
            if not isinstance(value, str) or not value.strip():
                self.refuse(key, f"must be an array of texts, but holds {_shown(value)}")
        return tuple(str(value) for value in values)

    def numbers(self, key: str) -> tuple[float, ...]:
        """An array of finite numbers above 0, not empty."""
        return self._numbers(key, self._array(key))

    def optional_numbers(self, key: str) -> tuple[float, ...] | None:
        """An array of finite numbers above 0, or None where the key is absent."""
        self._asked.append(key)
        return self.numbers(key) if key in self._values else None

    def rows(self, key: str) -> tuple[tuple[float, ...], ...]:
        """An array of arrays of finite numbers above 0."""
        rows: list[tuple[float, ...]] = []
        for row in self._array(key):
            if not isinstance(row, list):
                self.refuse(key, f"must be an array of arrays of numbers, but holds {_shown(row)}")
            rows.append(self._numbers(key, row))
        return tuple(rows)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """An array of [text, text]."""
        pairs: list[tuple[str, str]] = []
        for pair in self._array(key):
            match pair:
                case [str(first), str(second)]:
                    pairs.append((first, second))
                case _:
                    self.refuse(key, f'must be an array of ["name", "type"], but holds {_shown(pair)}')
        return tuple(pairs)

    def table(self, key: str) -> "Table":
        """A table within this one."""
        value = self._take(key)
        if not isinstance(value, dict):
            self.refuse(key, f"must be a table, not {_shown(value)}")
        return Table(value, self._path, f"{self._prefix}{key}.")

    def tables(self, key: str) -> "tuple[Table, ...]":
        """An array of tables, not empty."""
        values = self._take(key)
        if not isinstance(values, list) or not values:
            self.refuse(key, f"must be one or more [[{self._prefix}{key}]] tables, not {_shown(values)}")
        found: list[Table] = []
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                self.refuse(
                    key, f"must be one or more [[{self._prefix}{key}]] tables, but holds {_shown(value)}"
                )
            found.append(Table(value, self._path, f"{self._prefix}{key}[{number}]."))
        return tuple(found)

    def subtables(self) -> "Mapping[str, Table]":
        """Every key of this table as a table, for tables whose keys are names."""
        return {key: self.table(key) for key in self._values}

    def finish(self) -> None:
        """Raise TaskError at a key that was not asked for."""
        for key in self._values:
            if key not in self._asked:
                known = ", ".join(sorted(set(self._asked)))
                self.refuse(key, f"unknown key{suggestion(key, self._asked)}; the keys here are: {known}")

    def _array(self, key: str, default: Sequence[str] | None = None) -> Sequence[object]:
        value = self._take(key, _REQUIRED if default is None else list(default))
        if not isinstance(value, list):
            self.refuse(key, f"must be an array, not {_shown(value)}")
        return value

    def _numbers(self, key: str, values: Sequence[object]) -> tuple[float, ...]:
        if not values:
            self.refuse(key, "must hold at least one number")
        numbers: list[float] = []
        for value in values:
            if not is_positive(value):
                self.refuse(key, f"must hold numbers above 0, but holds {_shown(value)}")
            numbers.append(value)
        return tuple(numbers)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_positive(value: object) -> TypeGuard[Number]:
    """Whether a value is a number above 0 that all arithmetic on sizes and limits can take."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_NUMBER
