"""What a Python target may have hidden from its own meters, judged by those outside.

Driver and candidate share a process. The candidate can compute before the measured call or after it, and
it can mislead tracemalloc; it cannot keep the CPU clock, the page faults and the resident memory from
moving. What the driver costs by itself is found out with stand-ins: a solution that does nothing on the
same input, and one that returns the same answer.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from best_agent.model.run import Run, Status
from best_agent.sandbox.outcome import Sight, phases

SUSPECT: Final = "suspect"
OUTSIDE: Final = "work-outside-region"
StandIn = Literal["blank", "echo"]
Ask = Callable[[bytes, StandIn | None], Sight]
"""Runs a stand-in on a content, or with None the program itself on an input once more."""

_READ_NS: Final = 500_000
_READ_NS_PER_BYTE: Final = 12
_WRITE_NS: Final = 1_500_000
_WRITE_NS_PER_BYTE: Final = 40
"""Reading an input and writing an answer cost less than this as a rule. What costs more is compared with a
stand-in, not yet blamed."""
_EXIT_NS_PER_FAULT: Final = 1_000
"""Giving back memory at exit; several times what it takes."""
_STAND_IN_RUNS: Final = 3
_BLANK_FACTOR: Final = 1.4
_ECHO_FACTOR: Final = 2.0
"""An echo's answer lies in memory in the order it is read, which an honest program's may not."""
_STAND_IN_SLACK_NS: Final = 500_000

_MEMORY_FACTOR: Final = 1.6
_FAULTS_SLACK: Final = 64 << 10
_RESIDENT_SLACK: Final = 512 << 10
"""Resident memory is counted in steps of 128 KiB and knows the stack and the allocator's holes."""


@dataclass(slots=True)
class Phase:
    """What one phase cost at best, over the runs of a session, by itself and with a stand-in."""

    spent_ns: int | None = None
    repeated: int = 0
    stand_in_ns: int | None = None
    stand_ins: int = 0
    factor: float = _BLANK_FACTOR
    """How much more than the stand-in an honest program may need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of the memory of one input, from runs of both kinds."""

    faults_bytes: int | None = None
    resident_bytes: int | None = None
    traced_peak_bytes: int | None = None

    @property
    def contradicts(self) -> bool:
        """Whether the untraced run used memory that the traced one did not own up to.

        Faults alone do not say so: a block that is given back to the system and taken again faults
        again. Resident memory alone is coarse. Honest programs exceed one of the two, not both.
        """
        if self.faults_bytes is None or self.resident_bytes is None or self.traced_peak_bytes is None:
            return False
        owned = _MEMORY_FACTOR * self.traced_peak_bytes
        return self.faults_bytes > owned + _FAULTS_SLACK and self.resident_bytes > owned + _RESIDENT_SLACK


def reading_ns(seen: Sight) -> int | None:
    """CPU time between a module being loaded and the input being read; None when it did not get so far."""
    return seen.steps[1][0] - seen.steps[0][0] if len(seen.steps) > 1 else None


def writing_ns(seen: Sight) -> int | None:
    """CPU time from the end of the measured call to the end of the process."""
    costs = phases(seen)
    return None if costs is None else max(0, costs.write_out.cpu_ns - _EXIT_NS_PER_FAULT * seen.minor_faults)


def resident_growth(seen: Sight) -> int | None:
    """Resident memory that the measured call added at its highest, without pages of files.

    0 where it stayed below what loading the input had needed for a moment: then it cannot be told.
    """
    if len(seen.resident) != 2:  # both ends, or it says nothing
        return None
    (now, files_before, high_before), (_, files_after, high) = seen.resident
    if high <= high_before:
        return 0
    return max(0, high - now - max(0, files_after - files_before))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


@dataclass(slots=True)
class Scrutiny:
    """Evidence by input, for the life of a session."""

    _memory: dict[bytes, Evidence] = field(default_factory=dict)
    _reading: dict[bytes, Phase] = field(default_factory=dict)
    _writing: dict[bytes, Phase] = field(default_factory=dict)

    def judge(self, run: Run, seen: Sight, stdin: bytes, *, traced: bool, ask: Ask) -> Run:
        """The run with work outside of the measured call charged to it, and flagged where meters differ."""
        if run.status is not Status.OK:
            return run
        key = _digest(stdin)
        if not traced:
            run = self._charge(run, seen, stdin, key, ask)
        return self._weigh(run, seen, key, traced=traced)

    def _charge(self, run: Run, seen: Sight, stdin: bytes, key: bytes, ask: Ask) -> Run:
        hidden = 0
        reading = reading_ns(seen)
        if reading is not None and reading > _READ_NS + _READ_NS_PER_BYTE * len(stdin):
            phase = self._reading.setdefault(key, Phase())
            hidden += _excess(
                phase,
                reading,
                stand_in=lambda: reading_ns(ask(stdin, "blank")),
                again=lambda: reading_ns(ask(stdin, None)),
            )
        writing = writing_ns(seen)
        sent = run.answer or b""
        if writing is not None and writing > _WRITE_NS + _WRITE_NS_PER_BYTE * (len(sent) + len(run.stdout)):
            phase = self._writing.setdefault(_digest(sent), Phase(factor=_ECHO_FACTOR))
            hidden += _excess(
                phase,
                writing,
                stand_in=lambda: writing_ns(ask(sent, "echo")),
                again=lambda: writing_ns(ask(stdin, None)),
            )
        if hidden == 0 or run.cpu_ns is None:
            return run
        return replace(run, cpu_ns=run.cpu_ns + hidden, flags=(*run.flags, OUTSIDE))

    def _weigh(self, run: Run, seen: Sight, key: bytes, *, traced: bool) -> Run:
        known = self._memory.get(key, Evidence())
        if traced:
            # The least it ever claimed: a program that is lean now and then is not lean.
            known = replace(known, traced_peak_bytes=_least(known.traced_peak_bytes, run.peak_bytes))
        else:
            known = replace(
                known,
                faults_bytes=_least(known.faults_bytes, run.faults_bytes),
                resident_bytes=_least(known.resident_bytes, resident_growth(seen)),
            )
        self._memory[key] = known
        if known.contradicts and SUSPECT not in run.flags:
            return replace(run, flags=(*run.flags, SUSPECT))
        return run


def _excess(
    phase: Phase, spent_ns: int, *, stand_in: Callable[[], int | None], again: Callable[[], int | None]
) -> int:
    """What a phase cost beyond a stand-in's; 0 while noise can explain it.

    The program is judged by its best run and the stand-in by its worst: noise only ever adds, and who
    hides work hides it every time.
    """
    phase.spent_ns = _least(phase.spent_ns, spent_ns)
    while not _explained(phase):
        if phase.stand_ins < _STAND_IN_RUNS:
            phase.stand_ins += 1
            phase.stand_in_ns = max(phase.stand_in_ns or 0, stand_in() or 0)
        elif phase.repeated < _STAND_IN_RUNS:
            phase.repeated += 1
            phase.spent_ns = _least(phase.spent_ns, again())
        else:
            return max(0, spent_ns - (phase.stand_in_ns or 0))
    return 0


def _explained(phase: Phase) -> bool:
    if phase.spent_ns is None or phase.stand_in_ns is None:
        return False
    return phase.spent_ns <= phase.factor * phase.stand_in_ns + _STAND_IN_SLACK_NS


def _least(before: int | None, now: int | None) -> int | None:
    known = [value for value in (before, now) if value is not None]
    return min(known) if known else None
