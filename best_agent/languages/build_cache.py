"""Compiled programs by the hash of all that went into them, shared by every process of one user."""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from best_agent.errors import UsageError

BUILDS_BYTES = 1 << 30
"""Compiled programs kept; the ones used least recently go first."""
PRELUDES_KEPT = 4
"""Precompiled headers kept, about 100 MB each."""
YOUNG_SECONDS = 3600
"""What was used this recently stays: somebody may be about to run it."""


def cache_folder() -> Path:
    """Where the tool keeps what can be made again: BEST_AGENT_CACHE, or best-agent in the user's cache.

    Raises:
        UsageError: it cannot be had, or others could write to it.
    """
    named = os.environ.get("BEST_AGENT_CACHE")
    base = os.environ.get("XDG_CACHE_HOME", "")
    if named:
        folder = Path(named).absolute()
    elif base.startswith("/"):  # the specification has relative ones ignored
        folder = Path(base) / "best-agent"
    else:
        folder = _home() / ".cache" / "best-agent"
    return _private(folder)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and a user that the system does not list: usual in containers
        raise UsageError(
            "there is no home folder to keep compiled programs in; set HOME or BEST_AGENT_CACHE"
        ) from None


def builds_folder() -> Path:
    """The folder of compiled programs; errors as `cache_folder`."""
    return _private(cache_folder() / "builds")


def preludes_folder() -> Path:
    """The folder of precompiled headers; errors as `cache_folder`."""
    return _private(cache_folder() / "preludes")


def _private(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise UsageError(
            f"the cache folder {folder} cannot be used: {error.strerror}; set BEST_AGENT_CACHE to another"
        ) from None
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise UsageError(
            f"the cache folder {folder} is not yours alone to write; mend its owner and mode, "
            "or set BEST_AGENT_CACHE to another"
        )
    return folder


def find(folder: Path, key: str) -> Path | None:
    """The file kept under `key`, marked as used; None where there is none."""
    path = folder / key
    try:
        os.utime(path)
    except OSError:
        return None
    return path


def store(folder: Path, key: str, data: bytes, *, executable: bool) -> Path:
    """Keep `data` under `key`: whole or not at all, whoever else does the same.

    Raises:
        UsageError: the disk refuses.
    """
    path = folder / key
    try:
        descriptor, name = tempfile.mkstemp(prefix=".new-", dir=folder)
        with contextlib.ExitStack() as undo:
            undo.callback(_remove, Path(name))
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o755 if executable else 0o644)
            os.replace(name, path)
            undo.pop_all()
    except OSError as error:
        raise UsageError(
            f"the cache folder {folder} cannot be written: {error.strerror}; set BEST_AGENT_CACHE to another"
        ) from None
    return path


def prune(folder: Path, keep_bytes: int = BUILDS_BYTES) -> None:
    """Remove the files used least recently until at most `keep_bytes` are left, sparing young ones."""
    entries: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                entries.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in entries)
    for used, size, path in sorted(entries):
        if total <= keep_bytes or used > time.time() - YOUNG_SECONDS:
            break
        _remove(path)
        total -= size


@contextlib.contextmanager
def sole_maker(folder: Path, key: str) -> Iterator[bool]:
    """True within for one process at a time and key; the others get False at once and do without."""
    descriptor = os.open(folder / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
