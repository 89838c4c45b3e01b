"""The C++ compiler of this machine: found, identified, and what it must be able to read."""

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages.tool_search import answer, installation, outside_system

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
        version = answer((found, *arguments, "--version")) if found else None
        if found and version:
            return _described((str(Path(found).absolute()), *arguments), version)
    if named:
        raise UsageError(f"CXX names '{named}', which is not a compiler that runs; unset it or mend it")
    return None


def _described(command: tuple[str, ...], version: str) -> Compiler:
    inner = (answer((*command, "-print-prog-name=cc1plus")) or "").strip()
    readable = set(installation(Path(command[0])))
    if inner.startswith("/"):
        readable.add(Path(inner).resolve().parent)
    return Compiler(
        command=command,
        version=version,
        is_gcc="Free Software Foundation" in version,
        readable=outside_system(readable),
    )
