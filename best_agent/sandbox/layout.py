"""Which host paths a program may see, and as whom it runs."""

import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from best_agent.sandbox.contract import Program

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    *("/nix/store", "/gnu/store"),
)
"""What programs of any language need of a system: its programs, libraries and where to find them."""
_TARGET_UIDS: Final = range(1_900_000_000, 1_960_000_000)
"""Users that no distribution and no container hands out."""
_NOBODY: Final = 65534
_ENTER_FOR_ALL: Final = 0o001
_READ_FOR_ALL: Final = 0o004


def interpreter() -> str:
    """The Python that supervisor and function targets run on: the tool's own, outside of any venv."""
    return os.path.realpath(sys.executable)


def interpreter_paths() -> tuple[str, ...]:
    """What that Python needs to read: its installation, unless the system's paths hold it already."""
    places = {os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}
    return tuple(sorted(place for place in places if not _covered(place)))


def _covered(path: str) -> bool:
    return path == "/" or any(path == top or path.startswith(top + "/") for top in SYSTEM)


def readable(program: Program) -> tuple[str, ...]:
    """Every path shown to a program, absolute, links as they are."""
    own = (os.path.abspath(path) for path in program.readable)
    return (*SYSTEM, *interpreter_paths(), *own)


def target_uid() -> int | None:
    """As root: an unprivileged user for the targets of one session, so that limits per user hold.

    None as an ordinary user.
    """
    if os.geteuid() != 0:
        return None
    wanted = secrets.choice(_TARGET_UIDS)
    return wanted if _mapped(wanted) else _NOBODY


def _mapped(uid: int) -> bool:
    """Whether this user namespace has such a user."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").split("\n")
    for first, _, count in (map(int, line.split()) for line in lines if line.strip()):
        if first <= uid < first + count:
            return True
    return False


def needs_privilege_to_read(paths: Iterable[str]) -> bool:
    """Whether some path can be reached by its owner or root only, so that another user cannot read it."""
    return any(not _open_to_all(path) for path in paths)


def _open_to_all(path: str) -> bool:
    real = Path(os.path.realpath(path))
    try:
        parents_open = all(parent.stat().st_mode & _ENTER_FOR_ALL for parent in real.parents)
        return parents_open and bool(real.stat().st_mode & _READ_FOR_ALL)
    except FileNotFoundError:
        return True
    except OSError:
        return False
