"""Asks the source of proposals: each answer is booked and on disk before anything else happens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from best_agent.model.refinement import CandidateResult
from best_agent.model.task import Source
from best_agent.refine.budget import Ledger
from best_agent.refine.contract import Problem
from best_agent.refine.journal import Journal
from best_agent.refine.proposals.base import Prompt, Proposal, ProposalSource, Request

Pending = tuple[tuple[Proposal, CandidateResult | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a round."""

    slot: int
    """From 0."""
    name: str
    proposal: Proposal
    known: CandidateResult | None
    """What came of it, where it was judged before a kill."""


class Asking:
    """The paying side of a run."""

    def __init__(self, problem: Problem, source: ProposalSource, ledger: Ledger, journal: Journal) -> None:
        self._problem = problem
        self._source = source
        self._ledger = ledger
        self._journal = journal

    def answers(
        self, number: int, parent: Source, prompt: Callable[[], Prompt], pending: Pending
    ) -> Iterator[Answer]:
        """The answers that were there before a kill, then those that are still to come.

        `prompt` is called only if something is still to be asked.

        Raises:
            SourceError: no further answer can be had.
        """
        for slot, (proposal, known) in enumerate(pending):
            self._ledger.add(proposal.spend)
            yield _answer(number, slot, proposal, known)
        if self._ledger.overdrawn():
            return
        question = prompt()
        answers = self._source.per_round()
        request = Request(
            round=number,
            prompt=question,
            parent=parent,
            entry=None if self._problem.mode == "program" else self._problem.entry,
            skip=len(pending),
            max_answer_tokens=self._ledger.answer_tokens(question.estimated_tokens, answers),
        )
        for slot, proposal in enumerate(self._source.propose(request), start=len(pending)):
            self._journal.answered(number, slot, proposal)
            self._ledger.add(proposal.spend)
            yield _answer(number, slot, proposal, None)
            if self._ledger.overdrawn():
                return


def _answer(number: int, slot: int, proposal: Proposal, known: CandidateResult | None) -> Answer:
    name = proposal.name or f"r{number}c{slot + 1}"
    return Answer(slot=slot, name=name, proposal=proposal, known=known)
