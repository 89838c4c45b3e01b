"""The JSON of `refine`; docs/refine.md writes it out."""

from typing import Any

from best_agent.model.measurement import Compared
from best_agent.model.refinement import (
    CandidateResult,
    Final,
    ReferenceDistance,
    Refinement,
    RoundResult,
    Spend,
    Standing,
)
from best_agent.report.quantities import interval, ratio


def results(refinement: Refinement) -> dict[str, Any]:
    """The `results` of the envelope."""
    return {
        "target": refinement.target,
        "language": refinement.language,
        "objective": refinement.objective,
        "source": refinement.source,
        "source_note": refinement.source_note,
        "rounds": [_round(found) for found in refinement.rounds],
        "initial": standing(refinement.initial),
        "final": final(refinement.final),
        "stop_reason": refinement.stop_reason,
        "stop_detail": refinement.stop_detail,
        "patch": refinement.patch,
        "run_dir": refinement.run_dir,
    }


def summary(refinement: Refinement) -> dict[str, Any]:
    """The `summary` of the envelope."""
    candidates = [candidate for found in refinement.rounds for candidate in found.candidates]
    return {
        "improved": refinement.final.id != refinement.initial.id,
        "rounds": len(refinement.rounds),
        "candidates": len(candidates),
        "accepted": sum(candidate.accepted for candidate in candidates),
        "stop_reason": refinement.stop_reason,
        **spend(refinement.spend),
        "calls": refinement.spend.calls,
        "tokens_estimated": refinement.spend.estimated,
    }


def spend(spent: Spend) -> dict[str, Any]:
    """Tokens and USD; null is what is not known."""
    return {
        "tokens_in": spent.tokens_in if spent.counted else None,
        "tokens_out": spent.tokens_out if spent.counted else None,
        "cost_usd": spent.usd,
    }


def ratios(time: Compared | None, memory: Compared | None) -> dict[str, Any]:
    """Ratios with their intervals; a null interval says that the ratio is exact, or that there is none."""
    return {
        "time_ratio": ratio(time, timed=True),
        "time_ratio_ci": None if time is None else interval(time.ratio_ci),
        "memory_ratio": ratio(memory, timed=False),
        "memory_ratio_ci": None if memory is None else interval(memory.ratio_ci),
    }


def standing(found: Standing | None) -> dict[str, Any] | None:
    """Where a program stands on its own."""
    if found is None:
        return None
    return {
        "id": found.id,
        "status": found.status,
        "scales": [
            {
                "scale": scale.scale,
                "size": scale.size,
                "status": scale.status,
                "cpu_ns": scale.cpu_ns,
                "peak_bytes": scale.peak_bytes,
            }
            for scale in found.scales
        ],
        "cells_passed": found.cells_passed,
        "cells": found.cells,
        "references": [_distance(distance) for distance in found.references],
    }


def final(found: Final) -> dict[str, Any]:
    """The final program, compared with the start."""
    return {
        "id": found.id,
        **ratios(found.time, found.memory),
        "confirmed": found.confirmed,
        "verified": found.verified or None,
        "note": found.note,
        "standing": standing(found.standing),
        "code": found.code,
    }


def _round(found: RoundResult) -> dict[str, Any]:
    return {
        "round": found.round,
        "parent": found.parent,
        "candidates": [_candidate(candidate) for candidate in found.candidates],
        "best": found.best,
    }


def _candidate(found: CandidateResult) -> dict[str, Any]:
    return {
        "id": found.id,
        "origin": found.origin,
        "status": found.status,
        "accepted": found.accepted,
        "reason": found.reason,
        "detail": found.detail,
        **ratios(found.time, found.memory),
        **spend(found.spend),
    }


def _distance(found: ReferenceDistance) -> dict[str, Any]:
    return {"reference": found.reference, **ratios(found.time, found.memory)}
