"""The BEST benchmark, read from its public checkout as it is: `data/data.csv` and `data/test_cases/`.

Numbers of scales and space levels are what the data says. What is wrong but bearable becomes a note of the
task; what makes a task unusable is a TaskError that names the file and the column.
"""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from best_agent.catalogue.importers.best_cases import CASES_PER_SCALE, case_notes
from best_agent.catalogue.importers.best_references import references
from best_agent.catalogue.sets import unknown_task
from best_agent.catalogue.tables import is_positive
from best_agent.errors import TaskError
from best_agent.model.task import LanguageLimits, Mode, Task
from best_agent.units import KIB

COLUMNS = ("id", "desc", "data", "time_limit", "memory_limit", "std", "test", "cate", "difficulty")
FLOOR_KB = 64
"""No memory limit is below this."""
SCALE_STEP = 8
"""A single list of limits is for the largest scale; each scale below has this many times less."""
_LANGUAGE = "cpp"
_MAX_FIELD = 1 << 26
_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TITLE_LENGTH = 70

Row = Mapping[str, str]


class BestSet:
    """The tasks of a checkout."""

    def __init__(self, root: Path) -> None:
        """Read the table of tasks.

        Raises:
            TaskError: it is missing or malformed.
        """
        self._root = root
        self._path = root / "data" / "data.csv"
        self._rows, self._twice = _read_rows(self._path)

    @property
    def description(self) -> str:
        """What the set is and where it was found."""
        return f"the BEST benchmark in {self._root}"

    def ids(self) -> tuple[str, ...]:
        """The ids in the order of the table."""
        return tuple(self._rows)

    def load(self, task_id: str) -> Task:
        """One task, with its defects as notes.

        Raises:
            TaskError: unknown, or not usable.
        """
        if task_id not in self._rows:
            raise unknown_task(task_id, self.ids(), self.description)
        notes = (f"{self._path}: id {task_id} stands there twice; the first is taken",)
        return _Reader(self._path, self._rows[task_id]).task(notes if task_id in self._twice else ())


def _read_rows(path: Path) -> tuple[dict[str, Row], set[str]]:
    """The rows by id, and the ids that stand there more than once."""
    limit_before = csv.field_size_limit(_MAX_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restkey="", restval="")
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise TaskError(f"{path}: the column '{missing[0]}' is missing; it is no table of BEST tasks")
            rows: dict[str, Row] = {}
            twice: set[str] = set()
            for row in reader:
                task_id = row["id"].strip()
                if task_id in rows:
                    twice.add(task_id)
                rows.setdefault(task_id, row)
    except OSError as error:
        raise TaskError(
            f"{path}: cannot be read: {error.strerror}; best:DIR is a checkout with data/data.csv"
        ) from None
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: not UTF-8 at byte {error.start}") from None
    except csv.Error as error:
        raise TaskError(f"{path}: line {reader.line_num}: not readable as CSV: {error}") from None
    finally:
        csv.field_size_limit(limit_before)
    if not rows:
        raise TaskError(f"{path}: holds no tasks")
    return rows, twice


