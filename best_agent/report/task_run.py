"""The JSON of `run --task`; docs/json.md writes it out."""

from collections.abc import Callable
from typing import Any

from best_agent.model.measurement import Compared
from best_agent.model.verdict import CaseVerdict, Contest, Grid, PairedCase, ProgramVerdict, TaskVerdict
from best_agent.report.quantities import NO_INTERVAL, compared, interval, ratio


def results(verdict: TaskVerdict) -> dict[str, Any]:
    """The `results` of the envelope."""
    fastest = _by_case(verdict.contests, lambda pair: pair.time)
    leanest = _by_case(verdict.contests, lambda pair: pair.memory)
    return {
        "task": verdict.task,
        "candidate": {"id": verdict.candidate.id, "language": verdict.candidate.language},
        "status": verdict.candidate.status,
        "detail": verdict.candidate.detail,
        "protocol": verdict.protocol,
        "sizes": list(verdict.sizes),
        "memory_limits_bytes": [list(row) for row in verdict.memory_limits],
        "grid": _grid(verdict.candidate.grid),
        "attainable": _grid(verdict.attainable),
        "score": {
            "dual": verdict.dual,
            "time": verdict.time_share,
            "space": verdict.space_share,
            "beyond_references": verdict.beyond_references,
        },
        "cases": [
            _case(case) | _ratios(fastest.get(case.case), leanest.get(case.case), _reason(verdict, case.case))
            for case in verdict.candidate.cases
        ],
        "references": [_reference(reference, verdict) for reference in verdict.references],
        "notes": list(verdict.notes),
    }


def summary(verdict: TaskVerdict) -> dict[str, Any]:
    """The `summary` of the envelope."""
    return {"status": verdict.candidate.status, "dual": verdict.dual}


def _grid(grid: Grid) -> list[list[bool]]:
    return [list(row) for row in grid]


def _case(case: CaseVerdict) -> dict[str, Any]:
    return {
        "scale": case.scale,
        "case": case.case,
        "status": case.status,
        "detail": case.detail,
        "cpu_ns": case.cpu_ns,
        "wall_ns": case.wall_ns,
        "peak_bytes": case.peak_bytes,
        "memory_meter": case.memory_meter,
        "time_limit_ns": case.time_limit_ns,
        "flags": list(case.flags),
    }


def _ratios(time: PairedCase | None, memory: PairedCase | None, reason: str | None) -> dict[str, Any]:
    """Ratios to the fastest reference in time and to the leanest in memory; `reason` for what is None."""
    of_time = None if time is None else time.time
    of_memory = None if memory is None else memory.memory
    found = {
        "time_ratio": ratio(of_time, timed=True),
        "time_ratio_ci": None if of_time is None else interval(of_time.ratio_ci),
        "memory_ratio": ratio(of_memory, timed=False),
        "memory_ratio_ci": None if of_memory is None else interval(of_memory.ratio_ci),
        "memory_ratio_meter": None if of_memory is None else of_memory.meter,
    }
    if found["time_ratio"] is not None and found["memory_ratio"] is not None:
        return {**found, "reason": None}
    unread = of_time is None or of_memory is None
    return {**found, "reason": reason or ("a figure could not be read" if unread else NO_INTERVAL)}


def _reason(verdict: TaskVerdict, case: str, contests: tuple[Contest, ...] | None = None) -> str | None:
    """Why a case has no ratio to one of these contests' references, or to any; None where it has."""
    contests = verdict.contests if contests is None else contests
    if not contests:
        finished = verdict.candidate.admissible
        return "not raced" if finished else "only a program whose answers are right is raced"
    pairs = [pair for contest in contests for pair in contest.cases if pair.case == case]
    if not pairs:
        return "not both programs finish it"
    return next((pair.reason for pair in pairs if pair.reason), None)


def _by_case(
    contests: tuple[Contest, ...], quantity: Callable[[PairedCase], Compared | None]
) -> dict[str, PairedCase]:
    """For each case the pair whose reference needs least of the quantity."""
    least: dict[str, tuple[float, PairedCase]] = {}
    for contest in contests:
        for pair in contest.cases:
            found = quantity(pair)
            if found is None:
                continue
            if pair.case not in least or found.before < least[pair.case][0]:
                least[pair.case] = (found.before, pair)
    return {case: pair for case, (_, pair) in least.items()}


def _reference(reference: ProgramVerdict, verdict: TaskVerdict) -> dict[str, Any]:
    contests = tuple(found for found in verdict.contests if found.baseline == reference.id)
    contest = contests[0] if contests else None
    pairs = {pair.case: pair for pair in contest.cases} if contest else {}
    return {
        "id": reference.id,
        "status": reference.status,
        "grid": _grid(reference.grid),
        "time": None if contest is None else compared(contest.time, timed=True),
        "wall": None if contest is None else compared(contest.wall, timed=True),
        "memory": None if contest is None else compared(contest.memory, timed=False),
        "cases": [
            _case(case)
            | _ratios(pairs.get(case.case), pairs.get(case.case), _reason(verdict, case.case, contests))
            for case in reference.cases
        ],
    }
