"""`run`: programs judged on a small task of the test's own, through the real sandbox."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from best_agent.errors import IsolationError
from best_agent.sandbox.probe import choose

try:
    choose("auto")
except IsolationError as reason:
    pytest.skip(f"no isolation on this machine: {reason}", allow_module_level=True)

TASK = """
title = "Repeated values"
difficulty = "easy"
categories = ["hashing"]
mode = "function"
entry = "solve"
sizes = [50, 500, 4000]
space_levels = 2
cases_per_scale = 1

[signature]
parameters = [["values", "list[int]"]]
returns = "int"

[[reference]]
file = "reference_fast.py"
claimed_time = "O(n)"
claimed_space = "O(n)"

[[reference]]
file = "reference_lean.py"
claimed_time = "O(n log n)"
claimed_space = "O(1)"

[naive]
files = ["naive.py"]

[limits.python]
memory_kb = [[64, 8], [256, 8], [1024, 16]]
time_factor = 50.0
"""
GENERATE = """
import random


def generate(n, seed):
    rng = random.Random(seed)
    return ([rng.randrange(2 * n) for _ in range(n)],)
"""
FAST = "def solve(values):\n    return len(values) - len(set(values))\n"
LEAN = """
def solve(values):
    values.sort()
    repeated = 0
    for i in range(1, len(values)):
        repeated += values[i] == values[i - 1]
    return repeated
