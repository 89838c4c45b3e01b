"""Proposals from files: one program each, in natural order (2.py before 10.py)."""

import re
from collections.abc import Iterator
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.model.refinement import Reason
from best_agent.refine.proposals.base import Estimate, Prompt, Proposal, Request

SUFFIXES = {"python": (".py",), "cpp": (".cpp", ".cc", ".cxx")}
MAX_BYTES = 1 << 20


class DirectorySource:
    """All files of a folder in one round: each is compared with the same start, so order is no advantage."""

    kind = "candidates"
    departure = "nothing leaves this machine: candidates are read from files"
    exhausted = "all files were tried"
    first_wins = False
    reads_prompt = False

    def __init__(self, path: Path, language: str) -> None:
        self._path = path
        self._language = language
        self._files: tuple[Path, ...] | None = None

    @property
    def note(self) -> str:
        """How many files, and where."""
        files = self._listing()
        if files == (self._path,):
            return f"the file {self._path}"
        return f"{len(files)} file{'' if len(files) == 1 else 's'} in {self._path}"

    def per_round(self) -> int:
        """The number of files."""
        return len(self._listing())

    def expected(self, rounds: int) -> int:  # noqa: ARG002  (the protocol's signature)
        """The number of files: all come in the first round."""
        return self.per_round()

    def check(self) -> None:
        """Refuse a path that holds no program of the language.

        Raises:
            UsageError: the path is missing or has no such file.
        """
        self._listing()

    def estimate(self, prompt: Prompt) -> Estimate | None:  # noqa: ARG002  (the protocol's signature)
        """Files cost nothing."""
        return None

    def propose(self, request: Request) -> Iterator[Proposal]:
        """The files, all in the first round."""
        if request.round > 1:
            return
        for path in self._listing()[request.skip :]:
            yield _proposal(path)

    def _listing(self) -> tuple[Path, ...]:
        if self._files is None:
            self._files = _programs(self._path, SUFFIXES[self._language])
        return self._files


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """A sort key by which numbers in names count as numbers."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(0, int(part), "") if part[0] in "0123456789" else (1, 0, part.casefold()) for part in parts]


def _programs(path: Path, suffixes: tuple[str, ...]) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    try:
        entries = list(path.iterdir())
    except OSError as error:
        raise UsageError(f"--candidates {path}: {error.strerror}") from None
    found = [
        entry
        for entry in entries
        if entry.suffix in suffixes and not entry.name.startswith((".", "_")) and entry.is_file()
    ]
    if not found:
        raise UsageError(f"--candidates {path}: there is no {' or '.join(suffixes)} file in it")
    return tuple(sorted(found, key=lambda entry: (natural_key(entry.name), entry.name)))


def _proposal(path: Path) -> Proposal:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unreadable(path, str(error.strerror))
    if len(content) > MAX_BYTES:
        return _unreadable(path, f"it is larger than {MAX_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return _unreadable(path, f"it is not UTF-8 text (byte {error.start})")
    if not text.strip():
        return Proposal(
            origin=path.name,
            name=path.name,
            code=None,
            problem=Reason.EMPTY_ANSWER,
            detail="the file is empty",
        )
    return Proposal(origin=path.name, name=path.name, code=text)


def _unreadable(path: Path, why: str) -> Proposal:
    return Proposal(
        origin=path.name,
        name=path.name,
        code=None,
        problem=Reason.UNREADABLE,
        detail=f"cannot be read: {why}",
    )
