"""What static analysis finds. NamedTuples: this module is on the path of a hook's cold start."""

from typing import Literal, NamedTuple

Kind = Literal["time", "memory"]
Safety = Literal["safe", "unsafe"]


class Edit(NamedTuple):
    """Replace the bytes [start, end) of the source by `text`."""

    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """Edits that mend a finding; they do not overlap and are in order of `start`."""

    edits: tuple[Edit, ...]
    safety: Safety


class Finding(NamedTuple):
    """A place in a source that costs time or memory. Lines count from 1, columns (bytes) from 0."""

    rule: str
    kind: Kind
    confidence: Literal["high", "medium", "low"]
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    fix: Fix | None = None


def apply_edits(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """The source with the edits made.

    Raises:
        ValueError: edits overlap or lie outside of the source.
    """
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits):
        if not position <= edit.start <= edit.end <= len(source):
            raise ValueError(f"edit {edit.start}..{edit.end} overlaps another or lies outside of the source")
        parts += [source[position : edit.start], edit.text.encode()]
        position = edit.end
    return b"".join([*parts, source[position:]])
