"""Records of the BEST benchmark's public harness: the shape of a task and the results under it."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from best_agent.evaluate.strict import Place, items, known_keys, mapping, name, positive, text, whole
from best_agent.model.score import Attempt, CaseResult, Column, ScoredTask, TaskResults
from best_agent.scoring.cells import REFERENCES

PASSED = "Accepted"
FAILED = (
    "Wrong Answer",
    "Time Limit Exceeded",
    "Memory Limit Exceeded",
    "Time Limit Exceeded / Memory Limit Exceeded",
    "Output Limit Exceeded",
    "Runtime Error",
    "Compile Error",
)
SCALES = 3
"""Where a task gives one list of memory limits, the harness derives those of three scales from it."""
CASES_PER_SCALE = 3
_MOST_LEVELS = 32
_MOST_CASES = 1000
_MOST_WEIGHT = 100.0
"""Bounds of what is a task set, so that a damaged file neither overflows nor fills the memory."""
_LEVEL = re.compile(r"level(0|[1-9]\d{0,3})", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)


def scored_task(identity: str, record: Mapping[str, Any], place: Place) -> ScoredTask:
    """The shape of a task from its `cate`, `difficulty` and `memory_limit`.

    `memory_limit` is a list of lists, [scale][space level]; a single list stands for `scales`. These and
    `tau`, `sigma` and `cases_per_scale` may be given; the benchmark's own are 3, 1.2, 1.2 and 3.

    Raises:
        ResultsError: a value is missing or malformed.
    """
    here = place / "memory_limit"
    rows = [
        [positive(limit, at) for limit, at in items(row, at_row)]
        for row, at_row in items(record["memory_limit"], here)
    ]
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        here.refuse("must be lists of one length, one limit for each space level")
    if len(rows) > _MOST_LEVELS or len(rows[0]) > _MOST_LEVELS:
        here.refuse(f"has more than {_MOST_LEVELS} scales or space levels")
    categories = text(record["cate"], place / "cate").split(",")
    return ScoredTask(
        id=identity,
        scales=_scales(record, rows, place),
        space_levels=len(rows[0]),
        cases_per_scale=whole(
            record.get("cases_per_scale", CASES_PER_SCALE),
            place / "cases_per_scale",
            least=1,
            most=_MOST_CASES,
        ),
        tau=positive(record.get("tau", 1.2), place / "tau", most=_MOST_WEIGHT),
        sigma=positive(record.get("sigma", 1.2), place / "sigma", most=_MOST_WEIGHT),
        difficulty=text(record["difficulty"], place / "difficulty"),
        categories=tuple(dict.fromkeys(name.strip() for name in categories if name.strip())),
    )


def _scales(record: Mapping[str, Any], rows: Sequence[Sequence[float]], place: Place) -> int:
    default = len(rows) if len(rows) > 1 else SCALES
    scales = whole(record.get("scales", default), place / "scales", least=1, most=_MOST_LEVELS)
    if len(rows) > 1 and scales != len(rows):
        (place / "scales").refuse(f"is {scales}, but there are memory limits of {len(rows)} scales")
    return scales


def task_results(
    task: ScoredTask,
    recorded: Mapping[str, Mapping[int, tuple[object, Place]]],
    place: Place,
    *,
    separate_programs: bool = True,
) -> TaskResults:
    """Results on a task from {model: {space level: (what the harness recorded there, its place)}}.

    A model of which no level was recorded is left out.

    Raises:
        ResultsError: a level, a name, a case or a verdict is not of the format.
    """
    models: dict[str, dict[int, Attempt]] = {}
    references: tuple[Attempt, ...] = ()
    for model, levels in recorded.items():
        name(model, place)
        attempts = _attempts(task, model, levels)
        if model == REFERENCES:
            references = tuple(attempts[number] for number in sorted(attempts))
        elif levels:
            models[model] = attempts
    return TaskResults(task=task, references=references, models=models, separate_programs=separate_programs)


def level_number(level: str, task: ScoredTask, place: Place) -> int:
    """The space level, from 0, that `level0`, `level1`, ... level.

    Raises:
        ResultsError: it is no such level, or beyond the task's space levels.
    """
    match = _LEVEL.fullmatch(level)
    if match is None or int(match[1]) >= task.space_levels:
        place.refuse(
            f"'{level}' is not one of level0 to level{task.space_levels - 1}, the task's space levels"
        )
    return int(match[1])


def _attempts(task: ScoredTask, model: str, levels: Mapping[int, tuple[object, Place]]) -> dict[int, Attempt]:
    columns: dict[int, dict[int, Column]] = {}
    for level, (samples, place) in levels.items():
        for sample, cases in mapping(samples, place).items():
            number = _sample_number(model, sample, place)
            columns.setdefault(number, {})[level] = _column(task, cases, place / sample)
    return {
        number: Attempt(
            id=f"{model}_{number}" if number else model,
            columns=tuple(by_level.get(level) for level in range(task.space_levels)),
        )
        for number, by_level in columns.items()
    }


def _sample_number(model: str, sample: str, place: Place) -> int:
    """The number in `<model>_<number>`; the single reference of a task is called just `std` and is 0."""
    if model == sample == REFERENCES:
        return 0
    number = sample.removeprefix(f"{model}_")
    if number == sample or not _NUMBER.fullmatch(number):
        place.refuse(f"'{sample}' is not a sample of '{model}'; samples are named {model}_1 to {model}_9999")
    return int(number)


def _column(task: ScoredTask, cases: object, place: Place) -> Column:
    column: dict[int, CaseResult] = {}
    for case, at in items(cases, place):
        found = mapping(case, at)
        known_keys(found, at, needed={"case", "result"}, allowed={"time_used", "memory_used"})
        number = whole(found["case"], at / "case", least=1, most=task.scales * task.cases_per_scale)
        if number in column:
            (at / "case").refuse(f"is {number} for the second time")
        for figure in ("time_used", "memory_used"):
            value = found.get(figure, 0)
            if isinstance(value, bool) or not isinstance(value, int | float):
                (at / figure).refuse("must be a number")
        column[number] = _case(number, _passed(found["result"], at / "result"))
    return _shared(tuple(column.values()))


@lru_cache(maxsize=4096)
def _case(number: int, passed: bool) -> CaseResult:
    """The one value of its kind: a task set has millions of cases and few that differ."""
    return CaseResult(number, passed)


@lru_cache(maxsize=4096)
def _shared(column: Column) -> Column:
    """The one column of its kind."""
    return column


def _passed(verdict: object, place: Place) -> bool:
    if verdict == PASSED:
        return True
    if verdict not in FAILED:
        place.refuse(f"'{verdict}' is not a verdict; known are {', '.join((PASSED, *FAILED))}")
    return False
