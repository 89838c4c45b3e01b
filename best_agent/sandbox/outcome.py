"""From what the supervisor saw to a `Run`: pure, so that every rule can be tried by itself."""

import mmap
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from best_agent.model.run import Isolation, Limits, Meter, Phase, Run, Status
from best_agent.model.task import Mode
from best_agent.units import format_bytes, format_ns, printable

EXIT_UNENCODABLE: Final = 3
BASELINE_AT_MOST: Final = 64 << 10
"""Bytes of faults that an empty call is believed to cost; what is above was put there on purpose."""
IDLE_NS_AT_MOST: Final = 1_000_000
"""Time that an empty call is believed to cost."""
_DETAIL_CHARACTERS: Final = 300
_PEAK_DIGITS: Final = 15
_OUT_OF_MEMORY: Final = re.compile(
    r"^(MemoryError\b|.*\bstd::bad_alloc\b|.*\bout of memory\b)", re.IGNORECASE
)
_RUNTIME_OUT_OF_MEMORY: Final = re.compile(
    r'^(Exception in thread ".*" java\.lang\.OutOfMemoryError\b.*|FATAL ERROR: .*\bheap out of memory\b.*'
    r"|fatal error: .*\b(?:out of|cannot allocate) memory\b.*|memory allocation of \d+ bytes failed\b.*)",
    re.MULTILINE,
)
"""What Java, node, Go and Rust say before they go on with where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What the supervisor saw of one run."""

    steps: tuple[tuple[int, int, int, int], ...]
    """(CPU ns, minor faults, wall ns on arrival, wall ns when let go on) at each handshake byte."""
    expected: int
    """Handshake bytes of a whole run."""
    stopped: str | None
    exit_code: int | None
    signal: int | None
    cpu_ns: int
    minor_faults: int
    wall_ns: int
    peak_bytes: int | None
    resident: tuple[tuple[int, int, int], ...]
    """(now, of files, high water), bytes, at the two ends of the measured call; may be missing."""
    trouble: str
    memory_ran_out: bool | None
    """Whether the system killed for want of memory while it ran; None where that is not known."""
    cut: tuple[str, ...]
    answer: bytes
    stdout: bytes
    stderr: bytes
    collected: Mapping[str, bytes]


def sight(header: Mapping[str, Any], blobs: Sequence[bytes]) -> Sight:
    """The supervisor's message as values.

    Raises:
        KeyError, TypeError, ValueError: it is not one.
    """
    answer, stdout, stderr, *collected = blobs
    return Sight(
        steps=tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in header["steps"]),
        expected=int(header["expected"]),
        stopped=header["stopped"],
        exit_code=header["exit_code"],
        signal=header["signal"],
        cpu_ns=int(header["cpu_ns"]),
        minor_faults=int(header["minor_faults"]),
        wall_ns=int(header["wall_ns"]),
        peak_bytes=header["peak_bytes"],
        resident=tuple((int(a), int(b), int(c)) for a, b, c in header["resident"]),
        trouble=header["trouble"],
        memory_ran_out=header["memory_ran_out"],
        cut=tuple(header["cut"]),
        answer=answer,
        stdout=stdout,
        stderr=stderr,
        collected=dict(zip(header["collected"], collected, strict=True)),
    )


def _last_line(text: bytes) -> str:
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    return printable(lines[-1][:_DETAIL_CHARACTERS])[:_DETAIL_CHARACTERS] if lines else ""


def _out_of_memory(stderr: bytes) -> str | None:
    """The line that says so, in the program's or its runtime's own words."""
    last = _last_line(stderr)
    if _OUT_OF_MEMORY.match(last):
        return last
    said = _RUNTIME_OUT_OF_MEMORY.search(stderr.decode("utf-8", "replace"))
    return printable(said[0])[:_DETAIL_CHARACTERS] if said else None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stopped(seen: Sight, limits: Limits) -> tuple[Status, str] | None:
    texts = {
        "cpu": (Status.TIME_LIMIT, f"used more than {format_ns(limits.cpu_ns)} of CPU time"),
        "wall": (Status.TIME_LIMIT, f"ran longer than {format_ns(limits.wall_ns)} (wall time)"),
        "output": (Status.OUTPUT_LIMIT, f"printed more than {format_bytes(limits.output_bytes)}"),
        "answer": (Status.OUTPUT_LIMIT, f"its answer is larger than {format_bytes(limits.output_bytes)}"),
        "scratch": (Status.OUTPUT_LIMIT, f"wrote more than {format_bytes(limits.scratch_bytes)} of files"),
        "memory": (
            Status.MEMORY_LIMIT,
            f"its processes together used more than {format_bytes(limits.memory_bytes)}",
        ),
        "protocol": (Status.NO_RESULT, "broke the order of the measured call"),
    }
    return texts.get(seen.stopped or "")


def _killed(seen: Sight, limits: Limits) -> tuple[Status, str]:
    """A SIGKILL that is not ours. A program can send it to itself, so that by itself it says nothing."""
    if seen.cpu_ns > limits.cpu_ns:  # the kernel's own bound came before ours
        return Status.TIME_LIMIT, "used up its CPU time"
    if seen.memory_ran_out:
        return Status.MEMORY_LIMIT, "killed while the system was out of memory"
    if seen.memory_ran_out is None:
        return Status.RUNTIME_ERROR, "died of SIGKILL: sent by itself, or by a system out of memory"
    return Status.RUNTIME_ERROR, "died of SIGKILL; no limit was passed and the system had memory left"


