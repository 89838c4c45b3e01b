"""The loop: measure the start, ask, judge, keep the best, confirm it, and say why it stopped."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from best_agent.errors import MeasureError, UsageError
from best_agent.model.refinement import (
    CandidateResult,
    Final,
    Reason,
    Refinement,
    RoundResult,
    Standing,
    StopReason,
)
from best_agent.model.task import Source
from best_agent.refine.accept import Terms, score
from best_agent.refine.archive import Entry
from best_agent.refine.budget import Ledger
from best_agent.refine.contract import Arena, Problem
from best_agent.refine.finish import Accepted, choose, nothing_better, unconfirmed
from best_agent.refine.journal import Journal, Past
from best_agent.refine.patch import unified
from best_agent.refine.prompt import Feedback, build_prompt
from best_agent.refine.proposals.base import Prompt, Proposal, ProposalSource, Request, SourceError
from best_agent.refine.referee import Referee
from best_agent.refine.standing import standing

START = "start"
ROUNDS = 8
PATIENCE = 3
SUFFIXES = {"python": ".py", "cpp": ".cpp"}
_INTERRUPTED = "interrupted; --resume goes on from here"
_HARNESS_PATIENCE = 2
"""Candidates in a row that the harness could not measure before the loop gives up."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stop:
    reason: StopReason
    detail: str
    failure: SourceError | None = None


