"""The loop on real programs in real processes, with folders, rules and commands as sources."""

import json
import shlex
import signal
import sys
from pathlib import Path

import pytest
from refine_arena import (
    BEST,
    BROKEN,
    CRASHING,
    FASTER,
    LEAN_BUT_SLOW,
    LEANER,
    NAIVE,
    SAME_AS_NAIVE,
    SLOWER,
    WRONG,
    CountingArena,
    hard_coded,
    start,
)

from best_agent.errors import MeasureError, UsageError
from best_agent.model.refinement import (
    CandidateResult,
    Objective,
    Reason,
    Refinement,
    RoundResult,
    Standing,
    StopReason,
)
from best_agent.refine.accept import Terms
from best_agent.refine.draft import NothingCorrectError
from best_agent.refine.journal import Journal
from best_agent.refine.loop import Loop
from best_agent.refine.proposals.base import ProposalSource
from best_agent.refine.proposals.command import CommandSource
from best_agent.refine.proposals.directory import DirectorySource
from best_agent.refine.proposals.rules import RuleSource
from best_agent.refine.settings import Settings


class Watcher:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def started(self, initial: Standing) -> None:
        self.lines.append(f"start {initial.status}")

    def round_begun(self, number: int, parent: str) -> None:
        self.lines.append(f"round {number} {parent}")

    def judging(self, candidate: str, origin: str) -> None:
        self.lines.append(f"judging {candidate}")

    def judged(self, result: CandidateResult) -> None:
        self.lines.append(f"judged {result.id} {result.reason}")

    def round_ended(self, result: RoundResult) -> None:
        self.lines.append(f"ended {result.round} {result.best}")

    def say(self, line: str) -> None:
        self.lines.append(line)


def journal(directory: Path, *, code: str = NAIVE, task: str = "first-seen", source: str = "any") -> Journal:
    identity = {"task": task, "language": "python", "objective": "both", "seed": 1, "source": source}
    return Journal(directory, suffix=".py", identity=identity, start=code)


def refine(
    source: ProposalSource,
    directory: Path,
    *,
    arena: CountingArena | None = None,
    settings: Settings | None = None,
    code: str | None = NAIVE,
    resume: bool = False,
) -> Refinement:
    with journal(directory, code=code or "") as log:
        if resume:
            log.resume()
        begin = None if code is None else start(code)
        loop = Loop(arena or CountingArena(), begin, source, settings or Settings(), log, Watcher())
        return loop.run()


def folder(path: Path, **programs: str) -> DirectorySource:
    path.mkdir()
    for name, code in programs.items():
        (path / f"{name}.py").write_text(code)
    return DirectorySource(path, "python")


def outcomes(result: Refinement) -> dict[str, tuple[bool, Reason]]:
    return {
        candidate.id.removesuffix(".py"): (candidate.accepted, candidate.reason)
        for found in result.rounds
        for candidate in found.candidates
    }


def test_exactly_the_right_ones_of_a_folder_are_accepted_each_with_its_reason(tmp_path: Path) -> None:
    source = folder(
        tmp_path / "candidates",
        wrong=WRONG,
        slower=SLOWER,
        faster=FASTER,
        leaner=LEANER,
        lean_but_slow=LEAN_BUT_SLOW,
        same=SAME_AS_NAIVE,
        crashing=CRASHING,
        broken=BROKEN,
        empty="",
    )
    result = refine(source, tmp_path / "run")
    assert outcomes(result) == {
        "wrong": (False, Reason.FAILED),
        "slower": (False, Reason.TIME_LOSS),
        "faster": (True, Reason.FASTER),
        "leaner": (True, Reason.LEANER),
        "lean_but_slow": (False, Reason.TIME_LOSS),
        "same": (False, Reason.DUPLICATE),
        "crashing": (False, Reason.FAILED),
        "broken": (False, Reason.FAILED),
        "empty": (False, Reason.EMPTY_ANSWER),
    }
    assert result.stop_reason is StopReason.EXHAUSTED
    assert result.final.confirmed
    assert result.final.verified == "fresh-seeds"


