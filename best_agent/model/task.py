"""A task: what is to be solved, on which scales, within which limits, and by whom it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Mode(StrEnum):
    """How a program meets its input."""

    FUNCTION = "function"
    """An entry point called with arguments; its result is the answer."""
    DRIVER = "driver"
    """C++: a class called by the task's own main program, which reads standard input and prints."""
    PROGRAM = "program"
    """Standard input to standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Types of a function task, in the words of `list[int]`, `tuple[int, str]`, `str`, `float`, `bool`.

    They decide how inputs reach languages that are statically typed.
    """

    parameters: tuple[tuple[str, str], ...]
    """(name, type) in order."""
    returns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program as text: a reference, a naive solution or a candidate."""

    id: str
    language: str
    text: str
    entry: str = "solve"
    path: Path | None = None
    claimed_time: str | None = None
    """Claimed complexity, as `O(n log n)`."""
    claimed_space: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageLimits:
    """A task's cell limits in one language; scale and space level count from 0 here."""

    memory_bytes: tuple[tuple[int, ...], ...]
    """[scale][space level], tighter to the right."""
    time_factor: float | None = None
    """Relative limit: this many times the fastest reference of the language on this machine."""
    time_ns: tuple[int, ...] | None = None
    """Absolute limit per scale. Exactly one of the two is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One input. Exactly one of `arguments` and `stdin` is given, by the task's mode."""

    id: str
    scale: int
    """From 1, as people count."""
    arguments: tuple[object, ...] | None = None
    stdin: bytes | None = None
    expected: bytes | None = None
    """Expected standard output; None where a checker or the references decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task of the catalogue or of an imported set, loaded and validated."""

    id: str
    title: str
    set_name: str
    """`own`, `best`, ..."""
    mode: Mode
    statements: tuple[str, ...]
    """The prompt for each space level, or one for all."""
    sizes: tuple[int, ...]
    """Input size of each scale, smallest first."""
    space_levels: int
    cases_per_scale: int = 3
    limits: Mapping[str, LanguageLimits]
    """By language."""
    references: tuple[Source, ...]
    naive: tuple[Source, ...] = ()
    signature: Signature | None = None
    driver: str | None = None
    """Driver mode: the task's own main program, as its authors wrote it."""
    exact_output: bool = False
    """Compare standard output byte for byte; otherwise by tokens."""
    checker: Path | None = None
    """A Python file with `check(arguments, answer) -> bool`, run outside of the sandbox."""
    tau: float = 1.2
    sigma: float = 1.2
    difficulty: str = "unrated"
    categories: tuple[str, ...] = ()
    origin: Path | None = None
    """Folder or file the task was read from."""
    notes: tuple[str, ...] = field(default=())
    """Defects found while loading that do not make the task unusable."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that have limits and at least one reference."""
        return tuple(name for name in self.limits if self.references_in(name))

    def references_in(self, language: str) -> tuple[Source, ...]:
        """The references written in one language."""
        return tuple(source for source in self.references if source.language == language)

    def statement(self, space_level: int) -> str:
        """The prompt for a space level counted from 0."""
        return self.statements[min(space_level, len(self.statements) - 1)]
