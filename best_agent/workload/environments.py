"""Where people keep the interpreter of a project: one step per place, in the order they are asked.

A step answers with the place that the user or their tools name, or None where they name none. Whether
an interpreter is there and works is the caller's business.
"""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_TOOL_SECONDS = 20.0


class Place(NamedTuple):
    """Somewhere an interpreter should be: a program or the folder of an environment."""

    path: Path
    found_by: str


class Search(NamedTuple):
    """What the steps look at."""

    folders: tuple[Path, ...]
    """The tree and its parents up to the root of its repository, innermost first."""
    environ: Mapping[str, str]
    windows: bool

    def nearest(self, name: str) -> Path | None:
        """The first file of that name, from the tree upwards."""
        return next((folder / name for folder in self.folders if (folder / name).is_file()), None)


def folders_above(tree: Path) -> tuple[Path, ...]:
    """The tree and its parents up to the repository's root; only the tree where there is none."""
    tree = Path(os.path.abspath(tree))  # `resolve` would leave a tree that is reached through a link
    above = (tree, *tree.parents)
    for position, folder in enumerate(above):
        if (folder / ".git").exists():
            return above[: position + 1]
    return (tree,)


def _from_variable(search: Search) -> Place | None:
    value = search.environ.get("BEST_AGENT_PYTHON")
    return Place(Path(value), "BEST_AGENT_PYTHON") if value else None


def _active(search: Search) -> Place | None:
    value = search.environ.get("VIRTUAL_ENV")
    if not value or is_pre_commit_environment(Path(value), search.environ):
        return None
    return Place(Path(value), "VIRTUAL_ENV")


def is_pre_commit_environment(prefix: Path, environ: Mapping[str, str]) -> bool:
    """Whether pre-commit made this environment for a hook, in which the project is not installed.

    pre-commit sets VIRTUAL_ENV and PATH to it and so hides the environment the user works in.
    """
    home = environ.get("PRE_COMMIT_HOME")
    in_home = home is not None and prefix.is_relative_to(home)
    return in_home or prefix.name.startswith("py_env-") or "pre-commit" in prefix.parts[:-1]


def _uv_variable(search: Search) -> Place | None:
    """The variable of uv; a relative path counts from the folder of pyproject.toml.

    It comes before `.venv` because uv does not look at `.venv` when it is set.
    """
    value = search.environ.get("UV_PROJECT_ENVIRONMENT")
    if not value:
        return None
    for folder in search.folders:
        if (folder / value).is_dir():
            return Place(folder / value, "UV_PROJECT_ENVIRONMENT")
    return None


def _in_tree(search: Search) -> Place | None:
    for folder in search.folders:
        for name in (".venv", "venv"):
            kept_by = (folder / name / "pyvenv.cfg", folder / name / "conda-meta")
            if any(path.exists() for path in kept_by):
                return Place(folder / name, f"{name} of {folder}")
    return None


def _conda(search: Search) -> Place | None:
    value = search.environ.get("CONDA_PREFIX")
    if not value or search.environ.get("CONDA_DEFAULT_ENV") == "base":
        return None
    return Place(Path(value), "CONDA_PREFIX")


def _conda_base(search: Search) -> Place | None:
    """The base environment of conda, which is active in every shell: only after what the project names."""
    value = search.environ.get("CONDA_PREFIX")
    return Place(Path(value), "CONDA_PREFIX (base)") if value else None


def _poetry(search: Search) -> Place | None:
    uses = search.nearest("poetry.lock") is not None or "poetry" in _tools(search)
    return _asked(search, ("poetry", "env", "info", "-p")) if uses else None


def _hatch(search: Search) -> Place | None:
    table = _tools(search).get("hatch")
    uses = isinstance(table, dict) and "envs" in table
    return _asked(search, ("hatch", "env", "find")) if uses else None


def _pdm(search: Search) -> Place | None:
    written = search.nearest(".pdm-python")
    text = _text(written).strip() if written else ""
    return Place(Path(text), f".pdm-python of {written.parent}") if text and written else None


def _pyenv(search: Search) -> Place | None:
    """The version that .python-version names, where pyenv has it; uv reads the same file."""
    written = search.nearest(".python-version")
    words = _text(written).split() if written else []
    # Path.home() fails for a user without a home; that is no reason not to look elsewhere.
    home = Path(search.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"))
    if not words or not written:
        return None
    prefix = _pyenv_prefix(home / "versions", words[0])
    return Place(prefix, f".python-version of {written.parent}") if prefix else None


def _pyenv_prefix(versions: Path, wanted: str) -> Path | None:
    """The folder of that name, or the newest release of a version given in part (`3.12`)."""
    if not versions.is_dir() or Path(wanted).name != wanted:
        return None
    if (versions / wanted).is_dir():
        return versions / wanted
    fitting = [path for path in versions.iterdir() if path.name.startswith(f"{wanted}.")]
    releases = [path for path in fitting if all(part.isdigit() for part in path.name.split("."))]
    return max(releases, key=lambda path: [int(part) for part in path.name.split(".")], default=None)


STEPS: tuple[Callable[[Search], Place | None], ...] = (
    _from_variable,
    _active,
    _uv_variable,
    _in_tree,
    _conda,
    _poetry,
    _pdm,
    _hatch,
    _pyenv,
    _conda_base,
)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _tools(search: Search) -> dict[str, Any]:
    """The `[tool]` table of the nearest pyproject.toml; empty where it cannot be read.

    A broken file is the business of those who need it; here it only says which tools are in use.
    """
    path = search.nearest("pyproject.toml")
    try:
        tools = tomllib.loads(_text(path)).get("tool", {}) if path else {}
    except tomllib.TOMLDecodeError:
        return {}
    return tools if isinstance(tools, dict) else {}


def _asked(search: Search, command: tuple[str, ...]) -> Place | None:
    """The environment that a project tool prints, where the tool is on PATH and has made one."""
    program = shutil.which(command[0], path=search.environ.get("PATH"))
    if program is None:
        return None
    # In an active environment the tools answer with that one, which was refused before they were asked.
    environ = {key: value for key, value in search.environ.items() if key != "VIRTUAL_ENV"}
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=search.folders[0],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    prefix = Path(lines[-1].strip()) if done.returncode == 0 and lines else None
    return Place(prefix, f"`{' '.join(command)}`") if prefix and prefix.is_dir() else None
