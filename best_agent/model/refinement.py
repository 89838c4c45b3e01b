"""What a refinement gives: rounds of candidates, the start, the final program and why it stopped."""

from dataclasses import dataclass, field
from enum import StrEnum

from best_agent.model.measurement import Compared
from best_agent.model.run import Isolation, Meter


class Objective(StrEnum):
    """What a candidate has to gain."""

    TIME = "time"
    MEMORY = "memory"
    BOTH = "both"
    """Either of the two."""


class Reason(StrEnum):
    """Why a candidate was accepted or not: stable words, each shown with one line of detail."""

    FASTER = "faster"
    LEANER = "leaner"
    FASTER_AND_LEANER = "faster-and-leaner"
    PASSES_MORE = "passes-more"
    """No loss, and it passes cases that its parent does not."""
    FIRST = "first"
    """The first right program where there was none to start from."""

    NO_GAIN = "no-gain"
    """The interval does not show a gain in what the objective asks for."""
    TIME_LOSS = "time-loss"
    MEMORY_LOSS = "memory-loss"
    UNDECIDED = "undecided"
    """A gain in one quantity, but a loss in the other could not be ruled out."""
    NOT_COMPARED = "not-compared"
    """There is no scale that both pass, or a figure could not be had."""
    DIFFERENT_ANSWERS = "different-answers"
    LOST_CELL = "lost-cell"
    """A cell of the grid that the parent passes is lost."""
    LOST_CASE = "lost-case"
    SUSPECT = "suspect"
    """The meters contradict each other, so no figure of it counts."""
    FAILED = "failed"
    """Wrong, crashed or does not build; `CandidateResult.status` says which."""
    DUPLICATE = "duplicate"
    NO_CODE = "no-code"
    EMPTY_ANSWER = "empty-answer"
    TRUNCATED = "truncated"
    WRONG_LANGUAGE = "wrong-language"
    DIFF = "diff"
    """A diff where the whole program was asked for."""
    NO_ENTRY = "no-entry"
    """The code does not define the entry point."""
    UNREADABLE = "unreadable"
    NOT_MEASURED = "not-measured"
    """The harness failed while this candidate was judged; that says nothing about it."""


class StopReason(StrEnum):
    """Why the loop ended."""

    ROUNDS = "rounds"
    PATIENCE = "patience"
    TOKENS = "tokens"
    USD = "usd"
    EXHAUSTED = "exhausted"
    """The source has no proposal left."""
    SOURCE_FAILED = "source-failed"
    NOT_MEASURED = "not-measured"
    """The harness failed; what was found before stands."""
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What asking for proposals cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0
    """None: a price is not known, so neither is the sum."""
    counted: bool = True
    """False: tokens of some call are not known (a command), so their sum is not."""
    estimated: bool = False
    """True: a server did not count the tokens, so their number is estimated from the text."""

    @property
    def tokens(self) -> int:
        """Tokens in and out, as far as they were counted."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            counted=self.counted and other.counted,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult:
    """One proposal: what became of it, and what it costs relative to its parent."""

    id: str
    """`r2c1`: second round, first candidate."""
    origin: str
    """The model, file, command or rule it came from."""
    status: str
    """The program's status; `not-run` for what was never run."""
    accepted: bool
    reason: Reason
    detail: str
    """One line for people."""
    digest: str | None = None
    """SHA-256 of the program's text; None where the answer held none."""
    time: Compared | None = None
    memory: Compared | None = None
    spend: Spend = field(default_factory=Spend)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """The candidates of one round, all compared with the same parent."""

    round: int
    """From 1."""
    parent: str
    """Id of the parent: `start` or a candidate's."""
    candidates: tuple[CandidateResult, ...]
    best: str | None
    """Id of the candidate that became the next parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleCost:
    """What a program costs at one scale: the costliest case of it."""

    scale: int
    size: int
    status: str
    cpu_ns: int | None
    peak_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDistance:
    """How far a program is from one reference; ratios are program / reference."""

    reference: str
    time: Compared | None
    memory: Compared | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a program stands on its own: its cost by scale, its grid, its distance to the references."""

    id: str
    status: str
    scales: tuple[ScaleCost, ...]
    cells_passed: int
    cells: int
    references: tuple[ReferenceDistance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The program the loop ends with, compared with the start."""

    id: str
    """`start` where nothing better was found."""
    time: Compared | None
    """After / before is final / start. None with the id `start`."""
    memory: Compared | None
    confirmed: bool
    """True: the figures are of a race of its own after the choice."""
    verified: str
    """`fresh-seeds` or `same-inputs`; empty where not confirmed."""
    note: str
    """One line: what the reader must know of these figures. May be empty."""
    standing: Standing | None
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """The whole result of `refine`."""

    target: str
    language: str
    objective: Objective
    source: str
    """Where proposals came from: `rules`, `candidates`, `command` or `model`."""
    source_note: str
    """In words: `built-in rules, not a language model`."""
    rounds: tuple[RoundResult, ...]
    initial: Standing
    final: Final
    stop_reason: StopReason
    stop_detail: str
    """One line: what the stop reason means here."""
    patch: str
    """Unified diff from the start to the final program; empty where nothing better was found."""
    spend: Spend
    isolation: Isolation
    time_meter: Meter
    memory_meter: Meter
    run_dir: str | None = None
