"""Proposals from the built-in rewrite rules: deterministic, free, and no language model."""

from collections.abc import Iterator

from best_agent.errors import UsageError
from best_agent.refine.proposals.base import Estimate, Prompt, Proposal, Request
from best_agent.rules.rewrites import COMBINED, rewrites


class RuleSource:
    """Each rewrite of the parent that the rules know, one after another."""

    kind = "rules"
    note = "built-in rules, not a language model"
    departure = "nothing leaves this machine: the rules run here"
    exhausted = "no rule applies to the current program; --model, --command or --candidates may know more"
    first_wins = True
    reads_prompt = False

    def __init__(self, language: str) -> None:
        self._language = language

    def per_round(self) -> int:
        """One is accepted a round; how many are rejected before it is not known beforehand."""
        return 1

    def expected(self, rounds: int) -> int:
        """One a round."""
        return rounds

    def check(self) -> None:
        """Refuse languages that have no rules.

        Raises:
            UsageError: there are no rules for the language.
        """
        if self._language != "python":
            raise UsageError(
                f"the built-in rules rewrite Python only, not {self._language}; name a source of proposals: "
                "--model NAME, --command CMD or --candidates PATH"
            )

    def estimate(self, prompt: Prompt) -> Estimate | None:  # noqa: ARG002  (the protocol's signature)
        """Rules cost nothing."""
        return None

    def propose(self, request: Request) -> Iterator[Proposal]:
        """The rewrites of the parent, one fix each; the combination of all comes last.

        One fix at a time says what each of them brings. The combination is for fixes that bring a gain
        only together.
        """
        found = sorted(rewrites(request.parent.text.encode()), key=lambda rewrite: rewrite.rule == COMBINED)
        for rewrite in found[request.skip :]:
            yield Proposal(
                origin=f"{rewrite.rule} {rewrite.name}",
                code=rewrite.source.decode(),
                detail=f"line {rewrite.line}: {rewrite.message}",
            )
