"""What people read of a refinement."""

import io
import os
import pty
from dataclasses import replace

import pytest

from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import (
    CandidateResult,
    Final,
    Objective,
    Reason,
    ReferenceDistance,
    Refinement,
    RoundResult,
    ScaleCost,
    Spend,
    Standing,
    StopReason,
)
from best_agent.model.run import Isolation, Meter
from best_agent.report.console.refine import Progress, ratio, render_refinement, spent


def figure(value: float, half: float | None = None) -> Compared:
    ci = None if half is None else Interval(low=value - half, high=value + half)
    return Compared(before=100.0, after=100.0 * value, ratio=value, ratio_ci=ci, meter=Meter.EXACT, n=5)


STANDING = Standing(
    id="start",
    status="ok",
    scales=(ScaleCost(scale=1, size=10, status="ok", cpu_ns=1500, peak_bytes=2048),),
    cells_passed=2,
    cells=9,
    references=(ReferenceDistance(reference="fast", time=figure(40, 2), memory=figure(0.5)),),
)
UNSHOWN = "no gain in time or memory is shown: time 1.4x less, memory the same; 3 pairs do not show it"
GOOD = CandidateResult(
    id="r1c1", origin="openai/x", status="ok", accepted=True, reason=Reason.FASTER, detail="d",
    time=figure(0.25, 0.05), memory=figure(1.0),
)  # fmt: skip
BAD = replace(
    GOOD,
    id="r1c2",
    accepted=False,
    reason=Reason.FAILED,
    detail="[bold]wrong[/bold] \x1b[31m",
    time=None,
    memory=None,
)
RESULT = Refinement(
    target="pairs",
    language="python",
    objective=Objective.BOTH,
    source="model",
    source_note="model openai/x",
    rounds=(RoundResult(round=1, parent="start", candidates=(GOOD, BAD), best="r1c1"),),
    initial=STANDING,
    final=Final(
        id="r1c1", time=figure(0.25, 0.05), memory=figure(0.5), confirmed=True, verified="fresh-seeds",
        note="", standing=replace(STANDING, id="r1c1"),
        code="def solve():\n\treturn [1]  # \x1b]0;title\x07\n",
    ),
    stop_reason=StopReason.ROUNDS,
    stop_detail="--rounds 1 is reached",
    patch="--- a/p.py\n+++ b/p.py\n",
    spend=Spend(calls=2, tokens_in=1200, tokens_out=34, usd=0.5),
    isolation=Isolation.STRICT,
    time_meter=Meter.EXACT,
    memory_meter=Meter.EXACT,
    run_dir="runs/1",
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (figure(0.25, 0.05), "4.00x less (3.33x to 5.00x less)"),
        (figure(2.0, 0.5), "2.00x more (1.50x to 2.50x more)"),
        (figure(1.0, 0.1), "the same (1.11x less to 1.10x more)"),
        (figure(0.5), "2.00x less"),
        (None, "-"),
        (replace(figure(1.0), before=0.0, after=2048.0, ratio=None), "2.00 KiB more than nothing"),
    ],
)  # fmt: skip
def test_ratios_are_words(value: Compared | None, said: str) -> None:
    assert ratio(value) == said


@pytest.mark.parametrize(
    ("spend", "said"),
    [
        (
            Spend(calls=1, tokens_in=1200, tokens_out=5, usd=0.25),
            "1 call, 1,200 tokens in, 5 out, 0.2500 USD",
        ),
        (Spend(calls=1, usd=None), "cost unknown"),
        (Spend(calls=1, estimated=True), "about 0 tokens in"),
        (Spend(calls=3, usd=None, counted=False), "3 calls; tokens and cost are not known here"),
    ],
)
def test_cost_is_known_unknown_or_estimated_and_says_which(spend: Spend, said: str) -> None:
    assert said in spent(spend)


