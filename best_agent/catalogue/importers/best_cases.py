"""The case files of a BEST task, and what is wrong with them."""

import re
from collections.abc import Iterator
from pathlib import Path

from best_agent.errors import TaskError
from best_agent.model.task import Case, Task

CASES_PER_SCALE = 3
"""Case i belongs to scale ceil(i / 3)."""
MAX_CASE_BYTES = 256 << 20
_CASE_FILE = re.compile(r"([1-9]\d{0,8})\.(?:in|out)", re.ASCII)


def read_cases(task: Task) -> tuple[Case, ...]:
    """The cases whose input and output are both there; the others stand in the task's notes.

    Raises:
        TaskError: no case is usable, or a file cannot be read.
    """
    assert task.origin is not None
    folder = _folder(task.origin, task.id)
    cases: list[Case] = []
    for number in range(1, task.cases_per_scale * len(task.sizes) + 1):
        paths = [folder / f"{number}{suffix}" for suffix in (".in", ".out")]
        if any(_problem(path) for path in paths):
            continue
        stdin, expected = (_read(path) for path in paths)
        scale = -(-number // task.cases_per_scale)
        cases.append(Case(id=str(number), scale=scale, stdin=stdin, expected=expected))
    if not cases:
        raise TaskError(f"{folder}: task {task.id} has no usable case; {'; '.join(task.notes[:3])}")
    return tuple(cases)


def case_notes(table: Path, task_id: str, scales: int) -> tuple[str, ...]:
    """One line for each defect of the case files, naming the file."""
    folder = _folder(table, task_id)
    return tuple(_notes(folder, CASES_PER_SCALE * scales, scales))


def _notes(folder: Path, cases: int, scales: int) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder}: missing: the task has no cases"
        return
    usable: set[int] = set()
    for number in range(1, cases + 1):
        problems = [
            f"{path}: {problem}; case {number} is left out"
            for path in (folder / f"{number}.in", folder / f"{number}.out")
            if (problem := _problem(path)) is not None
        ]
        yield from problems
        if not problems:
            usable.add(-(-number // CASES_PER_SCALE))
            yield from _line_ends(folder, number)
    for scale in range(1, scales + 1):
        if scale not in usable:
            yield f"{folder}: no usable case at scale {scale}"
    for number in sorted(_numbers(folder)):
        if number > cases:
            yield f"{folder}: case {number} is beyond the {cases} cases of {scales} scales and is left out"


def _numbers(folder: Path) -> set[int]:
    """The numbers of the cases that have a file."""
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise TaskError(f"{folder}: cannot be read: {error.strerror}") from None
    return {int(found[1]) for name in names if (found := _CASE_FILE.fullmatch(name))}


def _line_ends(folder: Path, number: int) -> Iterator[str]:
    for path in (folder / f"{number}.in", folder / f"{number}.out"):
        if b"\r" in _read(path):
            yield f"{path}: has carriage returns (CRLF)"


def _folder(table: Path, task_id: str) -> Path:
    return table.parent / "test_cases" / task_id


def _problem(path: Path) -> str | None:
    """Why a case file cannot be used, or None. Files that hold only blanks count as empty."""
    try:
        if not path.exists():
            return "missing"
        if not path.resolve().is_relative_to(path.parent.resolve()):
            return "a link that leads out of the task's folder"
        if not path.is_file():
            return "not a regular file"
        if path.stat().st_size > MAX_CASE_BYTES:
            return f"larger than {MAX_CASE_BYTES >> 20} MiB"
        if not _read(path).strip():
            return "empty"
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, on Python before 3.13
        return f"cannot be read: {error}"
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from None
