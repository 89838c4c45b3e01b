"""The JSON of `compare` and `measure`: see docs/own-code.md."""

from collections.abc import Sequence
from typing import Any

from best_agent.model.measurement import Growth
from best_agent.report.quantities import compared, interval
from best_agent.workload.figures import (
    QUANTITIES,
    Absolute,
    Comparison,
    Conditions,
    Figure,
    SameResults,
    SideReport,
    SizeComparison,
    SizeMeasurement,
    State,
)

_TIMED = ("cpu", "wall")


def comparison(found: Comparison) -> dict[str, Any]:
    """One entry of `results` of best-agent/compare/1."""
    absolute = found.status is State.NEW
    return {
        "target": found.after.target if found.after else None,
        "before": _side(found.before),
        "after": _side(found.after),
        "inputs": found.conditions.inputs,
        "conditions": _conditions(found.conditions),
        "sizes": [_figures(row) for row in found.absolute]
        if absolute
        else [_pair(row) for row in found.sizes],
        "growth": {
            "time": _growths(found.growth_before.cpu, found.growth_after.cpu),
            "memory": _growths(found.growth_before.peak, found.growth_after.peak),
        },
        "same_results": _same(found.same_results),
        "status": found.status.value,
        "verdict": found.verdict,
    }


def absolute(found: Absolute) -> dict[str, Any]:
    """One entry of `results` of best-agent/measure/1."""
    return {
        "target": found.side.target if found.side else None,
        "side": _side(found.side),
        "inputs": found.conditions.inputs,
        "conditions": _conditions(found.conditions),
        "sizes": [_figures(row) for row in found.sizes],
        "growth": {"time": _growth(found.growth.cpu), "memory": _growth(found.growth.peak)},
        "same_results": None,
        "status": found.status.value,
        "verdict": found.verdict,
    }


def meters(conditions: Conditions, rows: Sequence[SizeComparison | SizeMeasurement]) -> dict[str, str]:
    """The envelope's `meters`: the worst of each quantity, unavailable where nothing was had."""
    timed = any(row.cpu is not None for row in rows)
    held = any(row.peak is not None for row in rows)
    return {
        "time": "exact" if timed else "unavailable",
        "memory": conditions.memory_meter.value if held else "unavailable",
    }


def _pair(row: SizeComparison) -> dict[str, Any]:
    found: dict[str, Any] = {"n": row.n}
    found.update({name: compared(getattr(row, name), timed=name in _TIMED) for name in QUANTITIES})
    found.update(
        cpu_shown=row.cpu_shown if row.cpu else None,
        wall_shown=row.wall_shown if row.wall else None,
        waits=row.waits if row.cpu else None,
        reason=row.reason or None,
    )
    return found


def _figures(row: SizeMeasurement) -> dict[str, Any]:
    found: dict[str, Any] = {"n": row.n}
    found.update({name: _figure(getattr(row, name)) for name in QUANTITIES})
    return {**found, "reason": row.reason or None}


def _figure(value: Figure | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"value": value.value, "ci": interval(value.ci), "meter": value.meter.value, "n": value.n}


def _growths(before: Growth | None, after: Growth | None) -> dict[str, Any]:
    return {"before": _growth(before), "after": _growth(after)}


def _growth(value: Growth | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"exponent": value.exponent, "ci": interval(value.ci), "sizes": value.sizes}


def _same(value: SameResults | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        "equal": value.equal,
        "of": value.of,
        "within_tolerance": value.within_tolerance,
        "differences": list(value.differences),
        "uncertain": list(value.uncertain),
    }


def _side(value: SideReport | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        "label": value.label,
        "target": value.target,
        "origin": value.file or None,
        "modules": value.modules,
        "shared": list(value.shared),
    }


def _conditions(value: Conditions) -> dict[str, Any]:
    return {
        "python": value.python,
        "interpreter": value.interpreter,
        "found_by": value.found_by,
        "notes": list(value.notes),
    }
