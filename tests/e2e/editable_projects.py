"""Projects as people have them, in git repositories made for a test, installed editable in a real venv.

Each has a function whose cost at HEAD and in the work tree is known: HEAD is quadratic, the work tree
linear, and both give the same results.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

QUADRATIC = """
def sums(items):
    return [sum(items[: end + 1]) for end in range(len(items))]
"""
LINEAR = """
import itertools

def sums(items):
    return list(itertools.accumulate(items))
"""


@dataclass(frozen=True, kw_only=True)
class Project:
    """Files of a project; `{code}` in a file stands for the function."""

    name: str
    """Of the distribution."""
    module: str
    """Of the function, as an import says it."""
    target: str
    """File of the function, in the repository."""
    files: dict[str, str]
    config: tuple[str, ...] = ()
    """Settings of the build back end, `KEY=VALUE`."""
    head: dict[str, str] = field(default_factory=dict)
    """Files that are otherwise at HEAD."""


def git(root: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout


def write(root: Path, files: dict[str, str], code: str) -> None:
    """Lay files into a tree."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{code}", code))


def clone(project: Project, folder: Path) -> Path:
    """A clone of the project's repository, its work tree as at HEAD: quadratic."""
    origin = folder / "origin"
    origin.mkdir(parents=True)
    git(origin, "init", "-q", "-b", "main")
    write(
        origin,
        {".gitignore": "build/\n*.egg-info/\n__pycache__/\n", **project.files, **project.head},
        QUADRATIC,
    )
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "quadratic")
    git(folder, "clone", "-q", "origin", "work")
    return folder / "work"


def install(python: Path, project: Project, root: Path) -> None:
    """Install the clone editable, with the build back ends that are in the environment already."""
    settings = [part for setting in project.config for part in ("--config-settings", setting)]
    pip(python, *settings, "-e", root)


def pip(python: Path, *what: str | Path) -> None:
    """Install from disk, without an index."""
    command = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*command, *what], env=environment(python), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def environment(python: Path) -> dict[str, str]:
    """The variables of a shell in which the environment is active; ninja and meson are found in it."""
    dropped = ("GIT_", "PYTHON", "VIRTUAL_ENV", "BEST_AGENT_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return {**kept, "PATH": f"{python.parent}{os.pathsep}{kept.get('PATH', '')}"}


def imported_from(python: Path, module: str) -> str:
    """Where the environment's own Python takes a module from."""
    done = subprocess.run(
        [python, "-c", f"import {module} as m; print(m.__file__)"],
        cwd=python.parent,
        env=environment(python),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return os.path.realpath(done.stdout.strip().splitlines()[-1])


def compare(python: Path, root: Path, *arguments: str) -> tuple[int, dict, str]:
    """`best-agent compare ... --format json` in the clone: exit code, document, standard error."""
    command = [sys.executable, "-m", "best_agent", "compare", *arguments, "--python", str(python)]
    done = subprocess.run(
        [*command, "--quiet", "--format", "json"],
        cwd=root,
        env=environment(python),
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr
