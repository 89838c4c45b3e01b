"""The JSON of `run --task`; docs/json.md writes it out."""

from typing import Any

from best_agent.model.measurement import Compared
from best_agent.model.verdict import CaseVerdict, Contest, Grid, PairedCase, ProgramVerdict, TaskVerdict


def results(verdict: TaskVerdict) -> dict[str, Any]:
    """The `results` of the envelope."""
    fastest = _by_case(verdict.contests, "time")
    leanest = _by_case(verdict.contests, "memory")
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
            _case(case) | _ratios(fastest.get(case.case), leanest.get(case.case))
            for case in verdict.candidate.cases
        ],
        "references": [_reference(reference, verdict) for reference in verdict.references],
        "notes": list(verdict.notes),
    }


def summary(verdict: TaskVerdict) -> dict[str, Any]:
    """The `summary` of the envelope."""
    return {"status": verdict.candidate.status, "dual": verdict.dual}


def compared(quantity: Compared | None) -> dict[str, Any] | None:
    """A compared quantity by contract."""
    if quantity is None:
        return None
    interval = quantity.ratio_ci
    return {
        "before": quantity.before,
        "after": quantity.after,
        "ratio": quantity.ratio,
        "ratio_ci": None if interval is None else [interval.low, interval.high],
        "meter": quantity.meter,
        "n": quantity.n,
    }


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
        "time_limit_ns": case.time_limit_ns,
        "flags": list(case.flags),
    }


def _ratios(time: PairedCase | None, memory: PairedCase | None) -> dict[str, Any]:
    """Ratios to the fastest reference in time and to the leanest in memory."""
    of_time = None if time is None else time.time
    of_memory = None if memory is None else memory.memory
    interval = None if of_time is None else of_time.ratio_ci
    return {
        "time_ratio": None if of_time is None else of_time.ratio,
        "time_ratio_ci": None if interval is None else [interval.low, interval.high],
        "memory_ratio": None if of_memory is None else of_memory.ratio,
    }


def _by_case(contests: tuple[Contest, ...], quantity: str) -> dict[str, PairedCase]:
    """For each case the pair whose reference needs least of the quantity."""
    least: dict[str, tuple[float, PairedCase]] = {}
    for contest in contests:
        for pair in contest.cases:
            compared_quantity: Compared | None = getattr(pair, quantity)
            if compared_quantity is None:
                continue
            if pair.case not in least or compared_quantity.before < least[pair.case][0]:
                least[pair.case] = (compared_quantity.before, pair)
    return {case: pair for case, (_, pair) in least.items()}


def _reference(reference: ProgramVerdict, verdict: TaskVerdict) -> dict[str, Any]:
    contest = next((found for found in verdict.contests if found.baseline == reference.id), None)
    pairs = {} if contest is None else {pair.case: pair for pair in contest.cases}
    return {
        "id": reference.id,
        "status": reference.status,
        "grid": _grid(reference.grid),
        "time": None if contest is None else compared(contest.time),
        "wall": None if contest is None else compared(contest.wall),
        "memory": None if contest is None else compared(contest.memory),
        "cases": [
            _case(case) | _ratios(pairs.get(case.case), pairs.get(case.case)) for case in reference.cases
        ],
    }
