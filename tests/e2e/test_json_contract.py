"""Every verb as a user runs it with --format json: one document that keeps its contract, and nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import contract

from best_agent import languages
from best_agent.errors import IsolationError
from best_agent.sandbox.probe import choose

BEST = contract.ROOT.parent / "shared" / "data" / "best"
LEVELS = ("level0", "level1", "level2")

TASK = """\
title = "First seen"
difficulty = "easy"
categories = ["hashing"]
mode = "function"
entry = "solve"
sizes = [8000, 32000]
space_levels = 2

[signature]
parameters = [["numbers", "list[int]"]]
returns = "list[int]"

[[reference]]
file = "reference_fast.py"
claimed_time = "O(n)"
claimed_space = "O(n)"

[[reference]]
file = "reference_fast.cpp"
claimed_time = "O(n)"
claimed_space = "O(n)"

[naive]
files = ["naive.py"]

[limits.python]
memory_kb = [[256, 16], [256, 16]]
time_factor = 4.0

[limits.cpp]
memory_kb = [[4096, 512], [4096, 512]]
time_factor = 4.0
"""
GENERATOR = """\
import random


def generate(n, seed):
    rng = random.Random(seed)
    return ([rng.randrange(100) for _ in range(n)],)
"""
FAST = "def solve(numbers):\n    return list(dict.fromkeys(numbers))\n"
NAIVE = """\
def solve(numbers):
    seen = []
    for number in numbers:
        if number not in seen:
            seen.append(number)
    return seen
"""
WRONG = "def solve(numbers):\n    return sorted(set(numbers))\n"
FAST_CPP = """\
#include <unordered_set>
#include <vector>
class Solution {
public:
    std::vector<long long> solve(std::vector<long long>& numbers) {
        std::unordered_set<long long> seen;
        std::vector<long long> kept;
        for (long long number : numbers)
            if (seen.insert(number).second) kept.push_back(number);
        return kept;
    }
};
"""
HEAD = "def dedupe(items):\n    return [x for i, x in enumerate(items) if x not in items[:i]]\n"
EDITED = """\
def dedupe(items):
    return list(dict.fromkeys(items))


def fresh(items):
    return items[::-1]
"""
FEW = ("--rounds", "3")
CALL = "[i % 50 for i in range({n})]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str

    def document(self, *codes: int) -> Any:
        """The document on standard output, held to its contract; talk on standard error is not JSON."""
        assert self.code in (codes or (0,)), self.err
        assert "Traceback" not in self.err
        assert "{" not in self.err
        document = json.loads(self.out)
        assert self.out.startswith("{\n")
        assert self.out.endswith("}\n")
        contract.check(document)
        return document


def best_agent(*arguments: str, cwd: Path, stdin: str = "") -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(code=done.returncode, out=done.stdout, err=done.stderr)


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def isolation() -> str:
    try:
        return choose("auto").value
    except IsolationError as error:
        pytest.skip(f"no isolation works on this machine: {error}")


@pytest.fixture(scope="module")
def compiler() -> None:
    missing = languages.get("cpp").missing_tool()
    if missing:
        pytest.skip(missing)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small task set, programs, candidates and results."""
    folder = tmp_path_factory.mktemp("work")
    write(
        folder / "set" / "first-seen",
        {
            "task.toml": TASK,
            "statement.md": "# First seen\n\nUp to {size} numbers, within {memory_limit}.\n",
            "generate.py": GENERATOR,
            "reference_fast.py": FAST,
            "reference_fast.cpp": FAST_CPP,
            "naive.py": NAIVE,
        },
    )
    write(folder / "set" / "spoilt", {"task.toml": "title = 3\n"})
    results = [
        scored(1, "Accepted"),
        scored(2, "Wrong Answer"),
        scored(3, "Accepted", reference="Wrong Answer"),
    ]
    del results[1]["results"]["poor"]["level1"]["poor_2"]
    return write(
        folder,
        {
            "naive.py": NAIVE,
            "wrong.py": WRONG,
            "fast.cpp": FAST_CPP,
            "candidates/a_wrong.py": WRONG,
            "candidates/b_fast.py": FAST,
            "results.json": json.dumps(results),
            "one.json": json.dumps(results[:1]),
            "echo.py": "import sys\nprint(sys.stdin.read(), end='')\nprint('talk {}', file=sys.stderr)\n",
            "crash.py": "raise ValueError('\\udcff')\n",
            "killed.py": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
            "bytes.py": "import sys\nsys.stdout.buffer.write(bytes(range(256)))\n",
            "broken.cpp": "int main( {\n",
        },
    )


def scored(identity: int, poor: str, *, reference: str = "Accepted") -> dict[str, Any]:
    def cases(result: str) -> list[dict[str, Any]]:
        return [{"case": str(n), "result": result, "time_used": 1, "memory_used": 4.0} for n in range(1, 10)]

    results: dict[str, Any] = {"std": {level: {"std": cases(reference)} for level in LEVELS}}
    for model, result in (("good", "Accepted"), ("poor", poor)):
        samples = {f"{model}_1": cases(result), f"{model}_2": cases("Accepted")}
        results[model] = {level: dict(samples) for level in LEVELS}
    base = {"id": identity, "cate": "dp,graph", "difficulty": "easy", "memory_limit": [[64, 64, 64]]}
    return {**base, "results": results}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository whose work tree has a better `dedupe` and a function that HEAD lacks."""
    folder = write(tmp_path_factory.mktemp("repository"), {"text.py": HEAD})
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "first")):
        subprocess.run(("git", *command), cwd=folder, check=True, env=plain_environment())
    return write(folder, {"text.py": EDITED})


def plain_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


# doctor, tasks, report: nothing is measured


def test_doctor(work: Path) -> None:
    document = best_agent("doctor", "--format", "json", cwd=work).document()
    assert sum(document["summary"].values()) == len(document["results"])


def test_tasks_of_the_catalogue(work: Path) -> None:
    listed = best_agent("tasks", "list", "--format", "json", cwd=work).document()
    assert listed["summary"]["tasks"] == len(listed["results"]) >= 4
    shown = best_agent("tasks", "show", listed["results"][0]["id"], "--format", "json", cwd=work).document()
    assert listed["results"][0].items() <= shown["results"][0].items()
    assert listed["meters"] == {"time": "unavailable", "memory": "unavailable"}


def test_a_task_that_cannot_be_used_is_named_in_the_list(work: Path) -> None:
    listed = best_agent("tasks", "list", "--tasks", "set", "--format", "json", cwd=work).document()
    assert [task["id"] for task in listed["results"]] == ["first-seen"]
    assert [task["id"] for task in listed["summary"]["unusable"]] == ["spoilt"]


def test_tasks_of_best(work: Path) -> None:
    if not BEST.is_dir():
        pytest.skip("the sample of BEST is not beside this checkout")
    listed = best_agent("tasks", "list", "--tasks", f"best:{BEST}", "--format", "json", cwd=work).document()
    first = listed["results"][0]["id"]
    shown = best_agent("tasks", "show", first, "--tasks", f"best:{BEST}", "--format", "json", cwd=work)
    assert shown.document()["results"][0]["mode"] == "driver"


@pytest.mark.parametrize("protocol", ["default", "best-2026"])
def test_report(work: Path, protocol: str) -> None:
    results = ("results.json",) if protocol == "default" else ("one.json",)
    done = best_agent(
        "report", *results, "--k", "1,2,50", "--protocol", protocol, "--format", "json", cwd=work
    )
    document = done.document()
    good = next(model for model in document["results"]["models"] if model["model"] == "good")
    assert good["score"]["dual@1"][0] == 1.0
    if protocol == "default":
        assert "dual@50" in good["not_scored"]
        assert [one["task"] for one in document["results"]["excluded"]] == ["3"]
        assert document["results"]["missing"]
    else:
        assert good["score"]["dual@1"] == [1.0, None, None]


# run


@pytest.mark.parametrize(
    ("file", "status", "shown"),
    [
        ("echo.py", "ok", "grüß {}\n"),
        ("crash.py", "runtime-error", ""),
        ("killed.py", "runtime-error", ""),
        ("bytes.py", "ok", "\ufffd"),
    ],
)
def test_run_without_a_task(work: Path, isolation: str, file: str, status: str, shown: str) -> None:
    done = best_agent("run", file, "--format", "json", cwd=work, stdin="grüß {}\n")
    document = done.document(0 if status == "ok" else 1)
    assert document["isolation"] == isolation
    assert document["results"]["status"] == status
    assert shown in document["results"]["stdout"]
    assert (document["results"]["signal"] is not None) == (file == "killed.py")
    assert done.err == "", "the program's own talk is in the document"


def test_run_of_what_does_not_compile(work: Path, isolation: str, compiler: None) -> None:
    document = best_agent("run", "broken.cpp", "--format", "json", cwd=work).document(1)
    assert document["results"]["status"] == "compile-error"
    assert document["results"]["cpu_ns"] is None


@pytest.fixture(scope="module")
def judged(work: Path, isolation: str) -> Any:
    done = best_agent(
        "run", "naive.py", "--task", "first-seen", "--tasks", "set", "--format", "json", cwd=work
    )
    return done.document(0, 1)


def test_run_on_a_task_gives_every_case_its_ratios(judged: Any) -> None:
    results = judged["results"]
    assert results["status"] in ("ok", "time-limit")
    assert [len(row) for row in results["grid"]] == [2, 2]
    assert all(case["time_ratio"] > 1 for case in results["cases"])
    assert all(case["memory_ratio"] < 1 and case["memory_ratio_ci"] is None for case in results["cases"])
    assert results["references"][0]["time"]["ratio"] > 1


def test_run_of_a_wrong_program_has_no_ratio_and_says_why(work: Path, isolation: str) -> None:
    done = best_agent(
        "run", "wrong.py", "--task", "first-seen", "--tasks", "set", "--format", "json", cwd=work
    )
    results = done.document(1)["results"]
    assert results["status"] == "wrong-answer"
    assert {case["reason"] for case in results["cases"]} == {
        "only a program whose answers are right is raced"
    }


def test_run_of_cpp(work: Path, isolation: str, compiler: None) -> None:
    done = best_agent(
        "run", "fast.cpp", "--task", "first-seen", "--tasks", "set", "--format", "json", cwd=work
    )
    results = done.document(0, 1)["results"]
    assert results["candidate"]["language"] == "cpp"
    assert [one["id"] for one in results["references"]] == ["fast"]
    assert all(case["peak_bytes"] > 0 for case in results["cases"])


# measure and compare


def test_compare_of_an_edit(repository: Path) -> None:
    arguments = ("text.py::dedupe", "--call", f"dedupe({CALL})", "--sizes", "400", *FEW)
    document = best_agent("compare", *arguments, "--format", "json", cwd=repository).document(0, 1)
    size = document["results"][0]["sizes"][0]
    assert size["cpu"]["ratio"] < 1
    assert document["results"][0]["same_results"]["equal"] == 1
    assert document["isolation"] == "none"


def test_compare_of_a_function_that_is_new(repository: Path) -> None:
    arguments = ("text.py::fresh", "--call", f"fresh({CALL})", "--sizes", "400", *FEW)
    document = best_agent("compare", *arguments, "--format", "json", cwd=repository).document()
    assert document["summary"]["status"] == "new"
    assert document["results"][0]["sizes"][0]["cpu"]["value"] > 0


def test_compare_of_a_function_that_fails_at_a_size_says_why(repository: Path) -> None:
    arguments = (
        "text.py::dedupe",
        "--call",
        "dedupe([1] * {n} if {n} < 300 else None)",
        "--sizes",
        "200,400",
    )
    results = best_agent("compare", *arguments, "--format", "json", cwd=repository).document(0, 1)["results"]
    small, large = results[0]["sizes"]
    assert (small["reason"], large["cpu"]) == (None, None)
    assert "TypeError" in large["reason"]


def test_measure(repository: Path) -> None:
    arguments = ("text.py::dedupe", "--call", f"dedupe({CALL})", "--sizes", "300,400", *FEW)
    document = best_agent("measure", *arguments, "--format", "json", cwd=repository).document()
    assert [size["n"] for size in document["results"][0]["sizes"]] == [300, 400]


# refine


def test_refine_with_a_wrong_and_a_right_candidate(work: Path, isolation: str) -> None:
    arguments = ("--task", "first-seen", "--tasks", "set", "--candidates", "candidates", "--rounds", "1")
    terms = ("--objective", "time", "--max-memory-ratio", "50", "--run-dir", "kept")
    done = best_agent("refine", *arguments, *terms, "--format", "json", cwd=work)
    document = done.document()
    wrong, right = document["results"]["rounds"][0]["candidates"]
    assert (wrong["status"], wrong["accepted"]) == ("wrong-answer", False)
    assert (right["reason"], right["accepted"]) == ("faster", True)
    assert document["results"]["final"]["time_ratio"] < 1
    assert "proposals:" in done.err
    kept = json.loads((work / "kept" / "result.json").read_text("utf-8"))
    assert kept == document


# the channels


QUICK = {
    "doctor": ("doctor",),
    "tasks": ("tasks", "list"),
    "report": ("report", "results.json"),
    "run": ("run", "echo.py"),
}


@pytest.mark.parametrize("verb", QUICK)
def test_a_result_goes_to_a_file_instead(work: Path, isolation: str, verb: str) -> None:
    target = work / f"{verb}-out.json"
    done = best_agent(*QUICK[verb], "--format", "json", "--output", str(target), "--quiet", cwd=work)
    assert (done.code, done.out, done.err) == (0, "", "")
    contract.check(json.loads(target.read_text("utf-8")))


@pytest.mark.parametrize("verb", QUICK)
def test_a_reader_that_goes_away_hears_no_complaint(work: Path, isolation: str, verb: str) -> None:
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "best_agent", *QUICK[verb], "--format", "json"]
    done = subprocess.run(
        command, cwd=work, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.PIPE, check=False
    )
    os.close(written)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_head_of_a_document_can_be_taken_in_a_shell(work: Path) -> None:
    command = '"$0" -m best_agent tasks list --format json | head -n 1'
    done = subprocess.run(["sh", "-c", command, sys.executable], cwd=work, capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"{\n", b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "missing.py"),
        ("report", "missing.json"),
        ("tasks", "show", "missing"),
        ("compare", "missing.py::f"),
        ("measure", "missing.py::f"),
        ("refine", "--task", "missing"),
        ("doctor", "--output", "missing/folder/out.json"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_no_document(work: Path, arguments: tuple[str, ...]) -> None:
    done = best_agent(*arguments, "--format", "json", cwd=work)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("best-agent: ")
    assert len(done.err.splitlines()) == 1
