"""From the results of models over a task set to the table that `report` shows."""

from collections.abc import Callable, Mapping, Sequence

from best_agent.errors import ResultsError
from best_agent.model.score import (
    Difference,
    Estimate,
    Excluded,
    ModelScore,
    Protocol,
    ScoreTable,
    TaskResults,
)
from best_agent.scoring import bootstrap
from best_agent.scoring.cells import BEST_2026_SAMPLES, REFERENCES, TaskCells, task_cells
from best_agent.scoring.dual import lacking
from best_agent.scoring.figures import BEYOND, Values, model_values, reference_values

__all__ = ["BEYOND", "score"]


def score(
    results: Sequence[TaskResults],
    *,
    protocol: Protocol = Protocol.DEFAULT,
    ks: Sequence[int] = (1, 10),
    resamples: int = bootstrap.RESAMPLES,
    progress: Callable[[str], None] = lambda _line: None,
) -> ScoreTable:
    """Scores of every model over the tasks, with 95% intervals.

    Under `default` a task that cannot be scored is excluded and named, what is missing counts as failed,
    and every model is scored on the same tasks. Under `best-2026` the figures are the public harness's.

    Raises:
        ResultsError: there is nothing to score; or, under best-2026, a task on which the public harness
            divides by zero or has no references.
        ValueError: no k, or one below 1.
    """
    if not ks or min(ks) < 1:
        raise ValueError("k is a whole number from 1")
    ks = tuple(sorted(set(ks)))
    samples = _samples(results, protocol)
    cells, excluded = _cells(results, protocol, samples)
    if not cells:
        named = "; ".join(f"task {task.task}: {task.reason}" for task in excluded[:5])
        raise ResultsError(f"no task can be scored: {named or 'there are no results'}")
    models = []
    for number, (model, count) in enumerate(samples.items(), 1):
        progress(f"scoring {model}, {number} of {len(samples)}")
        values = model_values(model, count, cells, protocol, ks)
        models.append(_model_score(model, count, cells, values, protocol, resamples))
    progress("")
    models.sort(key=lambda model: _rank(model, f"dual@{ks[0]}"))
    references = reference_values(cells, protocol, ks)
    return ScoreTable(
        protocol=protocol,
        ks=ks,
        models=tuple(models),
        references=_model_score(REFERENCES, 1, cells, references, protocol, resamples),
        tasks=len(cells),
        excluded=tuple(excluded),
        missing=tuple(gap for one in cells for gap in one.missing),
        differences=tuple(_differences(models, ks, resamples)),
    )


def _samples(results: Sequence[TaskResults], protocol: Protocol) -> dict[str, int]:
    """How many samples each model has: the highest sample number seen anywhere in the task set."""
    highest: dict[str, int] = {}
    for task in results:
        for model, attempts in task.models.items():
            highest[model] = max(highest.get(model, 1), *attempts, 1)
    if protocol is Protocol.BEST_2026:
        return dict.fromkeys(sorted(highest), BEST_2026_SAMPLES)
    return {model: highest[model] for model in sorted(highest)}


def _cells(
    results: Sequence[TaskResults], protocol: Protocol, samples: dict[str, int]
) -> tuple[list[TaskCells], list[Excluded]]:
    theirs = protocol is Protocol.BEST_2026
    if theirs and results and not any(task.references for task in results):
        raise ResultsError(
            f"task {results[0].task.id}: neither it nor any other task has references ('{REFERENCES}'), "
            "and scores are relative to what references pass"
        )
    cells: list[TaskCells] = []
    excluded: list[Excluded] = []
    for task in results:
        # The public harness has no row for a model that it found no file of; ours counts it as failed.
        scored = [model for model in samples if not theirs or model in task.models]
        if theirs and not scored and not task.references:
            continue
        one = task_cells(task, protocol=protocol, samples=samples, scored=scored)
        reason = lacking(one.attainable) if one.references else "there are no references"
        if reason is None:
            cells.append(one)
        elif theirs:
            raise ResultsError(
                f"task {task.task.id}: {reason}; the public harness fails there. Leave the task out, or "
                "score with --protocol default, which excludes it and says so"
            )
        else:
            excluded.append(Excluded(task=task.task.id, reason=reason))
    return cells, excluded


def _model_score(
    model: str, samples: int, cells: Sequence[TaskCells], values: Values, protocol: Protocol, resamples: int
) -> ModelScore:
    everything = {"all": tuple(values.by_task)}
    scores = _by_group(values, everything, resamples).get("all", {})
    return ModelScore(
        model=model,
        samples=samples,
        tasks=len(values.by_task),
        scores=scores,
        not_scored=values.not_scored,
        by_difficulty=_by_group(values, by_difficulty(cells, protocol), resamples),
        by_category=_by_group(values, by_category(cells), resamples),
        per_task={
            task: {figure: sum(several) / len(several) for figure, several in figures.items()}
            for task, figures in values.by_task.items()
        },
    )


def _by_group(
    values: Values, groups: Mapping[str, Sequence[str]], resamples: int
) -> dict[str, dict[str, Estimate]]:
    """Estimates of every figure in every group that has tasks."""
    estimates: dict[str, dict[str, Estimate]] = {}
    for group, tasks in groups.items():
        present = [values.by_task[task] for task in tasks if task in values.by_task]
        if present:
            estimates[group] = {
                figure: bootstrap.clustered_mean(
                    [figures[figure] for figures in present], resamples=resamples
                )
                for figure in present[0]
            }
    return estimates


def by_difficulty(cells: Sequence[TaskCells], protocol: Protocol) -> dict[str, list[str]]:
    """Tasks by difficulty; `Medium` is `medium`, except to the public harness, which compares exactly."""
    groups: dict[str, list[str]] = {}
    for one in cells:
        written = one.task.difficulty
        name = written if protocol is Protocol.BEST_2026 else written.strip().lower()
        groups.setdefault(name, []).append(one.task.id)
    return groups


def by_category(cells: Sequence[TaskCells]) -> dict[str, list[str]]:
    """Tasks by category; a task of several categories counts in each."""
    groups: dict[str, list[str]] = {}
    for one in cells:
        for category in one.task.categories:
            groups.setdefault(category, []).append(one.task.id)
    return {category: groups[category] for category in sorted(groups)}


def _rank(model: ModelScore, figure: str) -> tuple[float, str]:
    estimate = model.scores.get(figure)
    return (-estimate.value if estimate else 1.0, model.model)


def _differences(models: Sequence[ModelScore], ks: Sequence[int], resamples: int) -> list[Difference]:
    """The leading model against each other one, task by task."""
    found = []
    for figure in (f"dual@{k}" for k in ks):
        for model in models[1:]:
            leader = models[0].per_task
            pairs = [
                leader[task][figure] - figures[figure]
                for task, figures in model.per_task.items()
                if task in leader and figure in figures and figure in leader[task]
            ]
            if pairs:
                difference = bootstrap.mean(pairs, resamples=resamples)
                found.append(
                    Difference(
                        leader=models[0].model, model=model.model, figure=figure, difference=difference
                    )
                )
    return found
