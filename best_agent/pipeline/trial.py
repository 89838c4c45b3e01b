"""A task on this machine: its cases, its references measured here, and candidates judged against them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from best_agent.catalogue.cases import load_cases
from best_agent.catalogue.checker import load_checker
from best_agent.errors import UsageError
from best_agent.judge.grid import ProgramCase, of_program
from best_agent.judge.outside import NOTHING
from best_agent.languages.contract import BuildFailure
from best_agent.measure.intervals import MIN_PAIRS
from best_agent.measure.sequential import Plan
from best_agent.model.run import Isolation, Meter, Run, Status
from best_agent.model.task import Case, LanguageLimits, Source, Task
from best_agent.model.verdict import CaseVerdict, Contest, ProgramVerdict
from best_agent.pipeline.contestant import Contestant
from best_agent.pipeline.judging import Oracle, case_verdict, overall
from best_agent.pipeline.protocol import Protocol
from best_agent.pipeline.racing import Lane, Race
from best_agent.pipeline.roster import ProgramKey, Roster, program_key
from best_agent.pipeline.yardstick import Yardstick
from best_agent.sandbox.scrutiny import SUSPECT

DEFAULT_TIME_LIMIT_S = 10.0
"""CPU after which the sandbox stops a run, beyond every limit of a task."""

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
        self._oracle = Oracle(task, exact=protocol.exact_output, check=load_checker(task))
        cpu_limit_ns = protocol.process_cpu_ns or round(time_limit_s * 1e9)
        self._roster = Roster(task, language, protocol, isolation, cpu_limit_ns=cpu_limit_ns)
        self._yardstick = Yardstick(task, language, self._roster, self._oracle)
        self._judged: dict[ProgramKey, ProgramVerdict] = {}

    @property
    def limits(self) -> LanguageLimits:
        """The task's limits in this language."""
        return self.task.limits[self.language]

    def __enter__(self) -> Self:
        try:
            self._yardstick.measure(self.cases, self._progress)
        except BaseException:
            self._roster.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._roster.close()

    @property
    def references(self) -> tuple[ProgramVerdict, ...]:
        """The verdicts on the references; what they lack of memory runs is made up for when first asked.

        Raises:
            MeasureError: the harness failed.
        """
        return tuple(self.judge(source) for source in self._yardstick.sources)

    def judge(self, source: Source) -> ProgramVerdict:
        """The verdict on a candidate over all cases.

        Raises:
            UsageError: the language's tools are missing.
            MeasureError: the harness failed.
        """
        key = program_key(source)
        if key not in self._judged:
            reference = next((own for own in self._yardstick.sources if program_key(own) == key), None)
            self._judged[key] = self._judge(source) if reference is None else self._judge_reference(reference)
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
        runs, limits = {}, {}
        for number, case in enumerate(self.cases, 1):
            self._progress(f"{source.id}: case {number} of {len(self.cases)}")
            runs[case.id], limits[case.id] = self._yardstick.beside(contestant, case)
        return self._judge_runs(source, runs, limits)

    def _judge_reference(self, source: Source) -> ProgramVerdict:
        limits = {case.id: self._yardstick.time_limit(case) for case in self.cases}
        runs = self._yardstick.runs(source)
        return self._judge_runs(source, runs, limits, keep_minimum=self.protocol.reference_minimum)

    def _judge_runs(
        self,
        source: Source,
        runs: Mapping[str, Sequence[Run]],
        limits: Mapping[str, int | None],
        *,
        keep_minimum: bool = True,
    ) -> ProgramVerdict:
        contestant = self._roster.contestant(source)
        assert isinstance(contestant, Contestant)
        verdicts = tuple(
            self._judge_case(contestant, case, runs[case.id], limits[case.id]) for case in self.cases
        )
        status, detail = overall(verdicts)
        # Who hid memory once is believed nowhere: where little is used it would not have shown.
        believed = not any(SUSPECT in verdict.flags for verdict in verdicts)
        return ProgramVerdict(
            id=source.id,
            language=source.language,
            status=status,
            detail=detail,
            cases=verdicts,
            grid=of_program(
                [_program_case(verdict, believed=believed) for verdict in verdicts],
                self.limits.memory_bytes,
                keep_minimum=keep_minimum,
            ),
            isolation=contestant.isolation,
            time_meter=Meter.EXACT,
            memory_meter=Meter.worst(verdict.memory_meter for verdict in verdicts if verdict.answered),
        )

    def _judge_case(
        self, contestant: Contestant, case: Case, timed: Sequence[Run], time_limit_ns: int | None
    ) -> CaseVerdict:
        wrong, peak = None, timed[0]
        if timed[0].status is Status.OK:
            assert timed[0].answer is not None
            wrong = self._oracle.wrong(case, timed[0].answer)
            if wrong is None:
                limits = self._roster.limits(case, traced=True)
                peak = contestant.peak(case, self._roster.input(case), limits, timed[0])
        return case_verdict(
            case,
            timed,
            peak,
            wrong=wrong,
            time_limit_ns=time_limit_ns,
            memory_limits=self.limits.memory_bytes[case.scale - 1],
            excess=self._yardstick.excess(case, timed) if self.protocol.normalise_memory else NOTHING,
        )

    def race(
        self,
        before: Source,
        after: Source,
        cases: Sequence[str],
        *,
        plan: Plan,
        budget_s: float,
        least_pairs: int = MIN_PAIRS,
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
        wanted = set(cases)
        lanes = [
            Lane(case=case, stdin=self._roster.input(case), limits=self._roster.limits(case, traced=True))
            for case in self.cases
            if case.id in wanted
        ]
        race = Race(sides[0], sides[1], lanes, self._oracle.wrong)
        return race.run(plan, budget_s=budget_s, least_pairs=least_pairs)


def _program_case(verdict: CaseVerdict, *, believed: bool) -> ProgramCase:
    return ProgramCase(
        scale=verdict.scale,
        ok=verdict.answered,
        peak_bytes=verdict.peak_bytes if believed else None,
        cpu_ns=verdict.cpu_ns,
        time_limit_ns=verdict.time_limit_ns,
    )