def _died(seen: Sight, limits: Limits) -> tuple[Status, str]:
    number = seen.signal or 0
    name = _signal_name(number)
    last = _last_line(seen.stderr)
    if number == signal.SIGSYS:
        return Status.FORBIDDEN, "made a system call that is not allowed"
    if number == signal.SIGXCPU:
        return Status.TIME_LIMIT, "used up its CPU time"
    if number == signal.SIGXFSZ:
        return Status.OUTPUT_LIMIT, "wrote a file larger than allowed"
    if number == signal.SIGKILL:
        return _killed(seen, limits)
    memory = _out_of_memory(seen.stderr)
    if memory is not None:
        return Status.MEMORY_LIMIT, memory
    if number == signal.SIGSEGV:
        return Status.RUNTIME_ERROR, "SIGSEGV: touched memory it does not have, or recursed too deep"
    return Status.RUNTIME_ERROR, f"{name}: {last}" if last else f"died of {name}"


def _failed(seen: Sight, limits: Limits) -> tuple[Status, str] | None:
    """How a run failed, or None when it ended well by itself."""
    if seen.signal is not None:
        return _died(seen, limits)
    if seen.trouble:
        return Status.RUNTIME_ERROR, f"cannot be started: {seen.trouble.partition(':')[2].strip()}"
    last = _last_line(seen.stderr)
    if seen.exit_code == EXIT_UNENCODABLE and seen.expected and len(seen.steps) == seen.expected:
        return Status.OUTPUT_LIMIT, "its answer is nested too deep"
    if seen.exit_code:
        memory = _out_of_memory(seen.stderr)
        if memory is not None:
            return Status.MEMORY_LIMIT, memory
        return Status.RUNTIME_ERROR, last or f"ended with exit code {seen.exit_code}"
    if len(seen.steps) < seen.expected:
        return Status.NO_RESULT, "ended before the measured call was over"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The three phases of a run with a measured call."""

    load: Phase
    region: Phase
    write_out: Phase
    wall_ns: int
    baseline_capped: bool


def phases(seen: Sight) -> Phases | None:
    """Costs of load, region and write-out, the empty call's subtracted; None without a measured call."""
    if len(seen.steps) < max(2, seen.expected):
        return None
    ready, done = seen.steps[-2], seen.steps[-1]
    cpu_ns, faults, wall_ns = done[0] - ready[0], done[1] - ready[1], done[2] - ready[3]
    capped = False
    if len(seen.steps) >= 4:  # two rounds, the first one empty
        idle_ready, idle_done = seen.steps[-4], seen.steps[-3]
        idle_faults = idle_done[1] - idle_ready[1]
        most = BASELINE_AT_MOST // mmap.PAGESIZE
        capped = idle_faults > most
        cpu_ns -= min(idle_done[0] - idle_ready[0], IDLE_NS_AT_MOST)
        faults -= min(idle_faults, most)
        wall_ns -= min(idle_done[2] - idle_ready[3], IDLE_NS_AT_MOST)
    return Phases(
        load=Phase(cpu_ns=ready[0], minor_faults=ready[1]),
        region=Phase(cpu_ns=max(0, cpu_ns), minor_faults=max(0, faults)),
        write_out=Phase(
            cpu_ns=max(0, seen.cpu_ns - done[0]), minor_faults=max(0, seen.minor_faults - done[1])
        ),
        wall_ns=max(0, wall_ns),
        baseline_capped=capped,
    )


def _traced_answer(answer: bytes) -> tuple[int | None, bytes]:
    """The peak that a traced run puts on a line before its answer; its own word, like the answer."""
    head, newline, rest = answer.partition(b"\n")
    if not newline or not head.isdigit() or len(head) > _PEAK_DIGITS:
        return None, answer
    return int(head), rest


def run_of(
    seen: Sight,
    *,
    mode: Mode,
    python: bool,
    limits: Limits,
    traced: bool,
    isolation: Isolation,
    flags: tuple[str, ...] = (),
) -> Run:
    """The run as everybody else reads it."""
    failure = _stopped(seen, limits) or _failed(seen, limits)
    costs = phases(seen)
    peak_bytes, answer = None, seen.answer if mode is Mode.FUNCTION else seen.stdout
    if traced and python:
        peak_bytes, answer = _traced_answer(answer)
    if failure is None and mode is Mode.FUNCTION and not answer:
        failure = Status.NO_RESULT, "ended without an answer"
    if failure is None and traced and python and peak_bytes is None:
        failure = Status.NO_RESULT, "its answer came without the measured peak"
    status, detail = failure or (Status.OK, "")
    faults_bytes = costs.region.minor_faults * mmap.PAGESIZE if costs else None
    meter = Meter.EXACT
    if costs is None:
        peak_bytes, meter = seen.peak_bytes, Meter.ESTIMATED
    elif not python:
        peak_bytes = faults_bytes
    return Run(
        status=status,
        detail=detail,
        exit_code=seen.exit_code,
        signal=seen.signal,
        cpu_ns=costs.region.cpu_ns if costs else seen.cpu_ns,
        wall_ns=costs.wall_ns if costs else seen.wall_ns,
        peak_bytes=peak_bytes,
        memory_meter=meter if peak_bytes is not None else Meter.UNAVAILABLE,
        faults_bytes=faults_bytes,
        load=costs.load if costs else None,
        region=costs.region if costs else None,
        write_out=costs.write_out if costs else None,
        answer=answer if status is Status.OK else None,
        stdout=seen.stdout,
        stderr=seen.stderr,
        collected=seen.collected,
        flags=(*flags, *_flags(seen, costs, tracing=traced and python)),
        isolation=isolation,
    )


def _flags(seen: Sight, costs: Phases | None, *, tracing: bool) -> tuple[str, ...]:
    flags = []
    # Tracing grows tables of its own in the empty call too.
    if costs is not None and costs.baseline_capped and not tracing:
        flags.append("suspect")
    if seen.cut:
        flags.append("output-truncated")
    return tuple(flags)
