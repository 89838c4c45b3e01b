"""What can be read of another process from outside: its CPU clock, its faults, its state and tree."""

import contextlib
import os
import time
from typing import Final, NamedTuple

_CPUCLOCK_SCHED: Final = 2
"""include/linux/posix-timers.h: the clock of the scheduler, for a whole process."""
_TICK_NS: Final = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

# Fields of /proc/PID/stat counted after the closing parenthesis of the name (proc(5) counts from 3 there).
_STATE, _PARENT, _MINOR_FAULTS, _USER_TICKS, _SYSTEM_TICKS, _THREADS = 0, 1, 7, 11, 12, 17
_CHILD_USER_TICKS, _CHILD_SYSTEM_TICKS = 13, 14


class Stat(NamedTuple):
    """Part of /proc/PID/stat."""

    state: str
    parent: int
    minor_faults: int
    cpu_ns: int
    """User and system time with that of children already waited for, in ticks: coarse."""
    threads: int


def cpu_clock_ns(pid: int) -> int:
    """CPU time that a process has used, ns; works on zombies, needs no privilege."""
    return time.clock_gettime_ns((~pid << 3) | _CPUCLOCK_SCHED)


def parse_stat(text: bytes) -> Stat:
    """The fields of a stat line; the name in it may hold anything, also parentheses and newlines."""
    fields = text[text.rindex(b")") + 2 :].split()
    ticks = sum(
        int(fields[index]) for index in (_USER_TICKS, _SYSTEM_TICKS, _CHILD_USER_TICKS, _CHILD_SYSTEM_TICKS)
    )
    return Stat(
        fields[_STATE].decode(),
        int(fields[_PARENT]),
        int(fields[_MINOR_FAULTS]),
        ticks * _TICK_NS,
        int(fields[_THREADS]),
    )


def stat(pid: int) -> Stat | None:
    """A process's counters, or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return parse_stat(file.read(4096))
    except (OSError, ValueError):
        return None


class Resident(NamedTuple):
    """Resident memory of a process, bytes; the kernel counts it in steps of up to 128 KiB."""

    now: int
    of_files: int
    """Part of it that is pages of files, such as libraries."""
    high_water: int


def resident(pid: int) -> Resident | None:
    """A live process's resident memory, or None when it is gone."""
    fields = _status(pid)
    try:
        now, of_files, high = (_kilobytes(fields, name) for name in (b"VmRSS", b"RssFile", b"VmHWM"))
    except (KeyError, ValueError):
        return None
    return Resident(now, of_files, high)


def _status(pid: int) -> dict[bytes, bytes]:
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            lines = file.read(1 << 16).splitlines()
    except OSError:
        return {}
    return dict(line.split(b":", 1) for line in lines if b":" in line)


def _kilobytes(fields: dict[bytes, bytes], name: bytes) -> int:
    return int(fields[name].split()[0]) * 1024


def high_water_bytes(pid: int) -> int | None:
    """VmHWM: the most resident memory that a live process ever had; moves in steps of up to 128 KiB.

    None for what is gone and for a thread that does not lead its process.
    """
    try:
        return _kilobytes(_status(pid), b"VmHWM") if leads_process(pid) else None
    except (KeyError, ValueError):
        return None


def leads_process(task: int) -> bool:
    """Whether a task is a process, and not another thread of one."""
    return _status(task).get(b"Tgid", b"").strip() == b"%d" % task


def written_bytes(task: int) -> int:
    """Bytes that a task has handed to `write` so far; 0 where that cannot be read."""
    try:
        with open(f"/proc/{task}/task/{task}/io", "rb", buffering=0) as file:
            fields = dict(line.split(b": ") for line in file.read().splitlines())
        return int(fields[b"wchar"])
    except (OSError, KeyError, ValueError):
        return 0


def out_of_memory_kills() -> int | None:
    """How often the kernel has killed for want of memory, on the whole machine; None where it is not told."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat", "rb", buffering=0) as file:
        for line in file.read(1 << 16).splitlines():
            if line.startswith(b"oom_kill "):
                return int(line.split()[1])
    return None


def mapped_bytes(pid: int) -> int | None:
    """Address space that a process has mapped."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return None


def children(pid: int) -> list[int]:
    """Direct children of a process, over all its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one, itself left out."""
    found: list[int] = []
    waiting = children(pid)
    while waiting:
        child = waiting.pop()
        found.append(child)
        waiting += children(child)
    return found


def tasks_of(uid: int) -> int:
    """Processes and threads that a user has now, as RLIMIT_NPROC counts them."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == uid:
                counters = stat(int(name))
                total += counters.threads if counters else 0
    return total
