"""`best-agent refine` as a user runs it: real processes, the real sandbox, a task that takes seconds."""

import contextlib
import importlib.util
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from openai_server import ChatServer, chat, code, error
from refine_task import (
    FASTER,
    LEANER,
    NAIVE,
    RULED,
    SLOWER,
    SPYING,
    WRONG,
    arguments,
    best_agent,
    environment,
    write_tasks,
)

from best_agent.cli.main import main

needs_litellm = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None, reason="the llm extra is not installed"
)
NUMBER = {"type": ["number", "null"]}
INTERVAL = {"type": ["array", "null"], "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
RATIOS = {
    "time_ratio": NUMBER,
    "time_ratio_ci": INTERVAL,
    "memory_ratio": NUMBER,
    "memory_ratio_ci": INTERVAL,
}
TOKENS = {"tokens_in": {"type": ["integer", "null"]}, "tokens_out": {"type": ["integer", "null"]}}


def record(**fields: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": sorted(fields),
        "additionalProperties": False,
    }


TEXT, BOOL = {"type": "string"}, {"type": "boolean"}
TEXT_OR_NULL = {"type": ["string", "null"]}
INT_OR_NULL = {"type": ["integer", "null"]}
CANDIDATE = record(
    id=TEXT,
    origin=TEXT,
    status=TEXT,
    accepted=BOOL,
    reason=TEXT,
    detail=TEXT,
    cost_usd=NUMBER,
    **RATIOS,
    **TOKENS,
)
SCALE = record(scale={"type": "integer"}, size={"type": "integer"}, status=TEXT, cpu_ns=INT_OR_NULL,
               peak_bytes=INT_OR_NULL)  # fmt: skip
STANDING = record(
    id=TEXT,
    status=TEXT,
    scales={"type": "array", "items": SCALE},
    cells_passed={"type": "integer"},
    cells={"type": "integer"},
    references={"type": "array", "items": record(reference=TEXT, **RATIOS)},
)
ROUND = record(
    round={"type": "integer"},
    parent=TEXT,
    candidates={"type": "array", "items": CANDIDATE, "minItems": 1},
    best=TEXT_OR_NULL,
)
FINAL = record(
    id=TEXT,
    confirmed=BOOL,
    verified={"enum": ["fresh-seeds", "same-inputs", None]},
    note=TEXT,
    code=TEXT,
    standing={"anyOf": [STANDING, {"type": "null"}]},
    **RATIOS,
)
RESULTS = record(
    target=TEXT,
    language={"enum": ["python", "cpp"]},
    objective={"enum": ["time", "memory", "both"]},
    source={"enum": ["rules", "candidates", "command", "model"]},
    source_note=TEXT,
    rounds={"type": "array", "items": ROUND},
    initial=STANDING,
    final=FINAL,
    stop_reason=TEXT,
    stop_detail=TEXT,
    patch=TEXT,
    run_dir=TEXT_OR_NULL,
)
ENVELOPE = record(
    schema={"const": "best-agent/refine/1"},
    environment={"type": "object"},
    isolation={"enum": ["strict", "restricted", "none"]},
    meters=record(time=TEXT, memory=TEXT),
    results=RESULTS,
    summary={"type": "object", "required": ["improved", "accepted", "cost_usd", "tokens_in", "stop_reason"]},
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tasks(tmp_path)
    return tmp_path


def parsed(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    jsonschema.validate(document, ENVELOPE)
    hold_to_intervals(document["results"], document["meters"]["memory"] == "exact")
    return document


def hold_to_intervals(value: object, memory_is_exact: bool) -> None:
    """Every ratio has its 95% interval around it, or is exact."""
    if isinstance(value, list):
        for item in value:
            hold_to_intervals(item, memory_is_exact)
    if not isinstance(value, dict):
        return
    for name in ("time_ratio", "memory_ratio"):
        ratio, interval = value.get(name), value.get(f"{name}_ci")
        if ratio is not None and interval is None:
            assert name == "memory_ratio"
            assert memory_is_exact
        elif ratio is not None:
            assert interval[0] <= ratio <= interval[1]
    for item in value.values():
        hold_to_intervals(item, memory_is_exact)


def candidates_folder(root: Path, **programs: str) -> Path:
    folder = root / "candidates"
    folder.mkdir()
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_folder_is_sorted_into_right_and_wrong_and_the_winner_is_confirmed(root: Path) -> None:
    folder = candidates_folder(root, faster=FASTER, leaner=LEANER, slower=SLOWER, spying=SPYING, wrong=WRONG)
    secret = "a-secret-that-must-not-leak"
    command = arguments(root, "--candidates", str(folder), "--format", "json", "--run-dir", "run")
    ended = best_agent(root, command, MY_API_KEY=secret)
    assert ended.returncode == 0, ended.stderr
    document = parsed(ended.stdout)
    found = {each["id"]: each for each in document["results"]["rounds"][0]["candidates"]}
    assert {name: each["accepted"] for name, each in found.items()} == {
        "faster.py": True,
        "leaner.py": True,
        "slower.py": False,
        "spying.py": False,
        "wrong.py": False,
    }
    assert found["wrong.py"]["status"] == "wrong-answer"
    assert found["spying.py"]["status"] == "runtime-error"
    assert found["slower.py"]["reason"] in ("time-loss", "lost-case", "lost-cell")
    final = document["results"]["final"]
    assert final["confirmed"]
    assert final["verified"] == "fresh-seeds"
    assert final["time_ratio"] < 0.9
    assert final["memory_ratio"] < 0.9
    written = [path.read_text() for path in (root / "run").rglob("*") if path.is_file()]
    assert "PATH" in found["spying.py"]["detail"], "the candidate did see its environment"
    assert not [text for text in [ended.stdout, ended.stderr, *written] if secret in text]
    assert (root / "run" / "final.py").read_text() == final["code"]
    assert json.loads((root / "run" / "result.json").read_text())["results"] == document["results"]


def test_the_rules_improve_a_program_and_say_that_they_are_no_language_model(root: Path) -> None:
    (root / "mine.py").write_text(RULED)
    ended = best_agent(root, arguments(root, "--start", "mine.py", "--max-memory-ratio", "20"))
    assert ended.returncode == 0, ended.stderr
    assert "built-in rules, not a language model" in ended.stdout
    assert "accepted" in ended.stdout
    assert "confirmed on fresh inputs" in ended.stdout
    assert "--- a/mine.py" in ended.stdout
    assert "stopped: exhausted" in ended.stdout
    assert (root / ".best-agent" / "refine" / "first-seen-1" / "run.jsonl").is_file()
    assert "*" in (root / ".best-agent" / ".gitignore").read_text().splitlines()


@needs_litellm
def test_a_model_behind_a_server_refines_in_rounds_with_tokens_and_cost_counted(root: Path) -> None:
    replies = [chat("no idea"), code(WRONG), error(429, retry_after="0"), code(LEANER)]
    with ChatServer(replies) as server:
        command = arguments(
            root, "--model", "openai/x", "--api-base", server.base_url, "--rounds", "3", "--price", "2", "10",
            "--max-usd", "1", "--format", "json",
        )  # fmt: skip
        ended = best_agent(root, command)
    assert ended.returncode == 0, ended.stderr
    document = parsed(ended.stdout)
    rounds = document["results"]["rounds"]
    assert [each["candidates"][0]["reason"] for each in rounds] == [
        "no-code",
        "failed",
        "faster-and-leaner",
    ]
    assert document["results"]["stop_reason"] == "rounds"
    assert document["summary"]["tokens_in"] == 300
    assert document["summary"]["cost_usd"] == pytest.approx(3 * (100 * 2e-6 + 20 * 10e-6))
    assert "attempt 2 of 5" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Warning" not in ended.stderr
    assert "rejected: wrong-answer" in json.dumps(server.requests[-1])


# -- being stopped ----------------------------------------------------------------------------


def waiting_command(root: Path) -> str:
    """Proposes a good program, then waits in the second round until it is killed.

    That it waits is told through the pipe `told`; the end of `release` ends it.
    """
    os.mkfifo(root / "told")
    os.mkfifo(root / "release")
    script = f"""
import json, os, sys
asked = json.load(sys.stdin)["round"]
with open("asked", "a") as file:
    file.write("%d " % asked)
if asked == 1 or os.path.exists("go-on"):
    sys.stdout.write({LEANER!r} if asked == 1 else "")
else:
    open("told", "w").write("waiting")
    open("release").read()
"""
    (root / "propose.py").write_text(script)
    return f"{shlex.quote(sys.executable)} propose.py"


def release(root: Path) -> None:
    """Let a command that outlived its caller come to its end."""
    with contextlib.suppress(OSError):
        os.close(os.open(root / "release", os.O_WRONLY | os.O_NONBLOCK))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on_and_asks_nothing_twice(root: Path, number: signal.Signals) -> None:
    command = arguments(root, "--command", waiting_command(root), "--run-dir", "run")
    # In a group of its own, all of which is hit, as a terminal does with Ctrl-C.
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert (root / "told").read_text() == "waiting"
    os.killpg(process.pid, number)
    out, _ = process.communicate()
    release(root)
    assert (root / "run" / "final.py").read_text() == LEANER, "a usable result lies there"
    if number is signal.SIGINT:
        assert process.returncode == 130
        assert "stopped: interrupted" in out
        assert "r1c1" in out
        assert "not confirmed" in out
    (root / "go-on").touch()
    ended = best_agent(root, [*arguments(root)[:4], "--resume", "run", "--format", "json"])
    assert ended.returncode == 0, ended.stderr
    document = parsed(ended.stdout)
    assert (root / "asked").read_text() == "1 2 2 "
    assert document["results"]["final"]["id"] == "r1c1", document["results"]["final"]["note"]
    assert document["results"]["final"]["confirmed"]
    assert document["results"]["stop_reason"] == "exhausted"


# -- what cannot be ---------------------------------------------------------------------------


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["src/text.py::dedupe"], "not yet on 'src/text.py::dedupe'"),
        (["--candidates", "nowhere"], "--candidates nowhere"),
        (["--candidates", "tasks", "--command", "cat"], "--command and --candidates are both sources"),
        (["--api-base", "http://127.0.0.1:1"], "--api-base goes with --model"),
        (["--command", "no-such-program-here"], "no program 'no-such-program-here'"),
        (["--command", "cat", "--max-tokens", "5"], "are for --model"),
        (["--start", "nowhere.py"], "nowhere.py"),
        (["--output", "nowhere/result.json"], "there is no folder nowhere"),
        (["--output", "tasks"], "it is a folder"),
        (["--language", "cpp"], "not for cpp"),
        (["--resume", "nowhere"], "--resume nowhere"),
        (["--task", "no-such-task"], "no-such-task"),
        (["--tasks", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_nothing_is_run(root: Path, flags: list[str], said: str) -> None:
    ended = best_agent(root, arguments(root, *flags))
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stdout == ""
    assert not (root / ".best-agent").exists()


@needs_litellm
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--model", "gpt-4o"], "needs OPENAI_API_KEY"),
        (["--model", "nonsense"], "PROVIDER/MODEL"),
        (["--model", "openai/x", "--api-base", "http://h:1", "--max-usd", "1"], "--price"),
        (["--model", "openai/x", "--api-base", "http://h:1", "--max-tokens", "9"], "two rounds take about"),
    ],
)
def test_a_model_that_cannot_be_asked_or_paid_is_refused(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
    said: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(root)
    assert main([*arguments(root, "--quiet", *flags)[3:]]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert not (root / ".best-agent").exists()


@needs_litellm
def test_a_refused_connection_is_one_clear_line_with_exit_code_2(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    address = f"http://127.0.0.1:{closed_port()}"
    command = arguments(root, "--quiet", "--model", "openai/x", "--api-base", address)
    assert main(command[3:]) == 2
    out, err = capsys.readouterr()
    assert f"{address} refused the connection" in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def test_a_dry_run_shows_the_prompt_and_what_leaves_and_runs_nothing(root: Path) -> None:
    (root / "tasks" / "first-seen" / "naive.py").write_text("open('was-run', 'w')\n" + NAIVE)
    ended = best_agent(root, arguments(root, "--command", "cat", "--dry-run"))
    assert ended.returncode == 0, ended.stderr
    assert "the prompt and the code go to the command `cat`" in ended.stdout
    assert "nothing was run or sent" in ended.stdout
    assert "First seen" in ended.stdout
    assert NAIVE.rstrip() in ended.stdout
    assert "dict.fromkeys" not in ended.stdout, "the reference's source is hidden"
    assert sorted(path.name for path in root.iterdir()) == ["tasks"]


@pytest.mark.parametrize(("name", "language"), [("a.cpp", "C++"), ("a.py", "Python"), ("a.cc", None)])
def test_the_candidates_decide_the_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, language: str | None
) -> None:
    (tmp_path / name).write_text("text")
    code = main(["refine", "--task", "pair-sums", "--candidates", str(tmp_path), "--dry-run"])
    out, err = capsys.readouterr()
    if language is None:
        assert (code, out) == (2, "")
        assert "there is no .py file in it" in err
    else:
        assert (code, err) == (0, "")
        assert f"# The current program ({language})" in out


def test_the_help_teaches_and_does_not_offer_what_is_not_there_yet(root: Path) -> None:
    ended = best_agent(root, [*arguments(root)[:4], "--help"])
    assert ended.returncode == 0
    assert "examples:" in ended.stdout
    assert "--candidates" in ended.stdout
    assert "target" not in ended.stdout.lower()


def test_asking_for_help_loads_no_model_library_and_no_console() -> None:
    script = (
        "import sys\nfrom best_agent.cli.main import main\n"
        "try:\n    main(['refine', '--help'])\nexcept SystemExit:\n    pass\n"
        "sys.exit(str(sorted({'litellm', 'rich', 'psutil'} & set(sys.modules))))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stderr.strip() == "[]"


# -- an imported set --------------------------------------------------------------------------

BEST = Path(__file__).parents[3] / "shared" / "data" / "best"
QUADRATIC = """\
#include <vector>
using namespace std;
class Solution {
public:
    vector<int> solve(vector<int>& prices) {
        vector<int> out(prices), copies;
        for (int times = 0; times < 50; ++times) copies.insert(copies.end(), prices.begin(), prices.end());
        for (size_t i = 0; i < prices.size(); ++i)
            for (size_t j = prices.size() - 1; j > i; --j)
                if (copies[j] <= copies[i]) out[i] = copies[i] - copies[j];
        return out;
    }
};
"""
LINEAR = """\
#include <vector>
using namespace std;
class Solution {
public:
    vector<int> solve(vector<int>& prices) {
        vector<int> open;
        for (int i = 0; i < (int)prices.size(); ++i) {
            while (!open.empty() && prices[open.back()] >= prices[i]) {
                prices[open.back()] -= prices[i];
                open.pop_back();
            }
            open.push_back(i);
        }
        return prices;
    }
};
"""


def cpp(text: str) -> str:
    return f"A stack finds the next smaller price.\n\n```cpp\n{text}```\n"


@pytest.mark.slow
@pytest.mark.skipif(not BEST.is_dir(), reason="the sample of the BEST benchmark is not there")
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
@needs_litellm
def test_a_model_writes_and_improves_a_solution_of_an_imported_task(root: Path) -> None:
    replies = [chat(cpp("int main() {}")), chat(cpp(QUADRATIC)), chat(cpp(LINEAR))]
    with ChatServer(replies, path="/v1/chat/completions") as server:
        command = [
            *arguments(root)[:4],
            *("--tasks", f"best:{BEST}", "--task", "20", "--model", "openai/x", "--rounds", "3"),
            *("--api-base", server.base_url, "--format", "json"),
        ]
        ended = best_agent(root, command)
    assert ended.returncode == 0, ended.stderr
    document = parsed(ended.stdout)
    rounds = document["results"]["rounds"]
    assert [each["candidates"][0]["reason"] for each in rounds] == ["no-entry", "first", "faster-and-leaner"]
    assert document["results"]["final"]["verified"] == "same-inputs"
    assert document["results"]["final"]["time_ratio"] < 0.1
    assert document["summary"]["tokens_in"] == 300
    assert document["summary"]["cost_usd"] is None
    asked = json.dumps(server.requests)
    assert "final price" in asked
    assert "st.emplace" not in asked, "the references' source is hidden"