@pytest.mark.parametrize(
    ("objective", "winner"), [(Objective.TIME, "faster.py"), (Objective.MEMORY, "leaner.py")]
)
def test_the_objective_decides_what_counts_as_a_gain(
    tmp_path: Path, objective: Objective, winner: str
) -> None:
    source = folder(tmp_path / "candidates", faster=FASTER, leaner=LEANER)
    result = refine(source, tmp_path / "run", settings=Settings(terms=Terms(objective=objective)))
    assert [name for name, (accepted, _) in outcomes(result).items() if accepted] == [
        winner.removesuffix(".py")
    ]
    assert result.final.id == winner


def test_a_user_can_name_a_trade_off(tmp_path: Path) -> None:
    source = folder(tmp_path / "candidates", lean_but_slow=LEAN_BUT_SLOW)
    result = refine(source, tmp_path / "run", settings=Settings(terms=Terms(max_time_ratio=2.0)))
    assert outcomes(result) == {"lean_but_slow": (True, Reason.LEANER)}


def test_the_patch_turns_the_start_into_the_final_program(tmp_path: Path) -> None:
    import subprocess

    result = refine(folder(tmp_path / "candidates", best=BEST), tmp_path / "run")
    (tmp_path / "first-seen.py").write_text(NAIVE)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "apply", tmp_path / "run" / "patch.diff"], check=True)
    assert (tmp_path / "first-seen.py").read_text() == BEST == result.final.code
    assert (tmp_path / "run" / "final.py").read_text() == BEST


def test_nothing_better_is_said_and_the_start_stands(tmp_path: Path) -> None:
    result = refine(folder(tmp_path / "candidates", slower=SLOWER), tmp_path / "run")
    assert result.final.id == "start"
    assert result.final.code == NAIVE
    assert result.patch == ""
    assert not result.final.confirmed


def test_a_gain_that_does_not_hold_when_measured_again_is_not_reported(tmp_path: Path) -> None:
    arena = CountingArena(confirm_with=lambda source: start(NAIVE))
    result = refine(folder(tmp_path / "candidates", faster=FASTER), tmp_path / "run", arena=arena)
    assert result.final.id == "start"
    assert "did not hold" in result.final.note
    assert result.patch == ""


def test_a_program_that_knows_the_inputs_by_heart_falls_on_fresh_ones(tmp_path: Path) -> None:
    source = folder(tmp_path / "candidates", cheat=hard_coded(), faster=FASTER)
    result = refine(source, tmp_path / "run")
    assert outcomes(result)["cheat"] == (True, Reason.FASTER_AND_LEANER), "it is right on the inputs it knows"
    assert result.final.id == "faster.py"
    assert "cheat.py was accepted, but did not hold" in result.final.note


def test_the_next_best_takes_over_where_the_winner_does_not_hold(tmp_path: Path) -> None:
    arena = CountingArena(confirm_with=lambda source: start(NAIVE) if source.text == BEST else source)
    source = folder(tmp_path / "candidates", best=BEST, leaner=LEANER)
    result = refine(source, tmp_path / "run", arena=arena)
    assert result.final.id == "leaner.py"
    assert result.final.confirmed
    assert "best.py was accepted, but did not hold" in result.final.note


def test_a_start_that_is_wrong_is_refused_in_one_line_and_leaves_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the start is not correct"):
        refine(folder(tmp_path / "candidates", best=BEST), tmp_path / "run", code=WRONG)
    assert not (tmp_path / "run").exists()


def command(tmp_path: Path, script: str) -> CommandSource:
    path = tmp_path / "propose.py"
    path.write_text(script)
    return CommandSource(f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}", "python", timeout_s=30)


def in_rounds(*programs: str) -> str:
    """A command that gives one program a round, then nothing."""
    return f"""
import json, sys
question = json.load(sys.stdin)
programs = {programs!r}
sys.stdout.write(programs[question["round"] - 1] if question["round"] <= len(programs) else "")
"""


