"""Sources without a model: folders, commands, rules; and the retries of models as arithmetic."""

import json
import os
import random
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import MissingExtraError, UsageError
from best_agent.model.refinement import Reason
from best_agent.model.task import Source
from best_agent.refine.proposals import SOURCES
from best_agent.refine.proposals.base import Prompt, Proposal, Request, SourceError
from best_agent.refine.proposals.command import MAX_STDOUT, CommandSource
from best_agent.refine.proposals.directory import MAX_BYTES, DirectorySource, natural_key
from best_agent.refine.proposals.failures import Failure, Kind, classify, describe, pause_s
from best_agent.refine.proposals.litellm import LitellmSource
from best_agent.refine.proposals.rules import RuleSource

CODE = "def solve(xs):\n    return xs\n"


def request(number: int = 1, *, code: str = CODE, skip: int = 0, entry: str | None = "solve") -> Request:
    return Request(
        round=number,
        prompt=Prompt(system="be brief", user="improve `solve`\n"),
        parent=Source(id="start", language="python", text=code),
        entry=entry,
        skip=skip,
    )


def test_the_sources_are_listed() -> None:
    assert tuple(SOURCES) == ("rules", "candidates", "command", "model")


# -- folders ----------------------------------------------------------------------------------


def names(source: DirectorySource, number: int = 1, skip: int = 0) -> list[str]:
    return [proposal.origin for proposal in source.propose(request(number, skip=skip))]


def test_files_come_in_natural_order_in_one_round(tmp_path: Path) -> None:
    for name in ("10.py", "2.py", "b.py", "A.py", "1.py", "_skip.py", ".hidden.py", "notes.txt", "x.cpp"):
        (tmp_path / name).write_text(CODE)
    (tmp_path / "folder.py").mkdir()
    source = DirectorySource(tmp_path, "python")
    assert names(source) == ["1.py", "2.py", "10.py", "A.py", "b.py"]
    assert names(source, skip=3) == ["A.py", "b.py"]
    assert names(source, number=2) == []
    assert names(DirectorySource(tmp_path, "cpp")) == ["x.cpp"]


def test_one_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CODE)
    assert names(DirectorySource(tmp_path / "a.txt", "python")) == ["a.txt"]


@given(st.lists(st.text(st.characters(exclude_characters="\0/"), min_size=1)))
def test_any_names_can_be_ordered(found: list[str]) -> None:
    sorted(found, key=natural_key)


@pytest.mark.parametrize("kind", ["missing", "empty", "other"])
def test_a_folder_without_programs_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind != "missing":
        path.mkdir()
    if kind == "other":
        (path / "a.cpp").write_text(CODE)
    with pytest.raises(UsageError, match="--candidates"):
        DirectorySource(path, "python").check()


@pytest.mark.parametrize(
    ("content", "reason", "said"),
    [
        (b"\xff\xfe", Reason.UNREADABLE, "not UTF-8"),
        (b"#" * (MAX_BYTES + 1), Reason.UNREADABLE, "larger than"),
        (b" \n", Reason.EMPTY_ANSWER, "empty"),
    ],
)
def test_a_file_that_holds_no_program_is_a_candidate_that_says_so(
    tmp_path: Path, content: bytes, reason: Reason, said: str
) -> None:
    (tmp_path / "a.py").write_bytes(content)
    (found,) = DirectorySource(tmp_path, "python").propose(request())
    assert (found.code, found.problem) == (None, reason)
    assert said in found.detail


def test_byte_order_marks_and_carriage_returns_are_no_part_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbf" + CODE.replace("\n", "\r\n").encode())
    (found,) = DirectorySource(tmp_path, "python").propose(request())
    assert found.code == CODE


def test_a_file_removed_after_it_was_listed_is_a_candidate_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    source = DirectorySource(tmp_path, "python")
    source.check()
    (tmp_path / "a.py").unlink()
    (found,) = source.propose(request())
    assert found.problem is Reason.UNREADABLE


# -- commands ---------------------------------------------------------------------------------


def command(script: str, **options: float) -> CommandSource:
    return CommandSource(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}", "python", **options)


def answers(source: CommandSource, asked: Request | None = None) -> list[Proposal]:
    return list(source.propose(asked or request()))


def test_a_command_reads_the_question_as_json_and_prints_the_program() -> None:
    script = "import json, sys; q = json.load(sys.stdin); print('# ' + json.dumps(q)); print(q['code'])"
    (found,) = answers(command(script))
    assert found.code is not None
    question = json.loads(found.code.splitlines()[0].removeprefix("# "))
    assert question == {
        "schema": "best-agent/proposal/1",
        "round": 1,
        "language": "python",
        "entry": "solve",
        "system": "be brief",
        "prompt": "improve `solve`\n",
        "code": CODE,
    }
    assert not found.spend.counted
    assert found.spend.usd is None


def test_a_command_may_answer_as_a_model_does() -> None:
    (found,) = answers(command(f"print('Here:\\n```python\\n' + {CODE!r} + '```')"))
    assert found.code == CODE


