"""The loop: measure the start, ask, judge, keep the best, confirm it, and say why it stopped."""

from dataclasses import dataclass, replace

from best_agent.errors import MeasureError, UsageError
from best_agent.model.refinement import CandidateResult, Final, Reason, Refinement, RoundResult, StopReason
from best_agent.model.task import Source
from best_agent.refine.accept import Terms
from best_agent.refine.asking import Answer, Asking, Pending
from best_agent.refine.budget import Ledger
from best_agent.refine.contract import Arena, Problem
from best_agent.refine.draft import NOTHING, Draft, Drafting, known_draft
from best_agent.refine.finish import choose, nothing_better, unconfirmed
from best_agent.refine.history import History
from best_agent.refine.journal import Journal
from best_agent.refine.patch import unified
from best_agent.refine.prompt import Feedback, build_prompt, first_question
from best_agent.refine.proposals.base import Prompt, ProposalSource, SourceError
from best_agent.refine.referee import Referee
from best_agent.refine.settings import SUFFIXES, Observer, Settings
from best_agent.refine.standing import standing

START = "start"
_HARNESS_PATIENCE = 2
"""Candidates in a row that the harness could not measure before the loop gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stop:
    reason: StopReason
    detail: str
    failure: SourceError | None = None


_INTERRUPTED = _Stop(reason=StopReason.INTERRUPTED, detail="interrupted; --resume goes on from here")


class Loop:
    """One run of `refine`. `run` is called once."""

    def __init__(
        self,
        arena: Arena,
        start: Source | None,
        source: ProposalSource,
        settings: Settings,
        journal: Journal,
        observer: Observer,
    ) -> None:
        """Prepare a run; `start` is None where the source is to write the first program, too."""
        self._arena = arena
        self._start = start
        self._source = source
        self._settings = settings
        self._journal = journal
        self._observer = observer
        self._ledger = Ledger(max_tokens=settings.max_tokens, max_usd=settings.max_usd)
        share = 1 / max(1, source.expected(settings.rounds))
        self._referee = Referee(arena, settings.terms, share=share)
        self._asking = Asking(arena.problem, source, self._ledger, journal)
        self._history: History
        self.failure: SourceError | None = None
        """What ended the source of proposals, where it failed."""

    def run(self) -> Refinement:
        """Refine the start. Ctrl-C ends the loop early, with what was found until then.

        Raises:
            UsageError: the start is not correct, or the budget cannot pay for two rounds.
            NothingCorrectError: there was no start, and no right program was proposed.
            SourceError: there was no start, and the source failed before one was written.
            MeasureError: the start could not be measured.
        """
        problem = self._arena.problem
        self._ledger.check_start(
            self._source.estimate(first_prompt(problem, self._settings.terms, self._start))
        )
        draft = None
        if self._start is None:
            draft = self._draft()
            start = draft.start
        else:
            start = replace(self._start, id=START)
        assessment = self._referee.assess(start)
        if not assessment.verdict.admissible:
            why = f"{assessment.verdict.status}: {assessment.verdict.detail}"
            raise UsageError(f"the start is not correct ({why}); refine improves programs that are right")
        self._journal.begin()
        self._history = History(
            start=start,
            archive=self._referee.archive,
            objective=self._settings.terms.objective,
            rounds=list(draft.rounds) if draft else [],
        )
        self._observer.started(standing(problem, start.id, assessment))
        try:
            stop = self._loop()
        except KeyboardInterrupt:
            stop = _INTERRUPTED
        except MeasureError as error:
            stop = _Stop(reason=StopReason.NOT_MEASURED, detail=str(error))
        if self._history.open:
            # A round that was cut short: its candidates count, and a resumed run goes on with it.
            self._close()
        self.failure = stop.failure
        return self._result(stop)

    def _draft(self) -> Draft:
        """The first right program, written now or known from the log."""
        self._journal.begin()
        past = self._journal.past
        for found in past.rounds:
            if found.parent == NOTHING:
                for candidate in found.candidates:
                    self._ledger.add(candidate.spend)
        known = known_draft(self._arena.problem, past.rounds, past.codes)
        return (
            known
            or Drafting(
                self._arena.problem,
                self._asking,
                self._referee,
                self._settings,
                self._journal,
                self._observer,
            ).run()
        )

    # -- rounds -------------------------------------------------------------------------------

    def _loop(self) -> _Stop:
        self._replay()
        past = self._journal.past
        pending = past.pending if past.pending_parent not in (None, NOTHING) else None
        while True:
            if pending is None and (stop := self._bound_reached()):
                return stop
            found = self._round(pending)
            pending = None
            if isinstance(found, _Stop):
                return found
            if stop := self._given_up(found):
                return stop

    def _bound_reached(self) -> _Stop | None:
        done, barren = len(self._history.rounds), self._history.barren_rounds()
        if done >= self._settings.rounds:
            return _Stop(reason=StopReason.ROUNDS, detail=f"--rounds {self._settings.rounds} is reached")
        if barren >= self._settings.patience:
            return _Stop(reason=StopReason.PATIENCE, detail=f"{barren} rounds in a row brought no gain")
        unpaid = self._ledger.stop(self._source.estimate(self._prompt()), self._source.per_round())
        return None if unpaid is None else _Stop(reason=unpaid[0], detail=unpaid[1])

    def _given_up(self, result: RoundResult) -> _Stop | None:
        last = result.candidates[-_HARNESS_PATIENCE:]
        if len(last) == _HARNESS_PATIENCE and all(found.reason is Reason.NOT_MEASURED for found in last):
            return _Stop(reason=StopReason.NOT_MEASURED, detail=last[-1].detail)
        if self._source.first_wins and result.best is None:
            detail = "no further rewrite of the current program brought a gain"
            return _Stop(reason=StopReason.EXHAUSTED, detail=detail)
        return None

    def _round(self, pending: Pending | None) -> RoundResult | _Stop:
        number, parent = len(self._history.rounds) + 1, self._history.parent
        if pending is None:
            self._journal.round_begun(number, parent.id)
        self._observer.round_begun(number, parent.id)
        try:
            for answer in self._asking.answers(number, parent, self._prompt, pending or ()):
                result = self._one(number, answer)
                self._history.open.append(result)
                if result.accepted and self._source.first_wins:
                    break
        except SourceError as error:
            if self._history.open:
                self._end_round()
            return _Stop(reason=StopReason.SOURCE_FAILED, detail=str(error), failure=error)
        if not self._history.open:
            return _Stop(reason=StopReason.EXHAUSTED, detail=self._source.exhausted)
        return self._end_round()

    def _one(self, number: int, answer: Answer) -> CandidateResult:
        # What the harness could not measure before a kill may well be measured now.
        if answer.known is not None and answer.known.reason is not Reason.NOT_MEASURED:
            self._history.remember(answer.known, answer.proposal.code)
            result = answer.known
        else:
            self._observer.judging(answer.name, answer.proposal.origin)
            result = self._referee.judge(answer.name, answer.proposal, self._history.parent)
            self._journal.judged(number, answer.slot, result)
        self._observer.judged(result)
        return result

    def _end_round(self) -> RoundResult:
        """End the open round; its best candidate is the parent of the next."""
        result = self._close()
        self._journal.round_ended(result)
        self._observer.round_ended(result)
        return result

    def _close(self) -> RoundResult:
        result = self._history.close()
        if result.best is not None:
            best = self._history.parent
            self._journal.write_final(best.text, self._patch(best))
        return result

    def _replay(self) -> None:
        """Take over what a log says; nothing of it is measured or paid again."""
        past = self._journal.past
        for result in past.rounds:
            if result.parent == NOTHING:
                continue
            for candidate in result.candidates:
                self._ledger.add(candidate.spend)
                self._history.remember(candidate, past.codes.get(candidate.digest or ""))
                self._history.open.append(candidate)
            self._close()
            self._observer.round_ended(result)
        if past.rounds:
            self._observer.say(f"{len(past.rounds)} rounds are known from {self._journal.directory}")

    def _prompt(self) -> Prompt:
        """The question as things stand.

        Raises:
            MeasureError: the parent could not be measured.
        """
        parent = self._history.parent
        feedback = Feedback(
            parent=parent,
            assessment=self._referee.assess(parent) if self._source.reads_prompt else None,
            last_change=self._history.last_change,
        )
        return build_prompt(self._arena.problem, self._settings.terms, feedback, self._history.tried())

    def _patch(self, source: Source) -> str:
        start = self._history.start
        return unified(start.text, source.text, file_name(start, self._arena.problem))

    # -- the end ------------------------------------------------------------------------------

    def _result(self, stop: _Stop) -> Refinement:
        final, stop = self._final(stop)
        start, problem = self._history.start, self._arena.problem
        assessment = self._referee.assess(start)
        chosen = next(
            (entry.source for entry in self._history.accepted() if entry.source.id == final.id), start
        )
        patch = self._patch(chosen)
        self._journal.write_final(final.code, patch)
        self._journal.stopped(stop.reason, stop.detail)
        return Refinement(
            target=problem.id,
            language=start.language,
            objective=self._settings.terms.objective,
            source=self._source.kind,
            source_note=self._source.note,
            rounds=tuple(self._history.rounds),
            initial=standing(problem, start.id, assessment),
            final=final,
            stop_reason=stop.reason,
            stop_detail=stop.detail,
            patch=patch,
            spend=self._ledger.spent,
            isolation=assessment.verdict.isolation,
            time_meter=assessment.verdict.time_meter,
            memory_meter=assessment.verdict.memory_meter,
            run_dir=str(self._journal.directory),
        )

    def _final(self, stop: _Stop) -> tuple[Final, _Stop]:
        """The final program; a confirmation that is interrupted leaves it unconfirmed."""
        problem, start, chain = self._arena.problem, self._history.start, self._history.chain
        if not chain:
            stand = standing(problem, start.id, self._referee.assess(start))
            return nothing_better(start, "", stand), stop
        why = "the run was interrupted"
        if stop.reason is not StopReason.INTERRUPTED:
            try:
                accepted = self._history.accepted()
                return choose(self._referee, problem, start, accepted, self._observer.say), stop
            except KeyboardInterrupt:
                stop = _INTERRUPTED
            except MeasureError as error:
                why = f"the confirmation could not be measured ({error})"
        last = chain[-1].source.id
        known = self._referee.remembered(last)
        return unconfirmed(chain, why, None if known is None else standing(problem, last, known)), stop


def first_prompt(problem: Problem, terms: Terms, start: Source | None) -> Prompt:
    """The question of the first round before anything was measured."""
    if start is None:
        return first_question(problem, terms)
    return build_prompt(problem, terms, Feedback(parent=start, assessment=None))


def file_name(start: Source, problem: Problem) -> str:
    """The name that a patch gives the program."""
    if start.path is not None:
        return start.path.name
    return f"{problem.id}{SUFFIXES[start.language]}"