def test_each_accepted_program_is_the_parent_of_the_next_round(tmp_path: Path) -> None:
    result = refine(command(tmp_path, in_rounds(WRONG, LEANER, BEST)), tmp_path / "run")
    assert [(found.parent, found.best) for found in result.rounds] == [
        ("start", None),
        ("start", "r2c1"),
        ("r2c1", "r3c1"),
    ]
    assert result.stop_reason is StopReason.EXHAUSTED
    assert result.final.id == "r3c1"


def test_patience_ends_a_run_that_gains_nothing(tmp_path: Path) -> None:
    settings = Settings(patience=2)
    result = refine(command(tmp_path, in_rounds(*[WRONG] * 8)), tmp_path / "run", settings=settings)
    assert result.stop_reason is StopReason.PATIENCE
    assert [found.candidates[0].reason for found in result.rounds] == [Reason.FAILED, Reason.DUPLICATE]


def test_the_number_of_rounds_is_a_bound(tmp_path: Path) -> None:
    settings = Settings(rounds=1)
    result = refine(command(tmp_path, in_rounds(LEANER, BEST)), tmp_path / "run", settings=settings)
    assert result.stop_reason is StopReason.ROUNDS
    assert len(result.rounds) == 1


def test_a_command_that_fails_later_leaves_what_was_found(tmp_path: Path) -> None:
    script = in_rounds(LEANER) + "\nif question['round'] > 1: sys.exit('out of credit')\n"
    result = refine(command(tmp_path, script), tmp_path / "run")
    assert result.stop_reason is StopReason.SOURCE_FAILED
    assert "exit code 1" in result.stop_detail
    assert "out of credit" in result.stop_detail
    assert result.final.id == "r1c1"
    assert result.final.confirmed


def test_the_rules_improve_round_by_round(tmp_path: Path) -> None:
    code = (
        "def solve(numbers):\n"
        "    kept = []\n"
        "    left = list(numbers)\n"
        "    while left:\n"
        "        number = left.pop(0)\n"
        "        if number not in kept:\n"
        "            kept.append(number)\n"
        "    return kept\n"
    )
    result = refine(RuleSource("python"), tmp_path / "run", code=code)
    assert result.source_note == "built-in rules, not a language model"
    assert result.stop_reason is StopReason.EXHAUSTED


def test_where_no_rule_applies_the_ways_on_are_said(tmp_path: Path) -> None:
    result = refine(RuleSource("python"), tmp_path / "run", code=LEANER)
    assert (result.rounds, result.final.id) == ((), "start")
    assert "no rule applies" in result.stop_detail
    assert "--model" in result.stop_detail


def test_the_prompt_holds_measurements_and_reasons_but_nothing_hidden(tmp_path: Path) -> None:
    script = in_rounds(WRONG, SLOWER, BEST).replace(
        "programs =",
        f"open({str(tmp_path)!r} + '/prompt%d' % question['round'], 'w').write(question['prompt'])\n"
        "programs =",
    )
    refine(command(tmp_path, script), tmp_path / "run")
    prompt = (tmp_path / "prompt3").read_text()
    assert "r1c1: rejected: wrong-answer at scale 1" in prompt
    assert "r2c1: rejected, time-loss" in prompt
    assert NAIVE.rstrip() in prompt
    assert "| 160 |" in prompt
    assert "expected" not in prompt
    assert "number not in kept" not in prompt, "the reference's source is hidden"


# -- without a start --------------------------------------------------------------------------


def test_without_a_start_the_first_right_program_is_the_start(tmp_path: Path) -> None:
    note = f"open({str(tmp_path)!r} + '/code%d' % question['round'], 'w').write(question['code'])\n"
    script = in_rounds(WRONG, NAIVE, BEST).replace("programs =", f"{note}programs =")
    result = refine(command(tmp_path, script), tmp_path / "run", code=None)
    assert [(found.parent, found.best) for found in result.rounds] == [
        ("nothing", None),
        ("nothing", "r2c1"),
        ("r2c1", "r3c1"),
    ]
    assert [reason for _, reason in outcomes(result).values()] == [
        Reason.FAILED,
        Reason.FIRST,
        Reason.FASTER_AND_LEANER,
    ]
    assert [(tmp_path / f"code{number}").read_text() for number in (1, 2, 3)] == ["", "", NAIVE]
    assert (result.initial.id, result.final.id) == ("r2c1", "r3c1")
    assert result.final.confirmed
    assert result.patch.startswith("--- a/first-seen.py")


