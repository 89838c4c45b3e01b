"""`run FILE --task ID`: one candidate judged, raced against every reference, and scored."""

from collections.abc import Callable

from best_agent.judge.grid import union
from best_agent.measure.sequential import Plan
from best_agent.model.task import Source
from best_agent.model.verdict import Contest, ProgramVerdict, TaskVerdict
from best_agent.pipeline.protocol import BEST_2026
from best_agent.pipeline.trial import Trial
from best_agent.scoring.dual import score_grid

RACE_BUDGET_S = 10.0


def run_on_task(
    trial: Trial, candidate: Source, *, race: bool, progress: Callable[[str], None]
) -> TaskVerdict:
    """Judge a candidate in a prepared trial and, unless told not to, race it against each reference.

    Raises:
        UsageError: the language's tools are missing.
        MeasureError: the harness failed.
    """
    task, limits = trial.task, trial.limits
    verdict = trial.judge(candidate)
    attainable = union(reference.grid for reference in trial.references)
    score = score_grid(
        verdict.grid,
        attainable,
        tau=task.tau,
        sigma=task.sigma,
        only_attainable=trial.protocol is not BEST_2026,
    )
    contests = _contests(trial, candidate, verdict, progress) if race and verdict.admissible else ()
    return TaskVerdict(
        task=task.id,
        title=task.title,
        protocol=trial.protocol.name,
        sizes=task.sizes,
        memory_limits=limits.memory_bytes,
        candidate=verdict,
        references=trial.references,
        contests=contests,
        attainable=attainable,
        dual=score.dual,
        time_share=score.time,
        space_share=score.space,
        beyond_references=score.beyond_references,
        notes=task.notes,
    )


def _contests(
    trial: Trial, candidate: Source, verdict: ProgramVerdict, progress: Callable[[str], None]
) -> tuple[Contest, ...]:
    mine = {case.case for case in verdict.cases if case.answered}
    contests = []
    for reference, measured in zip(trial.task.references_in(trial.language), trial.references, strict=True):
        progress(f"{candidate.id} against {reference.id}: running in turn")
        both = [case.case for case in measured.cases if case.answered and case.case in mine]
        contests.append(trial.race(reference, candidate, both, plan=Plan(), budget_s=RACE_BUDGET_S))
    return tuple(contests)
