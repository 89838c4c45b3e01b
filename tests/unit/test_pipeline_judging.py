from dataclasses import replace

import pytest

from best_agent.judge.answers import AnswerError
from best_agent.judge.outside import NOTHING, Excess
from best_agent.model.run import Meter, Run, Status
from best_agent.model.task import Case, LanguageLimits, Mode, Signature, Source, Task
from best_agent.pipeline.judging import Oracle, case_verdict, effective_status, overall
from best_agent.units import KIB

FUNCTION = Task(
    id="t",
    title="T",
    set_name="own",
    mode=Mode.FUNCTION,
    statements=("s",),
    sizes=(10,),
    space_levels=2,
    limits={"python": LanguageLimits(memory_bytes=((200 * KIB, 100 * KIB),), time_factor=3.0)},
    references=(Source(id="r", language="python", text=""),),
    signature=Signature(parameters=(("x", "int"),), returns="int"),
)
DRIVER = replace(FUNCTION, mode=Mode.DRIVER, signature=None)
CASE = Case(id="1", scale=1, arguments=(3,))
GOOD = Run(
    status=Status.OK, cpu_ns=1_000_000, wall_ns=2_000_000, peak_bytes=50 * KIB, memory_meter=Meter.EXACT
)


def verdict(
    timed: Run = GOOD,
    peak: Run | None = None,
    *,
    wrong: str | None = None,
    time_limit_ns: int | None = 5_000_000,
    excess: Excess = NOTHING,
):
    return case_verdict(
        CASE,
        [timed],
        peak or timed,
        wrong=wrong,
        time_limit_ns=time_limit_ns,
        memory_limits=(200 * KIB, 100 * KIB),
        excess=excess,
    )


def test_a_right_answer_within_limits_is_ok() -> None:
    assert verdict().status is Status.OK
    assert verdict().answered


@pytest.mark.parametrize("status", [Status.RUNTIME_ERROR, Status.NO_RESULT, Status.FORBIDDEN])
def test_a_failed_run_keeps_its_status(status: Status) -> None:
    found = verdict(Run(status=status, detail="why"))
    assert (found.status, found.detail, found.answered) == (status, "why", False)


def test_a_wrong_answer_comes_before_limits() -> None:
    assert verdict(wrong="no", time_limit_ns=1).status is Status.WRONG_ANSWER


def test_beyond_the_time_limit_keeps_its_figures() -> None:
    found = verdict(time_limit_ns=100_000)
    assert found.status is Status.TIME_LIMIT
    assert found.answered
    assert found.cpu_ns == 1_000_000
    assert found.peak_bytes == 50 * KIB


def test_beyond_the_loosest_memory_limit_fails_the_case() -> None:
    found = verdict(peak=replace(GOOD, peak_bytes=300 * KIB))
    assert found.status is Status.MEMORY_LIMIT
    assert found.answered
    assert "300 KiB" in found.detail


def test_work_outside_of_the_call_is_charged_and_flagged() -> None:
    found = verdict(excess=Excess(9_000_000, 10))
    assert found.cpu_ns == 10_000_000
    assert found.peak_bytes == 90 * KIB
    assert found.status is Status.TIME_LIMIT
    assert "work-outside-region" in found.flags


def test_a_time_near_its_limit_says_so() -> None:
    assert "near-the-limit" in verdict(time_limit_ns=1_100_000).flags
    assert "near-the-limit" not in verdict(time_limit_ns=2_000_000).flags


def test_a_failure_while_memory_is_measured_is_named_as_such() -> None:
    found = verdict(peak=Run(status=Status.MEMORY_LIMIT, detail="killed"))
    assert found.status is Status.MEMORY_LIMIT
    assert "while its memory was measured" in found.detail


def test_the_overall_status_is_the_worst() -> None:
    cases = [verdict(), verdict(time_limit_ns=1), verdict(wrong="no")]
    assert overall(cases)[0] is Status.WRONG_ANSWER
    assert overall(cases[:2])[0] is Status.TIME_LIMIT
    assert overall(cases[:1]) == (Status.OK, "")


def test_a_function_answer_is_judged_by_value() -> None:
    oracle = Oracle(FUNCTION, exact=False, check=None)
    assert not oracle.knows(CASE)
    oracle.set_expected(CASE, b"[1, 2]")
    assert oracle.wrong(CASE, b"[1,2]") is None
    assert "expected 2, got 3" in str(oracle.wrong(CASE, b"[1, 3]"))
    assert "cannot be read" in str(oracle.wrong(CASE, b"[1"))


def test_an_expected_answer_that_is_none_is_refused() -> None:
    with pytest.raises(AnswerError):
        Oracle(FUNCTION, exact=False, check=None).set_expected(CASE, b"[")


@pytest.mark.parametrize(
    ("said", "wrong"), [(True, None), (False, "the checker refuses it"), ("odd", "odd"), ("", "the checker")]
)
def test_a_checker_decides(said: bool | str, wrong: str | None) -> None:
    oracle = Oracle(FUNCTION, exact=False, check=lambda _arguments, _answer: said)
    assert oracle.knows(CASE)
    found = oracle.wrong(CASE, b"7")
    assert (found is None) if wrong is None else (wrong in str(found))


def test_text_answers_are_compared_by_tokens_or_exactly() -> None:
    case = Case(id="1", scale=1, stdin=b"", expected=b"1 2\n")
    for exact, wrong in ((False, False), (True, True)):
        oracle = Oracle(DRIVER, exact=exact, check=None)
        oracle.set_expected(case, b"1 2\n")
        assert bool(oracle.wrong(case, b"1 2")) is wrong


def test_a_protocol_may_ignore_how_a_program_ended() -> None:
    region = replace(GOOD, status=Status.RUNTIME_ERROR, answer=b"1", region=None)
    assert effective_status(region, ignore_exit_status=True) is Status.RUNTIME_ERROR