def test_where_no_right_program_is_proposed_that_is_said_with_the_way_on(tmp_path: Path) -> None:
    for programs, said in (
        ([WRONG, CRASHING, BROKEN, BEST], "none of 3 proposals"),
        ([], "none of 0 proposals"),
    ):
        with pytest.raises(NothingCorrectError, match=said) as caught:
            refine(command(tmp_path, in_rounds(*programs)), tmp_path / said[8:9], code=None)
        assert "--start FILE" in str(caught.value)
        assert caught.value.exit_code == 1


def test_every_prefix_of_a_log_without_a_start_can_be_resumed_to_the_same_end(tmp_path: Path) -> None:
    source = command(tmp_path, in_rounds(WRONG, LEANER, SLOWER, BEST))
    whole = refine(source, tmp_path / "run", code=None)
    log = tmp_path / "run" / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        log.write_bytes(b"".join(lines[:count]))
        again = refine(source, tmp_path / "run", code=None, resume=True)
        assert outcomes(again) == outcomes(whole), count
        assert (again.initial.id, again.final.id) == (whole.initial.id, whole.final.id)
        assert again.spend == whole.spend


# -- interrupts and resuming ------------------------------------------------------------------


class Killed(BaseException):
    """Stands for a kill: nothing catches it, so nothing is tidied up."""


def test_a_killed_run_goes_on_without_asking_or_judging_twice(tmp_path: Path) -> None:
    script = in_rounds(LEANER, WRONG, BEST).replace(
        "programs =", f"open({str(tmp_path / 'asked')!r}, 'a').write('%d ' % question['round'])\nprograms ="
    )

    def kill(_before: object, after: object) -> None:
        if getattr(after, "text", "") == BEST:
            raise Killed

    with pytest.raises(Killed):
        refine(command(tmp_path, script), tmp_path / "run", arena=CountingArena(before_race=kill))
    assert (tmp_path / "run" / "final.py").read_text() == LEANER, "a usable result lies there at any time"
    arena = CountingArena()
    result = refine(command(tmp_path, script), tmp_path / "run", arena=arena, resume=True)
    assert (tmp_path / "asked").read_text() == "1 2 3 4 "
    assert result.final.id == "r3c1"
    assert len(result.rounds) == 3
    assert sorted(set(arena.assessed)) == ["r1c1", "r3c1", "start"], "the wrong one is not judged again"


def test_a_last_line_cut_off_by_a_kill_is_dropped(tmp_path: Path) -> None:
    whole = refine(command(tmp_path, in_rounds(LEANER, BEST)), tmp_path / "run")
    log = tmp_path / "run" / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    judged = [index for index, line in enumerate(lines) if b'"judged"' in line]
    for cut in (lines[judged[1]][:25], b'{"event": \xff\n', b""):
        log.write_bytes(b"".join(lines[: judged[1]]) + cut)
        again = refine(command(tmp_path, in_rounds(LEANER, BEST)), tmp_path / "run", resume=True)
        assert outcomes(again) == outcomes(whole)
        assert again.final == whole.final


def test_every_prefix_of_a_log_can_be_resumed_to_the_same_end(tmp_path: Path) -> None:
    whole = refine(command(tmp_path, in_rounds(LEANER, WRONG, BEST)), tmp_path / "run")
    log = tmp_path / "run" / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        log.write_bytes(b"".join(lines[:count]))
        again = refine(command(tmp_path, in_rounds(LEANER, WRONG, BEST)), tmp_path / "run", resume=True)
        assert outcomes(again) == outcomes(whole), count
        assert again.final.id == whole.final.id


def test_a_damaged_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run")
    log = tmp_path / "run" / "run.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], b"garbage\n", *lines[1:]]))
    with pytest.raises(UsageError, match="line 2 is damaged"):
        refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run", resume=True)


