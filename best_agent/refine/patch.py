"""Unified diffs that `patch` and `git apply` take."""

import difflib
import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified(before: str, after: str, name: str) -> str:
    """The diff from one text to another, of the file `name`; empty where they are equal."""
    lines = difflib.unified_diff(
        _LINE.findall(before), _LINE.findall(after), fromfile=f"a/{name}", tofile=f"b/{name}"
    )
    return "".join(_marked(lines))


def _marked(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
