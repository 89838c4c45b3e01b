"""Judges proposals: cheap checks first, then correctness, then the race against the parent."""

from dataclasses import replace

from best_agent.errors import MeasureError
from best_agent.model.refinement import CandidateResult, Reason
from best_agent.model.task import Source
from best_agent.model.verdict import Contest, ProgramVerdict
from best_agent.refine.accept import Decision, Terms, decide, failure, passes_more, slower_at
from best_agent.refine.archive import Archive, Entry, digest
from best_agent.refine.contract import Arena, Assessment
from best_agent.refine.proposals.base import Proposal

NOT_RUN = "not-run"


class Referee:
    """Knows every program of the run, and what came of it."""

    def __init__(self, arena: Arena, terms: Terms, *, share: float) -> None:
        self._arena = arena
        self._terms = terms
        self._share = share
        self._assessments: dict[str, Assessment] = {}
        self._verdicts: dict[str, ProgramVerdict] = {}
        self.archive = Archive()

    def assess(self, source: Source) -> Assessment:
        """A program on its own; measured once.

        Raises:
            MeasureError: the harness failed.
        """
        if source.id not in self._assessments:
            self._assessments[source.id] = self._arena.assess(source)
            self._verdicts[source.id] = self._assessments[source.id].verdict
        return self._assessments[source.id]

    def verdict(self, source: Source) -> ProgramVerdict:
        """The verdict on a program, without the races against the references.

        Raises:
            MeasureError: the harness failed.
        """
        if source.id not in self._verdicts:
            self._verdicts[source.id] = self._arena.judge(source)
        return self._verdicts[source.id]

    def remembered(self, name: str) -> Assessment | None:
        """What was measured of a program in this process, if anything; it may lack the references."""
        verdict = self._verdicts.get(name)
        return self._assessments.get(name) or (None if verdict is None else Assessment(verdict=verdict))

    def judge(self, name: str, proposal: Proposal, parent: Source) -> CandidateResult:
        """What becomes of a proposal, compared with the parent."""
        result = _unjudged(name, proposal)
        if proposal.code is None:
            return result
        known = self.archive.known(proposal.code, parent.language)
        if known is not None:
            return replace(result, reason=Reason.DUPLICATE, detail=_same_as(known))
        candidate = replace(parent, id=name, text=proposal.code, path=None)
        result = self._measured(result, candidate, parent)
        if result.reason is not Reason.NOT_MEASURED:
            self.archive.add(Entry(source=candidate, result=result))
        return result

    def first(self, source: Source, proposal: Proposal) -> CandidateResult:
        """What becomes of a proposal where there is nothing to compare it with: right or wrong."""
        result = _unjudged(source.id, proposal)
        if proposal.code is None:
            return result
        try:
            verdict = self.verdict(source)
        except MeasureError as error:
            return replace(result, reason=Reason.NOT_MEASURED, detail=str(error))
        result = replace(result, status=str(verdict.status))
        if verdict.admissible:
            detail = "the first right program: the start of what follows"
            return replace(result, accepted=True, reason=Reason.FIRST, detail=detail)
        return _with(result, failure(verdict, verdict) or _INADMISSIBLE, None)

    def confirm(self, start: Source, source: Source) -> tuple[Decision, Contest, str]:
        """The race of an accepted program against the start, anew; twice where the first shows nothing.

        Raises:
            MeasureError: the harness failed.
        """
        more = passes_more(self.verdict(source), self.verdict(start))
        contest, how = self._arena.confirm(start, source)
        decision = self._confirmed(contest, more=more)
        shown = decision.accepted or decision.reason in (Reason.TIME_LOSS, Reason.MEMORY_LOSS)
        if not shown and contest.cases:
            contest, how = self._arena.confirm(start, source)
            decision = self._confirmed(contest, more=more)
        return decision, contest, how

    def _confirmed(self, contest: Contest, *, more: bool) -> Decision:
        # Without a case one of the two is wrong on the fresh inputs; passing more elsewhere is no excuse.
        return decide(contest, self._terms, passes_more=more and bool(contest.cases))

    def _measured(self, result: CandidateResult, candidate: Source, parent: Source) -> CandidateResult:
        try:
            verdict, before = self.verdict(candidate), self.verdict(parent)
            result = replace(result, status=str(verdict.status))
            lost = failure(verdict, before)
            if lost is not None and not lost.doubtful:
                return _with(result, lost, None)
            more = passes_more(verdict, before)
            also = () if lost is None else lost.doubtful
            contest = self._arena.race(parent, candidate, share=self._share, also=also)
            decision = decide(contest, self._terms, passes_more=more)
            if decision.retry:
                contest = self._arena.race(parent, candidate, share=self._share, also=also)
                decision = decide(contest, self._terms, passes_more=more)
            if decision.accepted and lost is not None and slower_at(contest, lost.doubtful):
                decision = lost
        except MeasureError as error:
            return replace(result, reason=Reason.NOT_MEASURED, detail=str(error))
        return _with(result, decision, contest)


_INADMISSIBLE = Decision(accepted=False, reason=Reason.FAILED, detail="it is not right")


def _unjudged(name: str, proposal: Proposal) -> CandidateResult:
    return CandidateResult(
        id=name,
        origin=proposal.origin,
        status=NOT_RUN,
        accepted=False,
        reason=proposal.problem or Reason.NO_CODE,
        detail=proposal.detail,
        digest=None if proposal.code is None else digest(proposal.code),
        spend=proposal.spend,
    )


def _with(result: CandidateResult, decision: Decision, contest: Contest | None) -> CandidateResult:
    return replace(
        result,
        accepted=decision.accepted,
        reason=decision.reason,
        detail=decision.detail,
        time=contest.time if contest else None,
        memory=contest.memory if contest else None,
    )


def _same_as(known: Entry) -> str:
    if known.result is None:
        return "the same program as the start"
    verdict = "accepted" if known.result.accepted else "rejected"
    return f"the same program as {known.source.id}, which was {verdict}: {known.result.reason}"