def test_what_a_command_prints_without_a_fence_is_meant_as_code() -> None:
    (found,) = answers(command("print('this is no program')"))
    assert found.code == "this is no program\n"


def test_a_command_that_prints_nothing_has_no_more_to_say() -> None:
    assert answers(command("pass")) == []
    assert answers(command("raise SystemExit(1)"), request(skip=1)) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; print('half'); sys.exit('no credit')", "exit code 1.*no credit"),
        ("import sys; sys.exit('\\x1b[31mred')", r"exit code 1.*\\x1b\[31mred"),
        ("raise SystemExit(3)", "exit code 3.*said nothing"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
        (f"print('x' * {MAX_STDOUT + 10})", "more than 1 MiB"),
        ("while True: print('x' * 4096)", "more than 1 MiB"),
    ],
)
def test_a_command_that_fails_is_quoted(script: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as caught:
        answers(command(script))
    assert caught.value.exit_code == 3


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    child = f"import threading; held = open({str(tmp_path / 'alive')!r}, 'w'); threading.Event().wait()"
    script = (
        f"import subprocess, sys, threading; subprocess.Popen([sys.executable, '-c', {child!r}]); "
        "print('thinking', file=sys.stderr, flush=True); threading.Event().wait()"
    )
    with pytest.raises(SourceError, match=r"longer than 2 s.*thinking"):
        answers(command(script, timeout_s=2.0))
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b"", "the pipe ends when the last process that holds it has ended"
    os.close(reader)


def test_much_talk_on_standard_error_does_not_block_a_command() -> None:
    (found,) = answers(command(f"import sys; sys.stderr.write('x' * 1000000); print({CODE!r})"))
    assert found.code is not None


def test_a_command_that_does_not_read_the_question_is_fine() -> None:
    long = request(code="# " + "x" * 1_000_000 + "\n" + CODE)
    (found,) = answers(command(f"print({CODE!r})"), long)
    assert found.code is not None


@pytest.mark.parametrize("text", ["", "   ", "'unclosed", "no-such-program-anywhere --flag"])
def test_a_command_that_cannot_be_run_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(UsageError, match="--command"):
        CommandSource(text, "python").check()


# -- rules ------------------------------------------------------------------------------------


def test_rules_propose_whole_programs_and_the_combination_last() -> None:
    code = (
        "def solve(items):\n    seen = []\n    total = 0\n    queue = list(items)\n    while queue:\n"
        "        item = queue.pop(0)\n        total += sorted(items)[0]\n    return total\n"
    )
    found = list(RuleSource("python").propose(request(code=code)))
    assert len(found) >= 2
    assert all(proposal.code and proposal.code != code for proposal in found)
    assert [proposal.origin.split()[0] for proposal in found].index("all") == len(found) - 1
    assert list(RuleSource("python").propose(request(code=code, skip=1))) == found[1:]


def test_rules_for_another_language_are_refused_with_the_ways_on() -> None:
    with pytest.raises(UsageError, match="--model"):
        RuleSource("cpp").check()


@pytest.mark.parametrize("code", ["", "def solve(\n", "\0"])
def test_a_program_that_rules_cannot_read_has_no_rewrites(code: str) -> None:
    assert list(RuleSource("python").propose(request(code=code))) == []


def test_a_missing_model_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'best-agent\[llm\]'"):
        LitellmSource(("openai/x",), "python").check()


# -- failures of models -----------------------------------------------------------------------


@given(st.integers(0, 10), st.integers())
def test_pauses_grow_to_a_cap_and_are_spread(attempt: int, seed: int) -> None:
    failure = Failure(kind=Kind.BUSY, status=503)
    pause = pause_s(failure, attempt, base_s=1.0, cap_s=30.0, jitter=random.Random(seed))
    longest = min(30.0, 2.0**attempt)
    assert longest / 2 <= pause <= longest


class HTTPStatusError(Exception):
    def __init__(self, status: int, headers: dict[str, str]) -> None:
        super().__init__("no")
        self.response = type("Response", (), {"status_code": status, "headers": headers})()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("Mon, 30 Nov 2026 12:00:10 GMT", 10.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("-1", None),
        ("inf", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_the_pause_asked_for_is_read_in_both_forms(value: str, seconds: float | None) -> None:
    now = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
    failure = classify(HTTPStatusError(429, {"Retry-After": value}), now=now)
    assert failure.kind is Kind.BUSY
    assert failure.retry_after_s == seconds


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_failure_is_one_line_with_the_model_in_it(kind: Kind) -> None:
    line = describe(Failure(kind=kind, status=500), "openai/x", "http://h:1", attempts=5, timeout_s=120)
    assert line.startswith("openai/x: ")
    assert "\n" not in line


def test_causes_that_go_in_a_circle_are_no_trap() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first
    assert classify(first).kind is Kind.NOT_THE_PROTOCOL
