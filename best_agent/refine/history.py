"""What a run knows: its rounds, the chain of parents, and every accepted program."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from best_agent.model.refinement import CandidateResult, Objective, Reason, RoundResult
from best_agent.model.task import Source
from best_agent.refine.accept import score
from best_agent.refine.archive import Archive, Entry
from best_agent.refine.finish import Accepted


@dataclass(slots=True, kw_only=True)
class History:
    """Grows by one round after another; the best candidate of a round is the parent of the next."""

    start: Source
    archive: Archive
    objective: Objective
    rounds: list[RoundResult] = field(default_factory=list)
    chain: list[Accepted] = field(default_factory=list)
    """The parents after the start, in order."""
    open: list[CandidateResult] = field(default_factory=list)
    """Results of the round that is not over yet."""

    def __post_init__(self) -> None:
        self.archive.add(Entry(source=self.start))

    @property
    def parent(self) -> Source:
        """The program to improve next."""
        return self.chain[-1].source if self.chain else self.start

    @property
    def last_change(self) -> CandidateResult | None:
        """The result by which the parent was accepted; None for the start."""
        return self.chain[-1].result if self.chain else None

    def tried(self) -> list[CandidateResult]:
        """All candidates so far, the open round's, too."""
        return [result for found in self.rounds for result in found.candidates] + self.open

    def remember(self, result: CandidateResult, code: str | None) -> None:
        """Take over a candidate of the open round that a log knows, without measuring it."""
        if code is not None and result.reason not in (Reason.NOT_MEASURED, Reason.DUPLICATE):
            source = replace(self.parent, id=result.id, text=code, path=None)
            self.archive.add(Entry(source=source, result=result))

    def close(self) -> RoundResult:
        """End the open round."""
        results, self.open = tuple(self.open), []
        accepted = [result for result in results if result.accepted]
        best = min(accepted, key=lambda result: score(result, self.objective), default=None)
        found = RoundResult(
            round=len(self.rounds) + 1,
            parent=self.parent.id,
            candidates=results,
            best=None if best is None else best.id,
        )
        self.rounds.append(found)
        if best is not None:
            source = next(entry.source for entry in self.accepted() if entry.source.id == best.id)
            self.chain.append(Accepted(source=source, result=best))
        return found

    def accepted(self) -> Sequence[Accepted]:
        """All accepted programs: the parents first, the latest in front, then the others."""
        chain = list(reversed(self.chain))
        taken = {entry.source.id for entry in chain}
        others = [
            Accepted(source=entry.source, result=entry.result)
            for entry in self.archive.accepted()
            if entry.result is not None and entry.source.id not in taken
        ]
        return chain + others

    def barren_rounds(self) -> int:
        """Rounds in a row, up to the last one, that brought no gain."""
        count = 0
        for found in reversed(self.rounds):
            if found.best is not None:
                break
            count += 1
        return count
