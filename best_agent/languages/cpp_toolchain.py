"""The C++ compiler of this machine: found, identified, and what it must be able to read."""

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError

_QUESTION_SECONDS = 30
_SYSTEM = (Path("/usr"), Path("/bin"), Path("/lib"), Path("/lib64"))
_NIX_STORE = Path("/nix/store")
_TOOLCHAIN_FOLDERS = frozenset({"bin", "include", "lib", "lib32", "lib64", "libexec"})
MISSING = (
    "C++ needs a compiler: install g++ or clang++ (Debian, Ubuntu: apt install g++; "
    "Fedora: dnf install gcc-c++; Arch: pacman -S gcc), or name one in CXX"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """A compiler that answered."""

    command: tuple[str, ...]
    """Absolute program, and the arguments that CXX adds."""
    version: str
    """What it says of itself, whole."""
    is_gcc: bool
    readable: tuple[Path, ...]
    """Its installation, where that is not the system's own."""

    @property
    def identity(self) -> str:
        """Changes when the compiler does."""
        text = "\0".join((*self.command, self.version))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def missing_tool() -> str | None:
    """One line saying what to install, or None where a compiler was found."""
    try:
        return MISSING if find_compiler() is None else None
    except UsageError as error:
        return str(error)


def find_compiler() -> Compiler | None:
    """The compiler that CXX names, else g++, else clang++; None where there is none.

    Raises:
        UsageError: CXX is set to something that is not a compiler.
    """
    return _find(os.environ.get("CXX", "").strip(), os.environ.get("PATH", os.defpath))


@lru_cache(maxsize=8)
def _find(named: str, path: str) -> Compiler | None:
    for command in [named] if named else ["g++", "clang++"]:
        try:
            program, *arguments = shlex.split(command)
        except ValueError:
            program, arguments = command, []
        found = shutil.which(program, path=path)
        version = _answer((found, *arguments, "--version")) if found else None
        if found and version:
            return _described((str(Path(found).absolute()), *arguments), version)
    if named:
        raise UsageError(f"CXX names '{named}', which is not a compiler that runs; unset it or mend it")
    return None


def _described(command: tuple[str, ...], version: str) -> Compiler:
    inner = (_answer((*command, "-print-prog-name=cc1plus")) or "").strip()
    readable = set(_installation(Path(command[0])))
    if inner.startswith("/"):
        readable.add(Path(inner).resolve().parent)
    return Compiler(
        command=command,
        version=version,
        is_gcc="Free Software Foundation" in version,
        readable=tuple(sorted(path for path in readable if not _is_of_system(path))),
    )


def _installation(program: Path) -> Iterator[Path]:
    """The program and the folders beside it that hold a toolchain, never the whole folder above them.

    The folder above `bin` may well be somebody's home.
    """
    real = program.resolve()
    yield program
    yield real
    if real.is_relative_to(_NIX_STORE):
        yield _NIX_STORE
    elif real.parent.name == "bin" and not _is_of_system(real):
        for folder in real.parent.parent.iterdir():
            if folder.is_dir() and (folder.name in _TOOLCHAIN_FOLDERS or "-linux-" in folder.name):
                yield folder


def _is_of_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _SYSTEM)


def _answer(command: tuple[str, ...]) -> str | None:
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUESTION_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.decode("utf-8", "replace") if answer.returncode == 0 else None
