"""One measured process per core: a lock file for each core, shared by all users of the machine."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

FOLDERS: Final = ("/run/lock", "/tmp", "/var/tmp")  # noqa: S108  (shared on purpose, see `_open`)
"""Folders that every user may make files in; the first one that allows it is used."""
_WAIT_AT_MOST_S: Final = 600.0
_PAUSE_S: Final = 0.001
"""Shorter than what others do between two runs, so that who waits is not passed by for ever."""


class Core(NamedTuple):
    """A core to run on, and what a reader must know if it could not be had alone."""

    number: int | None
    flags: tuple[str, ...] = ()


class _Preference:
    """The core used last by this process: pairs of runs belong on the same one."""

    core: int | None = None


def can_lock(folders: tuple[str, ...] = FOLDERS) -> bool:
    """Whether cores can be reserved on this machine."""
    fd = _open(min(os.sched_getaffinity(0)), folders)
    if fd is None:
        return False
    os.close(fd)
    return True


@contextlib.contextmanager
def reserved(
    folders: tuple[str, ...] = FOLDERS, *, wait_at_most_s: float = _WAIT_AT_MOST_S
) -> Iterator[Core]:
    """A core that no other measured process runs on while the context lasts.

    Where locks cannot be had, or nothing becomes free in time, the run goes on with a flag: a shared
    core costs precision, waiting for ever costs everything.
    """
    allowed = sorted(os.sched_getaffinity(0), key=lambda core: (core != _Preference.core, core))
    locks = [(core, fd) for core in allowed if (fd := _open(core, folders)) is not None]
    try:
        core = _first_free(locks, time.monotonic() + wait_at_most_s)
        if core is None:
            why = "core-not-locked" if not locks else "core-shared"
            yield Core(allowed[0], (why,))
        else:
            _Preference.core = core
            yield Core(core)
    finally:
        for _, fd in locks:
            os.close(fd)  # gives the lock back as well


def _first_free(locks: list[tuple[int, int]], deadline: float) -> int | None:
    while locks:
        for core, fd in locks:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return core
        if time.monotonic() > deadline:
            return None
        time.sleep(_PAUSE_S)
    return None


def _open(core: int, folders: tuple[str, ...]) -> int | None:
    for folder in folders:
        fd = _open_in(folder, core)
        if fd is not None:
            return fd
    return None


def _open_in(folder: str, core: int) -> int | None:
    """The lock file of a core, or None.

    Another user may have put anything in its place: links are not followed, and only a regular file is
    taken. Reading is enough for a lock, so that the file may belong to whoever came first.
    """
    path = os.path.join(folder, f"best-agent-core-{core}.lock")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    for extra in (0, os.O_CREAT | os.O_EXCL, 0):  # the third: another process made it meanwhile
        try:
            fd = os.open(path, flags | extra, 0o644)
        except FileNotFoundError:
            continue
        except FileExistsError:
            continue
        except OSError:
            return None
        if extra:
            with contextlib.suppress(OSError):
                os.fchmod(fd, 0o644)  # whatever the umask: others must be able to open it
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        return None
    return None
