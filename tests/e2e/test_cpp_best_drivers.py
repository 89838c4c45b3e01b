"""Tasks of the BEST sample: their own main programs, marked, still do what their authors wrote."""

import pytest
from cpp_running import (
    best_case,
    best_entries,
    best_expected,
    best_rows,
    build_best,
    built,
    needs_best,
    needs_compiler,
    run,
)

from best_agent.languages.cpp_best import Marks, instrument
from best_agent.model.run import Status

pytestmark = [needs_compiler, needs_best]

MARKS = Marks(begin="begin_mark", end="end_mark")
FEW = ("1", "20", "251", "346", "395")  # several references; scanf and cin; a result by reference; printf


def test_every_driver_of_the_sample_takes_the_marks_at_its_call():
    assert len(best_rows()) >= 40
    for task, row in best_rows().items():
        marked = instrument(row["test"], "solve2", MARKS, "solution.cpp", task)
        before, _, rest = marked.partition("begin_mark(); ")
        inside, _, after = rest.partition("end_mark();")
        assert inside.startswith("Solution "), task
        assert ".solve2(" in inside, task
        assert "Solution" not in before + after, task
        assert "cin" not in inside, task
        assert "scanf" not in inside, task
        assert marked.count("\n") == row["test"].count("\n"), task


def _check(task: str, cases: tuple[int, ...], *, public: bool) -> None:
    for name, entry in best_entries(task):
        expected = best_expected()[task]["references"][name]
        program = built(build_best(task, entry, public=public))
        for case in cases:
            if expected["verdicts"][case - 1] != "OK":
                continue
            given, wanted = best_case(task, case)
            done = run(program, given)
            assert done.status is Status.OK, (task, entry, case, done.detail)
            assert done.stdout.split() == wanted.split(), (task, entry, case)
            assert done.peak_bytes is not None, (task, entry, case)
            if public:
                # To a page or two: whether the stack or the heap begins a new page is chance.
                kb = expected["memory_used_kb"][case - 1]
                assert done.peak_bytes / 1024 == pytest.approx(kb, abs=8), (task, entry, case)


@pytest.mark.parametrize("task", FEW)
def test_references_answer_right_in_their_marked_drivers(task):
    _check(task, (1, 4, 7), public=False)


def test_the_public_protocol_reads_what_the_public_harness_reads():
    _check("20", (1, 4, 7), public=True)


@pytest.mark.slow
@pytest.mark.timeout(2000)
def test_every_task_of_the_sample_reads_the_public_harness_figures_under_its_protocol():
    for task in best_rows():
        _check(task, tuple(range(1, 10)), public=True)


@pytest.mark.slow
@pytest.mark.timeout(2000)
def test_every_task_of_the_sample_builds_and_answers_right_under_our_own_meter():
    for task in best_rows():
        _check(task, (1, 9), public=False)
