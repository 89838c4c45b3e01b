"""The sample of BEST with its own references as candidates: the verdicts and grids that were recorded.

Recorded with the benchmark's own harness on another machine; so cells that hang on a time limit, there or
here, are left out, and the test says how many it compared.
"""

import pytest
from cpp_running import BEST, best_expected, best_rows, isolation, needs_best, needs_compiler

from best_agent.catalogue.locate import open_set
from best_agent.model.run import Status
from best_agent.model.verdict import ProgramVerdict
from best_agent.pipeline.protocol import BEST_2026
from best_agent.pipeline.trial import Trial

pytestmark = [needs_compiler, needs_best]

CASES_PER_SCALE = 3
TIME_CLASSES = (Status.TIME_LIMIT,)


def judged(task_id: str) -> tuple[ProgramVerdict, ...]:
    """The references' verdicts, judged as candidates are, in their order."""
    task = open_set(f"best:{BEST}").load(task_id)
    with Trial(task, "cpp", protocol=BEST_2026, isolation=isolation(), seed=1) as trial:
        return trial.references


def recorded_grid(task_id: str, name: str) -> list[list[bool]]:
    """[scale][space level]: right on all three cases within the recorded memory."""
    expected = best_expected()[task_id]
    reference = expected["references"][name]
    ok = [verdict == "OK" for verdict in reference["verdicts"]]
    used = reference["memory_used_kb"]
    return [
        [all(ok[case] and used[case] <= limit for case in _cases(scale, len(ok))) for limit in limits]
        for scale, limits in enumerate(expected["limits_kb_time_by_space"])
    ]


def _cases(scale: int, count: int) -> range:
    return range(scale * CASES_PER_SCALE, min((scale + 1) * CASES_PER_SCALE, count))


def _compare(task_id: str) -> tuple[list[str], int]:
    """What differs, and how many cells were compared."""
    differences: list[str] = []
    compared = 0
    references = best_expected()[task_id]["references"]
    verdicts = judged(task_id)
    assert len(verdicts) == len(references), (task_id, [verdict.id for verdict in verdicts])
    for (name, recorded), verdict in zip(references.items(), verdicts, strict=True):
        grid = recorded_grid(task_id, name)
        for scale, row in enumerate(grid):
            cases = [case for case in verdict.cases if case.scale == scale + 1]
            there = [recorded["verdicts"][case] for case in _cases(scale, len(recorded["verdicts"]))]
            if any(case.status in TIME_CLASSES for case in cases) or any("TLE" in word for word in there):
                continue
            wrong = [case.status is Status.WRONG_ANSWER or not case.answered for case in cases]
            if wrong != [word != "OK" for word in there]:
                differences.append(f"{task_id} {name} scale {scale + 1}: {[case.status for case in cases]}")
            compared += len(row)
            if list(verdict.grid[scale]) != row:
                peaks = [case.peak_bytes and case.peak_bytes / 1024 for case in cases]
                differences.append(f"{task_id} {name} scale {scale + 1}: {verdict.grid[scale]} {row} {peaks}")
    return differences, compared


@pytest.mark.parametrize("task_id", ["20", "68", "251"])
def test_a_few_tasks_have_the_recorded_grid(task_id):
    differences, compared = _compare(task_id)
    assert not differences
    assert compared


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_task_of_the_sample_has_the_recorded_verdicts_and_grid():
    differences: list[str] = []
    compared = 0
    for task_id in best_rows():
        found, count = _compare(task_id)
        differences += found
        compared += count
    assert not differences
    assert compared > 400  # of 486 cells; the rest hang on a time limit
