"""What came of running a program once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """What became of a program; the words of the field's judges."""

    OK = "ok"
    WRONG_ANSWER = "wrong-answer"
    RUNTIME_ERROR = "runtime-error"
    TIME_LIMIT = "time-limit"
    MEMORY_LIMIT = "memory-limit"
    OUTPUT_LIMIT = "output-limit"
    COMPILE_ERROR = "compile-error"
    NO_RESULT = "no-result"
    FORBIDDEN = "forbidden"
    INTERNAL_ERROR = "internal-error"
    """Harness trouble. Never scored, never a candidate's failure."""


class Isolation(StrEnum):
    """Who may be harmed by the program."""

    STRICT = "strict"
    """Namespaces, Landlock and seccomp (or bubblewrap brought to the same)."""
    RESTRICTED = "restricted"
    """Landlock, seccomp and a subreaper, without namespaces."""
    NONE = "none"


class Meter(StrEnum):
    """How far a figure can be trusted."""

    EXACT = "exact"
    ESTIMATED = "estimated"
    UNAVAILABLE = "unavailable"

    @staticmethod
    def worst(meters: "Iterable[Meter]") -> "Meter":
        """The one that can be trusted least; unavailable where there is none."""
        return min(meters, key=_WORST_FIRST.index, default=Meter.UNAVAILABLE)


_WORST_FIRST = (Meter.UNAVAILABLE, Meter.ESTIMATED, Meter.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard bounds of one run, enforced by the sandbox. They are not a task's cell limits."""

    cpu_ns: int = 10_000_000_000
    wall_ns: int = 30_000_000_000
    memory_bytes: int = 1 << 30
    """Address space that the program may take beyond what its runtime has mapped."""
    output_bytes: int = 16 << 20
    """Bound for the answer; standard output has the same."""
    stderr_bytes: int = 64 << 10
    processes: int = 64
    """Processes and threads, in program mode. Function mode allows one process."""
    scratch_bytes: int = 64 << 20
    """Bytes the program may write to its scratch directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Cost of one phase of a run, read from outside while the target was blocked."""

    cpu_ns: int
    minor_faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a program on one input, as the supervisor saw it.

    In function and driver mode `cpu_ns`, `wall_ns` and `peak_bytes` are of the measured call; in
    program mode they are of the whole process tree.
    """

    status: Status
    """OK says that the program ran to its end and answered; whether the answer is right is judged
    elsewhere."""
    detail: str = ""
    """One line for people: the exception, the signal, the limit that was passed."""
    exit_code: int | None = None
    signal: int | None = None
    cpu_ns: int | None = None
    wall_ns: int | None = None
    peak_bytes: int | None = None
    """Peak memory of the measured call beyond what was there before it; None: see `memory_meter`."""
    memory_meter: Meter = Meter.UNAVAILABLE
    faults_bytes: int | None = None
    """Memory by minor faults seen from outside, as cross-check of a peak read inside."""
    load: Phase | None = None
    """Before the call: start, loading code, reading the input."""
    region: Phase | None = None
    """The measured call."""
    write_out: Phase | None = None
    """After the call: encoding and sending the answer."""
    answer: bytes | None = None
    """Function mode: the encoded result, the candidate's word, not yet decoded. Driver and program
    mode: standard output. Bounded by `Limits.output_bytes`."""
    stdout: bytes = b""
    stderr: bytes = b""
    collected: Mapping[str, bytes] = field(default_factory=dict)
    """Files asked for by the program's `collect`, read without following links, bounded in size."""
    flags: tuple[str, ...] = ()
    """What a reader must know: `suspect`, `output-truncated`, `work-outside-region`, ..."""
    isolation: Isolation = Isolation.NONE