class _Reader:
    """Reads one row of the table."""

    def __init__(self, path: Path, row: Row) -> None:
        self._path = path
        self._row = row
        self._id = row["id"].strip()
        self._notes: list[str] = []

    def task(self, notes: Sequence[str]) -> Task:
        if _ID.fullmatch(self._id) is None:
            self._refuse("id", "must be letters, digits, - and _ only")
        sizes = self._sizes()
        limits_kb = self._limits_kb(len(sizes))
        time_ms = self._time_ms()
        time_ns = tuple(round(time_ms * 1e6) for _ in sizes)
        sources = references(self._text("std"), _LANGUAGE)
        if not sources:
            self._refuse("std", "defines neither solve nor solve1, solve2, ...")
        return Task(
            id=self._id,
            title=_title(self._text("desc")),
            set_name="best",
            mode=Mode.DRIVER,
            statements=self._statements(sizes[-1], time_ms, limits_kb[-1]),
            sizes=sizes,
            space_levels=len(limits_kb[0]),
            cases_per_scale=CASES_PER_SCALE,
            limits={
                _LANGUAGE: LanguageLimits(
                    memory_bytes=tuple(tuple(limit * KIB for limit in row) for row in limits_kb),
                    time_ns=time_ns,
                )
            },
            references=sources,
            driver=self._text("test"),
            difficulty=self._row["difficulty"].strip().lower() or "unrated",
            categories=tuple(name.strip() for name in self._row["cate"].split(",") if name.strip()),
            origin=self._path,
            notes=(*notes, *self._notes, *case_notes(self._path, self._id, len(sizes))),
        )

    def _refuse(self, column: str, problem: str) -> NoReturn:
        raise TaskError(f"{self._path}: task {self._id!r}: {column}: {problem}")

    def _note(self, column: str, problem: str) -> None:
        self._notes.append(f"{self._path}: task {self._id}: {column}: {problem}")

    def _text(self, column: str) -> str:
        text = self._row[column]
        if not text.strip():
            self._refuse(column, "empty")
        return text

    def _value(self, column: str) -> object:
        try:
            return json.loads(self._text(column))
        except (ValueError, RecursionError):
            self._refuse(column, f"not a number or a list of numbers: {self._row[column][:60]!r}")

    def _numbers(self, column: str, value: object) -> tuple[float, ...]:
        if not isinstance(value, list) or not value:
            self._refuse(column, f"must be a list of numbers, not {str(value)[:60]}")
        for item in value:
            if not is_positive(item):
                self._refuse(column, f"must hold numbers above 0, but holds {str(item)[:60]}")
        return tuple(value)

    def _sizes(self) -> tuple[int, ...]:
        numbers = self._numbers("data", self._value("data"))
        if any(number != int(number) for number in numbers):
            self._refuse("data", f"must be whole numbers from 1, not {list(numbers)}")
        sizes = tuple(int(number) for number in numbers)
        if any(after <= before for before, after in pairwise(sizes)):
            self._note("data", f"the sizes {list(sizes)} do not grow from scale to scale")
        return sizes

    def _time_ms(self) -> float:
        value = self._value("time_limit")
        if not is_positive(value):
            self._refuse("time_limit", f"must be a number above 0, not {str(value)[:60]}")
        return value

    def _limits_kb(self, scales: int) -> tuple[tuple[int, ...], ...]:
        """[scale][space level], in KB."""
        value = self._value("memory_limit")
        if not isinstance(value, list) or not value:
            self._refuse("memory_limit", f"must be a list of lists, not {str(value)[:60]}")
        nested = value if isinstance(value[0], list) else [value]
        rows = [self._numbers("memory_limit", row) for row in nested]
        if len({len(row) for row in rows}) > 1 or len(rows) not in (1, scales):
            shape = [len(row) for row in rows]
            self._refuse(
                "memory_limit", f"must be 1 or {scales} lists of the same length, not of lengths {shape}"
            )
        if len(rows) == scales:
            limits = tuple(tuple(max(FLOOR_KB, int(limit)) for limit in row) for row in rows)
        else:
            divisors = [SCALE_STEP ** (scales - scale) for scale in range(1, scales + 1)]
            limits = tuple(
                tuple(max(FLOOR_KB, int(limit // divisor)) for limit in rows[0]) for divisor in divisors
            )
        if any(right > left for row in limits for left, right in pairwise(row)):
            self._note(
                "memory_limit", "grows from one space level to the next; level 1 should be the loosest"
            )
        return limits

    def _statements(self, largest: int, time_ms: float, limits_kb: Sequence[int]) -> tuple[str, ...]:
        text = self._text("desc").replace("\r\n", "\n")
        absent = [word for word in ("@data", "@time_limit", "@memory_limit") if word not in text]
        if absent:
            self._note("desc", f"does not tell {', '.join(absent)}")
        text = text.replace("@data", str(largest)).replace("@time_limit", f"{time_ms:.10g}")
        return tuple(text.replace("@memory_limit", str(limit)) for limit in limits_kb)


def _title(text: str) -> str:
    """The first sentence or so of a description below its headings, cut at a word."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith("#")), lines[0])
    if len(first) <= _TITLE_LENGTH:
        return first
    return first[:_TITLE_LENGTH].rpartition(" ")[0].rstrip(" ,;:") + " ..."
