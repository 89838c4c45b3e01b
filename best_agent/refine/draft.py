"""Without a start the source writes one: rounds in which the first right program is accepted as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from best_agent.errors import BestAgentError
from best_agent.model.refinement import CandidateResult, Reason, RoundResult
from best_agent.model.task import Source
from best_agent.refine.asking import Answer, Asking, Pending
from best_agent.refine.contract import Problem
from best_agent.refine.journal import Journal
from best_agent.refine.prompt import first_question
from best_agent.refine.proposals.base import Prompt
from best_agent.refine.referee import Referee
from best_agent.refine.settings import Observer, Settings

NOTHING = "nothing"
"""The parent of the rounds that write the start."""


class NothingCorrectError(BestAgentError):
    """No right program was proposed, so there is nothing to improve."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A start, and the rounds in which it was written."""

    start: Source
    rounds: tuple[RoundResult, ...]


class Drafting:
    """The rounds before there is a start."""

    def __init__(
        self,
        problem: Problem,
        asking: Asking,
        referee: Referee,
        settings: Settings,
        journal: Journal,
        observer: Observer,
    ) -> None:
        self._problem = problem
        self._asking = asking
        self._referee = referee
        self._settings = settings
        self._journal = journal
        self._observer = observer
        self._rounds: list[RoundResult] = []
        self._open: list[CandidateResult] = []

    def run(self) -> Draft:
        """Ask until a program is right; a resumed run goes on behind the rounds that its log knows.

        Raises:
            NothingCorrectError: none was, within the rounds and the patience.
            SourceError: no further answer can be had.
        """
        past = self._journal.past
        self._rounds = [found for found in past.rounds if found.parent == NOTHING]
        pending = past.pending if past.pending_parent == NOTHING else None
        most = min(self._settings.rounds, self._settings.patience)
        while pending is not None or len(self._rounds) < most:
            if pending is None:
                self._journal.round_begun(len(self._rounds) + 1, NOTHING)
            before, start = len(self._rounds), self._round(pending or ())
            pending = None
            if start is not None:
                return Draft(start=start, rounds=tuple(self._rounds))
            if len(self._rounds) == before:
                break
        raise NothingCorrectError(
            f"none of {len(self._tried())} proposals is a right program, so there is nothing to improve (the "
            f"last one: {self._last_words()}); give a program to start from with --start FILE"
        )

    def _round(self, pending: Pending) -> Source | None:
        number = len(self._rounds) + 1
        self._observer.round_begun(number, NOTHING)
        start: Source | None = None
        for answer in self._asking.answers(number, empty(self._problem), self._prompt, pending):
            source = replace(empty(self._problem), id=answer.name, text=answer.proposal.code or "")
            result = answer.known
            # What the harness could not measure before a kill may well be measured now.
            if result is None or result.reason is Reason.NOT_MEASURED:
                result = self._judge(number, answer, source)
            self._observer.judged(result)
            self._open.append(result)
            if result.accepted:
                start = source
                break
        if self._open:
            best = None if start is None else start.id
            found = RoundResult(round=number, parent=NOTHING, candidates=tuple(self._open), best=best)
            self._open = []
            self._rounds.append(found)
            self._journal.round_ended(found)
            self._observer.round_ended(found)
        return start

    def _judge(self, number: int, answer: Answer, source: Source) -> CandidateResult:
        self._observer.judging(answer.name, answer.proposal.origin)
        result = self._referee.first(source, answer.proposal)
        self._journal.judged(number, answer.slot, result)
        return result

    def _prompt(self) -> Prompt:
        return first_question(self._problem, self._settings.terms, self._tried())

    def _tried(self) -> Sequence[CandidateResult]:
        return [result for found in self._rounds for result in found.candidates] + self._open

    def _last_words(self) -> str:
        tried = self._tried()
        return f"{tried[-1].reason}, {tried[-1].detail}" if tried else "there was none"


def known_draft(problem: Problem, rounds: Sequence[RoundResult], codes: Mapping[str, str]) -> Draft | None:
    """The start that a log says was written, or None."""
    written = tuple(found for found in rounds if found.parent == NOTHING)
    if not written or written[-1].best is None:
        return None
    best = next(result for result in written[-1].candidates if result.id == written[-1].best)
    text = codes[best.digest or ""]
    return Draft(start=replace(empty(problem), id=best.id, text=text), rounds=written)


def empty(problem: Problem) -> Source:
    """The source that stands for nothing written yet."""
    return Source(id=NOTHING, language=problem.language, text="", entry=problem.entry)