def test_the_summary_says_from_where_to_where_how_sure_at_what_cost_and_why_it_ended() -> None:
    text = render_refinement(RESULT, colour=False)
    for said in (
        "start -> r1c1: time 4.00x less (3.33x to 5.00x less), peak memory 2.00x less; confirmed on fresh",
        "against fast: time 40.0x more",
        "return [1]",
        "+++ b/p.py",
        "stopped: rounds (--rounds 1 is reached)",
        "1,200 tokens in, 34 out, 0.5000 USD",
        "kept in runs/1",
        "isolation strict",
        "2 of 9 cells",
    ):
        assert said in " ".join(text.split()), said


def test_text_of_candidates_is_text_and_no_markup_or_control_codes() -> None:
    text = render_refinement(RESULT, colour=False)
    assert "[bold]wrong[/bold]" in text
    assert not set(text) & set("\x1b\r\x07")


def test_nothing_better_is_said_plainly() -> None:
    start = replace(RESULT.final, id="start", time=None, memory=None, confirmed=False, verified="")
    text = render_refinement(replace(RESULT, final=start, patch=""), colour=False)
    assert "nothing better was found: the start stands" in text
    assert "->" not in text


def test_an_unconfirmed_result_says_so() -> None:
    final = replace(RESULT.final, confirmed=False, verified="", note="not confirmed: the run was interrupted")
    text = render_refinement(replace(RESULT, final=final), colour=False)
    assert "; not confirmed; intervals are 95%" in " ".join(text.split())


def drive(progress: Progress) -> None:
    with progress:
        progress.started(STANDING)
        progress.round_begun(1, "start")
        progress.judging("r1c1", "openai/x")
        progress.step("case 1")
        progress.judged(GOOD)
        progress.judged(BAD)
        progress.round_ended(RESULT.rounds[0])
        progress.say("confirming")


def test_without_a_terminal_progress_is_plain_lines() -> None:
    stream = io.StringIO()
    drive(Progress(stream))
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("start: ok; 1.50 us of CPU")
    assert lines[1] == "round 1: r1c1 (openai/x): accepted, faster: d"
    assert lines[-2:] == ["round 1: r1c1 is the next parent", "confirming"]
    assert "\x1b" not in stream.getvalue()


def test_passing_steps_are_shown_only_if_asked_for() -> None:
    streams = {verbose: io.StringIO() for verbose in (False, True)}
    for verbose, stream in streams.items():
        drive(Progress(stream, verbose=verbose))
    assert ["case 1" in stream.getvalue() for stream in streams.values()] == [False, True]


def test_quiet_progress_is_silent() -> None:
    stream = io.StringIO()
    drive(Progress(stream, quiet=True))
    assert stream.getvalue() == ""


def test_on_a_terminal_the_tables_of_ended_rounds_stay() -> None:
    reader, writer = pty.openpty()
    try:
        with os.fdopen(writer, "w") as terminal:
            drive(Progress(terminal))
        shown = b""
        while b"confirming" not in shown:
            shown += os.read(reader, 65536)
    finally:
        os.close(reader)
    assert b"r1c1" in shown
    assert b"round 1, from start" in shown


def test_what_a_reason_adds_to_its_figures_stands_in_the_table() -> None:
    unshown = replace(GOOD, id="r1c3", accepted=False, reason=Reason.NO_GAIN, detail=UNSHOWN)
    told = replace(RESULT, rounds=(replace(RESULT.rounds[0], candidates=(GOOD, unshown)),))
    text = " ".join(render_refinement(told, colour=False).split())
    assert "no-gain: 3 pairs" in text
    assert "no gain in time or memory" not in text


def test_no_memory_before_and_after_is_no_increase() -> None:
    nothing = replace(figure(1), before=0.0, after=0.0, ratio=None)
    assert ratio(nothing) == "none, as before"
    assert ratio(replace(nothing, after=2048.0)) == "2.00 KiB more than nothing"