class Loop:
    """One run of `refine`. `run` is called once."""

    def __init__(
        self, arena: Arena, source: ProposalSource, settings: Settings, journal: Journal, observer: Observer
    ) -> None:
        self._arena = arena
        self._source = source
        self._settings = settings
        self._journal = journal
        self._observer = observer
        self._ledger = Ledger(max_tokens=settings.max_tokens, max_usd=settings.max_usd)
        self._referee = Referee(arena, settings.terms, share=1 / max(1, source.expected(settings.rounds)))
        self._rounds: list[RoundResult] = []
        self._open: list[CandidateResult] = []
        """Results of the round that is not over yet."""
        self._chain: list[Accepted] = []
        self.failure: SourceError | None = None
        """What ended the source of proposals, where it failed."""

    def run(self, start: Source) -> Refinement:
        """Refine a program. Ctrl-C ends the loop early, with what was found until then.

        Raises:
            UsageError: the start is not correct, or the budget cannot pay for two rounds.
            MeasureError: the start could not be measured.
        """
        start = replace(start, id=START)
        self._ledger.check_start(
            self._source.estimate(first_prompt(self._arena.problem, self._settings.terms, start))
        )
        assessment = self._referee.assess(start)
        if not assessment.verdict.admissible:
            verdict = assessment.verdict
            why = f"{verdict.status}: {verdict.detail}"
            raise UsageError(f"the start is not correct ({why}); refine improves programs that are right")
        initial = standing(self._arena.problem, START, assessment)
        self._journal.begin()
        self._referee.archive.add(Entry(source=start))
        self._observer.started(initial)
        try:
            stop = self._loop(start)
        except KeyboardInterrupt:
            stop = _Stop(reason=StopReason.INTERRUPTED, detail=_INTERRUPTED)
        except MeasureError as error:
            stop = _Stop(reason=StopReason.NOT_MEASURED, detail=str(error))
        if self._open:
            # A round that was cut short: its candidates count, and a resumed run goes on with it.
            self._take(start, len(self._rounds) + 1, self._parent(start))
        self.failure = stop.failure
        return self._result(start, initial, stop)

    # -- rounds -------------------------------------------------------------------------------

    def _loop(self, start: Source) -> _Stop:
        self._replay(start, self._journal.past)
        pending = self._journal.past.pending if self._journal.past.pending_parent else None
        while True:
            if pending is None and (stop := self._bound_reached(start)):
                return stop
            found = self._round(start, pending)
            pending = None
            if isinstance(found, _Stop):
                return found
            if stop := self._given_up(found):
                return stop

    def _bound_reached(self, start: Source) -> _Stop | None:
        done, settings = len(self._rounds), self._settings
        if done >= settings.rounds:
            return _Stop(reason=StopReason.ROUNDS, detail=f"all {done} rounds are done")
        barren = 0
        for result in reversed(self._rounds):
            if result.best is not None:
                break
            barren += 1
        if barren >= settings.patience:
            return _Stop(reason=StopReason.PATIENCE, detail=f"{barren} rounds in a row brought no gain")
        paid = self._ledger.stop(self._source.estimate(self._prompt(start)), self._source.per_round())
        return None if paid is None else _Stop(reason=paid[0], detail=paid[1])

    def _given_up(self, result: RoundResult) -> _Stop | None:
        unmeasured = 0
        for candidate in reversed(result.candidates):
            if candidate.reason is not Reason.NOT_MEASURED:
                break
            unmeasured += 1
        if unmeasured >= _HARNESS_PATIENCE:
            return _Stop(reason=StopReason.NOT_MEASURED, detail=result.candidates[-1].detail)
        if self._source.first_wins and result.best is None:
            detail = "no further rewrite of the current program brought a gain"
            return _Stop(reason=StopReason.EXHAUSTED, detail=detail)
        return None

    def _round(
        self, start: Source, pending: tuple[tuple[Proposal, CandidateResult | None], ...] | None
    ) -> RoundResult | _Stop:
        number, parent = len(self._rounds) + 1, self._parent(start)
        if pending is None:
            self._journal.round_begun(number, parent.id)
        self._observer.round_begun(number, parent.id)
        self._open = []
        try:
            for slot, (proposal, known) in enumerate(self._proposals(number, parent, pending or ())):
                self._open.append(self._one(number, slot, proposal, known, parent))
                if self._open[-1].accepted and self._source.first_wins:
                    break
        except SourceError as error:
            if self._open:
                self._close_round(start, number, parent)
            return _Stop(reason=StopReason.SOURCE_FAILED, detail=str(error), failure=error)
        if not self._open:
            return _Stop(reason=StopReason.EXHAUSTED, detail="the source has no further proposal")
        return self._close_round(start, number, parent)

    def _proposals(
        self, number: int, parent: Source, pending: tuple[tuple[Proposal, CandidateResult | None], ...]
    ) -> Iterator[tuple[Proposal, CandidateResult | None]]:
        """The answers that were paid before a kill, then those that are still to come."""
        yield from pending
        if self._ledger.overdrawn():
            return
        prompt = self._prompt(parent)
        request = Request(
            round=number,
            prompt=prompt,
            parent=parent,
            entry=None if self._arena.problem.mode == "program" else parent.entry,
            skip=len(pending),
            max_answer_tokens=self._ledger.answer_tokens(prompt.estimated_tokens, self._source.per_round()),
        )
        for slot, proposal in enumerate(self._source.propose(request), start=len(pending)):
            self._journal.answered(number, slot, proposal)
            yield proposal, None
            if self._ledger.overdrawn():
                return

    def _one(
        self, number: int, slot: int, proposal: Proposal, known: CandidateResult | None, parent: Source
    ) -> CandidateResult:
        self._ledger.add(proposal.spend)
        name = proposal.name or f"r{number}c{slot + 1}"
        if known is not None:
            self._remember(known, proposal.code, parent)
            result = known
        else:
            self._observer.judging(name, proposal.origin)
            result = self._referee.judge(name, proposal, parent)
            self._journal.judged(number, slot, result)
        self._observer.judged(result)
        return result

    def _close_round(self, start: Source, number: int, parent: Source) -> RoundResult:
        """End the open round; its best candidate is the parent of the next."""
        result = self._take(start, number, parent)
        self._journal.round_ended(result)
        self._observer.round_ended(result)
        return result

    def _take(self, start: Source, number: int, parent: Source) -> RoundResult:
        results, self._open = tuple(self._open), []
        accepted = [result for result in results if result.accepted]
        best = min(accepted, key=lambda result: score(result, self._settings.terms.objective), default=None)
        found = RoundResult(
            round=number, parent=parent.id, candidates=results, best=None if best is None else best.id
        )
        self._rounds.append(found)
        if best is not None:
            source = next(entry.source for entry in self._accepted() if entry.source.id == best.id)
            self._chain.append(Accepted(source=source, result=best))
            self._journal.write_final(source.text, self._patch(start, source))
        return found

    # -- what is known ------------------------------------------------------------------------

    def _replay(self, start: Source, past: Past) -> None:
        """Take over what a log says; nothing of it is measured or paid again."""
        for result in past.rounds:
            parent = self._parent(start)
            for candidate in result.candidates:
                self._ledger.add(candidate.spend)
                self._remember(candidate, past.codes.get(candidate.digest or ""), parent)
            self._open = list(result.candidates)
            self._take(start, result.round, parent)
            self._observer.round_ended(result)
        if past.rounds:
            self._observer.say(f"{len(past.rounds)} rounds are known from {self._journal.directory}")

    def _remember(self, result: CandidateResult, code: str | None, parent: Source) -> None:
        if code is not None and result.reason not in (Reason.NOT_MEASURED, Reason.DUPLICATE):
            source = replace(parent, id=result.id, text=code, path=None)
            self._referee.archive.add(Entry(source=source, result=result))

    def _parent(self, start: Source) -> Source:
        return self._chain[-1].source if self._chain else start

    def _accepted(self) -> list[Accepted]:
        """All accepted programs: the chain of parents first, its end in front, then the others."""
        others = [
            Accepted(source=entry.source, result=entry.result)
            for entry in self._referee.archive.accepted()
            if entry.result is not None
        ]
        chain = list(reversed(self._chain))
        taken = {entry.source.id for entry in chain}
        return chain + [entry for entry in others if entry.source.id not in taken]

    def _prompt(self, parent: Source) -> Prompt:
        """The question as things stand.

        Raises:
            MeasureError: the parent could not be measured.
        """
        feedback = Feedback(
            parent=parent,
            assessment=self._referee.assess(parent),
            last_change=self._chain[-1].result if self._chain else None,
        )
        tried = [result for found in self._rounds for result in found.candidates] + self._open
        return build_prompt(self._arena.problem, self._settings.terms, feedback, tried)

    def _patch(self, start: Source, source: Source) -> str:
        return unified(start.text, source.text, file_name(start, self._arena.problem))

    # -- the end ------------------------------------------------------------------------------

    def _result(self, start: Source, initial: Standing, stop: _Stop) -> Refinement:
        final, stop = self._final(start, initial, stop)
        verdict = self._referee.assess(start).verdict
        source = next((entry.source for entry in self._accepted() if entry.source.id == final.id), start)
        patch = self._patch(start, source)
        self._journal.write_final(final.code, patch)
        self._journal.stopped(stop.reason, stop.detail)
        return Refinement(
            target=self._arena.problem.id,
            language=start.language,
            objective=self._settings.terms.objective,
            source=self._source.kind,
            source_note=self._source.note,
            rounds=tuple(self._rounds),
            initial=initial,
            final=final,
            stop_reason=stop.reason,
            stop_detail=stop.detail,
            patch=patch,
            spend=self._ledger.spent,
            isolation=verdict.isolation,
            time_meter=verdict.time_meter,
            memory_meter=verdict.memory_meter,
            run_dir=str(self._journal.directory),
        )

    def _final(self, start: Source, initial: Standing, stop: _Stop) -> tuple[Final, _Stop]:
        """The final program; a confirmation that is interrupted leaves it unconfirmed."""
        if not self._chain:
            return nothing_better(start, "", initial), stop
        why = "the run was interrupted"
        if stop.reason is not StopReason.INTERRUPTED:
            try:
                problem = self._arena.problem
                return choose(self._referee, problem, start, self._accepted(), self._observer.say), stop
            except KeyboardInterrupt:
                stop = _Stop(reason=StopReason.INTERRUPTED, detail=_INTERRUPTED)
            except MeasureError as error:
                why = f"the confirmation could not be measured ({error})"
        known = self._referee.remembered(self._chain[-1].source.id)
        stand = None if known is None else standing(self._arena.problem, self._chain[-1].source.id, known)
        return unconfirmed(self._chain, why, stand), stop


def first_prompt(problem: Problem, terms: Terms, start: Source) -> Prompt:
    """The question of the first round before anything was measured."""
    return build_prompt(problem, terms, Feedback(parent=start, assessment=None))


def file_name(start: Source, problem: Problem) -> str:
    """The name that a patch gives the program."""
    if start.path is not None:
        return start.path.name
    return f"{problem.id}{SUFFIXES[start.language]}"
