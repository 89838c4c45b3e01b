"""What the user decides of a run, and who is told of its steps."""

from dataclasses import dataclass, field
from typing import Protocol

from best_agent.model.refinement import CandidateResult, RoundResult, Standing
from best_agent.refine.accept import Terms

ROUNDS = 8
PATIENCE = 3
SUFFIXES = {"python": ".py", "cpp": ".cpp"}
"""Of the final program's file, by language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user decides."""

    terms: Terms = field(default_factory=Terms)
    rounds: int = ROUNDS
    patience: int = PATIENCE
    """Rounds in a row without an accepted candidate."""
    max_tokens: int | None = None
    max_usd: float | None = None


class Observer(Protocol):
    """Told of every step, for people who watch."""

    def started(self, initial: Standing) -> None:
        """The start is measured."""
        ...

    def round_begun(self, number: int, parent: str) -> None:
        """A round asks for proposals."""
        ...

    def judging(self, candidate: str, origin: str) -> None:
        """A candidate is about to be judged."""
        ...

    def judged(self, result: CandidateResult) -> None:
        """A candidate was judged."""
        ...

    def round_ended(self, result: RoundResult) -> None:
        """A round is over."""
        ...

    def say(self, line: str) -> None:
        """Something else a reader wants to know."""
        ...
