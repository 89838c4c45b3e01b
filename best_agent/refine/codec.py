"""Candidates' results as JSON and back, for the journal of a run."""

from dataclasses import asdict
from typing import Any

from best_agent.model.measurement import Compared, Interval
from best_agent.model.refinement import CandidateResult, Reason, Spend
from best_agent.model.run import Meter
from best_agent.refine.archive import digest
from best_agent.refine.proposals.base import Proposal


def dump_result(result: CandidateResult) -> dict[str, Any]:
    """A result as plain JSON values."""
    return asdict(result)


def load_result(data: dict[str, Any]) -> CandidateResult:
    """A result from `dump_result`.

    Raises:
        KeyError, TypeError, ValueError: the data is not one.
    """
    return CandidateResult(
        **{
            **data,
            "reason": Reason(data["reason"]),
            "time": _compared(data["time"]),
            "memory": _compared(data["memory"]),
            "spend": Spend(**data["spend"]),
        }
    )


def dump_proposal(proposal: Proposal) -> dict[str, Any]:
    """A proposal as plain JSON values; its texts are named by their digests."""
    return {
        "origin": proposal.origin,
        "name": proposal.name,
        "code": None if proposal.code is None else digest(proposal.code),
        "raw": digest(proposal.raw) if proposal.raw else None,
        "problem": proposal.problem,
        "detail": proposal.detail,
        "spend": asdict(proposal.spend),
    }


def load_proposal(data: dict[str, Any], code: str | None) -> Proposal:
    """A proposal from `dump_proposal` and the text of its code. The raw answer is not read back.

    Raises:
        KeyError, TypeError, ValueError: the data is not one.
    """
    problem = data["problem"]
    return Proposal(
        origin=data["origin"],
        name=data["name"],
        code=code,
        problem=None if problem is None else Reason(problem),
        detail=data["detail"],
        spend=Spend(**data["spend"]),
    )


def _compared(data: dict[str, Any] | None) -> Compared | None:
    if data is None:
        return None
    interval = data["ratio_ci"]
    return Compared(
        **{
            **data,
            "meter": Meter(data["meter"]),
            "ratio_ci": None if interval is None else Interval(**interval),
        }
    )
