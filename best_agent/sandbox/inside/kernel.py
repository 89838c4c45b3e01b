"""What the kernel offers and Python's standard library does not, by ctypes; every call raises OSError."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Final

from best_agent.sandbox.inside import syscalls

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

# linux/prctl.h
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_KEEPCAPS: Final = 8
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_SET_THP_DISABLE: Final = 41
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_RAISE: Final = 2
SECCOMP_MODE_FILTER: Final = 2

_PRCTL_MEANS: Final = {
    PR_SET_SECCOMP: "system calls cannot be filtered",
    PR_SET_CHILD_SUBREAPER: "orphaned processes cannot be adopted",
    PR_SET_NO_NEW_PRIVS: "privileges cannot be given up",
    PR_SET_THP_DISABLE: "huge pages cannot be switched off",
}
"""What it means for a user when a call fails."""

# linux/ptrace.h
PTRACE_TRACEME: Final = 0
PTRACE_CONT: Final = 7
PTRACE_SETOPTIONS: Final = 0x4200
PTRACE_EVENT_EXIT: Final = 6
_PTRACE_O_TRACEFORK: Final = 1 << 1
_PTRACE_O_TRACEVFORK: Final = 1 << 2
_PTRACE_O_TRACECLONE: Final = 1 << 3
_PTRACE_O_TRACEEXEC: Final = 1 << 4
_PTRACE_O_TRACEEXIT: Final = 1 << 6
_PTRACE_O_EXITKILL: Final = 1 << 20
PTRACE_FOLLOW: Final = (
    _PTRACE_O_TRACEFORK
    | _PTRACE_O_TRACEVFORK
    | _PTRACE_O_TRACECLONE
    | _PTRACE_O_TRACEEXEC
    | _PTRACE_O_TRACEEXIT
    | _PTRACE_O_EXITKILL
)

# linux/capability.h
CAP_DAC_READ_SEARCH: Final = 2
CAP_LAST_SUPPORTED: Final = 63
_CAPABILITY_VERSION_3: Final = 0x20080522

# linux/sched.h
CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWTIME: Final = 0x00000080
CLONE_NAMESPACES: Final = (
    CLONE_NEWNS
    | CLONE_NEWUTS
    | CLONE_NEWIPC
    | CLONE_NEWUSER
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWCGROUP
    | CLONE_NEWTIME
)
CLONE_PARENT: Final = 0x00008000
CLONE_THREAD: Final = 0x00010000

# linux/mount.h
MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2
MOUNT_ATTR_RDONLY: Final = 1
MOUNT_ATTR_NOSUID: Final = 2
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(name: str, *arguments: object) -> int:
    """A system call by its name."""
    number = syscalls.number(name)
    if number is None:
        raise OSError(f"{name}: not a system call of this machine")
    return _checked(_LIBC.syscall(ctypes.c_long(number), *arguments), name)


def prctl(option: int, *values: int | ctypes.c_void_p) -> None:
    """`prctl` with unused arguments zero."""
    padded = (*values, *(0,) * (4 - len(values)))
    numbers = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in padded]
    _checked(_LIBC.prctl(option, *numbers), _PRCTL_MEANS.get(option, f"prctl {option}"))


def ptrace(request: int, pid: int, data: int) -> None:
    """Ask for something about a traced task that needs no address."""
    syscall("ptrace", ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_long(0), ctypes.c_long(data))


def unshare(flags: int) -> None:
    """Leave the namespaces in `flags` for new ones."""
    syscall("unshare", ctypes.c_ulong(flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Attach a file system, or a part of one, to the file tree."""
    try:
        syscall(
            "mount",
            ctypes.c_char_p(os.fsencode(source)),
            ctypes.c_char_p(os.fsencode(target)),
            ctypes.c_char_p(kind.encode() if kind else None),
            ctypes.c_ulong(flags),
            ctypes.c_char_p(options.encode() if options else None),
        )
    except OSError as error:
        raise OSError(error.errno, f"{source} cannot be mounted ({os.strerror(error.errno or 0)})") from error


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def seal_mounts(target: str) -> None:
    """Make a mount and everything mounted below it read-only, and set-uid programs powerless in it."""
    wanted = _MountAttributes(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall(
        "mount_setattr",
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(target)),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def pivot_into(new_root: str) -> None:
    """Make `new_root`, a mount point, the root of this mount namespace and drop the old one."""
    os.chdir(new_root)
    # The same folder for both: the old root ends stacked under the new one and is detached there.
    syscall("pivot_root", ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    syscall("umount2", ctypes.c_char_p(b"."), ctypes.c_int(MNT_DETACH))
    os.chdir("/")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def keep_capabilities(*kept: int) -> None:
    """Give up every capability but these (of the first 32), for this thread."""
    bits = sum(1 << capability for capability in kept)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)(_CapabilityData(bits, bits, bits), _CapabilityData(0, 0, 0))
    syscall("capset", ctypes.byref(header), ctypes.byref(data))


def drop_bounding_set() -> None:
    """Make sure that no program started from here can get a capability from its file."""
    for capability in range(CAP_LAST_SUPPORTED + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # past the kernel's last capability, or already without the right to have any


def become(uid: int, *kept: int) -> None:
    """Turn from root into an unprivileged user, keeping only the named capabilities, also over exec."""
    if kept:
        prctl(PR_SET_KEEPCAPS, 1)
    else:
        drop_bounding_set()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if kept:
        keep_capabilities(*kept)
        for capability in kept:
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


@contextlib.contextmanager
def real_user(uid: int | None) -> Iterator[None]:
    """Be this user by the real id, and still root by the effective one; None changes nothing.

    Limits of another process may be set by its own user, while root may lack the capability for it.
    """
    if uid is None:
        yield
        return
    os.setresgid(uid, 0, 0)
    os.setresuid(uid, 0, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


def close_all_above(last: int) -> None:
    """Close every descriptor after `last`."""
    syscall("close_range", ctypes.c_uint(last + 1), ctypes.c_uint(0xFFFFFFFF), ctypes.c_uint(0))
