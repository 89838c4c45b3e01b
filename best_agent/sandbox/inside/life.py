"""Following a target to its end: by a descriptor of its process, or, for a whole tree, by ptrace.

ptrace is there for the meters, not for policy: the stop at exec says where the program itself begins, and
the stop before exit is the last moment at which the kernel still knows a process's high-water mark. The
maximum resident size that `wait4` reports is no substitute: it is inherited through exec.
"""

import contextlib
import os
import resource
import signal
import time
from typing import Final, NamedTuple, Protocol

from best_agent.sandbox.inside import kernel, meters

_WAIT_FOR_ALL: Final = 0x40000000
"""__WALL of linux/wait.h: also for children that were made by clone."""
_EVENT_SHIFT: Final = 16


class End(NamedTuple):
    """How a target ended and what its process used."""

    status: int
    usage: resource.struct_rusage


class Start(NamedTuple):
    """Counters and time at the moment from which a program's costs count."""

    cpu_ns: int
    minor_faults: int
    wall_ns: int


class Life(Protocol):
    """What `watch` needs to know of the target's process."""

    pid: int
    start: Start
    peak_bytes: int | None

    @property
    def fd(self) -> int:
        """Readable when something may have happened."""
        ...

    def ended(self) -> bool:
        """Take note of what has happened; whether the target has ended."""
        ...

    def finish(self) -> End:
        """Kill it if it lives, and wait."""
        ...

    def close(self) -> None:
        """Let go of descriptors."""
        ...


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Single:
    """One process that cannot fork; nothing is added to what it does."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.start = Start(0, 0, time.monotonic_ns())
        self.peak_bytes: int | None = None
        self.fd = os.pidfd_open(pid)

    def ended(self) -> bool:
        """A process descriptor is readable only when its process has ended."""
        return True

    def finish(self) -> End:
        """Kill it if it lives, and wait."""
        _kill(self.pid)
        _, status, usage = os.wait4(self.pid, 0)
        return End(status, usage)

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self.fd)


class Tree:
    """A program and all that it starts, traced from its exec on."""

    def __init__(self, pid: int, wake: "WakeUp") -> None:
        self.pid = pid
        self.start = Start(0, 0, time.monotonic_ns())
        self.peak_bytes: int | None = None
        self.fd = wake.fd
        self.orphans_cpu_s = 0.0
        self._wake = wake
        self._tasks = {pid}
        self._written = 0
        self._traced = False
        self._end: End | None = None

    def ended(self) -> bool:
        """Let stopped tasks go on, note the end of others."""
        self._wake.clear()
        while self._end is None:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG | _WAIT_FOR_ALL)
            except ChildProcessError:
                break
            if pid == 0:
                break
            self._note(pid, status, usage)
        return self._end is not None

    def finish(self) -> End:
        """Kill it if it lives, and wait."""
        if self._end is None:
            _kill(self.pid)
        while self._end is None:
            self._note(*os.wait4(-1, _WAIT_FOR_ALL))
        return self._end

    def sweep(self, everybody: bool) -> None:
        """Kill and await every process that the program left.

        Args:
            everybody: this process is the first of a pid namespace; all others in it are the program's.
        """
        while True:
            for pid in (-1,) if everybody else tuple(meters.descendants(os.getpid())):
                _kill(pid)
            try:
                self._note(*os.wait4(-1, _WAIT_FOR_ALL))
            except ChildProcessError:
                return

    def resident_bytes(self, *, alone: bool) -> int:
        """What the tree holds now.

        Args:
            alone: count one process alone too; else its address space bounds it already, and it holds 0.
        """
        if len(self._tasks) == 1 and not alone:
            return 0
        found = (meters.resident(task) for task in self._tasks if meters.leads_process(task))
        return sum(held.now for held in found if held is not None)

    def written_bytes(self) -> int:
        """What passed through `write` in all tasks of the tree so far."""
        return self._written + sum(meters.written_bytes(task) for task in self._tasks)

    def close(self) -> None:
        """Nothing to do: the descriptor belongs to the session."""

    def _note(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        if os.WIFSTOPPED(status):
            self._resume(pid, os.WSTOPSIG(status), status >> _EVENT_SHIFT)
            return
        self._tasks.discard(pid)
        if pid == self.pid:
            self._end = End(status, usage)
        elif self._end is not None:
            self.orphans_cpu_s += usage.ru_utime + usage.ru_stime

    def _resume(self, pid: int, number: int, event: int) -> None:
        deliver = 0
        if pid == self.pid and not self._traced:
            self._begin(number)
        elif event == kernel.PTRACE_EVENT_EXIT:
            self._remember_peak()
            self._written += meters.written_bytes(pid)
        elif pid not in self._tasks:
            self._tasks.add(pid)  # a new task, stopped before it runs
        elif event == 0:
            deliver = number
        with contextlib.suppress(OSError):  # it was killed meanwhile
            kernel.ptrace(kernel.PTRACE_CONT, pid, deliver)

    def _begin(self, number: int) -> None:
        """The stop at exec: from here on the time and the memory are the program's own."""
        if number != signal.SIGTRAP:
            return
        self._traced = True
        with contextlib.suppress(OSError):
            kernel.ptrace(kernel.PTRACE_SETOPTIONS, self.pid, kernel.PTRACE_FOLLOW)
            counters = meters.stat(self.pid)
            self.start = Start(
                meters.cpu_clock_ns(self.pid), counters.minor_faults if counters else 0, time.monotonic_ns()
            )

    def _remember_peak(self) -> None:
        marks = [meters.high_water_bytes(task) for task in self._tasks]
        total = sum(mark for mark in marks if mark is not None)
        self.peak_bytes = max(self.peak_bytes or 0, total)


class WakeUp:
    """A descriptor that becomes readable when a child of this process changes state."""

    def __init__(self) -> None:
        self.fd, self._write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def clear(self) -> None:
        """Take note; later changes make it readable again."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.fd, 4096):
                pass
