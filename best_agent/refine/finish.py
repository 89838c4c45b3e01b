"""The end of a run: the winner is measured once more, and that figure is the one reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import CandidateResult, Final, Standing
from best_agent.model.task import Source
from best_agent.refine.accept import high, low
from best_agent.refine.contract import Problem
from best_agent.refine.referee import Referee
from best_agent.refine.standing import standing

MAX_CONFIRMATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A program that was accepted, with the result that says so."""

    source: Source
    result: CandidateResult


def choose(
    referee: Referee,
    problem: Problem,
    start: Source,
    accepted: Sequence[Accepted],
    say: Callable[[str], None],
) -> Final:
    """The first of the accepted programs whose gain over the start holds when measured again.

    Args:
        referee: who measures.
        problem: the problem.
        start: what it is compared with.
        accepted: candidates for the end, the best one first.
        say: told of every confirmation that does not hold.

    Raises:
        MeasureError: the harness failed.
    """
    broken: list[str] = []
    for entry in accepted[:MAX_CONFIRMATIONS]:
        say(f"confirming {entry.source.id} against the start")
        decision, contest, how = referee.confirm(start, entry.source)
        if decision.accepted:
            return Final(
                id=entry.source.id,
                time=contest.time,
                memory=contest.memory,
                confirmed=True,
                verified=how,
                note="; ".join(broken),
                standing=standing(problem, entry.source.id, referee.assess(entry.source)),
                code=entry.source.text,
            )
        why = f"{decision.reason}: {decision.detail}"
        broken.append(f"{entry.source.id} was accepted, but did not hold when measured again ({why})")
        say(broken[-1])
    return nothing_better(start, "; ".join(broken), standing(problem, start.id, referee.assess(start)))


def nothing_better(start: Source, why: str, initial: Standing | None) -> Final:
    """The start itself is the result."""
    return Final(
        id=start.id,
        time=None,
        memory=None,
        confirmed=False,
        verified="",
        note=why,
        standing=initial,
        code=start.text,
    )


def unconfirmed(chain: Sequence[Accepted], why: str, stand: Standing | None) -> Final:
    """The latest accepted program where no confirmation could be had.

    Its figures are the products of the rounds' ratios; the ends of the intervals are multiplied, too,
    which makes them wider than need be rather than too narrow.
    """
    last = chain[-1].source
    return Final(
        id=last.id,
        time=_product([entry.result.time for entry in chain]),
        memory=_product([entry.result.memory for entry in chain]),
        confirmed=False,
        verified="",
        note=f"not confirmed: {why}; the figures are put together from those of the rounds",
        standing=stand,
        code=last.text,
    )


def _product(figures: Sequence[Compared | None]) -> Compared | None:
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) != len(figures):
        return None
    ratio = _times([figure.ratio for figure in known])
    lows, highs = _times([low(figure) for figure in known]), _times([high(figure) for figure in known])
    exact = all(figure.ratio_ci is None for figure in known)
    interval = None if exact or lows is None or highs is None else Interval(low=lows, high=highs)
    return Compared(
        before=known[0].before,
        after=known[-1].after,
        ratio=ratio,
        ratio_ci=interval,
        meter=known[0].meter,
        n=min(figure.n for figure in known),
    )


def _times(values: Sequence[float | None]) -> float | None:
    product = 1.0
    for value in values:
        if value is None:
            return None
        product *= value
    return product