def test_ctrl_c_while_a_candidate_is_judged_keeps_what_was_found(tmp_path: Path) -> None:
    def interrupt(_before: object, after: object) -> None:
        if getattr(after, "text", "") == BEST:
            signal.raise_signal(signal.SIGINT)

    arena = CountingArena(before_race=interrupt)
    result = refine(command(tmp_path, in_rounds(LEANER, BEST)), tmp_path / "run", arena=arena)
    assert result.stop_reason is StopReason.INTERRUPTED
    assert result.final.id == "r1c1"
    assert not result.final.confirmed
    assert "not confirmed" in result.final.note
    assert result.final.memory is not None
    again = refine(command(tmp_path, in_rounds(LEANER, BEST)), tmp_path / "run", resume=True)
    assert again.final.id == "r2c1"
    assert again.final.confirmed


def test_candidates_of_a_round_cut_short_count(tmp_path: Path) -> None:
    def interrupt(_before: object, after: object) -> None:
        if getattr(after, "text", "") == LEANER:
            signal.raise_signal(signal.SIGINT)

    source = folder(tmp_path / "candidates", a_faster=FASTER, b_leaner=LEANER)
    result = refine(source, tmp_path / "run", arena=CountingArena(before_race=interrupt))
    assert result.stop_reason is StopReason.INTERRUPTED
    assert result.final.id == "a_faster.py"
    again = refine(source, tmp_path / "run", resume=True)
    assert outcomes(again) == {"a_faster": (True, Reason.FASTER), "b_leaner": (True, Reason.LEANER)}


def test_what_the_harness_could_not_measure_before_a_kill_is_measured_after_it(tmp_path: Path) -> None:
    def fail_then_kill(_before: object, after: object) -> None:
        if getattr(after, "text", "") == FASTER:
            raise MeasureError("the sandbox is gone")
        raise Killed

    source = folder(tmp_path / "candidates", a=FASTER, b=LEANER)
    with pytest.raises(Killed):
        refine(source, tmp_path / "run", arena=CountingArena(before_race=fail_then_kill))
    again = refine(source, tmp_path / "run", resume=True)
    assert outcomes(again) == {"a": (True, Reason.FASTER), "b": (True, Reason.LEANER)}


def test_trouble_of_the_harness_is_never_the_candidates(tmp_path: Path) -> None:
    def fail(_before: object, _after: object) -> None:
        raise MeasureError("the sandbox is gone")

    source = folder(tmp_path / "candidates", a=FASTER, b=LEANER)
    result = refine(source, tmp_path / "run", arena=CountingArena(before_race=fail))
    assert set(outcomes(result).values()) == {(False, Reason.NOT_MEASURED)}
    assert result.stop_reason is StopReason.NOT_MEASURED


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": BEST}, "of another start"),
        ({"task": "pairs"}, "of another task"),
        ({"source": "rules"}, "source"),
    ],
)
def test_a_run_of_something_else_is_not_resumed(tmp_path: Path, change: dict[str, str], said: str) -> None:
    refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run")
    with journal(tmp_path / "run", **change) as log, pytest.raises(UsageError, match=said):
        log.resume()


def test_a_log_of_another_format_is_not_resumed(tmp_path: Path) -> None:
    refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run")
    log = tmp_path / "run" / "run.jsonl"
    lines = log.read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"schema": "best-agent/refine-run/9"})
    log.write_text("\n".join(lines) + "\n")
    with journal(tmp_path / "run") as again, pytest.raises(UsageError, match="another version"):
        again.resume()


def test_two_processes_cannot_work_in_one_directory(tmp_path: Path) -> None:
    with journal(tmp_path / "run") as first, journal(tmp_path / "run") as second:
        first.begin()
        with pytest.raises(UsageError, match="another process"):
            second.resume()


def test_a_used_directory_is_not_overwritten(tmp_path: Path) -> None:
    refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run")
    with pytest.raises(UsageError, match="--resume"):
        refine(command(tmp_path, in_rounds(LEANER)), tmp_path / "run")
