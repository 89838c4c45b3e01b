"""What may be spent, what was spent, and whether the next round can be paid."""

from dataclasses import dataclass, field

from best_agent.errors import UsageError
from best_agent.model.refinement import Spend, StopReason
from best_agent.refine.proposals.base import Estimate

FEWEST_ROUNDS = 2
"""A budget that pays for fewer says nothing about a loop, so it is refused."""
_SMALLEST_ANSWER = 256


@dataclass(slots=True)
class Ledger:
    """Counts what was spent against the bounds; None is no bound."""

    max_tokens: int | None = None
    max_usd: float | None = None
    spent: Spend = field(default_factory=Spend)

    @property
    def bounded(self) -> bool:
        """Whether there is any bound."""
        return self.max_tokens is not None or self.max_usd is not None

    def add(self, spend: Spend) -> None:
        """Book what a call cost."""
        self.spent = self.spent + spend

    def check_start(self, estimate: Estimate | None) -> None:
        """Refuse a budget that cannot pay for two rounds.

        Raises:
            UsageError: it cannot, or the price is not known where USD are bounded.
        """
        if estimate is None:
            return
        tokens = FEWEST_ROUNDS * estimate.tokens
        if self.max_tokens is not None and tokens > self.max_tokens:
            raise UsageError(
                f"two rounds take about {tokens:,} tokens, and --max-tokens is {self.max_tokens:,}: nothing "
                "was run; raise it, or ask fewer models"
            )
        if self.max_usd is None:
            return
        if estimate.usd is None:
            raise UsageError(
                "--max-usd cannot be kept, because the price of a model is not known; give it with "
                "--price IN OUT (USD per million tokens), or bound the tokens with --max-tokens"
            )
        if FEWEST_ROUNDS * estimate.usd > self.max_usd:
            raise UsageError(
                f"two rounds cost about {FEWEST_ROUNDS * estimate.usd:.4f} USD, and --max-usd is "
                f"{self.max_usd:g}: nothing was run; raise it, or ask fewer or cheaper models"
            )

    def stop(self, estimate: Estimate | None, calls: int) -> tuple[StopReason, str] | None:
        """Why the next round cannot be paid, or None. What calls cost so far says what they will cost."""
        if estimate is None or not self.bounded:
            return None
        tokens, usd = self._next(estimate, calls)
        if self.max_tokens is not None and self.spent.tokens + tokens > self.max_tokens:
            spent = f"{self.spent.tokens:,} of {self.max_tokens:,} tokens are spent"
            return StopReason.TOKENS, f"{spent}; a round takes about {tokens:,}"
        if self.max_usd is not None and (self.spent.usd is None or usd is None):
            return StopReason.USD, "what was spent is not known, so --max-usd could not be kept"
        if self.max_usd is not None and (self.spent.usd or 0) + (usd or 0) > self.max_usd:
            line = f"{self.spent.usd:.4f} of {self.max_usd:g} USD are spent; a round costs about {usd:.4f}"
            return StopReason.USD, line
        return None

    def answer_tokens(self, prompt_tokens: int, answers: int) -> int | None:
        """How long each of the next answers may be, or None where tokens have no bound."""
        if self.max_tokens is None:
            return None
        left = self.max_tokens - self.spent.tokens - answers * prompt_tokens
        return max(_SMALLEST_ANSWER, left // max(1, answers))

    def overdrawn(self) -> bool:
        """Whether a bound is passed already, in the middle of a round."""
        if self.max_tokens is not None and self.spent.tokens >= self.max_tokens:
            return True
        return self.max_usd is not None and (self.spent.usd is None or self.spent.usd >= self.max_usd)

    def _next(self, estimate: Estimate, calls: int) -> tuple[int, float | None]:
        if not self.spent.calls:
            return estimate.tokens, estimate.usd
        usd = None if self.spent.usd is None else self.spent.usd / self.spent.calls * calls
        return -(-self.spent.tokens * calls // self.spent.calls), usd
