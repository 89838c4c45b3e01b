"""Whatever the readings are, a document of `run` shows no ratio that has neither interval nor exactness."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.contract import check

from best_agent.measure import quantity
from best_agent.model.measurement import Compared
from best_agent.model.run import Meter, Run, Status
from best_agent.model.verdict import CaseVerdict, Contest, PairedCase, ProgramVerdict, TaskVerdict
from best_agent.report import isolated, task_run
from best_agent.report.envelope import envelope, to_json
from best_agent.report.quantities import NO_INTERVAL, compared, ratio

CASES = (("1.1", 1), ("2.1", 2))
# Few values, so that zeros, equal readings and too few pairs all come up.
READINGS = st.lists(
    st.tuples(st.sampled_from((0, 1, 4096, 5000)), st.sampled_from((0, 1, 4096, 5000))),
    min_size=1,
    max_size=6,
)


@st.composite
def quantities(draw: Any, *, timed: bool) -> Compared | None:
    if draw(st.integers(0, 5)) == 0:
        return None
    before, after = zip(*draw(READINGS), strict=True)
    meter = Meter.EXACT if timed else draw(st.sampled_from((Meter.EXACT, Meter.ESTIMATED)))
    return quantity.compared(before, after, meter=meter, exact=not timed and meter is Meter.EXACT)


@st.composite
def contests(draw: Any, baseline: str) -> Contest:
    pairs = tuple(
        PairedCase(
            case=case,
            scale=scale,
            time=draw(quantities(timed=True)),
            wall=draw(quantities(timed=True)),
            memory=draw(quantities(timed=False)),
            reason=draw(st.sampled_from(("", "fast ended with time-limit in the race"))),
        )
        for case, scale in CASES
        if draw(st.booleans())
    )
    return Contest(
        baseline=baseline,
        cases=pairs,
        scale=2,
        time=draw(quantities(timed=True)),
        wall=draw(quantities(timed=True)),
        memory=draw(quantities(timed=False)),
    )


def program(name: str, status: Status = Status.OK) -> ProgramVerdict:
    cases = tuple(CaseVerdict(case=case, scale=scale, status=status) for case, scale in CASES)
    return ProgramVerdict(
        id=name, language="cpp", status=status, cases=cases, grid=((True, False), (False, False))
    )


def verdict(status: Status, races: tuple[Contest, ...]) -> TaskVerdict:
    return TaskVerdict(
        task="t",
        title="T",
        protocol="default",
        sizes=(10, 20),
        memory_limits=((64, 32), (64, 32)),
        candidate=program("mine.cpp", status),
        references=(program("fast"), program("lean")),
        contests=races,
        attainable=((True, True), (True, False)),
        dual=0.25,
        time_share=0.5,
        space_share=0.5,
        beyond_references=0.0,
    )


def document(found: TaskVerdict) -> dict[str, Any]:
    payload = envelope(
        "run",
        results=task_run.results(found),
        summary=task_run.summary(found),
        isolation="strict",
        meters={"time": "exact", "memory": "estimated"},
    )
    made: dict[str, Any] = json.loads(to_json(payload))
    return made


@given(st.tuples(contests("fast"), contests("lean")) | st.just(()), st.sampled_from(Status))
def test_every_verdict_makes_a_document_that_keeps_the_contract(races: Any, status: Status) -> None:
    check(document(verdict(status, races)))


@given(quantities(timed=True))
def test_a_time_without_an_interval_has_no_ratio(found: Compared | None) -> None:
    shown = compared(found, timed=True)
    if found is not None and shown is not None:
        assert (shown["ratio"] is None) == (found.ratio_ci is None)
        assert (shown["before"], shown["after"]) == (found.before, found.after)


def test_an_exact_ratio_stands_without_an_interval() -> None:
    same = quantity.compared((4096, 4096), (2048, 2048), meter=Meter.EXACT, exact=True)
    assert ratio(same, timed=False) == 0.5
    assert compared(same, timed=False) == {
        "before": 4096,
        "after": 2048,
        "ratio": 0.5,
        "ratio_ci": None,
        "meter": "exact",
        "n": 2,
    }


def test_a_peak_that_is_not_exact_and_falls_to_nothing_has_no_ratio_but_a_reason() -> None:
    gone = quantity.compared((4096,) * 5, (0,) * 5, meter=Meter.ESTIMATED, exact=False)
    time = quantity.compared((10, 11, 12), (20, 22, 25), meter=Meter.EXACT, exact=False)
    pair = PairedCase(case="1.1", scale=1, time=time, wall=time, memory=gone)
    race = Contest(baseline="fast", cases=(pair,), scale=1, time=time, memory=gone)
    case = document(verdict(Status.OK, (race,)))["results"]["cases"][0]
    assert case["time_ratio"] is not None
    assert case["memory_ratio"] is None
    assert case["reason"] == NO_INTERVAL


@pytest.mark.parametrize(
    ("status", "said"), [(Status.OK, "not raced"), (Status.WRONG_ANSWER, "only a program whose answers are")]
)
def test_without_a_race_every_case_says_why_it_has_no_ratio(status: Status, said: str) -> None:
    results = document(verdict(status, ()))["results"]
    cases = results["cases"] + [case for one in results["references"] for case in one["cases"]]
    assert len(cases) == 6
    assert all(case["reason"].startswith(said) for case in cases)


def test_a_quantity_that_nobody_metered_is_unavailable() -> None:
    made = envelope("tasks", results=[], summary={}, isolation=None, meters={"time": "exact"})
    assert made["meters"] == {"time": "exact", "memory": "unavailable"}


@given(
    st.sampled_from(Status),
    st.none() | st.integers(-255, 255),
    st.none() | st.integers(0, 1 << 62),
    st.binary(max_size=40),
)
def test_any_run_without_a_task_keeps_the_contract(
    status: Status, code: int | None, figure: int | None, output: bytes
) -> None:
    run = Run(
        status=status,
        exit_code=code,
        signal=code,
        cpu_ns=figure,
        wall_ns=figure,
        peak_bytes=figure,
        answer=output if code else None,
        stdout=output,
        stderr=output,
        flags=("output-truncated",),
    )
    payload = envelope(
        "run",
        results=isolated.results(run),
        summary={"status": run.status},
        isolation=run.isolation,
        meters={"time": "exact", "memory": run.memory_meter},
    )
    check(json.loads(to_json(payload)))
