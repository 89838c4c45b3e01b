"""Which Python the user's own code runs in: looked for where people keep it, and tried before it is used.

The order is from the most to the least explicit. A place that is named outright and does not work is
an error that says so, never a reason to look further: measuring in another interpreter than the user
meant gives figures of other code.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.workload.environments import STEPS, Place, Search, folders_above

OLDEST = (3, 9)
"""The oldest CPython that the worker runs on."""

_PROBE = "import sys; print(*sys.version_info[:3], sys.implementation.name, flush=True)"
_PROBE_SECONDS = 30.0
_OWN = "best-agent's own, as no interpreter of the project was found; name one with --python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A CPython that was started once and answered."""

    path: Path
    """As found: a link of a virtual environment is not followed, it is what makes it one."""
    found_by: str
    """In words, for people: `--python`, `VIRTUAL_ENV`, `.venv of /home/ann/shop`."""
    version: tuple[int, int, int]
    own: bool = False
    """True: the interpreter that runs best-agent, taken because nothing else was found."""


def find(tree: Path, explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> Interpreter:
    """The interpreter that the code in `tree` is run by, started once to see that it works.

    `tree` is a folder of the project, best the one with the nearest pyproject.toml: environments are
    looked for in it and its parents up to the root of the repository. `explicit` (`--python`) is a
    program, the name of one on PATH, or the folder of an environment.

    Raises:
        UsageError: the first place that names an interpreter has none that works: missing, a broken
            link, not executable, not CPython, older than 3.9. The message says how it was found.
    """
    environ = os.environ if environ is None else environ
    if explicit is not None:
        return _checked(_explicit(explicit, environ), environ, windows=os.name == "nt")
    search = Search(folders_above(tree), environ, os.name == "nt")
    for step in STEPS:
        place = step(search)
        if place is not None:
            return _checked(place, environ, windows=search.windows)
    own = _checked(Place(Path(sys.executable), _OWN), environ, windows=search.windows)
    return Interpreter(path=own.path, found_by=own.found_by, version=own.version, own=True)


def program_of(prefix: Path, *, windows: bool) -> Path:
    """Where the interpreter of an environment lies; conda on Windows keeps it at the top."""
    if not windows:
        return prefix / "bin" / "python"
    script = prefix / "Scripts" / "python.exe"
    top = prefix / "python.exe"
    return top if top.exists() and not script.exists() else script


def _explicit(path: Path, environ: Mapping[str, str]) -> Place:
    if len(path.parts) == 1 and not path.exists():
        on_path = shutil.which(str(path), path=environ.get("PATH"))
        if on_path is None:
            raise UsageError(f"--python {path}: there is no such file, and no such program on PATH")
        return Place(Path(on_path), f"--python {path}")
    return Place(path, "--python")


def _checked(place: Place, environ: Mapping[str, str], *, windows: bool) -> Interpreter:
    path = Path(os.path.abspath(place.path))
    if path.is_dir():
        path = program_of(path, windows=windows)
    where = f"the interpreter {path} (found by {place.found_by})"
    if not path.exists():
        link = "is a link to a file that is gone" if path.is_symlink() else "does not exist"
        raise UsageError(f"{where} {link}; make the environment anew or name another with --python")
    words = _answer(path, where, environ)
    version = (int(words[0]), int(words[1]), int(words[2]))
    if words[3] != "cpython":
        raise UsageError(f"{where} is {words[3]}; figures of memory need CPython, name one with --python")
    if version[:2] < OLDEST:
        raise UsageError(_too_old(where, ".".join(words[:3])))
    return Interpreter(path=path, found_by=place.found_by, version=version)


def _answer(path: Path, where: str, environ: Mapping[str, str]) -> list[str]:
    """What the interpreter says of itself: major, minor, micro, implementation."""
    code, out, err = _started(path, ("-I", "-c", _PROBE), where, environ)
    words = out.split()
    if code == 0 and len(words) == 4 and all(word.isdigit() for word in words[:3]):
        return words
    if "-I" in err:  # Python 2 and 3.3 do not know the option
        _, out, err = _started(path, ("-V",), where, environ)
        raise UsageError(_too_old(where, (out + err).strip().removeprefix("Python ")[:40]))
    last = (err.strip().splitlines() or [f"exit code {code}"])[-1]
    raise UsageError(f"{where} does not run: {last[:200]}")


def _too_old(where: str, version: str) -> str:
    oldest = ".".join(map(str, OLDEST))
    return f"{where} is Python {version}; best-agent measures in CPython {oldest} and later"


def _started(
    path: Path, arguments: tuple[str, ...], where: str, environ: Mapping[str, str]
) -> tuple[int, str, str]:
    try:
        done = subprocess.run(
            [str(path), *arguments],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{where} did not answer within {_PROBE_SECONDS:.0f} s") from None
    except OSError as error:
        raise UsageError(f"{where} cannot be started: {error.strerror or error}") from None
    return done.returncode, done.stdout, done.stderr
