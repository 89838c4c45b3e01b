"""The examples do what their READMEs say: their commands are read from there and run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from editable_projects import git

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands(example: str) -> list[list[str]]:
    """The arguments of each `$ best-agent ...` line of an example's README."""
    text = (EXAMPLES / example / "README.md").read_text(encoding="utf-8")
    return [shlex.split(line) for line in re.findall(r"^\$ best-agent (.*)$", text, re.MULTILINE)]


def best_agent(folder: Path, arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command of an example in a copy of its folder."""
    environ = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    environ["BEST_AGENT_PYTHON"] = sys.executable
    command = [sys.executable, "-m", "best_agent", *arguments, "--quiet"]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=280)


@pytest.fixture
def copied(tmp_path):
    """Copies an example out of this repository."""

    def copy(example: str) -> Path:
        ignored = shutil.ignore_patterns("__pycache__", ".best-agent")
        return Path(shutil.copytree(EXAMPLES / example, tmp_path / example, ignore=ignored))

    return copy


def test_every_example_says_how_it_is_run():
    folders = [path for path in EXAMPLES.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert commands(folder.name), folder


def test_compare_as_its_readme_has_it(copied):
    folder = copied("compare")
    measure, compare, in_a_repository = commands("compare")
    done = best_agent(folder, measure)
    assert done.returncode == 0, done.stderr
    assert "workload bench_text.py::lines" in done.stdout
    done = best_agent(folder, compare)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^better: .*x less CPU time, .*x less peak memory .*, same results on 9 of 9", done.stdout, re.M
    )
    edited = (folder / "texts" / "text.py").read_text()
    (folder / "texts" / "text.py").write_text((folder / "texts" / "as_it_was.py").read_text())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "as it was")
    (folder / "texts" / "text.py").write_text(edited)
    done = best_agent(folder, in_a_repository)
    assert done.returncode == 0, done.stderr
    assert "better: " in done.stdout


def test_refine_as_its_readme_has_it(copied):
    folder = copied("refine")
    show, refine = commands("refine")
    done = best_agent(folder, show)
    assert done.returncode == 0, done.stderr
    assert "Pair sums" in done.stdout
    done = best_agent(folder, [*refine, "--format", "json"])
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["results"]
    outcomes = {each["id"]: each for round_ in result["rounds"] for each in round_["candidates"]}
    accepted = {name: each["accepted"] for name, each in outcomes.items()}
    assert accepted == {"1_wrong.py": False, "2_slower.py": False, "3_faster.py": True, "4_leaner.py": True}
    assert outcomes["1_wrong.py"]["status"] == "wrong-answer"
    assert outcomes["2_slower.py"]["time_ratio"] > 1
    assert result["final"]["id"] == "4_leaner.py"
    assert result["final"]["confirmed"]
    assert result["final"]["memory_ratio"] < 0.1
