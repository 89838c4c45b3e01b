"""The question of a round: what is in it, and what must never be."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import CandidateResult, Objective, Reason
from best_agent.model.run import Meter, Status
from best_agent.model.task import Source
from best_agent.model.verdict import CaseVerdict, Contest, ProgramVerdict
from best_agent.refine.accept import Terms
from best_agent.refine.contract import Assessment, Problem
from best_agent.refine.prompt import MAX_ATTEMPTS, Feedback, build_prompt, first_question, public_failure

PROBLEM = Problem(
    id="pairs",
    title="Pairs of $5",
    statement="Count the pairs. ```not code``` $statement",
    language="python",
    entry="solve",
    mode="function",
    sizes=(100, 1000, 10000),
    time_limits=("3x the fastest reference",) * 3,
    memory_limits=((4096, 1024),) * 3,
)
PARENT = Source(id="start", language="python", text="def solve(xs):\n    return '$title' + \"```\"\n")


def figure(ratio: float, half: float = 0.1) -> Compared:
    return Compared(
        before=1.0, after=ratio, ratio=ratio, ratio_ci=Interval(low=ratio - half, high=ratio + half),
        meter=Meter.EXACT, n=5,
    )  # fmt: skip


def assessment() -> Assessment:
    cases = tuple(
        CaseVerdict(
            case=f"{scale}.1", scale=scale, status=Status.OK, cpu_ns=1000 * 100 ** (scale - 1),
            peak_bytes=2048 * 10 ** (scale - 1), detail="expected 17 got 18",
        )
        for scale in (1, 2, 3)
    )  # fmt: skip
    verdict = ProgramVerdict(
        id="start",
        language="python",
        status=Status.OK,
        cases=cases,
        grid=((True, False), (True, True), (False,) * 2),
    )
    race = Contest(baseline="secret-reference-name", cases=(), scale=3, time=figure(40), memory=figure(2))
    return Assessment(verdict=verdict, against_references=(race,))


def attempt(number: int, reason: Reason = Reason.NO_GAIN, **more: object) -> CandidateResult:
    values: dict[str, object] = {
        "id": f"r{number}c1", "origin": "m", "status": "ok", "accepted": False, "reason": reason,
        "detail": "d",
    }  # fmt: skip
    return CandidateResult(**{**values, **more})  # type: ignore[arg-type]  # a mapping of mixed values


def question(*attempts: CandidateResult, terms: Terms | None = None) -> str:
    feedback = Feedback(parent=PARENT, assessment=assessment(), last_change=None)
    return build_prompt(PROBLEM, terms or Terms(), feedback, attempts).user


def test_the_question_holds_the_problem_the_code_and_all_that_was_measured() -> None:
    text = question()
    assert "Count the pairs." in text
    assert PARENT.text.rstrip() in text
    assert "| 10,000 | 10.0 ms | 200 KiB | ok | 3x the fastest reference | 4.00 KiB no, 1.00 KiB no |" in text
    assert "CPU time goes with size^2.00" in text
    assert "peak memory goes with size^1.00" in text
    assert "The costliest case: size 10,000, 10.0 ms, 200 KiB at the peak; it takes 99%" in text
    assert "Compared with an expert solution: time 40.0x more (39.9x to 40.1x more)" in text


def test_nothing_hidden_is_in_it() -> None:
    text = question(
        attempt(1, Reason.FAILED, status="wrong-answer", detail="wrong-answer at scale 2: expected 17")
    )
    assert "expected 17" not in text
    assert "secret-reference-name" not in text
    assert "r1c1: rejected: wrong-answer at scale 2" in text


@pytest.mark.parametrize(
    ("status", "detail", "said"),
    [
        (
            "compile-error",
            "compile-error: x.cpp:3: expected ';'",
            "it does not compile: compile-error: x.cpp:3",
        ),
        ("runtime-error", "runtime-error at scale 1: KeyError: 918273", "it ended with KeyError at scale 1"),
        ("runtime-error", "runtime-error at scale 1: SIGSEGV 918273", "it ended with an error at scale 1"),
        ("time-limit", "time-limit at scale 3: used more than 918273", "time-limit at scale 3"),
        ("wrong-answer", "918273", "wrong-answer"),
    ],
)
def test_a_failure_is_said_without_values_of_the_inputs(status: str, detail: str, said: str) -> None:
    text = public_failure(attempt(1, Reason.FAILED, status=status, detail=detail))
    assert text.startswith(said)
    assert "918273" not in text


def test_fences_are_longer_than_any_in_what_they_hold() -> None:
    text = question()
    assert "````python\n" in text
    assert "````text\nCount the pairs." in text


@given(st.text(alphabet="`\n$a{}%", max_size=40))
def test_any_program_stands_whole_between_its_fences(code: str) -> None:
    feedback = Feedback(parent=replace(PARENT, text=code), assessment=None)
    text = build_prompt(PROBLEM, Terms(), feedback).user
    rest = text.partition("python\n")[2]
    marks = text.partition("# The current program (Python)\n\n")[2].partition("python\n")[0]
    assert set(marks) == {"`"}
    assert marks not in code
    assert rest.startswith(f"{code.rstrip()}\n{marks}\n")


def test_dollars_in_values_are_only_text() -> None:
    text = question()
    assert "# Problem: Pairs of $5" in text
    assert "$statement" in text
    assert "'$title'" in text


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (
            attempt(1, Reason.FASTER, accepted=True, time=figure(0.5)),
            "- r1c1: accepted; against its parent: time 2.00x less",
        ),
        (
            attempt(1, Reason.TIME_LOSS, time=figure(2)),
            "- r1c1: rejected, time-loss; against its parent: time 2.00x more",
        ),
        (attempt(1, Reason.LOST_CELL, detail="fails scale 1"), "- r1c1: rejected, lost-cell: fails scale 1"),
        (attempt(1, Reason.TRUNCATED, status="not-run"), "- r1c1: rejected, truncated"),
        (attempt(1, Reason.FIRST, accepted=True), "- r1c1: right, the first program to improve"),
    ],
)  # fmt: skip
def test_each_attempt_is_one_line(result: CandidateResult, line: str) -> None:
    assert line in question(result)


def test_trouble_of_the_harness_is_no_attempt() -> None:
    assert "r1c1" not in question(attempt(1, Reason.NOT_MEASURED))


def test_of_many_attempts_the_last_ones_are_kept() -> None:
    text = question(*[attempt(number) for number in range(1, MAX_ATTEMPTS + 4)])
    assert "(3 earlier attempts are left out)" in text
    assert "r3c1:" not in text
    assert "r4c1:" in text


@pytest.mark.parametrize("objective", Objective)
def test_the_objective_and_the_permitted_loss_are_said(objective: Objective) -> None:
    text = question(terms=Terms(objective=objective, max_memory_ratio=3))
    assert "to 3 times" in text
    assert ("Less peak memory" in text) == (objective is Objective.MEMORY)


def test_a_dry_run_has_no_figures() -> None:
    text = build_prompt(PROBLEM, Terms(), Feedback(parent=PARENT, assessment=None)).user
    assert "is measured when the run starts" in text
    assert "Growth" not in text


@pytest.mark.parametrize(
    ("mode", "said"),
    [("function", "same parameters"), ("driver", "no main function"), ("program", "reads standard input")],
)
def test_the_form_of_the_answer_follows_the_mode(mode: str, said: str) -> None:
    text = first_question(replace(PROBLEM, mode=mode), Terms()).user
    assert said in text
    assert "ONE fenced code block" in text


def test_a_program_of_which_nothing_is_known_still_gives_a_question() -> None:
    bare = ProgramVerdict(id="start", language="python", status=Status.TIME_LIMIT)
    text = build_prompt(PROBLEM, Terms(), Feedback(parent=PARENT, assessment=Assessment(verdict=bare))).user
    assert "| 100 | not known | not known |" in text
