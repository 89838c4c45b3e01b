"""Builds arguments from recorded calls, as they were or grown to a size.

The file was written by this interpreter from the user's own tests (see catching.py) and is read back by
it alone; the tool reads only the lines of JSON.

What grows: the longest of the arguments that are lists, tuples of one type, sets, mappings of one type or,
where there are none, texts; and with it those of the same length. They grow by repetition, each round
varied so that what was distinct stays distinct, what was sorted stays sorted and a permutation stays one.
Numbers that are arguments themselves stay as they are: nobody can know which of them is a size.
"""

# ruff: noqa: ANN401  (arguments can be of any type)

import collections
import copy
import decimal
import fractions
import itertools
import json
import math
import pickle
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

Arguments = Tuple[Tuple[Any, ...], Dict[str, Any]]

MODES = ("varied", "repeated", "recorded")
"""Repeated with variation, repeated as it is, not grown at all: to be tried in this order."""

_SEQUENCES = (list, collections.deque)
_SETS = (set, frozenset)
_TEXTS = (str, bytes, bytearray)
_NUMBERS = (int, float, decimal.Decimal, fractions.Fraction)
_SHORTEST_TUPLE = 4
"""Shorter ones are records: points, ranges, colours."""
_SHORTEST_COMPANION = 8
"""A text grows together with a list only from this length: shorter ones of equal length are chance."""
_DEEPEST = 20
_LETTERS = re.compile(r"[^\W\d_]+")
_LAST_DIGITS = re.compile(r"\d+(?=\D*\Z)", re.ASCII)


class CannotGrowError(ValueError):
    """The arguments of this call do not grow to the size that was asked for."""


def builder(path: str, index: int, mode: str) -> Callable[[int, int], Arguments]:
    """A function (size, seed) that builds fresh arguments from call `index` of a recording.

    In mode `recorded` the size is not looked at. The seed changes the texts that are varied in, nothing
    else.

    Raises:
        ValueError: the file is not a recording, or has no such call.
    """
    recorded = _read(path, index)
    last: Dict[Tuple[int, int], bytes] = {}

    def build(size: int, seed: int) -> Arguments:
        if mode == "recorded":
            return _loaded(recorded)
        if (size, seed) not in last:
            last.clear()
            new = grown(_loaded(recorded), size, seed, vary=mode == "varied")
            # The same is built for call after call; reading it back is ten times faster than growing it.
            last[size, seed] = pickle.dumps(new, pickle.HIGHEST_PROTOCOL)
        return _loaded(last[size, seed])

    return build


def _loaded(pickled: bytes) -> Arguments:
    arguments: Arguments = pickle.loads(pickled)  # noqa: S301  (written by this interpreter from own tests)
    return arguments


def describe(arguments: Arguments) -> Dict[str, Any]:
    """What the index of a recording says of a call: `size` of what grows, and whether that is `text`."""
    slots = _growing(arguments)
    return (
        {"size": len(slots[0][1]), "text": type(slots[0][1]) in _TEXTS}
        if slots
        else {"size": None, "text": False}
    )


def base_size(arguments: Arguments) -> Optional[int]:
    """Length of what would grow; None where nothing does."""
    slots = _growing(arguments)
    return len(slots[0][1]) if slots else None


def grown(arguments: Arguments, size: int, seed: int, vary: bool) -> Arguments:
    """The arguments with what grows in them brought to `size`.

    Raises:
        CannotGrowError: nothing in them grows, or not to that size.
    """
    slots = _growing(arguments)
    if not slots:
        raise CannotGrowError("no argument of this call can be made larger")
    args, kwargs = list(arguments[0]), dict(arguments[1])
    for where, value in slots:
        new = _grow(value, size, _Variation(value, size, seed, vary))
        if len(new) != size:
            raise CannotGrowError("a %s of %d items grew to %d only" % (_name(value), len(value), len(new)))
        if isinstance(where, int):
            args[where] = new
        else:
            kwargs[where] = new
    return tuple(args), kwargs


def _name(value: Any) -> str:
    return type(value).__name__


def _read(path: str, index: int) -> bytes:
    with open(path, "rb") as stream:
        if json.loads(stream.readline() or b"{}").get("recording") != 1:
            raise ValueError("%s is not a recording of calls" % path)
        for _ in range(index):
            stream.seek(json.loads(stream.readline())["length"], 1)
        line = stream.readline()
        if not line:
            raise ValueError("%s has no call %d" % (path, index))
        return stream.read(json.loads(line)["length"])


def _growing(arguments: Arguments) -> List[Tuple[Any, Any]]:
    """(position or keyword, value) of the arguments that grow together, the leading one first."""
    slots: List[Tuple[Any, Any]] = [*enumerate(arguments[0]), *arguments[1].items()]
    containers = [slot for slot in slots if _is_container(slot[1])]
    texts = [slot for slot in slots if type(slot[1]) in _TEXTS and len(slot[1]) > 1]
    leading = max(containers or texts, key=lambda slot: len(slot[1]), default=None)
    if leading is None:
        return []
    length = len(leading[1])
    companions = containers + (texts if not containers or length >= _SHORTEST_COMPANION else [])
    return [leading, *(s for s in companions if len(s[1]) == length and s[0] != leading[0])]


def _is_container(value: Any) -> bool:
    kind = type(value)
    if kind in _SEQUENCES or kind in _SETS:
        return len(value) > 0
    if kind is tuple:
        return len(value) >= _SHORTEST_TUPLE and len({type(item) for item in value}) == 1
    # A mapping with values of several types is a record; more keys would be keys that nobody reads.
    return kind is dict and len(value) > 1 and len({type(item) for item in value.values()}) == 1


def _grow(value: Any, size: int, variation: "_Variation") -> Any:
    kind = type(value)
    if kind in _TEXTS:
        return variation.rounds_of_text(value, size)
    # The order of a set differs from process to process; the two sides of a comparison must get the same.
    start = sorted(value, key=repr) if kind in _SETS else list(value.items() if kind is dict else value)
    items = variation.rounds(start)
    if kind is not dict and kind not in _SETS:
        return kind(itertools.islice(items, size))
    distinct: Dict[Any, Any] = {}
    for item in itertools.islice(items, 2 * size + len(value)):
        key, content = item if kind is dict else (item, None)
        distinct.setdefault(key, content)
        if len(distinct) >= size:
            break
    return distinct if kind is dict else kind(distinct)


class _Variation:
    """What changes from one round of repetition to the next."""

    def __init__(self, value: Any, size: int, seed: int, vary: bool) -> None:
        self.vary = vary or type(value) is dict or type(value) in _SETS  # the same again would not grow them
        self.step = _span(value) if self.vary else 0
        self.shift = (seed % 997) * (size // max(1, len(value)) + 1)

    def rounds(self, items: List[Any]) -> Iterator[Any]:
        """The items, then the items varied, and so on without end."""
        yield from items
        turn = 0
        while items:
            turn += 1
            for item in items:
                yield self.varied(item, turn) if self.vary else _fresh(item)

    def rounds_of_text(self, text: Any, size: int) -> Any:
        """The text, then the text varied, and so on up to `size` characters."""
        parts, length, turn = [text], len(text), 0
        while length < size:
            turn += 1
            parts.append(self.varied(text, turn) if self.vary else text)
            length += len(parts[-1])
        return type(text)().join(parts)[:size]

    def varied(self, item: Any, turn: int, depth: int = 0) -> Any:
        """The item as it is in a later round."""
        kind = type(item)
        if kind in _NUMBERS:
            return _moved(item, turn * self.step)
        if kind is str:
            return self._text(item, turn)
        if kind in (bytes, bytearray):
            return kind(self._text(item.decode("latin-1"), turn).encode("latin-1", "replace"))
        if depth > _DEEPEST:
            return _fresh(item)
        if kind in (list, tuple):
            return kind([self.varied(inner, turn, depth + 1) for inner in item])
        if isinstance(item, tuple) and hasattr(item, "_fields"):
            return kind(*[self.varied(inner, turn, depth + 1) for inner in item])
        if kind is dict:
            return {key: self.varied(inner, turn, depth + 1) for key, inner in item.items()}
        return _fresh(item)

    def _text(self, text: str, turn: int) -> str:
        """Every word gets an ending; a text without words counts its last number up."""
        ending = _letters(turn + self.shift)
        varied, words = _LETTERS.subn(
            lambda word: word.group() + (ending.upper() if word.group().isupper() else ending), text
        )
        if words:
            return varied
        return _LAST_DIGITS.sub(lambda run: str(int(run.group()) + turn).zfill(len(run.group())), text)


def _moved(number: Any, by: int) -> Any:
    try:
        return number + by
    except ArithmeticError:  # a step beyond all floats, or a Decimal that signals
        return number


def _letters(number: int) -> str:
    """A number in letters, distinct for each."""
    found = ""
    while number:
        number, digit = divmod(number - 1, 26)
        found = chr(97 + digit) + found
    return found


def _fresh(item: Any) -> Any:
    """A copy where one is needed: the target may change what it is given."""
    return item if type(item) in (*_NUMBERS, str, bytes, bool, type(None)) else copy.deepcopy(item)


def _span(value: Any) -> int:
    """A step that takes all numbers of a value clear of where they were: their range, at least 1."""
    seen: List[int] = []
    todo: List[Any] = [value]
    while todo:
        item = todo.pop()
        if type(item) in _NUMBERS:
            try:
                seen.append(math.floor(item))
            except (ValueError, ArithmeticError):  # infinite, or not a number
                continue
        elif isinstance(item, dict):
            todo += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset, collections.deque)):
            todo += item
    return max(seen) - min(seen) + 1 if seen else 1
