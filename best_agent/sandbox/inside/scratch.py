"""The scratch directory: laying files in, reading files out, counting and emptying, on hostile contents."""

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Final

_BLOCK_BYTES: Final = 512
_ENTRY_BYTES: Final = 512
"""What a name and its inode take."""
_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def lay(folder: str, files: Mapping[str, bytes], owner: int | None) -> None:
    """Write files (relative names, folders made as needed) for the target to read and change."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        parent = os.path.dirname(path)
        if parent != folder:
            os.makedirs(parent, exist_ok=True)
            _hand_over(parent, owner)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with open(fd, "wb") as file:
            file.write(content)
        _hand_over(path, owner)


def _hand_over(path: str, owner: int | None) -> None:
    if owner is not None:
        os.chown(path, owner, owner, follow_symlinks=False)


def collect(folder: str, names: Sequence[str], bound: int) -> dict[str, bytes]:
    """The regular files of these names that exist and hold no more than `bound` bytes, links not followed."""
    found: dict[str, bytes] = {}
    for name in names:
        content = _read_plain(folder, name, bound)
        if content is not None:
            found[name] = content
    return found


def _read_plain(folder: str, name: str, bound: int) -> bytes | None:
    place = os.open(folder, _OPEN_FOLDER)
    try:
        *parents, last = name.split("/")
        for parent in parents:
            deeper = os.open(parent, _OPEN_FOLDER, dir_fd=place)
            os.close(place)
            place = deeper
        # O_NONBLOCK: a pipe put in the file's place must not hold us up.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with open(os.open(last, flags, dir_fd=place), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > bound:
                return None
            return file.read(bound + 1)[:bound]
    except OSError:
        return None
    finally:
        os.close(place)


def empty(folder: str) -> None:
    """Remove all that lies in a folder. Depth does not matter: subfolders are pulled up and removed.

    Raises:
        OSError: something cannot be removed.
    """
    top = os.open(folder, _OPEN_FOLDER)
    try:
        # A name that what lies there cannot have taken.
        token, number = os.urandom(8).hex(), 0
        waiting = _clear(top)
        while waiting:
            name = waiting.pop()
            os.chmod(name, stat.S_IRWXU, dir_fd=top, follow_symlinks=True)
            inner = os.open(name, _OPEN_FOLDER, dir_fd=top)
            try:
                for below in _clear(inner):
                    pulled = f".{token}-{number}"
                    number += 1
                    with contextlib.suppress(OSError):
                        os.chmod(below, stat.S_IRWXU, dir_fd=inner)
                    os.rename(below, pulled, src_dir_fd=inner, dst_dir_fd=top)
                    waiting.append(pulled)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _clear(folder: int) -> list[str]:
    """Unlink all but subfolders; their names."""
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return folders


def used_bytes(folder: str) -> int:
    """Bytes that all below a folder takes on disk, empty files too; what vanishes meanwhile is left out."""
    total = 0
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += _ENTRY_BYTES + entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
