"""An interpreter that was named and does not work is one clear line that says who named it."""

import os
from pathlib import Path

import pytest

from best_agent.errors import UsageError
from best_agent.workload import interpreter
from best_agent.workload.interpreter import find

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are POSIX scripts")
PYENV = Path.home() / ".pyenv" / "versions"


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def refused(python: Path, match: str) -> str:
    with pytest.raises(UsageError, match=match) as caught:
        find(python.parent, python, dict(os.environ))
    message = str(caught.value)
    assert "\n" not in message
    assert str(python) in message
    assert "--python" in message
    return message


def test_a_file_that_is_not_there(tmp_path):
    refused(tmp_path / "python", "does not exist")


def test_a_broken_link(tmp_path):
    (tmp_path / "python").symlink_to(tmp_path / "gone")
    refused(tmp_path / "python", "is a link to a file that is gone")


def test_a_folder_without_an_interpreter(tmp_path):
    with pytest.raises(UsageError, match=r"bin/python .* does not exist"):
        find(tmp_path, tmp_path, {})


def test_a_file_that_may_not_be_executed(tmp_path):
    (tmp_path / "python").write_text("text")
    refused(tmp_path / "python", "cannot be started: Permission denied")


def test_a_file_that_is_no_program(tmp_path):
    (tmp_path / "python").write_bytes(b"\x7fELF but not really")
    (tmp_path / "python").chmod(0o755)
    refused(tmp_path / "python", "cannot be started: Exec format error")


@pytest.mark.parametrize("says", ["", "echo 3", "echo hello", "echo 3 x 1 cpython", "echo; exit 0"])
def test_a_program_that_is_no_python(tmp_path, says):
    refused(script(tmp_path / "python", says), "does not run")


def test_a_python_that_fails_is_quoted(tmp_path):
    python = script(
        tmp_path / "python", "echo 'first line' >&2; echo 'no module named encodings' >&2; exit 1"
    )
    refused(python, "does not run: no module named encodings")


def test_a_python_that_dies_of_a_signal(tmp_path):
    refused(script(tmp_path / "python", "kill -9 $$"), "does not run: exit code -9")


def test_a_python_that_never_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreter, "_PROBE_SECONDS", 0.5)
    refused(script(tmp_path / "python", "exec sleep 60"), "did not answer within")


def test_another_implementation_than_cpython(tmp_path):
    refused(script(tmp_path / "python", "echo 3 11 9 pypy"), "is pypy; figures of memory need CPython")


def test_an_old_version_that_only_says_so(tmp_path):
    refused(script(tmp_path / "python", "echo 3 8 1 cpython"), "is Python 3.8.1; .* CPython 3.9 and later")


@pytest.mark.parametrize("version", ["2.7.18", "3.6.15", "3.8.18"])
def test_real_old_versions_are_named(version):
    python = PYENV / version / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no CPython {version} on this machine")
    refused(python, f"is Python {version}")


@pytest.mark.parametrize("version", ["3.9.18", "3.13.0"])
def test_real_newer_versions_are_taken(version):
    python = PYENV / version / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no CPython {version} on this machine")
    found = find(python.parent, python, dict(os.environ))
    assert ".".join(map(str, found.version)) == version


@pytest.mark.parametrize("variable", ["BEST_AGENT_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"])
def test_a_place_that_a_variable_names_is_not_passed_over_in_silence(tmp_path, variable):
    with pytest.raises(UsageError, match=rf"found by {variable}.* does not exist"):
        find(tmp_path, None, {variable: str(tmp_path / "gone"), "PATH": ""})


def test_an_environment_whose_base_was_removed_is_said(tmp_path):
    """As after an upgrade of the system's Python."""
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /gone\n")
    (folder / "python").symlink_to("/gone/python3")
    with pytest.raises(UsageError, match=r"\.venv of .* is a link to a file that is gone; make the env"):
        find(tmp_path, None, {"PATH": ""})
