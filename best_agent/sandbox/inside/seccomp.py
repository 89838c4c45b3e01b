"""The system call filter of a target, written as a classic BPF program.

What it refuses falls in four groups: reaching other processes, changing the machine, memory that the
meters cannot see (memfd, huge pages, shared segments), and leaving the core the target is pinned to.
"""

import ctypes
import errno
import os
from typing import Final, NamedTuple

from best_agent.sandbox.inside import kernel, syscalls

# linux/bpf_common.h
_LOAD_WORD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_ABOVE: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_SET: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

# linux/seccomp.h: offsets into struct seccomp_data (little-endian: an argument's low word comes first)
_OFFSET_NUMBER: Final = 0
_OFFSET_ARCH: Final = 4
_OFFSET_ARGUMENTS: Final = 16
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERRNO: Final = 0x00050000

REFUSED: Final = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"),
    *("pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "process_mrelease"),
    *("setpriority", "ioprio_set"),
    # namespaces, mounts, handles that go around path rules
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at"),
    # the machine
    *("bpf", "perf_event_open", "kexec_load", "kexec_file_load", "init_module", "finit_module"),
    *("delete_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday"),
    *("clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "syslog", "vhangup"),
    *("personality", "ioperm", "iopl", "modify_ldt", "fanotify_init", "fanotify_mark"),
    # large and little-tested parts of the kernel
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd"),
    *("keyctl", "add_key", "request_key"),
    # the network, and shared memory that outlives its process or is not counted
    *("socket", "memfd_create", "memfd_secret", "io_setup"),
    *("shmget", "shmat", "shmctl", "msgget", "msgctl", "msgsnd", "msgrcv"),
    *("semget", "semctl", "semop", "semtimedop", "mq_open", "mq_unlink"),
    # the core the target is measured on
    *("sched_setaffinity", "sched_setscheduler", "sched_setattr", "sched_setparam"),
    *("migrate_pages", "move_pages"),
)
REFUSED_ON_SHARED_FILES: Final = (
    # Landlock does not rule over attributes, and old versions of it not over truncation.
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr", "truncate"),
)
"""Refused as well where the target works in the host's own file tree."""
_FORKS: Final = ("fork", "vfork")
_EXECS: Final = ("execve", "execveat")

_MAP_HUGETLB: Final = 0x40000
_MADV_COLLAPSE: Final = 25
_O_TMPFILE_MARK: Final = 0o20000000
_F_SETOWN: Final = 8
_F_SETSIG: Final = 10
_F_SETOWN_EX: Final = 15
_F_SETPIPE_SZ: Final = 1031
_O_TRUNC: Final = 0o1000
_O_ACCMODE: Final = 0o3
_FIOSETOWN: Final = 0x8901
_SIOCSPGRP: Final = 0x8902
_TIOCSTI: Final = 0x5412
_TIOCLINUX: Final = 0x541C


class Instruction(NamedTuple):
    """struct sock_filter."""

    code: int
    jump_true: int
    jump_false: int
    value: int


class _SockFilter(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint32),
    )


class _SockFprog(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_SockFilter)))


def _fails(code: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, _ERRNO | code)


def _refuse(name: str, code: int = errno.EPERM) -> list[Instruction]:
    number = syscalls.number(name)
    if number is None:
        return []
    return [Instruction(_JUMP_EQUAL, 0, 1, number), _fails(code)]


def _on_argument(name: str, position: int, tests: list[Instruction]) -> list[Instruction]:
    """`tests` on an argument's low word; each falls through to the next where it does not decide."""
    number = syscalls.number(name)
    if number is None:
        return []
    body = [
        Instruction(_LOAD_WORD, 0, 0, _OFFSET_ARGUMENTS + 8 * position),
        *tests,
        Instruction(_RETURN, 0, 0, _ALLOW),
    ]
    return [Instruction(_JUMP_EQUAL, 0, len(body), number), *body]


def _fail_if_equal(*values: int) -> list[Instruction]:
    return [step for value in values for step in (Instruction(_JUMP_EQUAL, 0, 1, value), _fails(errno.EPERM))]


def _fail_if_set(bits: int, code: int = errno.EPERM) -> list[Instruction]:
    return [Instruction(_JUMP_SET, 0, 1, bits), _fails(code)]


def _fail_if_not(value: int) -> list[Instruction]:
    return [Instruction(_JUMP_EQUAL, 1, 0, value), _fails(errno.EPERM)]


def _fail_if_none_of(first: int, second: int) -> list[Instruction]:
    return [
        Instruction(_JUMP_EQUAL, 2, 0, first),
        Instruction(_JUMP_EQUAL, 1, 0, second),
        _fails(errno.EPERM),
    ]


