"""A world of its own for the supervisor: namespaces, a read-only file tree, a scratch file system."""

import contextlib
import os
import signal
import socket
import stat
from collections.abc import Iterable
from typing import Final, NamedTuple

from best_agent.sandbox.inside import kernel

SCRATCH: Final = "/box"
"""Where the scratch directory lies inside."""
_INODES: Final = 16384
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_LINKS: Final = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
)


def enter(*, root: str, readable: Iterable[str], scratch_bytes: int, target_uid: int | None) -> None:
    """Go on as the first process of fresh namespaces; the calling process only waits for that one.

    Args:
        root: an empty directory that the new file tree is mounted on.
        readable: host paths shown read-only at the same place; missing ones are left out.
        scratch_bytes: size of the scratch file system.
        target_uid: as root, the user to become; None otherwise, a user namespace is made.

    Raises:
        OSError: the kernel refuses one of the steps.
    """
    uid, gid = os.getuid(), os.getgid()
    flags = (
        kernel.CLONE_NEWNS
        | kernel.CLONE_NEWPID
        | kernel.CLONE_NEWNET
        | kernel.CLONE_NEWIPC
        | kernel.CLONE_NEWUTS
    )
    try:
        kernel.unshare(flags if target_uid is not None else flags | kernel.CLONE_NEWUSER)
        if target_uid is None:
            _map_ids(uid, gid)
    except OSError as error:
        whose = "user namespaces" if target_uid is None else "namespaces"
        raise OSError(error.errno, f"this system does not let us make {whose} ({error.strerror})") from error
    child = os.fork()
    if child:
        _stand_by(child)
    owner = uid if target_uid is None else target_uid
    _build_tree(root, readable, scratch_bytes, owner, gid if target_uid is None else target_uid)
    socket.sethostname("sandbox")
    kernel.pivot_into(root)
    if target_uid is None:
        kernel.drop_bounding_set()
        kernel.keep_capabilities()
    else:
        kernel.become(target_uid)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _map_ids(uid: int, gid: int) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _stand_by(child: int) -> None:
    """Hold nothing open but wait, and end as the child ends."""
    os.closerange(0, 1 << 16)
    _, status = os.waitpid(child, 0)
    os._exit(0 if status == 0 else 1)


def _build_tree(root: str, readable: Iterable[str], scratch_bytes: int, uid: int, gid: int) -> None:
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", root, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,mode=0755")
    for item in shown(readable):
        _show(root, item)
    os.makedirs(root + "/dev", exist_ok=True)
    for name in _DEVICES:
        _bind_file(f"/dev/{name}", f"{root}/dev/{name}")
    for name, target in _LINKS:
        os.symlink(target, f"{root}/dev/{name}")
    os.makedirs(root + "/proc", exist_ok=True)
    quiet = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("proc", root + "/proc", "proc", quiet | kernel.MS_NOEXEC | kernel.MS_RDONLY)
    os.makedirs(root + SCRATCH)
    # Programs that insist on /tmp find their scratch directory there.
    with contextlib.suppress(FileExistsError):
        os.symlink(SCRATCH, root + "/tmp")  # noqa: S108  (a link inside the sandbox, to its scratch)
    kernel.seal_mounts(root)
    options = f"size={scratch_bytes},nr_inodes={_INODES},mode=0700,uid={uid},gid={gid}"
    kernel.mount("tmpfs", root + SCRATCH, "tmpfs", quiet, options)


class Shown(NamedTuple):
    """A host path as it is made visible inside, at the same place."""

    path: str
    link: str | None
    """Target, where it is shown as a symbolic link; None: its contents are shown, read-only."""
    folder: bool


def shown(readable: Iterable[str]) -> list[Shown]:
    """How host paths are made visible: links as links to what they mean, nothing twice, parents first.

    Paths that do not exist are left out.
    """
    found: dict[str, Shown] = {}
    for path in sorted(readable, key=len):
        _add(found, path)
    return sorted(found.values(), key=lambda item: (item.link is not None, len(item.path)))


def _add(found: dict[str, Shown], path: str) -> None:
    if any(path == seen.path or path.startswith(seen.path + "/") for seen in found.values()):
        return
    try:
        kind = os.lstat(path).st_mode
    except OSError:
        return
    real = os.path.realpath(path)
    if stat.S_ISLNK(kind) or real != path:  # itself a link, or below one
        _add(found, real)
        found[path] = Shown(path, os.readlink(path) if stat.S_ISLNK(kind) else real, False)
    elif stat.S_ISDIR(kind) or stat.S_ISREG(kind):
        found[path] = Shown(path, None, stat.S_ISDIR(kind))


def _show(root: str, item: Shown) -> None:
    place = root + item.path
    if item.link is not None:
        # What stands there already is a folder that was shown, and leads to the same.
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(item.link, place)
    elif item.folder:
        os.makedirs(place, exist_ok=True)
        kernel.mount(item.path, place, None, kernel.MS_BIND | kernel.MS_REC)
    else:
        _bind_file(item.path, place)


def _bind_file(path: str, place: str) -> None:
    if not os.path.exists(path):
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
    kernel.mount(path, place, None, kernel.MS_BIND)
