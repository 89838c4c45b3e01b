"""Temporary folders that do not outlive their process for long, even where it was killed."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

with contextlib.suppress(ImportError):  # Windows has no such module
    import fcntl

_LOCK = "in-use"
_HAS_LOCKS = "fcntl" in globals()


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """A temporary folder (its real path), removed at the end.

    What processes that were killed left behind under the same prefix is removed first. A folder is held to
    be left behind if it is this user's and nobody holds its lock: the system drops that with the process.
    """
    _sweep(prefix)
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    if not _HAS_LOCKS:
        yield
        return
    descriptor = os.open(folder / f"{_LOCK}.new", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        with contextlib.suppress(OSError):  # no locks here (some network file systems): never swept
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only now under its name: a sweep never sees a lock that is about to be taken.
            os.rename(folder / f"{_LOCK}.new", folder / _LOCK)
        yield
    finally:
        os.close(descriptor)


def _sweep(prefix: str) -> None:
    if not _HAS_LOCKS:
        return
    for entry in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # another sweep was faster
            if _left_behind(entry):
                shutil.rmtree(entry, ignore_errors=True)


def _left_behind(folder: Path) -> bool:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return False
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
    return True
