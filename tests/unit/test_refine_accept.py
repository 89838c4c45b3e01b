"""The rule of acceptance, figure by figure."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import CandidateResult, Objective, Reason
from best_agent.model.run import Meter, Status
from best_agent.model.verdict import CaseVerdict, Contest, PairedCase, ProgramVerdict, Shown
from best_agent.refine.accept import Terms, decide, failure, passes_more, score, slower_at, words

TERMS = Terms()


def figure(
    ratio: float | None, low: float | None = None, high: float | None = None, *, before: float = 1e6
) -> Compared:
    interval = None if low is None or high is None else Interval(low=low, high=high)
    after = before * ratio if ratio is not None else 5000.0
    return Compared(before=before, after=after, ratio=ratio, ratio_ci=interval, meter=Meter.EXACT, n=8)


def time(ratio: float, half: float = 0.02) -> tuple[Compared, Shown]:
    low, high = ratio * (1 - half), ratio * (1 + half)
    return figure(ratio, low, high), "less" if high < 0.99 else "more" if low > 1.01 else "none"


def memory(ratio: float) -> tuple[Compared, Shown]:
    return figure(ratio), "less" if ratio < 0.95 else "more" if ratio > 1.05 else "none"


def contest(of_time: tuple[Compared, Shown] | None, of_memory: tuple[Compared, Shown] | None) -> Contest:
    return Contest(
        baseline="start",
        cases=(),
        scale=3,
        time=of_time[0] if of_time else None,
        memory=of_memory[0] if of_memory else None,
        time_shown=of_time[1] if of_time else "none",
        memory_shown=of_memory[1] if of_memory else "none",
    )


@pytest.mark.parametrize(
    ("of_time", "of_memory", "accepted", "reason"),
    [
        (time(0.5), memory(1.0), True, Reason.FASTER),
        (time(1.0), memory(0.5), True, Reason.LEANER),
        (time(0.5), memory(0.5), True, Reason.FASTER_AND_LEANER),
        (time(0.5), memory(1.04), True, Reason.FASTER),
        (time(0.5), memory(1.06), False, Reason.MEMORY_LOSS),
        (time(0.01), memory(2.0), False, Reason.MEMORY_LOSS),
        (time(1.2), memory(0.1), False, Reason.TIME_LOSS),
        (time(1.04, 0.005), memory(0.1), True, Reason.LEANER),
        (time(1.04, 0.03), memory(0.1), False, Reason.UNDECIDED),
        (time(1.0), memory(1.0), False, Reason.NO_GAIN),
        (time(0.985), memory(1.0), False, Reason.NO_GAIN),
        (time(0.9, 0.15), memory(1.0), False, Reason.NO_GAIN),
        (time(1.5), memory(1.5), False, Reason.TIME_LOSS),
        (time(0.5), None, False, Reason.NOT_COMPARED),
        (None, memory(0.5), False, Reason.NOT_COMPARED),
        (None, None, False, Reason.NOT_COMPARED),
    ],
)
def test_a_gain_in_one_without_a_loss_in_the_other_is_accepted(
    of_time: tuple[Compared, Shown] | None,
    of_memory: tuple[Compared, Shown] | None,
    accepted: bool,
    reason: Reason,
) -> None:
    found = decide(contest(of_time, of_memory), TERMS)
    assert (found.accepted, found.reason) == (accepted, reason)
    assert found.detail
    assert "\n" not in found.detail


def test_only_an_undecided_loss_asks_for_more_pairs() -> None:
    assert decide(contest(time(1.04, 0.03), memory(0.1)), TERMS).retry
    assert not decide(contest(time(1.04, 0.03), memory(1.0)), TERMS).retry
    assert not decide(contest(time(1.3, 0.03), memory(0.1)), TERMS).retry


def test_an_interval_below_one_without_the_sequential_test_shows_nothing() -> None:
    race = replace(contest(time(0.5), memory(1.0)), time_shown="none")
    found = decide(race, TERMS)
    assert found.reason is Reason.NO_GAIN
    assert "8 pairs do not show a gain of 1% at this run's error budget" in found.detail
    assert "budget" not in decide(contest(time(1.0), memory(1.0)), TERMS).detail
    assert "budget" not in decide(race, Terms(objective=Objective.MEMORY)).detail


def test_no_memory_before_is_said_and_not_called_unknown() -> None:
    assert words(figure(None, before=0.0), "memory") == "memory where there was none before"
    assert words(replace(figure(None, before=0.0), after=0.0), "memory") == "memory none, as before"


def test_memory_where_there_was_none_before_is_a_loss_and_the_resolution_of_the_meter_is_none() -> None:
    more = (figure(None, before=0.0), "more")
    assert decide(contest(time(0.5), more), TERMS).reason is Reason.MEMORY_LOSS
    little = (figure(4.0, before=100.0), "none")
    assert decide(contest(time(0.5), little), TERMS).accepted


@pytest.mark.parametrize(
    ("objective", "of_time", "of_memory", "accepted"),
    [
        (Objective.TIME, time(0.5), memory(1.0), True),
        (Objective.TIME, time(1.0), memory(0.5), False),
        (Objective.MEMORY, time(0.5), memory(1.0), False),
        (Objective.MEMORY, time(1.0), memory(0.5), True),
        (Objective.MEMORY, time(1.5), memory(0.5), False),
    ],
)
def test_the_objective_says_where_the_gain_must_be(
    objective: Objective, of_time: tuple[Compared, Shown], of_memory: tuple[Compared, Shown], accepted: bool
) -> None:
    assert decide(contest(of_time, of_memory), Terms(objective=objective)).accepted is accepted


def test_a_wider_limit_lets_memory_be_paid_for_time() -> None:
    race = contest(time(0.1), memory(2.5))
    assert decide(race, Terms(max_memory_ratio=3.0)).reason is Reason.FASTER
    assert decide(race, Terms(max_memory_ratio=2.0)).reason is Reason.MEMORY_LOSS


def test_passing_more_is_a_gain_even_where_no_scale_can_be_compared() -> None:
    assert decide(contest(None, None), TERMS, passes_more=True).reason is Reason.PASSES_MORE
    assert decide(contest(time(1.0), memory(1.0)), TERMS, passes_more=True).accepted
    assert decide(contest(time(1.0), memory(2.0)), TERMS, passes_more=True).reason is Reason.MEMORY_LOSS


def test_a_failure_within_the_race_is_never_accepted() -> None:
    broken = PairedCase(
        case="7", scale=3, time=None, wall=None, memory=None, reason="r1c1 answered wrongly in the race: no"
    )
    race = replace(contest(time(0.1), memory(0.1)), cases=(broken,))
    assert decide(race, TERMS).reason is Reason.NOT_COMPARED


def test_a_suspect_race_is_never_accepted() -> None:
    race = replace(contest(time(0.1), memory(0.1)), flags=("suspect",))
    assert decide(race, TERMS).reason is Reason.SUSPECT


ratios = st.floats(0.01, 20)
halves = st.floats(0.0, 0.3)


@given(ratios, halves, ratios, st.sampled_from(Objective))
def test_nothing_is_ever_accepted_with_a_shown_loss_or_without_a_shown_gain(
    of_time: float, half: float, of_memory: float, objective: Objective
) -> None:
    found = decide(contest(time(of_time, half), memory(of_memory)), Terms(objective=objective))
    if found.accepted:
        assert of_time * (1 + half) <= 1.05
        assert of_memory <= 1.05
        gains = {Objective.TIME: (of_time,), Objective.MEMORY: (of_memory,)}.get(
            objective, (of_time, of_memory)
        )
        assert min(gains) < 0.99


# -- correctness ------------------------------------------------------------------------------


def case(name: str, status: Status = Status.OK, *flags: str, scale: int = 1, detail: str = "") -> CaseVerdict:
    return CaseVerdict(case=name, scale=scale, status=status, flags=flags, detail=detail)


def program(*cases: CaseVerdict, grid: tuple[tuple[bool, ...], ...] = (), **more: object) -> ProgramVerdict:
    worst = next((found.status for found in cases if found.status is not Status.OK), Status.OK)
    return ProgramVerdict(id="p", language="python", status=worst, cases=cases, grid=grid)


@pytest.mark.parametrize(
    "status",
    [Status.WRONG_ANSWER, Status.RUNTIME_ERROR, Status.NO_RESULT, Status.OUTPUT_LIMIT, Status.FORBIDDEN],
)
def test_a_failing_case_rejects_with_its_status_and_scale(status: Status) -> None:
    found = failure(program(case("1"), case("2", status, scale=2, detail="line\nbreak")), program(case("1")))
    assert found is not None
    assert found.reason is Reason.FAILED
    assert found.detail == f"{status} at scale 2: line break"


def test_trouble_of_the_harness_is_told_apart() -> None:
    found = failure(program(case("1", Status.INTERNAL_ERROR)), program(case("1")))
    assert found is not None
    assert found.reason is Reason.NOT_MEASURED


def test_a_program_that_does_not_build_has_no_cases_and_is_rejected() -> None:
    broken = ProgramVerdict(id="p", language="cpp", status=Status.COMPILE_ERROR, detail="no ;")
    found = failure(broken, program(case("1")))
    assert found is not None
    assert "no ;" in found.detail


def test_a_limit_counts_only_where_the_parent_keeps_it() -> None:
    slow = program(case("1"), case("2", Status.TIME_LIMIT))
    assert failure(slow, slow) is None
    found = failure(slow, program(case("1"), case("2")))
    assert found is not None
    assert found.reason is Reason.LOST_CASE
    assert passes_more(program(case("1"), case("2")), slow)
    assert not passes_more(slow, slow)


def paired(scale: int, of_time: Compared | None) -> PairedCase:
    return PairedCase(
        case=f"{scale}.1", scale=scale, time=of_time, wall=None, memory=None, reason="not raced"
    )


def test_a_time_limit_passed_by_a_finished_run_is_left_to_the_race() -> None:
    over = replace(case("2", Status.TIME_LIMIT, scale=2), answered=True)
    parent = program(case("1"), case("2", scale=2), grid=((True,), (True,)))
    found = failure(program(case("1"), over, grid=((True,), (False,))), parent)
    assert found is not None
    assert (found.accepted, found.reason, found.doubtful) == (False, Reason.LOST_CASE, (2,))
    race = contest(time(0.9), memory(0.5))
    assert slower_at(race, (2,)), "the scale was not raced"
    assert slower_at(replace(race, cases=(paired(2, figure(1.2, 1.1, 1.3)),)), (2,))
    assert not slower_at(replace(race, cases=(paired(2, figure(1.01, 0.9, 1.1)),)), (2,))
    assert slower_at(replace(race, cases=(paired(2, None),)), (2,))


def test_a_cell_lost_elsewhere_is_not_in_doubt() -> None:
    over = replace(case("2", Status.TIME_LIMIT, scale=2), answered=True)
    parent = program(case("1"), case("2", scale=2), grid=((True, True), (True, True)))
    found = failure(program(case("1"), over, grid=((True, False), (False, False))), parent)
    assert found is not None
    assert (found.reason, found.doubtful) == (Reason.LOST_CELL, ())


def test_a_lost_cell_of_the_grid_rejects() -> None:
    parent = program(case("1"), grid=((True, True), (True, False)))
    assert failure(program(case("1"), grid=((True, True), (True, True))), parent) is None
    found = failure(program(case("1"), grid=((True, False), (True, True))), parent)
    assert found is not None
    assert found.reason is Reason.LOST_CELL
    assert found.detail == "fails scale 1 at memory limit 2, which its parent passes"


def test_a_suspect_case_rejects() -> None:
    found = failure(program(case("1", Status.OK, "suspect")), program(case("1")))
    assert found is not None
    assert found.reason is Reason.SUSPECT


# -- order and words --------------------------------------------------------------------------


def result(of_time: Compared | None, of_memory: Compared | None) -> CandidateResult:
    return CandidateResult(
        id="c", origin="o", status="ok", accepted=True, reason=Reason.FASTER, detail="",
        time=of_time, memory=of_memory,
    )  # fmt: skip


def test_the_score_follows_the_objective_and_the_bad_end_of_the_interval() -> None:
    fast, lean = result(time(0.1)[0], figure(1.0)), result(time(0.9)[0], figure(0.05))
    assert score(fast, Objective.TIME) < score(lean, Objective.TIME)
    assert score(lean, Objective.MEMORY) < score(fast, Objective.MEMORY)
    vague = result(figure(0.1, 0.01, 0.9), figure(1.0))
    assert score(fast, Objective.TIME) < score(vague, Objective.TIME)
    assert score(result(None, figure(0.0)), Objective.BOTH) < -10


def test_figures_are_said_in_words() -> None:
    assert words(figure(0.25, 0.2, 0.5), "time") == "time 4.00x less (2.00x to 5.00x less)"
    assert words(figure(1.5, 1.2, 2.0), "time") == "time 1.50x more (1.20x to 2.00x more)"
    assert words(figure(1.0, 0.8, 1.25), "time") == "time the same (1.25x less to 1.25x more)"
    assert words(figure(2.0), "memory") == "memory 2.00x more"
    assert words(None, "memory") == "memory not known"
