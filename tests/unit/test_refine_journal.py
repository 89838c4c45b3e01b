"""Logs that were damaged, forged or cut: refused in one line, never a crash and never another file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from best_agent.errors import UsageError
from best_agent.model.refinement import CandidateResult, Reason, RoundResult
from best_agent.refine.journal import LOG, Journal, read_header
from best_agent.refine.proposals.base import Proposal
from best_agent.refine.redact import REDACTED, Redactor

IDENTITY = {
    "task": "t",
    "language": "python",
    "objective": "both",
    "seed": 1,
    "source": "model",
    "options": {},
}
START = "def solve(): pass\n"


def journal(directory: Path, redact: Redactor | None = None) -> Journal:
    return Journal(directory, suffix=".py", identity=IDENTITY, start=START, redact=redact)


def result(name: str = "r1c1", *, accepted: bool = True) -> CandidateResult:
    return CandidateResult(
        id=name, origin="m", status="ok", accepted=accepted, reason=Reason.FASTER, detail="d", digest=None
    )


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A run with one whole round and one that was begun."""
    with journal(tmp_path / "run") as log:
        log.begin()
        log.round_begun(1, "start")
        log.answered(1, 0, Proposal(origin="m", code="x = 1\n", raw="```\nx = 1\n```"))
        log.judged(1, 0, result())
        log.round_ended(RoundResult(round=1, parent="start", candidates=(result(),), best="r1c1"))
        log.round_begun(2, "r1c1")
        log.answered(2, 0, Proposal(origin="m", code=None, problem=Reason.NO_CODE, detail="no"))
    return tmp_path / "run"


def resumed(directory: Path) -> Journal:
    with journal(directory) as log:
        log.resume()
    return log


def refusal(directory: Path) -> str | None:
    """What a log is refused with, or None."""
    try:
        resumed(directory)
    except UsageError as error:
        return str(error)
    return None


def test_what_was_written_is_read_back(directory: Path) -> None:
    past = resumed(directory).past
    assert [found.best for found in past.rounds] == ["r1c1"]
    assert past.pending_parent == "r1c1"
    ((proposal, judged),) = past.pending
    assert (proposal.problem, judged) == (Reason.NO_CODE, None)
    assert list(past.codes.values()) == ["x = 1\n"]


def test_the_header_says_how_the_run_was_started_and_holds_its_start(directory: Path) -> None:
    header, start = read_header(directory)
    assert header["task"] == "t"
    assert start == START


def rewrite(directory: Path, number: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Change one line of the log; 0 is the header."""
    lines = (directory / LOG).read_text().splitlines()
    event = json.loads(lines[number])
    change(event)
    lines[number] = json.dumps(event)
    (directory / LOG).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (2, {"code": "../../../etc/passwd"}),
        (2, {"code": "0" * 64}),
        (2, {"code": 7}),
        (2, {"problem": "no-such-reason"}),
        (2, {"spend": 3}),
        (2, {"spend": {"calls": 1, "unknown": 2}}),
        (3, {"slot": 9}),
        (3, {"slot": -9}),
        (3, {"slot": "0"}),
        (3, {"result": []}),
        (3, {"result": {}}),
        (4, {"event": "round-end", "best": None, "round": None}),
    ],
)
def test_a_forged_line_is_refused_or_harmless(directory: Path, number: int, change: dict[str, Any]) -> None:
    rewrite(directory, number, lambda event: event.update(change))
    said = refusal(directory)
    assert number == 4 if said is None else "damaged" in said or "cannot" in said


@pytest.mark.parametrize("line", ["", "7", "[]", "{}", '{"event": "round"', '{"event": "start"}', "\0" * 9])
def test_a_log_that_does_not_begin_as_one_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / LOG).write_text(line + "\n")
    with pytest.raises(UsageError):
        resumed(tmp_path)
    with pytest.raises(UsageError):
        read_header(tmp_path)


def test_figures_that_are_none_are_refused(directory: Path) -> None:
    text = (directory / LOG).read_text()
    (directory / LOG).write_text(text.replace('"usd": 0.0', '"usd": NaN'))
    with pytest.raises(UsageError, match="line 3 is damaged"):
        resumed(directory)


def test_an_object_that_was_changed_is_refused(directory: Path) -> None:
    for path in (directory / "objects").iterdir():
        path.write_text("changed")
    with pytest.raises(UsageError, match="does not have this hash"):
        resumed(directory)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["round", "answer", "judged", "round-end", "stop", "resumed", "other"])
keys = st.sampled_from(["round", "parent", "slot", "result", "code", "best", "problem", "origin", "spend"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.tuples(names, st.dictionaries(keys, values, max_size=6)), max_size=6))
def test_any_events_are_read_or_refused_in_one_line(
    directory: Path, events: list[tuple[str, dict[str, Any]]]
) -> None:
    log = directory / LOG
    before = log.read_bytes()
    lines = [json.dumps({**fields, "event": name}) + "\n" for name, fields in events]
    log.write_bytes(before + "".join(lines).encode())
    said = refusal(directory)
    log.write_bytes(before)
    assert said is None or "\n" not in said


def test_secrets_are_in_no_line_and_lines_stay_json(tmp_path: Path) -> None:
    redact = Redactor(["secret-value-1"])
    with journal(tmp_path / "run", redact) as log:
        log.begin()
        log.stopped("source-failed", 'the server said "secret-value-1" at http://u:p@h/\n')
    lines = (tmp_path / "run" / LOG).read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["start", "stop"]
    assert REDACTED in lines[1]
    assert "secret-value-1" not in lines[1]
    assert "u:p" not in lines[1]


def test_a_directory_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with journal(tmp_path / "file" / "run") as log, pytest.raises(UsageError, match="--run-dir"):
        log.begin()


def test_files_of_the_run_are_written_whole(directory: Path) -> None:
    with journal(directory) as log:
        log.resume()
        log.write_final("one\n", "")
        log.write_final("two \ud800\n", "--- a\n")
    assert (directory / "final.py").read_bytes().startswith(b"two ")
    assert [path.name for path in directory.iterdir() if path.name.startswith(".")] == []