def _head(here: syscalls.Architecture) -> list[Instruction]:
    steps = [
        Instruction(_LOAD_WORD, 0, 0, _OFFSET_ARCH),
        Instruction(_JUMP_EQUAL, 1, 0, here.audit_arch),
        Instruction(_RETURN, 0, 0, _KILL),
        Instruction(_LOAD_WORD, 0, 0, _OFFSET_NUMBER),
    ]
    if here.x32_bit is not None:
        steps += [Instruction(_JUMP_ABOVE, 0, 1, here.x32_bit), Instruction(_RETURN, 0, 0, _KILL)]
    return steps


def _always() -> list[Instruction]:
    """Refusals of some arguments of calls that are allowed otherwise."""
    opening = [
        *_fail_if_set(_O_TMPFILE_MARK, errno.EOPNOTSUPP),  # a file that no walk of the folder finds
        # Truncation by an opening for reading only: old versions of Landlock take it for reading.
        Instruction(_JUMP_SET, 0, 2, _O_TRUNC),
        Instruction(_JUMP_SET, 1, 0, _O_ACCMODE),
        _fails(errno.EPERM),
    ]
    # Have the kernel send signals for us; keep data in pipes, where no meter looks.
    control = _fail_if_equal(_F_SETOWN, _F_SETOWN_EX, _F_SETSIG, _F_SETPIPE_SZ)
    return [
        *_refuse("clone3", errno.ENOSYS),  # its flags lie in memory; libraries fall back to clone
        *_refuse("openat2", errno.ENOSYS),
        *_on_argument(
            "prctl",
            0,
            _fail_if_equal(kernel.PR_SET_THP_DISABLE, kernel.PR_SET_PDEATHSIG, kernel.PR_SET_CHILD_SUBREAPER),
        ),
        *_on_argument("mmap", 3, _fail_if_set(_MAP_HUGETLB)),
        *_on_argument("madvise", 2, _fail_if_equal(_MADV_COLLAPSE)),
        *_on_argument("open", 1, opening),
        *_on_argument("openat", 2, opening),
        *_on_argument("fcntl", 1, control),
        *_on_argument("ioctl", 1, _fail_if_equal(_FIOSETOWN, _SIOCSPGRP, _TIOCSTI, _TIOCLINUX)),
    ]


def _processes(one_process: bool, may_exec: bool, signals_to: int | None) -> list[Instruction]:
    steps: list[Instruction] = []
    if one_process:
        for name in _FORKS:
            steps += _refuse(name)
        thread = [Instruction(_JUMP_SET, 1, 0, kernel.CLONE_THREAD), _fails(errno.EPERM)]
        steps += _on_argument("clone", 0, [*thread, *_fail_if_set(kernel.CLONE_NAMESPACES)])
    else:
        steps += _on_argument("clone", 0, _fail_if_set(kernel.CLONE_NAMESPACES))
    if not may_exec:
        for name in _EXECS:
            steps += _refuse(name)
    if signals_to is not None:
        steps += _refuse("tkill")
        for name in ("kill", "tgkill"):
            steps += _on_argument(name, 0, _fail_if_not(signals_to))
    return steps


def program(
    *, one_process: bool, may_exec: bool, signals_to: int | None, shared_files: bool, own_pid: int
) -> tuple[Instruction, ...]:
    """The filter of a target.

    Args:
        one_process: threads are allowed, processes are not.
        may_exec: another program may be started in place of this one.
        signals_to: the only process it may signal, itself; None leaves that to Landlock.
        shared_files: it works in the host's own file tree.
        own_pid: its process id, for limits that it may set for itself.

    Raises:
        OSError: the machine is not known.
    """
    here = syscalls.architecture()
    if here is None:
        raise OSError(f"no system call filter for {os.uname().machine}")
    steps = _head(here)
    for name in (*REFUSED, *(REFUSED_ON_SHARED_FILES if shared_files else ())):
        steps += _refuse(name)
    steps += _on_argument("prlimit64", 0, _fail_if_none_of(0, own_pid))
    steps += _always()
    steps += _processes(one_process, may_exec, signals_to)
    return (*steps, Instruction(_RETURN, 0, 0, _ALLOW))


def install(steps: tuple[Instruction, ...]) -> None:
    """Put this thread and all it starts under the filter, for good. Needs no_new_privs."""
    table = (_SockFilter * len(steps))(*(_SockFilter(*step) for step in steps))
    whole = _SockFprog(len(steps), table)
    address = ctypes.c_void_p(ctypes.addressof(whole))
    kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, address)
