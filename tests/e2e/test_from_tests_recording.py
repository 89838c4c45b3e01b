"""Calls recorded from real tests run by real pytest and unittest in the interpreter of a project."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from best_agent.errors import UsageError
from best_agent.workload.recording import Request, record

PYENV = Path.home() / ".pyenv" / "versions"
TEXT = """
def dedupe(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def clean(text):
    return dedupe(text.split())
"""


@pytest.fixture
def project(tmp_path):
    """Writes a project with `src/pkg/text.py` and the test files given; returns its root."""

    def write(**tests):
        root = tmp_path / "project"
        (root / "src" / "pkg").mkdir(parents=True)
        (root / "src" / "pkg" / "__init__.py").write_text("from .text import clean\n")
        (root / "src" / "pkg" / "text.py").write_text(TEXT)
        (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['src']\n")
        (root / "tests").mkdir()
        for name, text in tests.items():
            (root / "tests" / f"{name}.py").write_text(text)
        return root

    return write


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment without pytest."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    venv.create(folder, symlinks=True, with_pip=False)
    return folder / "bin" / "python"


def request_for(root, name="dedupe", python=Path(sys.executable)):
    return Request(
        python=python,
        tree=root,
        file=root / "src" / "pkg" / "text.py",
        module="pkg.text",
        name=name,
        roots=(root / "src", root),
    )


def recorded(root, tmp_path, **options):
    options.setdefault("request", request_for(root))
    return record(options.pop("request"), tmp_path / "kept", **options)


def refusal(root, tmp_path, **options):
    with pytest.raises(UsageError) as caught:
        recorded(root, tmp_path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def files_of(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def test_calls_of_passing_tests_are_kept_and_the_tree_stays_as_it_was(project, tmp_path):
    root = project(
        test_text="from pkg.text import dedupe\n"
        "def test_a(): assert dedupe([1, 1]) == [1]\n"
        "def test_b(): assert dedupe('abca') == ['a', 'b', 'c']\n"
    )
    before = files_of(root)
    found = recorded(root, tmp_path)
    assert [(call.test, call.size) for call in found.calls] == [
        ("tests/test_text.py::test_a", 2),
        ("tests/test_text.py::test_b", 4),
    ]
    assert (found.ran, found.failed, found.made, found.notes) == (2, 0, 2, ())
    assert found.runner == f"pytest {pytest.__version__}"
    assert files_of(root) == before


def test_tests_that_reach_the_function_through_others_are_found_by_their_imports(project, tmp_path):
    root = project(
        test_clean="import pkg\ndef test(): assert pkg.clean('a b a') == ['a', 'b']\n",
        test_far="def test(): assert False\n",
    )
    found = recorded(root, tmp_path)
    assert [path.name for path in found.tests] == ["test_clean.py"]
    assert found.calls[0].size == 3


def test_where_those_that_name_it_make_no_call_those_that_import_it_are_run(project, tmp_path):
    root = project(
        test_named="# dedupe\ndef test(): pass\n",
        test_clean="import pkg\ndef test(): pkg.clean('a b a')\n",
    )
    found = recorded(root, tmp_path)
    assert [path.name for path in found.tests] == ["test_clean.py"]


def test_the_user_says_which_tests_by_file_or_folder(project, tmp_path):
    root = project(
        test_text="from pkg.text import dedupe\ndef test(): dedupe([1])\n",
        odd_name="from pkg.text import dedupe\ndef test(): dedupe([1, 2])\n",
    )
    chosen = recorded(root, tmp_path, tests=(root / "tests" / "odd_name.py",))
    assert [call.size for call in chosen.calls] == [2]
    folder = recorded(root, tmp_path, tests=(root / "tests",))
    assert [call.size for call in folder.calls] == [1]


def test_paths_that_hold_no_tests_are_said(project, tmp_path):
    root = project()
    assert "there is no such file" in refusal(root, tmp_path, tests=(root / "gone.py",))
    assert "there is no test file in it" in refusal(root, tmp_path, tests=(root / "src",))


def test_a_project_without_tests_is_told_what_else_there_is(project, tmp_path):
    message = refusal(project(), tmp_path)
    assert "no test in" in message
    assert "--call" in message
    assert "--tests" in message


def test_tests_that_do_not_call_it_are_counted(project, tmp_path):
    root = project(test_it="import pkg\ndef test_a(): pass\ndef test_b(): pass\n")
    assert "no test reaches dedupe: 2 tests of 1 files ran" in refusal(root, tmp_path)


def test_tests_that_fail_before_they_reach_it_are_quoted(project, tmp_path):
    root = project(test_it="from pkg.text import dedupe\ndef test(): assert 1 + 1 == 3\n")
    message = refusal(root, tmp_path)
    assert "the tests fail before they reach dedupe: tests/test_it.py::test: assert (1 + 1) == 3" in message


def test_test_files_that_cannot_be_imported_are_quoted(project, tmp_path):
    root = project(test_it="from pkg.text import dedupe\nimport not_there_at_all\n")
    assert "No module named 'not_there_at_all'" in refusal(root, tmp_path)


def test_failures_beside_calls_are_a_note(project, tmp_path):
    root = project(
        test_it="from pkg.text import dedupe\n"
        "def test_a(): dedupe([1])\n"
        "def test_b(): assert dedupe([1, 2]) == []\n"
    )
    found = recorded(root, tmp_path)
    assert len(found.calls) == 2
    assert found.notes[0].startswith("1 tests failed, the first: tests/test_it.py::test_b: assert")


def test_calls_that_raise_are_not_kept(project, tmp_path):
    root = project(
        test_it="import pytest\nfrom pkg.text import dedupe\n"
        "def test():\n    with pytest.raises(TypeError): dedupe(3)\n"
    )
    assert "1 calls of dedupe were seen and none could be kept (it raised)" in refusal(root, tmp_path)


def test_calls_that_cannot_be_kept_are_said(project, tmp_path):
    root = project(test_it="from pkg.text import dedupe\ndef test(): dedupe(x for x in [1])\n")
    assert "cannot be kept: TypeError: cannot pickle 'generator' object" in refusal(root, tmp_path)


@pytest.mark.parametrize(
    ("name", "why"), [("dedupe_all", "has no dedupe_all"), ("__doc__", "of type NoneType")]
)
def test_a_name_that_is_no_function_is_said(project, tmp_path, name, why):
    root = project(test_it="import pkg\nx = 'dedupe_all __doc__'\ndef test(): pass\n")
    assert why in refusal(root, tmp_path, request=request_for(root, name))


def test_a_test_that_hangs_is_ended_and_what_was_kept_before_is_used(project, tmp_path):
    root = project(
        test_it="import threading\nfrom pkg.text import dedupe\n"
        "def test_a(): dedupe([1, 2])\n"
        "def test_b(): dedupe([1, 2, 3]); threading.Event().wait()\n"
    )
    (root / "tests" / "conftest.py").write_text("")
    found = record_quickly(root, tmp_path)
    assert [call.size for call in found.calls] == [2, 3]
    assert found.notes == ("the tests were stopped when their time was over; the calls up to then were kept",)


def record_quickly(root, tmp_path):
    from best_agent.workload import recording

    saved = recording._GRACE_SECONDS
    recording._GRACE_SECONDS = 1.0
    try:
        return recorded(root, tmp_path, seconds=3.0)
    finally:
        recording._GRACE_SECONDS = saved


def test_tests_that_hang_before_any_call_are_an_error(project, tmp_path):
    root = project(test_it="import threading\n# dedupe\nthreading.Event().wait()\n")
    with pytest.raises(UsageError, match="did not call dedupe before their time was over"):
        record_quickly(root, tmp_path)


def test_a_session_that_is_over_its_time_ends_between_tests(project, tmp_path):
    root = project(
        test_it="import time, pytest\nfrom pkg.text import dedupe\n"
        "@pytest.mark.parametrize('n', range(10_000))\n"
        "def test(n):\n    dedupe([n]); end = time.monotonic() + 0.05\n"
        "    while time.monotonic() < end: pass\n"
    )
    found = recorded(root, tmp_path, seconds=2.0)
    assert found.ran < 1000
    assert "stopped" in found.notes[0]


def test_tests_that_end_the_process_leave_what_was_kept(project, tmp_path):
    root = project(
        test_it="import os\nfrom pkg.text import dedupe\n"
        "def test_a(): dedupe([1, 2])\ndef test_b(): os._exit(3)\n"
    )
    assert len(recorded(root, tmp_path).calls) == 1
    (root / "tests" / "test_it.py").write_text("# dedupe\nimport os\nprint('last words')\nos._exit(3)\n")
    assert f"could not be run by {sys.executable}" in refusal(root, tmp_path)


def test_options_of_the_project_that_pytest_refuses_are_quoted(project, tmp_path):
    root = project(test_it="from pkg.text import dedupe\ndef test(): dedupe([1])\n")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--not-an-option'\n")
    assert "--not-an-option" in refusal(root, tmp_path)


def test_children_that_tests_start_do_not_write_into_the_recording(project, tmp_path):
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    root = project(
        test_it="import os\nfrom pkg.text import dedupe\n"
        "def test():\n"
        "    child = os.fork()\n"
        "    if not child:\n        dedupe([1, 2, 3]); os._exit(0)\n"
        "    os.waitpid(child, 0)\n    dedupe([1])\n"
    )
    assert [call.size for call in recorded(root, tmp_path).calls] == [1]


def test_another_copy_of_the_package_gives_inputs_and_a_note(project, tmp_path):
    """As with a package that is installed and not editable."""
    root = project(test_it="from pkg.text import dedupe\ndef test(): dedupe([1, 2])\n")
    copy = tmp_path / "installed"
    (root / "src").rename(copy)
    (root / "src" / "pkg").mkdir(parents=True)
    (root / "src" / "pkg" / "text.py").write_text(TEXT)
    (root / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\npythonpath = ['{copy}']\n")
    found = recorded(root, tmp_path)
    assert found.calls[0].size == 2
    assert f"the tests call the function of {copy}" in found.notes[0]


UNITTEST = """
import unittest
from pkg.text import dedupe


class Dedupe(unittest.TestCase):
    def test_two(self):
        self.assertEqual(dedupe([1, 1, 2]), [1, 2])

    def test_fails(self):
        self.assertEqual(dedupe([1, 2, 3, 4]), [])
"""


def test_where_pytest_is_missing_unittest_runs_the_tests(project, tmp_path, bare):
    root = project(test_text=UNITTEST)
    before = files_of(root)
    found = recorded(root, tmp_path, request=request_for(root, python=bare))
    assert sorted(call.size for call in found.calls) == [3, 4]
    assert found.calls[0].test.endswith("test_text.Dedupe.test_fails")
    assert (found.runner, found.ran, found.failed) == ("unittest", 2, 1)
    assert files_of(root) == before


def test_where_pytest_is_missing_and_the_tests_are_for_it_that_is_said(project, tmp_path, bare):
    root = project(test_it="from pkg.text import dedupe\ndef test(): dedupe([1])\n")
    message = refusal(root, tmp_path, request=request_for(root, python=bare))
    assert f"pytest is not installed for {bare}" in message
    assert "install pytest there" in message


@pytest.mark.parametrize("version", ["3.9.18", "3.13.0"])
def test_the_recorder_runs_on_every_interpreter_that_the_worker_runs_on(project, tmp_path, version):
    python = PYENV / version / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no CPython {version} on this machine")
    root = project(test_text=UNITTEST)
    found = recorded(root, tmp_path, request=request_for(root, python=python))
    assert sorted(call.size for call in found.calls) == [3, 4]
    build = (
        "import sys; sys.path[:0] = sys.argv[1:2]; import recorded;"
        "print(recorded.builder(sys.argv[2], 1, 'varied')(5, 0))"
    )
    worker = Path(__file__).parents[2] / "best_agent" / "worker"
    done = subprocess.run(
        [python, "-c", build, worker, found.path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "(([1, 1, 2, 3, 3],), {})"
