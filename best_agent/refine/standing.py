"""Where a program stands on its own, from its assessment."""

from best_agent.model.refinement import ReferenceDistance, ScaleCost, Standing
from best_agent.model.run import Status
from best_agent.refine.contract import Assessment, Problem


def standing(problem: Problem, program: str, assessment: Assessment) -> Standing:
    """Cost by scale (of the costliest case), cells of the grid, and distance to the references."""
    verdict = assessment.verdict
    scales = []
    for number, size in enumerate(problem.sizes, start=1):
        cases = [case for case in verdict.cases if case.scale == number]
        bad = next((case.status for case in cases if case.status is not Status.OK), None)
        scales.append(
            ScaleCost(
                scale=number,
                size=size,
                status=str(bad or (Status.OK if cases else verdict.status)),
                cpu_ns=max((case.cpu_ns for case in cases if case.cpu_ns is not None), default=None),
                peak_bytes=max(
                    (case.peak_bytes for case in cases if case.peak_bytes is not None), default=None
                ),
            )
        )
    return Standing(
        id=program,
        status=str(verdict.status),
        scales=tuple(scales),
        cells_passed=sum(cell for row in verdict.grid for cell in row),
        cells=sum(len(row) for row in verdict.grid),
        references=tuple(
            ReferenceDistance(reference=contest.baseline, time=contest.time, memory=contest.memory)
            for contest in assessment.against_references
        ),
    )
