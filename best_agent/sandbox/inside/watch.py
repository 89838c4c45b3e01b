"""Watching one run: the handshake, the clocks, the pipes and the limits."""

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from best_agent.sandbox.inside import life, meters

Stop = Literal["cpu", "wall", "output", "answer", "protocol", "scratch", "memory", "hung-up"]
_NS_PER_MS: Final = 1_000_000
_SETTLE_READS: Final = 64
_CHUNK: Final = 1 << 16
_COUNTING_SHARE: Final = 5
"""Times as long as a count took that nothing is counted after it."""
_POLL_AT_MOST_MS: Final = 60_000


@dataclass(slots=True)
class Sink:
    """One pipe from the target, read to a bound."""

    fd: int
    bound: int
    stop: Stop | None
    """What passing the bound ends the run with; None: the rest is read and thrown away."""
    data: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def pump(self) -> bool:
        """Read what is there; False at the end of the pipe."""
        try:
            part = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        room = self.bound - len(self.data)
        self.cut = self.cut or len(part) > room
        self.data += part[:room]
        return bool(part)


@dataclass(slots=True)
class Step:
    """The target's counters at one byte of the handshake, while it was blocked."""

    cpu_ns: int
    minor_faults: int
    wall_ns: int
    """When its byte arrived."""
    resident: meters.Resident | None = None
    """At the two ends of the measured call, where that was asked for."""
    resumed_ns: int = 0
    """When it was let go on."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a run is expected to do and allowed to take."""

    expected: bytes
    """Bytes of the handshake, in order."""
    cpu_ns: int
    wall_ns: int
    feed: int | None = None
    """Descriptor that goes along with the first byte that lets the target go on."""
    tree: bool = False
    """Count the CPU time of descendants too."""
    at_ready: Callable[[int], None] | None = None
    """Called with the process id when the target is ready for the measured call."""
    resident: bool = False
    """Read resident memory at the two ends of the measured call."""
    usage: Callable[[life.Life], Stop | None] | None = None
    """Looks at what only counting can bound; the limit that was passed, or None."""
    tick_ms: int = _POLL_AT_MOST_MS
    """How often to look at `usage`."""


