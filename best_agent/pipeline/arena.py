"""The arena of `refine` on a task: a trial, seen through what the loop may ask."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from best_agent import languages
from best_agent.catalogue.cases import has_fresh_cases
from best_agent.catalogue.locate import open_set
from best_agent.errors import UsageError
from best_agent.measure.sequential import Plan
from best_agent.model.run import Isolation
from best_agent.model.task import LanguageLimits, Source, Task
from best_agent.model.verdict import Contest, ProgramVerdict
from best_agent.pipeline.protocol import DEFAULT, Protocol
from best_agent.pipeline.trial import DEFAULT_TIME_LIMIT_S, Progress, Trial
from best_agent.refine.contract import Assessment, Problem
from best_agent.sandbox.probe import choose
from best_agent.units import format_ns

_FRESH_SEED_STEP = 1_000_003
"""Seeds of a confirmation lie this far from the seed that candidates were chosen by."""
_RACE_BUDGET_S = 15.0
_SPRINT_BUDGET_S = 3.0
_SPRINT_PLAN = Plan(looks=(5,))


class TaskArena:
    """Judges and races candidates for one task in one language."""

    def __init__(self, trial: Trial, open_trial: Callable[[int], Trial], seed: int) -> None:
        self._trial = trial
        self._open_trial = open_trial
        self._seed = seed

    @property
    def task(self) -> Task:
        """The task at hand."""
        return self._trial.task

    @property
    def isolation(self) -> Isolation:
        """The isolation that candidates run under."""
        return self._trial.isolation

    @property
    def references(self) -> tuple[ProgramVerdict, ...]:
        """The references as measured here."""
        return self._trial.references

    @property
    def problem(self) -> Problem:
        """The task in the words that a proposer may see."""
        return problem_of(self.task, self._trial.language)

    def judge(self, candidate: Source) -> ProgramVerdict:
        """Judge a candidate on every case.

        Raises:
            UsageError: the language's tools are missing.
            MeasureError: the harness failed.
        """
        return self._trial.judge(candidate)

    def assess(self, candidate: Source) -> Assessment:
        """Judge a candidate and, if it is admissible, race it briefly against each reference.

        Raises:
            UsageError: the language's tools are missing.
            MeasureError: the harness failed.
        """
        verdict = self._trial.judge(candidate)
        if not verdict.admissible:
            return Assessment(verdict=verdict)
        contests = tuple(
            self._sprint(reference, candidate) for reference in self.task.references_in(self._trial.language)
        )
        return Assessment(verdict=verdict, against_references=contests)

    def _sprint(self, before: Source, after: Source) -> Contest:
        """A short race on one case of the largest scale that both answer: a figure for the feedback."""
        first = _raced_cases(self._trial, before, after)[:1]
        return self._trial.race(before, after, first, plan=_SPRINT_PLAN, budget_s=_SPRINT_BUDGET_S)

    def race(self, before: Source, after: Source, *, share: float = 1.0, also: Sequence[int] = ()) -> Contest:
        """Race two admissible programs; `share` is the part of the error budget that may be spent.

        The smaller scales named in `also` are raced, too; what the others cost is known well enough.
        """
        return _race(self._trial, before, after, Plan(share=share), also)

    def confirm(self, before: Source, after: Source) -> tuple[Contest, str]:
        """Race once more: on fresh seeds, or, where a set's inputs are fixed, on the same ones."""
        if not has_fresh_cases(self.task):
            return self.race(before, after), "same-inputs"
        with self._open_trial(self._seed + _FRESH_SEED_STEP) as fresh:
            for source in (before, after):
                verdict = fresh.judge(source)
                if not verdict.admissible:
                    empty = Contest(baseline=before.id, cases=(), scale=None, time=None, memory=None)
                    return empty, "fresh-seeds"
            return _race(fresh, before, after, Plan()), "fresh-seeds"


def problem_of(task: Task, language: str) -> Problem:
    """A task in the words that a proposer may see. Nothing is run for it.

    Raises:
        UsageError: the task is not for this language.
    """
    if language not in task.languages:
        known = ", ".join(task.languages)
        raise UsageError(f"task {task.id} is not for {language}; its languages are: {known}")
    limits = task.limits[language]
    return Problem(
        id=task.id,
        title=task.title,
        statement=task.statement(task.space_levels - 1),
        language=language,
        entry=task.references_in(language)[0].entry if task.mode == "function" else "solve",
        mode=task.mode,
        sizes=task.sizes,
        time_limits=_time_limits(limits, len(task.sizes)),
        memory_limits=limits.memory_bytes,
    )


def _race(trial: Trial, before: Source, after: Source, plan: Plan, also: Sequence[int] = ()) -> Contest:
    # With fewer pairs than the first look takes, hardly any gain could be shown at the race's level.
    cases = _raced_cases(trial, before, after, also)
    return trial.race(before, after, cases, plan=plan, budget_s=_RACE_BUDGET_S, least_pairs=plan.looks[0])


def _raced_cases(trial: Trial, before: Source, after: Source, also: Sequence[int] = ()) -> tuple[str, ...]:
    """The cases of the largest scale that both answer, and of the scales in `also`."""
    sides = [{case.case for case in trial.judge(source).cases if case.answered} for source in (before, after)]
    both = [case for case in trial.cases if case.id in sides[0] & sides[1]]
    largest = max((case.scale for case in both), default=None)
    return tuple(case.id for case in both if case.scale == largest or case.scale in also)


def _time_limits(limits: LanguageLimits, scales: int) -> tuple[str, ...]:
    if limits.time_ns is not None:
        return tuple(format_ns(limit) for limit in limits.time_ns)
    return (f"{limits.time_factor:g}x the fastest reference",) * scales


@contextmanager
def open_arena(
    *,
    tasks: str | None,
    task_id: str,
    language: str,
    isolation: str,
    seed: int,
    progress: Progress,
    protocol: Protocol = DEFAULT,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
) -> Iterator[TaskArena]:
    """The arena of a task, its references measured.

    Raises:
        UsageError: unknown task or language, or a compiler is missing.
        IsolationError: the isolation asked for cannot be had here.
        MeasureError: the harness failed.
    """
    task = open_set(tasks).load(task_id)
    missing = languages.get(language).missing_tool()
    if missing:
        raise UsageError(missing)
    level = choose(isolation)

    def trial(with_seed: int) -> Trial:
        return Trial(
            task,
            language,
            protocol=protocol,
            isolation=level,
            seed=with_seed,
            time_limit_s=time_limit_s,
            progress=progress,
        )

    with trial(seed) as measured:
        yield TaskArena(measured, trial, seed)
