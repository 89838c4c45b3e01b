"""What holds for the project as a whole: cold start, sizes, the rooms that code stands in."""

import ast
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from best_agent.cli.main import VERBS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for root in ("best_agent", "lsp", "hooks") for path in sorted((ROOT / root).rglob("*.py"))]
HEAVY = ("litellm", "pygls", "rich", "psutil")


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(flag: str) -> None:
    code = (
        "import json, sys; from best_agent.cli.main import main; "
        f"code = main([{flag!r}]); print(); print(json.dumps([code, sorted(sys.modules)]))"
    )
    code_and_modules = json.loads(run_python(code).splitlines()[-1])
    assert code_and_modules[0] == 0
    loaded = {name.partition(".")[0] for name in code_and_modules[1]}
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_each_verb_explains_itself(verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", verb, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"best-agent {verb}" in done.stdout
    assert "example" in done.stdout.lower()


def test_an_unknown_verb_names_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", "optimise"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("best-agent: there is no verb 'optimise'")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("wrong", [["--no-such-flag"], ["--format", "no-such-format"]])
@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_a_wrong_flag_is_told_in_one_line_that_says_where_to_look(verb: str, wrong: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", verb, *wrong], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.endswith(f"; see best-agent {verb} --help\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_help_names_verbs_that_there_are_and_fits_the_terminal(verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", verb, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    prose = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert max(map(len, prose)) <= 80
    assert not absent_verbs(done.stdout)


def test_the_pages_name_no_verb_and_no_page_that_is_not_there() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert not absent_verbs(text), page.name
        links = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
        assert not links, page.name


def absent_verbs(text: str) -> set[str]:
    """Verbs that a text tells the reader to use and that cannot be used."""
    typed = set(re.findall(r"(?:`|\n +|bin/|\$ )best-agent ([a-z]+)", text))
    planned = {"gate", "eval", "init", "lsp", "mcp"}
    return (typed | set(re.findall(r"`([a-z]+)`", text)) & planned) - {verb.name for verb in VERBS}


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [sys.executable, "-m", "best_agent", "--help"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert b"Traceback" not in process.stderr


def test_no_file_and_no_function_outgrows_its_room() -> None:
    files = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    functions = [
        ((node.end_lineno or 0) - node.lineno + 1, f"{path.name}:{node.name}")
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert max(files.values()) <= 400
    assert statistics.quantiles(files.values(), n=20)[-1] <= 300
    assert max(functions)[0] <= 80, max(functions)
    assert statistics.quantiles([lines for lines, _ in functions], n=20)[-1] <= 45


def test_every_ignored_check_names_its_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type: ignore(\[[^]]*\])?|pragma: no cover)\s*$", line)
    ]
    assert not bare


def test_the_readme_test_command_is_the_one_ci_runs() -> None:
    blocks = re.findall(r"```(?:bash|sh|console)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    commands = [line for block in blocks[:2] for line in block.splitlines() if "pytest" in line]
    assert commands
    assert commands[0] in (ROOT / ".ci" / "run").read_text()


def test_no_registry_host_or_machine_path_is_named() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    # Spelt in halves, so that this file does not name them itself.
    halves = (r"pypi|\.org", "python|hosted", r"deb\.|debian", r"registry\.|npmjs", "/ro|ot/", "/wo|rk/")
    hosts = re.compile("|".join(name.replace("|", "") for name in halves))
    named = []
    for name in listed.splitlines():
        path = ROOT / name
        if path.is_file() and hosts.search(path.read_text(encoding="utf-8", errors="replace")):
            named.append(name)
    assert not named
