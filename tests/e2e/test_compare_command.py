"""`compare` and `measure` as users run them: real repositories, real interpreters, the real command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import contract

QUADRATIC = """
def dedupe(items):
    out = []
    for item in items:
        if item not in out:
            out.append(item)
    return out
"""
LINEAR = """
def dedupe(items):
    return list(dict.fromkeys(items))
"""
BENCH = """
from best_agent import workload

@workload("src/pkg/text.py::dedupe", sizes=(100, 1_000))
def dedupe_input(n, seed):
    return ([(i * seed) % (n // 2) for i in range(n)],)
"""
FILES = {
    "pyproject.toml": "[project]\nname = 'pkg'\nversion = '1'\n",
    "src/pkg/__init__.py": "from .text import dedupe\n",
    "src/pkg/text.py": QUADRATIC,
    "benchmarks/bench_text.py": BENCH,
}
QUICK = ("--rounds", "3")
TARGET = "src/pkg/text.py::dedupe"


def git(root: Path, *arguments: str) -> str:
    options = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *options, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    write(root, FILES)
    commit(root, "first")
    return root


def run(root: Path, *arguments: str, verb: str = "compare", environment=None):
    command = [
        sys.executable,
        "-P",
        "-m",
        "best_agent",
        verb,
        *arguments,
        *(() if "--help" in arguments else QUICK),
    ]
    if "--python" not in arguments:
        command += ["--python", sys.executable]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, timeout=240)
    return done.returncode, done.stdout, done.stderr


def result(root: Path, *arguments: str, verb: str = "compare", code: int = 0):
    found, out, err = run(root, *arguments, "--format", "json", verb=verb)
    assert found == code, (out[-2000:], err)
    document = json.loads(out)
    contract.check(document)
    assert document["schema"] == f"best-agent/{verb}/1"
    assert document["isolation"] == "none"
    (only,) = document["results"]
    assert document["summary"] == {"status": only["status"], "verdict": only["verdict"]}
    return only


def error(root: Path, *arguments: str, verb: str = "compare", code: int = 2) -> str:
    found, out, err = run(root, *arguments, verb=verb)
    assert (found, out) == (code, ""), (out, err)
    (line,) = err.strip().splitlines()
    assert line.startswith("best-agent: ")
    return line


def is_within(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder.resolve())


def test_an_edit_is_measured_against_head_on_the_inputs_of_the_workload(repo):
    write(repo, {"src/pkg/text.py": LINEAR})
    found = result(repo, TARGET, code=1)
    assert found["inputs"] == "workload benchmarks/bench_text.py::dedupe_input"
    assert [row["n"] for row in found["sizes"]] == [100, 1000]
    last = found["sizes"][-1]
    assert last["cpu"]["ratio"] < 0.2
    assert last["cpu_shown"] == "less"
    assert last["peak"]["after"] > last["peak"]["before"]
    assert (last["retained"]["before"], last["retained"]["after"], last["retained"]["ratio"]) == (0, 0, None)
    assert found["growth"]["time"]["before"]["exponent"] > found["growth"]["time"]["after"]["exponent"]
    assert found["same_results"]["equal"] == found["same_results"]["of"] == 6
    assert not is_within(found["before"]["origin"], repo)
    assert is_within(found["after"]["origin"], repo)
    assert found["before"]["modules"] == found["after"]["modules"] == 2


def test_text_has_both_sides_one_verdict_line_and_the_origin(repo):
    write(repo, {"src/pkg/text.py": LINEAR})
    code, out, err = run(repo, TARGET, "--sizes", "1000")
    assert (code, err) == (1, "")
    assert "before  HEAD (" in out
    assert "a trade: " in out
    assert "less CPU time" in out
    assert "same results on 3 of 3 inputs" in out
    assert f"origin  work tree: {repo.resolve()}/src/pkg/text.py" in out
    assert "not isolated (your own code)" in out


def test_an_unchanged_function_is_no_difference(repo):
    found = result(repo, TARGET, "--sizes", "300")
    assert found["status"] == "ok"
    assert found["verdict"].startswith("no difference shown: ")
    assert found["sizes"][0]["peak"]["ratio"] == 1


def test_a_slower_function_is_a_regression_and_the_exit_code_says_so(repo):
    write(repo, {"src/pkg/text.py": LINEAR})
    commit(repo)
    write(repo, {"src/pkg/text.py": QUADRATIC})
    assert result(repo, TARGET, "--sizes", "1000", code=1)["sizes"][0]["cpu"]["ratio"] > 5


def test_a_leak_is_bytes_kept_after_each_call(repo):
    body = "SEEN = []\n" + LINEAR.replace("    return", "    SEEN.append(bytes(5000))\n    return")
    write(repo, {"src/pkg/text.py": LINEAR})
    commit(repo)
    write(repo, {"src/pkg/text.py": body})
    found = result(repo, TARGET, "--sizes", "100,200", code=1)
    assert "more kept after each call" in found["verdict"]
    assert all(5000 <= row["retained"]["after"] < 5500 for row in found["sizes"])


def test_other_results_come_before_all_figures(repo):
    write(repo, {"src/pkg/text.py": LINEAR.replace("list(", "sorted(")})
    found = result(repo, TARGET, "--sizes", "50", code=1)
    assert found["status"] == "regression"
    assert found["verdict"].startswith("DIFFERENT RESULTS on ")
    assert found["same_results"]["differences"][0].startswith("n=50: another value: [")


def test_revisions_index_and_short_forms(repo):
    first = git(repo, "rev-parse", "HEAD")
    write(repo, {"src/pkg/text.py": LINEAR})
    git(repo, "add", "-A")
    write(repo, {"src/pkg/text.py": "def dedupe(items):\n    raise RuntimeError('the work tree was used')\n"})
    found = result(repo, f"{TARGET}@HEAD", "dedupe@index", "--sizes", "1000", code=1)
    assert found["before"]["label"] == f"HEAD ({first[:8]})"
    assert found["after"]["label"] == "index"
    assert found["sizes"][0]["cpu"]["ratio"] < 0.2
    assert not is_within(found["after"]["origin"], repo)


def test_the_short_form_alone_is_looked_up_in_the_repository(repo):
    assert result(repo, "dedupe@HEAD", "--sizes", "20")["target"] == f"{TARGET}@worktree"
    write(repo, {"src/pkg/other.py": LINEAR})
    assert "is defined in 2 files; say which: " in error(repo, "dedupe@HEAD")
    assert "no Python file of" in error(repo, "nothing@HEAD")


def test_two_files_outside_of_git(tmp_path):
    write(tmp_path, {"old/a.py": QUADRATIC, "new/b.py": LINEAR.replace("dedupe", "unique")})
    call = ("--call", "dedupe(list(range({n})))", "--sizes", "1000")
    found = result(tmp_path, "old/a.py::dedupe", "new/b.py::unique", *call, code=1)
    assert found["before"]["target"] == "old/a.py::dedupe@worktree"
    assert found["sizes"][0]["cpu"]["ratio"] < 0.5


def test_two_names_of_one_file_are_never_measured_as_two_sides(tmp_path):
    write(tmp_path, {"a.py": LINEAR})
    (tmp_path / "b.py").symlink_to("a.py")
    call = ("--call", "dedupe([{n}])")
    found = result(tmp_path, "a.py::dedupe", "b.py::dedupe", *call, code=3)
    assert found["status"] == "not-measured"
    assert "both sides are the file" in found["verdict"]
    assert found["sizes"] == []


def test_a_package_that_reaches_into_another_tree_is_not_measured(repo):
    """The path of the user's own clone, put in front by the package itself."""
    loader = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('pkg.deep', {str(repo / 'src/pkg/text.py')!r})\n"
        "deep = importlib.util.module_from_spec(spec)\n"
        "sys.modules['pkg.deep'] = deep\n"
        "spec.loader.exec_module(deep)\n"
    )
    write(repo, {"src/pkg/__init__.py": loader})
    commit(repo)
    found = result(repo, TARGET, "--sizes", "20", code=3)
    assert found["verdict"].startswith("not measured: for HEAD (")
    assert f"pkg.deep was imported from {repo}/src/pkg/text.py" in found["verdict"]


def test_a_function_that_was_not_there_is_new_with_absolute_figures(repo):
    write(repo, {"src/pkg/text.py": QUADRATIC + "\ndef more(items):\n    return items[:]\n"})
    found = result(repo, "src/pkg/text.py::more", "--call", "more(list(range({n})))", "--sizes", "10,1000")
    assert found["status"] == "new"
    assert "has no 'more'" in found["verdict"]
    assert found["sizes"][1]["peak"]["value"] == pytest.approx(8056, abs=200)
    write(repo, {"src/pkg/fresh.py": LINEAR})
    fresh = result(repo, "src/pkg/fresh.py::dedupe", "--call", "dedupe([1])")
    assert fresh["status"] == "new"
    assert "src/pkg/fresh.py is not in HEAD" in fresh["verdict"]


def test_a_repository_without_a_commit_has_nothing_before(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, FILES)
    assert result(tmp_path, TARGET, "--sizes", "20")["status"] == "new"


def test_a_repository_that_is_itself_the_package(tmp_path):
    root = tmp_path / "tools"
    root.mkdir()
    git(root, "init", "-q")
    write(root, {"__init__.py": "", "text.py": "from tools import helper\n" + QUADRATIC, "helper.py": ""})
    commit(root)
    write(root, {"text.py": "from tools import helper\n" + LINEAR})
    found = result(root, "text.py::dedupe", "--call", "dedupe(list(range({n})))", "--sizes", "1000", code=1)
    assert found["sizes"][0]["cpu"]["ratio"] < 0.5


def test_what_a_hook_sets_does_not_lead_git_astray(repo, tmp_path):
    import os

    write(repo, {"src/pkg/text.py": LINEAR})
    hostile = {"GIT_DIR": str(tmp_path / "none"), "GIT_INDEX_FILE": str(tmp_path / "x"), "GIT_WORK_TREE": "/"}
    code, out, err = run(repo, TARGET, "--sizes", "300", environment={**os.environ, **hostile})
    assert code in (0, 1), (out, err)
    assert "before  HEAD (" in out


def test_files_that_git_ignores_and_the_package_needs_are_taken_over(repo):
    write(repo, {".gitignore": "_version.py\n", "src/pkg/__init__.py": "from ._version import version\n"})
    commit(repo)
    write(repo, {"src/pkg/_version.py": "version = '1'\n", "src/pkg/text.py": LINEAR})
    found = result(repo, TARGET, "--sizes", "300", code=1)
    assert found["before"]["shared"] == ["src/pkg/_version.py"]


def test_nothing_is_left_in_the_tree_and_the_index_stays(repo):
    write(repo, {"src/pkg/text.py": LINEAR})
    before = git(repo, "status", "--porcelain=v2", "--ignored")
    result(repo, TARGET, "--sizes", "300", code=1)
    assert git(repo, "status", "--porcelain=v2", "--ignored") == before
    assert git(repo, "worktree", "list").count("\n") == 0


def test_a_method_a_generator_and_a_coroutine(tmp_path):
    write(
        tmp_path,
        {
            "a.py": "import asyncio\n"
            "class Box:\n    def __init__(self, n): self.n = n\n"
            "    def all(self): return list(range(self.n))\n"
            "def lazily(n):\n    yield from range(n)\n"
            "async def waits(n):\n    await asyncio.sleep(0.002)\n    return n\n"
        },
    )
    method = result(tmp_path, "a.py::Box.all", "--call", "Box({n}).all()", "--sizes", "1000", verb="measure")
    assert method["sizes"][0]["peak"]["value"] > 8000
    lazy = result(tmp_path, "a.py::lazily", "--call", "lazily({n})", "--sizes", "10000", verb="measure")
    assert lazy["sizes"][0]["peak"]["value"] < 2000
    assert lazy["sizes"][0]["cpu"]["value"] > 10_000
    waiting = result(tmp_path, "a.py::waits", "--call", "waits(1)", verb="measure")
    assert waiting["sizes"][0]["wall"]["value"] > 2_000_000


def test_inputs_recorded_from_the_tests_that_the_project_has(repo):
    tests = (
        "from pkg.text import dedupe\n"
        "def test_order():\n    assert dedupe([3, 1, 3, 2] * 5) == [3, 1, 2]\n"
        "def test_text():\n    assert dedupe('abca') == list('abc')\n"
    )
    write(repo, {"tests/test_text.py": tests, "src/pkg/text.py": LINEAR})
    found = result(repo, TARGET, "--from-tests", "--sizes", "20,400")
    assert found["inputs"] == "recorded, scaled from test_text.py"
    assert found["sizes"][-1]["cpu"]["ratio"] < 0.5
    assert found["same_results"]["equal"] == found["same_results"]["of"] >= 3


def test_a_file_named_like_one_of_the_standard_library(tmp_path):
    write(tmp_path, {"random.py": LINEAR, "queue.py": QUADRATIC, "heapq.py": "def nothing(): ..."})
    call = ("--call", "dedupe(list(range({n})))", "--sizes", "300")
    found = result(tmp_path, "queue.py::dedupe", "random.py::dedupe", *call, code=1)
    assert found["after"]["origin"].endswith("random.py")
    assert found["sizes"][0]["cpu"]["ratio"] < 0.5


def test_what_the_code_does_to_its_process_does_not_reach_the_figures(tmp_path):
    body = (
        "import os, sys, threading\nprint('hello')\nos.write(1, b'raw')\n"
        "def f(n):\n"
        "    os.chdir('/'); print('x' * 1000); sys.stdout.close(); sys.stdin = None\n"
        "    thread = threading.Thread(target=len, args=('a',)); thread.start(); thread.join()\n"
        "    sys.stdout = sys.__stdout__ = open(os.devnull, 'w'); sys.setrecursionlimit(200)\n"
        "    return [float('nan'), {1.0, float('inf')}]\n"
    )
    write(tmp_path, {"a.py": body, "b.py": body + "# more\n"})
    found = result(tmp_path, "a.py::f", "b.py::f", "--call", "f(1)")
    assert found["status"] == "ok"
    assert found["same_results"]["equal"] == 1


def test_a_crash_under_tracemalloc_only_is_the_meters(tmp_path):
    body = "import os, tracemalloc\ndef f(n):\n    if tracemalloc.is_tracing(): os.abort()\n    return n\n"
    write(tmp_path, {"a.py": body, "b.py": body})
    found = result(tmp_path, "a.py::f", "b.py::f", "--call", "f(1)")
    assert found["status"] == "partial"
    assert found["sizes"][0]["cpu"]
    assert found["sizes"][0]["peak"] is None
    assert "SIGABRT, under tracemalloc only" in found["sizes"][0]["reason"]


def test_a_function_that_differs_from_itself_is_not_called_different(tmp_path):
    body = "import itertools\nN = itertools.count()\ndef f(x):\n    return next(N)\n"
    write(tmp_path, {"a.py": body, "b.py": "# other\n" + body})
    found = result(tmp_path, "a.py::f", "b.py::f", "--call", "f(1)")
    assert "not deterministic" in found["verdict"]
    assert found["same_results"]["differences"] == []


def test_a_call_that_does_not_end_is_not_measured(tmp_path):
    write(tmp_path, {"a.py": "def f(n):\n    while n > 50: pass\n    return n\n"})
    call = ("--call", "f({n})", "--sizes", "1,100", "--time-limit", "0.5")
    found = result(tmp_path, "a.py::f", *call, verb="measure")
    assert found["status"] == "partial"
    assert "--time-limit" in found["sizes"][1]["reason"]


ERRORS = {
    ("src/pkg/none.py::f",): "src/pkg/none.py does not exist",
    ("src/pkg::f",): "is a folder",
    ("pyproject.toml::f",): "is not a Python file",
    ("src/pkg/text.py::dedup", "--call", "dedup([1])"): "has no 'dedup'; did you mean dedupe?",
    (f"{TARGET}@nope",): "'nope' is not a revision of",
    (TARGET, "--workload", "none.py"): "there is no such file",
    (TARGET, "--workload", "src/pkg/text.py"): "no function in it is decorated",
    (TARGET, "--workload", "benchmarks/bench_text.py::x"): "has no function 'x' decorated",
    (TARGET, "--workload", "benchmarks/bench_text.py", "--call", "dedupe([])"): "use one of them",
    (TARGET, "--call", "dedupe("): "is not Python",
    (TARGET, "--call", "dedupe(7)"): "both sides raise TypeError: 'int' object is not iterable",
    (TARGET, "--call", "dedupe(nowhere)"): "building the input of size 1 raised NameError",
    (TARGET, "--python", "/none/python"): "does not exist",
}


@pytest.mark.parametrize("arguments", ERRORS, ids=lambda arguments: " ".join(arguments)[:50])
def test_what_cannot_be_is_one_clear_line(repo, arguments):
    assert ERRORS[arguments] in error(repo, *arguments)


def test_no_inputs_at_all_tells_both_ways_to_give_them(repo):
    (repo / "benchmarks/bench_text.py").unlink()
    line = error(repo, TARGET)
    assert '--call "dedupe(' in line
    assert '@workload("src/pkg/text.py::dedupe"' in line


def test_a_module_that_does_not_import_is_told_with_its_place(repo):
    write(repo, {"src/pkg/text.py": "import nothing_of_the_kind\n" + LINEAR})
    line = error(repo, TARGET)
    assert "after (work tree)" in line
    assert "No module named 'nothing_of_the_kind'" in line
    write(repo, {"src/pkg/text.py": "def dedupe(:\n"})
    assert "SyntaxError" in error(repo, TARGET)


def test_inputs_that_differ_between_the_sides_are_refused(repo):
    body = BENCH.replace("return (", "import os\n    return ([os.getpid()] + ")
    write(repo, {"benchmarks/bench_text.py": body})
    assert "were given different inputs for n=100" in error(repo, TARGET)


def test_a_file_in_no_repository_has_no_other_state(tmp_path):
    write(tmp_path, {"a.py": LINEAR})
    assert "is in no git repository" in error(tmp_path, "a.py::dedupe", "--call", "dedupe([1])")


def test_help_teaches_and_loads_nothing_heavy(tmp_path):
    for verb in ("compare", "measure"):
        code, out, _ = run(tmp_path, "--help", verb=verb)
        assert code == 0
        assert "examples:" in out
