"""The rule of acceptance: pure, and the same for every source of proposals and for the confirmation."""

from dataclasses import dataclass
from enum import Enum, auto
from math import log

from best_agent.model.measurement import Compared
from best_agent.model.refinement import CandidateResult, Objective, Reason
from best_agent.model.run import Status
from best_agent.model.verdict import Contest, Grid, ProgramVerdict
from best_agent.units import format_ratio, format_ratio_range

MAX_RATIO = 1.05
"""How much of one quantity may be lost for a gain in the other, unless the user says otherwise."""
_LIMITS = (Status.TIME_LIMIT, Status.MEMORY_LIMIT)
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What has to be gained, and what may be lost for it."""

    objective: Objective = Objective.BOTH
    max_time_ratio: float = MAX_RATIO
    """Time may grow to this many times the parent's where memory is gained."""
    max_memory_ratio: float = MAX_RATIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict on a candidate, with a stable word and one line."""

    accepted: bool
    reason: Reason
    detail: str
    retry: bool = False
    """True: more pairs could settle it."""
    doubtful: tuple[int, ...] = ()
    """Scales at which a reading passed a time limit that the parent's did not; near a limit that may be
    noise, so the paired figures of the race decide."""


_SUSPECT = Decision(
    accepted=False,
    reason=Reason.SUSPECT,
    detail="the memory it reports inside is not what was seen from outside, so no figure of it counts",
)


def failure(verdict: ProgramVerdict, parent: ProgramVerdict) -> Decision | None:
    """The reason to reject a candidate before any race, or None: it is correct where its parent is.

    A case on which the parent, too, runs into a limit does not count against the candidate. A decision
    with `doubtful` scales is final only if `slower_at` agrees.
    """
    before = {case.case: case for case in parent.cases}
    doubtful: dict[int, str] = {}
    for case in verdict.cases:
        if case.status is Status.OK:
            continue
        if case.status not in _LIMITS:
            return _failed(case.status, case.detail, case.scale)
        known = before.get(case.case)
        if known is not None and known.status is not Status.OK:
            continue
        line = f"{case.status} at scale {case.scale}, which its parent passes"
        if case.status is not Status.TIME_LIMIT or not case.answered:
            return Decision(accepted=False, reason=Reason.LOST_CASE, detail=line)
        doubtful.setdefault(case.scale, line)
    if not verdict.cases or not verdict.admissible:
        return _failed(verdict.status, verdict.detail, None)
    if any("suspect" in case.flags for case in verdict.cases):
        return _SUSPECT
    lost = _lost_cell(verdict.grid, parent.grid, tuple(doubtful))
    if lost is not None or not doubtful:
        return lost
    line = next(iter(doubtful.values()))
    return Decision(accepted=False, reason=Reason.LOST_CASE, detail=line, doubtful=tuple(doubtful))


def slower_at(contest: Contest, scales: tuple[int, ...]) -> bool:
    """Whether a race leaves it possible that the candidate is slower at one of the scales.

    It does unless the scale was raced and no case of it is shown to be slower.
    """
    for scale in scales:
        raced = [case.time for case in contest.cases if case.scale == scale and case.time is not None]
        if not raced or any((low(figure) or 0) > 1 for figure in raced):
            return True
    return False


def decide(contest: Contest, terms: Terms, *, passes_more: bool = False) -> Decision:
    """Whether a race shows a gain in what the objective asks for and no loss beyond the terms.

    `passes_more`: the candidate passes cases that its parent does not, which is a gain by itself.
    """
    broken = next((case.reason for case in contest.cases if case.reason), None)
    if broken is not None:
        return Decision(accepted=False, reason=Reason.NOT_COMPARED, detail=_one_line(broken))
    if "suspect" in contest.flags:
        return _SUSPECT
    time = _time_change(contest, terms.max_time_ratio)
    memory = _memory_change(contest, terms.max_memory_ratio)
    figures = f"{words(contest.time, 'time')}, {words(contest.memory, 'memory')}"
    if time is _Change.LOSS:
        return Decision(accepted=False, reason=Reason.TIME_LOSS, detail=figures)
    if memory is _Change.LOSS:
        return Decision(accepted=False, reason=Reason.MEMORY_LOSS, detail=figures)
    gain = _gain(time, memory, terms.objective) or (Reason.PASSES_MORE if passes_more else None)
    if gain is None:
        return _no_gain(contest, time, memory, terms, figures)
    if _Change.UNDECIDED in (time, memory):
        line = f"{figures}; a gain, but a loss in the other could not be ruled out"
        return Decision(accepted=False, reason=Reason.UNDECIDED, detail=line, retry=True)
    if _Change.UNKNOWN in (time, memory) and not passes_more:
        return Decision(accepted=False, reason=Reason.NOT_COMPARED, detail=figures)
    return Decision(accepted=True, reason=gain, detail=figures)


def passes_more(verdict: ProgramVerdict, parent: ProgramVerdict) -> bool:
    """Whether a candidate passes a case on which its parent runs into a limit."""
    limited = {case.case for case in parent.cases if case.status in _LIMITS}
    return any(case.case in limited and case.status is Status.OK for case in verdict.cases)


def score(result: CandidateResult, objective: Objective) -> float:
    """Orders the accepted candidates of a round; smaller is better.

    It is the sum of the logarithms of the ratios that the objective names, at the bad end of their
    intervals. Nothing left at all counts like a billionth.
    """
    figures = {Objective.TIME: (result.time,), Objective.MEMORY: (result.memory,)}.get(
        objective, (result.time, result.memory)
    )
    bounds = [high(figure) for figure in figures if figure is not None]
    return sum(log(max(bound, _NOTHING)) for bound in bounds if bound is not None)


def low(figure: Compared) -> float | None:
    """The good end of a ratio: its interval's, or the ratio itself where it is exact."""
    return figure.ratio if figure.ratio_ci is None else figure.ratio_ci.low