class Watch:
    """One target from its start to its end."""

    def __init__(
        self,
        target: life.Life,
        plan: Plan,
        sinks: dict[str, Sink],
        event: int | None,
        go: socket.socket | None,
        harness: int,
    ) -> None:
        self.pid = target.pid
        self.target = target
        self.plan = plan
        self.sinks = sinks
        self.steps: list[Step] = []
        self.stopped: Stop | None = None
        self.ended_ns = 0
        self._count_at_ns = 0
        self._kills_before = meters.out_of_memory_kills()
        self._event = event
        self._go = go
        self._harness = harness
        self._poll = select.poll()
        self._open = {sink.fd: sink for sink in sinks.values()}

    def run(self) -> None:
        """Until the target has ended, by itself or by a limit."""
        for fd in (self.target.fd, *self._open):
            self._poll.register(fd, select.POLLIN)
        if self._event is not None:
            self._poll.register(self._event, select.POLLIN)
        self._poll.register(self._harness, 0)  # only its hanging up
        while not self._look():
            self._enforce()
        self.ended_ns = time.monotonic_ns()

    def memory_ran_out(self) -> bool | None:
        """Whether the kernel has killed for want of memory meanwhile, whomever; None where it is not told."""
        now = meters.out_of_memory_kills()
        return None if now is None or self._kills_before is None else now > self._kills_before

    def drain(self) -> None:
        """Read what is left in the pipes, after everything that could write to them is dead."""
        for sink in self.sinks.values():
            os.set_blocking(sink.fd, False)
            with contextlib.suppress(OSError):
                while sink.pump() and (not sink.cut or sink.stop is None):
                    if not select.select([sink.fd], [], [], 0)[0]:
                        break
        over = [sink.stop for sink in self.sinks.values() if sink.cut and sink.stop]
        if over and self.stopped is None:
            self.stopped = over[0]

    def stop(self, why: Stop) -> None:
        """Kill the target, for the first reason given."""
        if self.stopped is None:
            self.stopped = why
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _look(self) -> bool:
        """Handle what has happened; True when the target has ended."""
        ended = False
        for fd, mask in self._poll.poll(self._patience_ms()):
            if fd == self.target.fd:
                ended = self.target.ended()
            elif fd == self._harness:
                self.stop("hung-up")
                self._poll.unregister(fd)
            elif fd == self._event:
                self._meet(fd)
            else:
                self._pump(fd, mask)
        return ended

    def _pump(self, fd: int, mask: int) -> None:
        sink = self._open[fd]
        if not sink.pump() or mask & select.POLLNVAL:
            self._poll.unregister(fd)
        if sink.cut and sink.stop is not None:
            self.stop(sink.stop)

    def _meet(self, event: int) -> None:
        arrived = time.monotonic_ns()
        data = os.read(event, 16)
        if not data:
            self._poll.unregister(event)
            return
        position = len(self.steps)
        if data != self.plan.expected[position : position + 1]:
            self.stop("protocol")
            return
        counters = self._settled()
        if counters is None:
            return
        step = Step(meters.cpu_clock_ns(self.pid), counters.minor_faults, arrived)
        self.steps.append(step)
        if self.plan.resident and position >= len(self.plan.expected) - 2:
            step.resident = meters.resident(self.pid)
        if self.plan.at_ready is not None and position == len(self.plan.expected) - 2:
            self.plan.at_ready(self.pid)
        self._release(position, step)

    def _settled(self) -> meters.Stat | None:
        """Counters once the target sleeps: its byte arrives a moment before it blocks on the answer."""
        counters = meters.stat(self.pid)
        for _ in range(_SETTLE_READS):
            if counters is None or counters.state != "R":
                break
            counters = meters.stat(self.pid)
        return counters

    def _release(self, position: int, step: Step) -> None:
        if self._go is None:
            return
        step.resumed_ns = time.monotonic_ns()
        with contextlib.suppress(OSError):
            if position == 0 and self.plan.feed is not None:
                socket.send_fds(self._go, [b"G"], [self.plan.feed])
            else:
                self._go.send(b"G", socket.MSG_DONTWAIT)

    def _used_cpu_ns(self) -> int:
        used = 0
        with contextlib.suppress(OSError):
            used = meters.cpu_clock_ns(self.pid) - self.target.start.cpu_ns
        if self.plan.tree:
            for pid in meters.descendants(self.pid):
                counters = meters.stat(pid)
                used += counters.cpu_ns if counters else 0
        return used

    def _patience_ms(self) -> int:
        """Until a limit can be passed at the earliest: a pinned target uses no more CPU than wall."""
        if self.stopped is not None:
            return _POLL_AT_MOST_MS
        wall_left = self.target.start.wall_ns + self.plan.wall_ns - time.monotonic_ns()
        cpu_left = self.plan.cpu_ns - self._used_cpu_ns()
        left_ms = max(0, min(wall_left, cpu_left)) // _NS_PER_MS + 1
        return min(left_ms, self.plan.tick_ms)

    def _enforce(self) -> None:
        if self.stopped is not None:
            return
        if time.monotonic_ns() - self.target.start.wall_ns > self.plan.wall_ns:
            self.stop("wall")
        elif self._used_cpu_ns() > self.plan.cpu_ns:
            self.stop("cpu")
        elif self.plan.usage is not None:
            self._count(self.plan.usage)

    def _count(self, usage: Callable[[life.Life], Stop | None]) -> None:
        """Look at what only counting can bound, for a small share of the time."""
        began = time.monotonic_ns()
        if began < self._count_at_ns:
            return
        passed = usage(self.target)
        ended = time.monotonic_ns()
        self._count_at_ns = ended + _COUNTING_SHARE * (ended - began)
        if passed is not None:
            self.stop(passed)
