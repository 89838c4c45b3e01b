"""A task on this machine: its cases, its references measured here, and candidates judged against them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from types import TracebackType
from typing import Self

from best_agent import languages
from best_agent.catalogue.cases import load_cases
from best_agent.catalogue.checker import load_checker
from best_agent.errors import TaskError, UsageError
from best_agent.judge.grid import ProgramCase, of_program
from best_agent.judge.outside import NOTHING, Excess, excess
from best_agent.languages.contract import BuildFailure
from best_agent.measure.sequential import Plan
from best_agent.model.run import Isolation, Limits, Meter, Run, Status
from best_agent.model.task import Case, LanguageLimits, Source, Task
from best_agent.model.verdict import CaseVerdict, Contest, ProgramVerdict
from best_agent.pipeline.contestant import Contestant
from best_agent.pipeline.judging import NEAR, Oracle, case_verdict, effective_status, overall
from best_agent.pipeline.protocol import Protocol
from best_agent.pipeline.racing import Lane, Race
from best_agent.pipeline.roster import ProgramKey, Roster, program_key
from best_agent.units import MIB

TIME_FLOOR_NS = 5_000_000
"""A relative time limit is never below this, so that noise does not decide."""
DEFAULT_TIME_LIMIT_S = 10.0
"""CPU after which the sandbox stops a run, beyond every limit of a task."""
CHECK_RUNS = 3
"""Runs of a reference on each case, and of a candidate whose first reading asks for more."""
_TRACED_FACTOR = 20
"""A traced run is slower by up to this."""

Progress = Callable[[str], None]


class Trial:
    """Everything that is measured once for a task, a language and a seed. Use it as a context manager."""

    def __init__(
        self,
        task: Task,
        language: str,
        *,
        protocol: Protocol,
        isolation: Isolation,
        seed: int,
        time_limit_s: float = DEFAULT_TIME_LIMIT_S,
        progress: Progress = lambda _line: None,
    ) -> None:
        if language not in task.limits:
            known = ", ".join(task.languages)
            raise UsageError(f"task {task.id} has no limits for {language}; its languages are: {known}")
        self.task = task
        self.language = language
        self.protocol = protocol
        self.isolation = isolation
        self.cases = load_cases(task, seed)
        self._progress = progress
        self._time_limit_ns = protocol.process_cpu_ns or round(time_limit_s * 1e9)
        self._oracle = Oracle(task, exact=protocol.exact_output, check=load_checker(task))
        self._roster = Roster(task, language, protocol, isolation)
        self._judged: dict[ProgramKey, ProgramVerdict] = {}
        self._anchors: dict[str, list[Run]] = {}
        self._time_limits: dict[str, int | None] = {}
        self.references: tuple[ProgramVerdict, ...] = ()

    @property
    def limits(self) -> LanguageLimits:
        """The task's limits in this language."""
        return self.task.limits[self.language]

    def __enter__(self) -> Self:
        try:
            self._prepare()
        except BaseException:
            self._roster.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._roster.close()

    # -- references ---------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Run the references: they fix expected answers, time limits and what honest loading costs."""
        for case in self.cases:
            if case.expected is not None:
                self._oracle.set_expected(case, case.expected)
        sources = self.task.references_in(self.language)
        runs: dict[str, dict[str, list[Run]]] = {}
        for source in sources:
            self._progress(f"reference {source.id}: running {len(self.cases)} cases")
            runs[source.id] = self._reference_runs(source)
        for case in self.cases:
            self._time_limits[case.id] = self._time_limit(
                case, [runs[source.id][case.id] for source in sources]
            )
        for source in sources:
            self._judged[program_key(source)] = self._judge_runs(source, runs[source.id])
        self.references = tuple(self._judged[program_key(source)] for source in sources)

    def _reference_runs(self, source: Source) -> dict[str, list[Run]]:
        contestant = self._roster.contestant(source)
        if isinstance(contestant, BuildFailure):
            raise TaskError(
                f"task {self.task.id}: reference {source.id} does not build: {contestant.message}"
            )
        runs = {}
        for case in self.cases:
            runs[case.id] = [self._timed(contestant, case)]
            if runs[case.id][0].status is Status.OK:
                runs[case.id] += [self._timed(contestant, case) for _ in range(CHECK_RUNS - 1)]
                self._anchors.setdefault(case.id, []).extend(runs[case.id])
            self._learn_answer(source, case, runs[case.id][0])
        return runs

    def _learn_answer(self, source: Source, case: Case, run: Run) -> None:
        """Where a task has no expected output, the first reference gives it and the others must agree."""
        if case.expected is not None:
            return
        if run.status is not Status.OK or run.answer is None:
            raise TaskError(
                f"task {self.task.id}: reference {source.id} fails case {case.id}: {run.status} {run.detail}"
            )
        if not self._oracle.knows(case):
            self._oracle.set_expected(case, run.answer)
        wrong = self._oracle.wrong(case, run.answer)
        if wrong:
            raise TaskError(f"task {self.task.id}: reference {source.id} is wrong on case {case.id}: {wrong}")

    def _time_limit(self, case: Case, runs: Sequence[Sequence[Run]]) -> int | None:
        if self.limits.time_ns is not None:
            return self.limits.time_ns[case.scale - 1]
        assert self.limits.time_factor is not None
        fastest = [
            median(run.cpu_ns for run in own if run.cpu_ns is not None)
            for own in runs
            if own[0].status is Status.OK and own[0].cpu_ns is not None
        ]
        return max(TIME_FLOOR_NS, round(min(fastest) * self.limits.time_factor)) if fastest else None

    # -- candidates ---------------------------------------------------------------------------

    def judge(self, source: Source) -> ProgramVerdict:
        """The verdict on a candidate over all cases.

        Raises:
            UsageError: the language's tools are missing.
            MeasureError: the harness failed.
        """
        key = program_key(source)
        if key not in self._judged:
            self._judged[key] = self._judge(source)
        return replace(self._judged[key], id=source.id)

    def _judge(self, source: Source) -> ProgramVerdict:
        contestant = self._roster.contestant(source)
        if isinstance(contestant, BuildFailure):
            return ProgramVerdict(
                id=source.id,
                language=source.language,
                status=Status.COMPILE_ERROR,
                detail=contestant.message,
                grid=tuple((False,) * self.task.space_levels for _ in self.task.sizes),
                isolation=self.isolation,
            )
        runs = {}
        for case in self.cases:
            self._progress(f"{source.id}: case {case.id} of {len(self.cases)}")
            runs[case.id] = self._candidate_runs(contestant, case)
        return self._judge_runs(source, runs)

    def _candidate_runs(self, contestant: Contestant, case: Case) -> list[Run]:
        """One run; more where the reading is close to its limit or work outside of the call is suspected."""
        runs = [self._timed(contestant, case)]
        limit_ns, cpu_ns = self._time_limits[case.id], runs[0].cpu_ns
        if runs[0].status is not Status.OK or cpu_ns is None:
            return runs
        near = limit_ns is not None and abs(cpu_ns - limit_ns) <= NEAR * limit_ns
        if near or self._excess(case, runs):
            runs += [self._timed(contestant, case) for _ in range(CHECK_RUNS - 1)]
        return runs

    def _judge_runs(self, source: Source, runs: dict[str, list[Run]]) -> ProgramVerdict:
        contestant = self._roster.contestant(source)
        assert isinstance(contestant, Contestant)
        verdicts = tuple(self._judge_case(contestant, case, runs[case.id]) for case in self.cases)
        status, detail = overall(verdicts)
        return ProgramVerdict(
            id=source.id,
            language=source.language,
            status=status,
            detail=detail,
            cases=verdicts,
            grid=of_program([_program_case(verdict) for verdict in verdicts], self.limits.memory_bytes),
            isolation=contestant.isolation,
            time_meter=Meter.EXACT,
            memory_meter=_worst_meter(verdicts),
        )

    def _judge_case(self, contestant: Contestant, case: Case, timed: Sequence[Run]) -> CaseVerdict:
        wrong, peak = None, timed[0]
        if timed[0].status is Status.OK:
            assert timed[0].answer is not None
            wrong = self._oracle.wrong(case, timed[0].answer)
            if wrong is None:
                peak = contestant.peak(
                    case, self._roster.input(case), self._hard_limits(case, traced=True), timed[0]
                )
        return case_verdict(
            case,
            timed,
            peak,
            wrong=wrong,
            time_limit_ns=self._time_limits[case.id],
            memory_limits=self.limits.memory_bytes[case.scale - 1],
            excess=self._excess(case, timed),
        )

    def _excess(self, case: Case, runs: Sequence[Run]) -> Excess:
        anchors = self._anchors.get(case.id)
        return excess(runs, anchors) if anchors and self.protocol.normalise_memory else NOTHING

    # -- races --------------------------------------------------------------------------------

    def race(
        self,
        before: Source,
        after: Source,
        cases: Sequence[str],
        *,
        plan: Plan,
        budget_s: float,
        small_scales: bool = True,
    ) -> Contest:
        """Race two sources on the cases named, which both must be known to solve.

        Raises:
            UsageError: one of them does not build.
            MeasureError: the harness failed.
        """
        sides = []
        for source in (before, after):
            contestant = self._roster.contestant(source)
            if isinstance(contestant, BuildFailure):
                raise UsageError(f"{source.id} does not build: {contestant.message}")
            sides.append(contestant)
        lanes = [
            Lane(
                case=case,
                before_input=self._roster.input(case),
                after_input=self._roster.input(case),
                limits=self._hard_limits(case, traced=True),
            )
            for case in self.cases
            if case.id in set(cases)
        ]
        race = Race(sides[0], sides[1], lanes, self._oracle.wrong)
        return race.run(plan, budget_s=budget_s, small_scales=small_scales)

    # -- single runs --------------------------------------------------------------------------

    def _timed(self, contestant: Contestant, case: Case) -> Run:
        run = contestant.timed(self._roster.input(case), self._hard_limits(case, traced=False))
        return replace(run, status=effective_status(run, ignore_exit_status=self.protocol.ignore_exit_status))

    def _hard_limits(self, case: Case, *, traced: bool) -> Limits:
        """What the sandbox stops at: well beyond the task's own limits, so that figures are had."""
        cpu_ns = self._time_limit_ns * (_TRACED_FACTOR if traced else 1)
        loosest = max(self.limits.memory_bytes[case.scale - 1])
        return Limits(cpu_ns=cpu_ns, wall_ns=cpu_ns * 3, memory_bytes=max(512 * MIB, loosest * 4))


def _program_case(verdict: CaseVerdict) -> ProgramCase:
    return ProgramCase(
        scale=verdict.scale,
        ok=verdict.answered,
        peak_bytes=verdict.peak_bytes,
        cpu_ns=verdict.cpu_ns,
        time_limit_ns=verdict.time_limit_ns,
    )


def _worst_meter(verdicts: Sequence[CaseVerdict]) -> Meter:
    order = (Meter.UNAVAILABLE, Meter.ESTIMATED, Meter.EXACT)
    meters = [verdict.memory_meter for verdict in verdicts if verdict.answered]
    return min(meters, key=order.index, default=Meter.UNAVAILABLE)


def languages_of(task: Task) -> tuple[str, ...]:
    """Languages of a task whose tools are on this machine."""
    return tuple(name for name in task.languages if languages.get(name).missing_tool() is None)