def high(figure: Compared) -> float | None:
    """The bad end of a ratio: its interval's, or the ratio itself where it is exact."""
    return figure.ratio if figure.ratio_ci is None else figure.ratio_ci.high


def words(figure: Compared | None, quantity: str) -> str:
    """A figure in words: `time 3.10x less (2.91x to 3.30x less)`."""
    if figure is None:
        return f"{quantity} not known"
    if figure.ratio is None:
        return (
            f"{quantity} none, as before" if figure.after == 0 else f"{quantity} where there was none before"
        )
    text, interval = f"{quantity} {format_ratio(figure.ratio)}", figure.ratio_ci
    return text if interval is None else f"{text} ({format_ratio_range(interval.low, interval.high)})"


def _failed(status: Status, detail: str, scale: int | None) -> Decision:
    where = "" if scale is None else f" at scale {scale}"
    line = f"{status}{where}" + (f": {_one_line(detail)}" if detail else "")
    reason = Reason.NOT_MEASURED if status is Status.INTERNAL_ERROR else Reason.FAILED
    return Decision(accepted=False, reason=reason, detail=line)


def _lost_cell(grid: Grid, parent: Grid, but: tuple[int, ...]) -> Decision | None:
    """A cell that the parent passes and the candidate does not, at other scales than those of `but`."""
    for scale, (row, before) in enumerate(zip(grid, parent, strict=False), start=1):
        if scale in but:
            continue
        for level, (passed, had) in enumerate(zip(row, before, strict=False), start=1):
            if had and not passed:
                return Decision(
                    accepted=False,
                    reason=Reason.LOST_CELL,
                    detail=f"fails scale {scale} at memory limit {level}, which its parent passes",
                )
    return None


class _Change(Enum):
    """What the figures of one quantity show."""

    GAIN = auto()
    SAME = auto()
    """No gain shown, and a loss beyond the terms ruled out."""
    UNDECIDED = auto()
    LOSS = auto()
    UNKNOWN = auto()


def _time_change(contest: Contest, limit: float) -> _Change:
    figure = contest.time
    if figure is None:
        return _Change.UNKNOWN
    best, worst = low(figure), high(figure)
    if best is None or worst is None:
        return _Change.UNKNOWN
    if contest.time_shown == "less" and worst < 1:
        return _Change.GAIN
    return _beyond(best, worst, limit)


def _memory_change(contest: Contest, limit: float) -> _Change:
    figure = contest.memory
    if figure is None:
        return _Change.UNKNOWN
    if contest.memory_shown != "more":
        return _Change.GAIN if contest.memory_shown == "less" else _Change.SAME
    best, worst = low(figure), high(figure)
    if best is None or worst is None:
        # No ratio: there was nothing before, and more than the meter's resolution after.
        return _Change.LOSS
    return _beyond(best, worst, limit)


def _beyond(best: float, worst: float, limit: float) -> _Change:
    """Whether a ratio between `best` and `worst` is a loss beyond the limit."""
    if best > limit:
        return _Change.LOSS
    return _Change.SAME if worst <= limit else _Change.UNDECIDED


def _gain(time: _Change, memory: _Change, objective: Objective) -> Reason | None:
    faster, leaner = time is _Change.GAIN, memory is _Change.GAIN
    wanted = {Objective.TIME: faster, Objective.MEMORY: leaner, Objective.BOTH: faster or leaner}
    if not wanted[objective]:
        return None
    if faster and leaner:
        return Reason.FASTER_AND_LEANER
    return Reason.FASTER if faster else Reason.LEANER


def _no_gain(contest: Contest, time: _Change, memory: _Change, terms: Terms, figures: str) -> Decision:
    if time is _Change.UNKNOWN and memory is _Change.UNKNOWN:
        line = "there is no scale that both it and its parent finish"
        return Decision(accepted=False, reason=Reason.NOT_COMPARED, detail=line)
    wanted = "time or memory" if terms.objective is Objective.BOTH else str(terms.objective)
    line = f"no gain in {wanted} is shown: {figures}{_not_enough(contest.time, terms)}"
    return Decision(accepted=False, reason=Reason.NO_GAIN, detail=line)


def _not_enough(figure: Compared | None, terms: Terms) -> str:
    """Why an interval that lies below 1 is no gain, where that is so.

    The interval is one of 95% for this pair alone; a claim has to hold over all candidates of a run.
    """
    if figure is None or terms.objective is Objective.MEMORY:
        return ""
    if figure.ratio_ci is None or figure.ratio_ci.high >= 1:
        return ""
    return (
        f"; the 95% interval lies below 1, but {figure.n} pairs do not show a gain of 1% at this run's error "
        "budget, which all its candidates share"
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "..."
