"""Reading JSON that somebody else wrote: every surprise is a ResultsError that names the place."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from best_agent.errors import ResultsError


class Place:
    """Where in which file a value stands, as people find it: `r.json: [3].results.alpha.level0`."""

    # Millions of cases are read and hardly any is refused: a place is put into words only then.
    __slots__ = ("step", "within")

    def __init__(self, step: Path | str | int, within: "Place | None" = None) -> None:
        self.step = step
        self.within = within

    def __truediv__(self, step: str | int) -> "Place":
        return Place(step, self)

    def __str__(self) -> str:
        steps: list[str] = []
        here = self
        while here.within is not None:
            steps.append(f"[{here.step}]" if isinstance(here.step, int) else f".{here.step}")
            here = here.within
        path = "".join(reversed(steps)).removeprefix(".")
        return f"{here.step}: {path}" if path else str(here.step)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error about this place.

        Raises:
            ResultsError: always.
        """
        raise ResultsError(printable(f"{self}: {what}"))


def printable(line: str) -> str:
    """The line with control characters written out, so that a name in a file cannot drive a terminal."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


def load(path: Path) -> Any:  # noqa: ANN401  (whatever JSON holds; the readers check it)
    """The JSON value in a file; NaN, infinities and repeated keys are refused.

    Raises:
        ResultsError: the file cannot be read or is not JSON.
    """
    place = Place(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        place.refuse(f"cannot be read ({error.strerror})")
    except UnicodeDecodeError as error:
        place.refuse(f"is not UTF-8 text (byte {error.start})")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            place.refuse(f"the key '{twice}' stands twice in one object; one of the two would be lost")
        return found

    def number(word: str) -> NoReturn:
        place.refuse(f"{word} is not a number that JSON knows")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=number)
    except json.JSONDecodeError as error:
        place.refuse(f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}")
    except RecursionError:
        place.refuse("is nested too deeply to be results")
    except ValueError:
        place.refuse("holds a number too long to be read")


def mapping(value: object, place: Place) -> dict[str, Any]:
    """The value as an object."""
    if not isinstance(value, dict):
        place.refuse(f"must be an object, not {_kind(value)}")
    return value


def items(value: object, place: Place) -> Iterator[tuple[Any, Place]]:
    """The elements of a list, each with its place."""
    if not isinstance(value, list):
        place.refuse(f"must be a list, not {_kind(value)}")
    return ((element, place / number) for number, element in enumerate(value))


def text(value: object, place: Place) -> str:
    """The value as a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        place.refuse(f"must be a text, not {_kind(value)}")
    return name(value, place)


def name(value: str, place: Place) -> str:
    """The value as a name that is safe to show: no control characters, which could drive a terminal."""
    if not value.strip() or not value.isprintable():
        place.refuse(f"{value[:40]!r} is not a name: it is empty or has characters that cannot be printed")
    return value


def whole(value: object, place: Place, *, least: int, most: int) -> int:
    """The value as a whole number; a text of digits is one too, as the public harness writes them."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        place.refuse(f"must be a whole number from {least} to {most}, not {_kind(value)}")
    return value


def positive(value: object, place: Place, *, most: float = 1e15) -> float:
    """The value as a number above 0."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
        place.refuse(f"must be a number above 0 and up to {most:g}, not {_kind(value)}")
    return float(value)


def flag(value: object, place: Place) -> bool:
    """The value as true or false."""
    if not isinstance(value, bool):
        place.refuse(f"must be true or false, not {_kind(value)}")
    return value


def known_keys(found: dict[str, Any], place: Place, *, needed: set[str], allowed: set[str]) -> None:
    """Refuse an object that lacks a needed key or has one that nobody knows."""
    for key in sorted(needed - found.keys()):
        place.refuse(f"lacks the key '{key}'")
    for key in sorted(found.keys() - needed - allowed):
        place.refuse(f"has the unknown key '{key}'; known are {', '.join(sorted(needed | allowed))}")


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f"'{value[:40]}'" if value.strip() else "an empty text"
    if isinstance(value, bool | int | float):
        return str(value)[:40]
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value), type(value).__name__)
