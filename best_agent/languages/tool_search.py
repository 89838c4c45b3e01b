"""Compilers and interpreters of this machine: found, asked what they are, and what they must read."""

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_QUESTION_SECONDS = 30
_SYSTEM = (Path("/usr"), Path("/bin"), Path("/lib"), Path("/lib64"))
_NIX_STORE = Path("/nix/store")
_TOOLCHAIN_FOLDERS = frozenset({"bin", "include", "lib", "lib32", "lib64", "libexec"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A compiler or interpreter that answered."""

    command: tuple[str, ...]
    """Absolute program, never a version manager's stand-in, and arguments that always go with it."""
    version: str
    """What it says of itself."""
    readable: tuple[Path, ...]
    """Its installation, where that is not the system's own."""

    @property
    def identity(self) -> str:
        """Changes when the tool does."""
        text = "\0".join((*self.command, self.version))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def which(command: str) -> tuple[str, ...] | None:
    """A command line with its program found in PATH, absolute; None where there is none."""
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return None
    found = shutil.which(program)
    return (str(Path(found).absolute()), *arguments) if found else None


def outside_system(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Those that a sandbox has to be shown: the system's own folders are there anyway."""
    return tuple(sorted({path for path in paths if not is_of_system(path)}))


def installation(program: Path) -> Iterator[Path]:
    """The program and the folders beside it that hold a toolchain, never the whole folder above them.

    The folder above `bin` may well be somebody's home.
    """
    real = program.resolve()
    yield program
    yield real
    if real.is_relative_to(_NIX_STORE):
        yield _NIX_STORE
    elif real.parent.name == "bin" and not is_of_system(real):
        for folder in real.parent.parent.iterdir():
            if folder.is_dir() and (folder.name in _TOOLCHAIN_FOLDERS or "-linux-" in folder.name):
                yield folder


def is_of_system(path: Path) -> bool:
    """Whether every sandbox shows it."""
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def answer(command: tuple[str, ...], **env: str) -> str | None:
    """What a tool prints, `env` added to its environment; None where it fails or takes too long."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUESTION_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C", **env},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
