"""Units: parsing what users type and formatting what they read. Inside, all is SI: ns and bytes."""

import re

from best_agent.errors import UsageError

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>B|KiB|MiB|GiB)?", re.ASCII)
_FACTORS = {None: 1, "B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}


def parse_size(text: str) -> int:
    """Bytes of a size such as `64KiB` or `256MiB`; a bare number is bytes.

    Raises:
        UsageError: the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"'{text}' is not a size; write it like 64KiB, 256MiB or 1GiB")
    return int(float(match["number"]) * _FACTORS[match["unit"]])


def format_bytes(count: float) -> str:
    """Bytes in binary units with three significant digits: `12.5 MiB`."""
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(count) >= factor:
            return f"{_digits(count / factor)} {unit}"
    return f"{count:.0f} B"


def format_ns(duration_ns: float) -> str:
    """Nanoseconds in the unit that reads best: `12.5 ms`."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(duration_ns) >= factor:
            return f"{_digits(duration_ns / factor)} {unit}"
    return f"{duration_ns:.0f} ns"


def format_ratio(ratio: float) -> str:
    """A ratio after/before in words: `131x less`, `2.3x more`, `the same`.

    A ratio within half a percent of 1 reads `the same`.
    """
    if ratio <= 0:
        return "nothing left"
    if abs(ratio - 1) < 0.005:
        return "the same"
    return f"{_digits(1 / ratio)}x less" if ratio < 1 else f"{_digits(ratio)}x more"


def format_ratio_range(low: float, high: float) -> str:
    """An interval of ratios in words, the direction once where both ends share it: `2.91x to 3.30x less`."""
    near, far = format_ratio(low), format_ratio(high)
    if near.endswith(" less") and far.endswith(" less"):
        return f"{far.removesuffix(' less')} to {near}"
    if near.endswith(" more") and far.endswith(" more"):
        return f"{near.removesuffix(' more')} to {far}"
    return f"{near} to {far}"


def printable(text: str) -> str:
    """Text of strangers as it may be shown: what could move a cursor or colour a terminal is spelt out.

    Line breaks and tabs stay.
    """
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text
    )


def _digits(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
