"""What a user means by `FILE::NAME[@REV]`, and which two of them are compared."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from best_agent.errors import UsageError

WORKTREE = "worktree"
INDEX = "index"
HEAD = "HEAD"

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A function at a state of its file."""

    path: Path | None
    """As written, relative to the current folder; None in the short form `NAME[@REV]`."""
    name: str
    """`function` or `Class.method`."""
    revision: str | None
    """A git revision, `index` or `worktree`; None where nothing was said."""

    @property
    def in_work_tree(self) -> bool:
        """Whether the file is meant as it lies on the disk."""
        return self.revision in (None, WORKTREE)

    def __str__(self) -> str:
        where = f"{self.path.as_posix()}::" if self.path else ""
        return f"{where}{self.name}" + (f"@{self.revision}" if self.revision else "")


def parse(text: str) -> Target:
    """The target that was written.

    Raises:
        UsageError: it is not of the form `FILE::NAME[@REV]` or `NAME[@REV]`.
    """
    file, separator, rest = text.partition("::")
    name, at, revision = (rest if separator else text).partition("@")
    if separator and not file:
        raise UsageError(
            f"'{text}': there is no file before '::'; write FILE::NAME, like src/text.py::dedupe"
        )
    if not _NAME.fullmatch(name) or (not separator and name.endswith(".py")):
        raise UsageError(f"'{text}': {_name_trouble(name, has_file=bool(separator))}")
    if at and not revision:
        raise UsageError(f"'{text}': there is no revision after '@'; write HEAD, a branch, index or worktree")
    if revision.startswith("-") or "\n" in revision or "\0" in revision:
        raise UsageError(f"'{text}': '{revision}' cannot be a revision")
    return Target(path=Path(file) if separator else None, name=name, revision=revision or None)


def _name_trouble(name: str, *, has_file: bool) -> str:
    if not name and not has_file:
        return "write FILE::NAME, like src/text.py::dedupe"
    if not name:
        return "there is no function after '::'; write FILE::NAME, like src/text.py::dedupe"
    if not has_file and ("/" in name or name.endswith(".py")):
        return f"name the function as well: {name}::NAME"
    return f"'{name}' is not the name of a function; write NAME or Class.method"


def pair(first: Target, second: Target | None) -> tuple[Target, Target]:
    """(before, after): what is compared when the user wrote one target or two.

    One target: its function at HEAD, or at the revision that was written, before; the work tree after.
    Two: the first is before, the second after; a short second takes the file of the first.
    """
    if second is None:
        revision = HEAD if first.in_work_tree else first.revision
        return replace(first, revision=revision), replace(first, revision=WORKTREE)
    after = replace(second, path=first.path) if second.path is None else second
    before = replace(first, path=second.path) if first.path is None else first
    return (
        replace(before, revision=before.revision or WORKTREE),
        replace(after, revision=after.revision or WORKTREE),
    )