"""
SLOW = "def solve(values):\n    return sum(values[i] in values[:i] for i in range(len(values)))\n"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set") / "tasks"
    task = folder / "repeated-values"
    task.mkdir(parents=True)
    (task / "task.toml").write_text(TASK)
    (task / "statement.md").write_text("How many values stood earlier in the list?\n")
    (task / "generate.py").write_text(GENERATE)
    (task / "reference_fast.py").write_text(FAST)
    (task / "reference_lean.py").write_text(LEAN)
    (task / "naive.py").write_text(SLOW)
    return folder


def best_agent(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "best_agent", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def judged(tasks: Path, tmp_path: Path, source: str, *flags: str) -> tuple[int, dict]:
    path = tmp_path / "solution.py"
    path.write_text(source)
    done = best_agent(
        "run", str(path), "--task", "repeated-values", "--tasks", str(tasks), "--format", "json", *flags
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)["results"]


def test_a_fast_and_a_lean_program_pass_what_they_should(tasks: Path, tmp_path: Path) -> None:
    code, fast = judged(tasks, tmp_path, FAST, "--no-race")
    assert (code, fast["status"]) == (0, "ok")
    assert [row[0] for row in fast["grid"]] == [True, True, True]
    assert fast["grid"][2][1] is False
    _, lean = judged(tasks, tmp_path, LEAN, "--no-race")
    assert all(all(row) for row in lean["grid"])
    assert lean["score"]["dual"] == pytest.approx(1.0)
    assert fast["score"]["dual"] < 1
    assert all(all(row) for row in lean["attainable"])


def test_ratios_to_each_reference_come_with_an_interval(tasks: Path, tmp_path: Path) -> None:
    code, found = judged(tasks, tmp_path, SLOW)
    assert code == 1
    assert [reference["id"] for reference in found["references"]] == ["fast", "lean"]
    for reference in found["references"]:
        low, high = reference["time"]["ratio_ci"]
        assert 1 < low <= reference["time"]["ratio"] <= high
    assert found["status"] == "time-limit"


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("def solve(values):\n    return len(values)\n", "wrong-answer", "expected"),
        ("def solve(values):\n    return float(len(values) - len(set(values)))\n", "wrong-answer", "float"),
        ("def solve(values):\n    return 1 // 0\n", "runtime-error", "ZeroDivisionError"),
        ("def solve(values)\n    return 1\n", "compile-error", "1"),
        ("def other(values):\n    return 1\n", "runtime-error", "solve"),
        ("import os\ndef solve(values):\n    os._exit(0)\n", "no-result", ""),
        ("def solve(values):\n    while True: pass\n", "time-limit", "CPU"),
        (
            "def solve(values):\n    a = [0] * (10**6)\n    return len(values) - len(set(values))\n",
            "memory-limit",
            "MiB",
        ),
    ],
)
def test_each_failure_has_its_status_and_its_reason(
    tasks: Path, tmp_path: Path, source: str, status: str, words: str
) -> None:
    code, found = judged(tasks, tmp_path, source, "--no-race", "--time-limit", "0.5")
    assert (code, found["status"]) == (1, status)
    assert words in found["detail"]
    assert not any(all(row) for row in found["grid"])


def test_a_mutated_input_misleads_nobody(tasks: Path, tmp_path: Path) -> None:
    source = "def solve(values):\n    values.clear()\n    return 0\n"
    assert judged(tasks, tmp_path, source, "--no-race")[1]["status"] == "wrong-answer"


def test_who_hid_memory_from_the_meter_passes_no_cell_anywhere(tasks: Path, tmp_path: Path) -> None:
    # Memory that tracemalloc does not see; at the smaller sizes it would not show against the slack.
    source = (
        "import mmap\n"
        "def solve(values):\n"
        "    if len(values) > 1000:\n"
        "        kept = mmap.mmap(-1, 6 << 20)\n"
        "        for at in range(0, 6 << 20, 4096): kept[at] = 1\n"
        "    return len(values) - len(set(values))\n"
    )
    _, result = judged(tasks, tmp_path, source, "--no-race")
    assert "suspect" in result["cases"][-1]["flags"]
    assert not any(cell for row in result["grid"] for cell in row)
    assert result["score"]["dual"] == 0


def test_references_that_disagree_make_the_task_unusable(tmp_path: Path, tasks: Path) -> None:
    broken = tmp_path / "tasks" / "repeated-values"
    broken.mkdir(parents=True)
    for file in (tasks / "repeated-values").iterdir():
        if file.is_file():
            (broken / file.name).write_bytes(file.read_bytes())
    (broken / "reference_lean.py").write_text("def solve(values):\n    return 7\n")
    (tmp_path / "a.py").write_text(FAST)
    done = best_agent(
        "run", str(tmp_path / "a.py"), "--task", "repeated-values", "--tasks", str(broken.parent)
    )
    assert done.returncode == 2
    assert "reference lean is wrong on case" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nothing.py"), "there is no file nothing.py"),
        (("run", "{file}", "--task", "pair-sum"), "pair-sums"),
        (("run", "{file}", "--task", "pair-sums", "--language", "cpp"), "python"),
        (("run", "{file}", "--task", "pair-sums", "--language", "cobol"), "cobol"),
        (("run", "{file}", "--task", "pair-sums", "--stdin", "{file}"), "--stdin"),
        (("run", "{file}", "--task", "1", "--tasks", "best:/nowhere"), "/nowhere"),
        (("run", "{other}", "--task", "pair-sums"), ".xyz"),
    ],
)
def test_what_cannot_be_ends_with_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    file, other = tmp_path / "a.py", tmp_path / "a.xyz"
    file.write_text(FAST)
    other.write_text(FAST)
    done = best_agent(*(argument.format(file=file, other=other) for argument in arguments))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.startswith("best-agent")
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_without_a_task_a_program_is_run_and_its_usage_told(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("import sys\nprint(sum(map(int, sys.stdin)))\nsys.exit(3)\n")
    done = best_agent("run", str(program), "--format", "json", stdin="1\n2\n3\n")
    found = json.loads(done.stdout)["results"]
    assert done.returncode == 1
    assert found["stdout"] == "6\n"
    assert found["exit_code"] == 3
    assert found["cpu_ns"] > 0
    assert found["peak_bytes"] > 0


def test_what_follows_two_dashes_is_the_programs(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("import sys\nprint(sys.argv[1:])\n")
    done = best_agent("run", str(program), "--format", "json", "--", "a", "--seed", "3")
    assert json.loads(done.stdout)["results"]["stdout"] == "['a', '--seed', '3']\n"
