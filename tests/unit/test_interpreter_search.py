"""Which interpreter is taken: the order of places, with real environments and stand-ins for the tools."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from best_agent.errors import UsageError
from best_agent.workload.environments import Search, folders_above, is_pre_commit_environment
from best_agent.workload.interpreter import find, program_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are POSIX scripts")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A real environment, made once; tests link to it."""
    folder = tmp_path_factory.mktemp("made") / "env"
    venv.create(folder, symlinks=True, with_pip=False)
    return folder


@pytest.fixture
def tree(tmp_path):
    """A repository's root with nothing in it that names an interpreter."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def environ(tmp_path):
    """An environment that names nothing: an empty PATH folder and an empty home for pyenv."""
    (tmp_path / "programs").mkdir()
    return {"PATH": str(tmp_path / "programs"), "PYENV_ROOT": str(tmp_path / "pyenv")}


def link(real: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(real, target_is_directory=True)
    return place


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_flag_wins_over_every_other_place(tree, environ, real):
    link(real, tree / ".venv")
    environ |= {"BEST_AGENT_PYTHON": "/nowhere/python", "VIRTUAL_ENV": "/nowhere"}
    found = find(tree, Path(sys.executable), environ)
    assert found.path == Path(sys.executable)
    assert found.found_by == "--python"
    assert found.version == sys.version_info[:3]
    assert not found.own


def test_the_flag_takes_the_folder_of_an_environment(tree, environ, real):
    assert find(tree, real, environ).path == real / "bin" / "python"


def test_the_flag_takes_the_name_of_a_program_on_path(tree, environ, tmp_path):
    script(tmp_path / "programs" / "python3.99", f'exec "{sys.executable}" "$@"')
    found = find(tree, Path("python3.99"), environ)
    assert found.path == tmp_path / "programs" / "python3.99"
    assert found.found_by == "--python python3.99"


def test_a_name_that_is_nowhere_on_path_is_said(tree, environ):
    with pytest.raises(UsageError, match=r"python3\.99: there is no such file"):
        find(tree, Path("python3.99"), environ)


def test_our_variable_comes_before_the_active_environment(tree, environ, real):
    environ |= {"BEST_AGENT_PYTHON": sys.executable, "VIRTUAL_ENV": str(real)}
    assert find(tree, None, environ).found_by == "BEST_AGENT_PYTHON"


def test_the_active_environment_comes_before_one_in_the_tree(tree, environ, real, tmp_path):
    link(real, tree / ".venv")
    active = link(real, tmp_path / "active")
    found = find(tree, None, environ | {"VIRTUAL_ENV": str(active)})
    assert (found.path, found.found_by) == (active / "bin" / "python", "VIRTUAL_ENV")


@pytest.mark.parametrize(
    "place",
    ["py_env-python3.11", "cache/pre-commit/repo1a2b/py_env-default", "cache/pre-commit/repo1a2b/other"],
)
def test_an_environment_that_pre_commit_made_is_passed_over(tree, environ, real, tmp_path, place):
    link(real, tree / ".venv")
    hidden = link(real, tmp_path / place)
    found = find(tree, None, environ | {"VIRTUAL_ENV": str(hidden)})
    assert found.found_by == f".venv of {tree}"


def test_the_home_that_pre_commit_was_given_marks_its_environments():
    assert is_pre_commit_environment(Path("/srv/hooks/repo1/env"), {"PRE_COMMIT_HOME": "/srv/hooks"})
    assert not is_pre_commit_environment(Path("/srv/shop/.venv"), {"PRE_COMMIT_HOME": "/srv/hooks"})


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_an_environment_of_a_parent_folder_serves_up_to_the_root_of_the_repository(tree, environ, real, name):
    link(real, tree / name)
    inner = tree / "packages" / "shop"
    inner.mkdir(parents=True)
    assert find(inner, None, environ).found_by == f"{name} of {tree}"


def test_nothing_above_the_root_of_the_repository_is_taken(tree, environ, real):
    link(real, tree.parent / ".venv")
    assert find(tree, None, environ).own


def test_without_a_repository_only_the_tree_itself_is_looked_at(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert folders_above(inner) == (inner,)


def test_a_worktree_whose_git_is_a_file_is_a_root_too(tmp_path):
    (tmp_path / "w" / "in").mkdir(parents=True)
    (tmp_path / "w" / ".git").write_text("gitdir: elsewhere")
    assert folders_above(tmp_path / "w" / "in") == (tmp_path / "w" / "in", tmp_path / "w")


def test_the_innermost_environment_is_taken(tree, environ, real):
    link(real, tree / ".venv")
    inner = tree / "packages" / "shop"
    link(real, inner / ".venv")
    assert find(inner, None, environ).path == inner / ".venv" / "bin" / "python"


def test_a_folder_that_only_has_the_name_is_no_environment(tree, environ):
    (tree / "venv").mkdir()
    assert find(tree, None, environ).own


@pytest.mark.parametrize("absolute", [True, False])
def test_uv_project_environment_hides_the_usual_one_as_it_does_for_uv(tree, environ, real, absolute):
    link(real, tree / ".venv")
    link(real, tree / "elsewhere")
    value = str(tree / "elsewhere") if absolute else "elsewhere"
    found = find(tree, None, environ | {"UV_PROJECT_ENVIRONMENT": value})
    assert found.path == tree / "elsewhere" / "bin" / "python"
    assert found.found_by == "UV_PROJECT_ENVIRONMENT"


def test_a_conda_environment_comes_after_one_in_the_tree_and_base_after_all(tree, environ, real, tmp_path):
    conda = environ | {"CONDA_PREFIX": str(link(real, tmp_path / "conda")), "CONDA_DEFAULT_ENV": "shop"}
    assert find(tree, None, conda).found_by == "CONDA_PREFIX"
    (tree / ".pdm-python").write_text(f"{sys.executable}\n")
    base = conda | {"CONDA_DEFAULT_ENV": "base"}
    assert find(tree, None, base).found_by == f".pdm-python of {tree}"
    (tree / ".pdm-python").unlink()
    assert find(tree, None, base).found_by == "CONDA_PREFIX (base)"
    link(real, tree / ".venv")
    assert find(tree, None, conda).found_by == f".venv of {tree}"


def test_poetry_is_asked_only_where_the_project_uses_it(tree, environ, real, tmp_path):
    script(tmp_path / "programs" / "poetry", f'test "$*" = "env info -p" && echo "{real}"')
    assert find(tree, None, environ).own
    (tree / "pyproject.toml").write_text("[tool.poetry]\nname = 'shop'\n")
    assert find(tree, None, environ).found_by == "`poetry env info -p`"


def test_poetry_does_not_see_the_environment_that_pre_commit_made(tree, environ, real, tmp_path):
    (tree / "poetry.lock").touch()
    script(tmp_path / "programs" / "poetry", f'echo "${{VIRTUAL_ENV:-{real}}}"')
    hidden = link(real, tmp_path / "py_env-python3.11")
    assert find(tree, None, environ | {"VIRTUAL_ENV": str(hidden)}).path == real / "bin" / "python"


@pytest.mark.parametrize(
    "answer", ["exit 1", "echo /nowhere/at/all", "true", "echo a warning >&2; exit 3", "exec /not/there"]
)
def test_a_poetry_that_has_no_environment_is_passed_over(tree, environ, tmp_path, answer):
    (tree / "poetry.lock").touch()
    script(tmp_path / "programs" / "poetry", answer)
    assert find(tree, None, environ).own


def test_hatch_is_asked_where_the_project_has_environments(tree, environ, real, tmp_path):
    script(tmp_path / "programs" / "hatch", f'test "$*" = "env find" && echo "{real}"')
    (tree / "pyproject.toml").write_text("[tool.hatch.build]\n")
    assert find(tree, None, environ).own
    (tree / "pyproject.toml").write_text("[tool.hatch.envs.default]\n")
    assert find(tree, None, environ).found_by == "`hatch env find`"


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool]\nhatch = 3\n", "[tool\n", "\x00", ""])
def test_a_strange_pyproject_stops_nothing(tree, environ, text):
    (tree / "pyproject.toml").write_text(text)
    assert find(tree, None, environ).own


def test_pyenv_takes_the_version_written_or_the_newest_of_a_series(tree, environ, real):
    versions = Path(environ["PYENV_ROOT"]) / "versions"
    for name in ("3.12.2", "3.12.10", "3.12.99a1", "shop-env"):
        link(real, versions / name)
    for written, taken in (("3.12.2", "3.12.2"), ("3.12", "3.12.10"), ("shop-env\n", "shop-env")):
        (tree / ".python-version").write_text(written)
        assert find(tree, None, environ).path == versions / taken / "bin" / "python"


@pytest.mark.parametrize("written", ["", "\n", "3.14", "../../etc", "/", "system", "3"])
def test_a_pyenv_version_that_is_not_installed_is_passed_over(tree, environ, real, written):
    link(real, Path(environ["PYENV_ROOT"]) / "versions" / "2.7.18")
    (tree / ".python-version").write_text(written)
    assert find(tree, None, environ).own


def test_the_last_resort_says_that_nothing_was_found(tree, environ):
    found = find(tree, None, environ)
    assert found.own
    assert found.path == Path(sys.executable)
    assert "no interpreter of the project was found" in found.found_by


@pytest.mark.parametrize(
    ("prefix_files", "expected"),
    [
        (("Scripts/python.exe",), "Scripts/python.exe"),
        (("python.exe",), "python.exe"),
        (("python.exe", "Scripts/python.exe"), "Scripts/python.exe"),
        ((), "Scripts/python.exe"),
    ],
)
def test_windows_keeps_the_program_in_scripts_and_conda_at_the_top(tmp_path, prefix_files, expected):
    for name in prefix_files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert program_of(tmp_path, windows=True) == tmp_path / expected


def test_the_nearest_file_is_the_innermost(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "pyproject.toml").touch()
    search = Search((tmp_path / "in", tmp_path), {}, False)
    assert search.nearest("pyproject.toml") == tmp_path / "pyproject.toml"
    (tmp_path / "in" / "pyproject.toml").touch()
    assert search.nearest("pyproject.toml") == tmp_path / "in" / "pyproject.toml"


def test_a_link_of_an_environment_is_not_followed(tree, environ, real):
    """The base interpreter behind the link would not see what is installed in the environment."""
    place = link(real, tree / ".venv")
    found = find(tree, None, environ)
    assert found.path == place / "bin" / "python"
    prefix = subprocess.run(
        [found.path, "-c", "import sys; print(sys.prefix != sys.base_prefix)"], capture_output=True, text=True
    )
    assert prefix.stdout.strip() == "True"
