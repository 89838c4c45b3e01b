"""What a source of proposals takes and gives."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from best_agent.errors import BestAgentError
from best_agent.model.refinement import Reason, Spend
from best_agent.model.task import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a proposer reads."""

    system: str
    user: str

    @property
    def estimated_tokens(self) -> int:
        """Tokens of the prompt, estimated from its length: no tokenizer is at hand for every model."""
        return estimated_tokens(self.system) + estimated_tokens(self.user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The question of one round."""

    round: int
    """From 1."""
    prompt: Prompt
    parent: Source
    entry: str | None
    """Name that the program must define; None where there is none."""
    skip: int = 0
    """Answers of this round that are already there (a resumed run); the source goes on behind them."""
    max_answer_tokens: int | None = None
    """Bound for each answer, where there is a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One answer of a source: a whole program, or why there is none."""

    origin: str
    code: str | None
    name: str | None = None
    """What people know it by, unique within the run: a file's name. None: it gets a number."""
    problem: Reason | None = None
    """Set where `code` is None."""
    detail: str = ""
    """One line: what the proposal is about, or what is wrong with it."""
    raw: str = ""
    """The answer as it came."""
    spend: Spend = field(default_factory=Spend)


class SourceError(BestAgentError):
    """The source of proposals can give no more answers; what was found before stands.

    `exit_code` is 2 where the command line or the configuration is to blame, 3 otherwise.
    """

    def __init__(self, message: str, *, blame_configuration: bool = False) -> None:
        super().__init__(message)
        self.exit_code = 2 if blame_configuration else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What one round will cost at most, roughly."""

    tokens: int
    usd: float | None
    """None: a price is not known."""


class ProposalSource(Protocol):
    """Where proposals come from. `proposals.SOURCES` lists the kinds."""

    @property
    def kind(self) -> str:
        """`rules`, `candidates`, `command` or `model`."""
        ...

    @property
    def note(self) -> str:
        """In words, for the result: `built-in rules, not a language model`."""
        ...

    @property
    def departure(self) -> str:
        """One line: what leaves this machine, and to whom."""
        ...

    @property
    def exhausted(self) -> str:
        """One line: what it means that there is no further proposal."""
        ...

    @property
    def first_wins(self) -> bool:
        """True: a round ends with the first accepted proposal, and the next one builds on it."""
        ...

    @property
    def reads_prompt(self) -> bool:
        """False: proposals come without a look at the prompt, so nothing is measured for it."""
        ...

    def per_round(self) -> int:
        """How many proposals a round brings, as far as that is known."""
        ...

    def expected(self, rounds: int) -> int:
        """How many proposals so many rounds bring, as far as that is known; it divides the error budget."""
        ...

    def check(self) -> None:
        """Find out what would fail in any case, before anything is run or paid.

        Raises:
            UsageError: a key, a program, a file or an optional package is missing.
        """
        ...

    def estimate(self, prompt: Prompt) -> Estimate | None:
        """What a round with this prompt costs; None: nothing."""
        ...

    def propose(self, request: Request) -> Iterator[Proposal]:
        """The answers of a round, one by one as they come. Nothing at all: the source is exhausted.

        Raises:
            SourceError: no further answer can be had.
        """
        ...


def estimated_tokens(text: str) -> int:
    """Tokens of a text by the rule of thumb of four bytes a token, rounded up."""
    return -(-len(text.encode("utf-8", errors="replace")) // 4)
