"""What the references of a task measure on this machine: answers, time limits, what honest work costs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from best_agent.errors import TaskError
from best_agent.judge.outside import NOTHING, Excess, excess
from best_agent.languages.contract import BuildFailure
from best_agent.model.run import Run, Status
from best_agent.model.task import Case, LanguageLimits, Source, Task
from best_agent.pipeline.contestant import Contestant
from best_agent.pipeline.judging import NEAR, Oracle
from best_agent.pipeline.roster import Roster

TIME_FLOOR_NS = 5_000_000
"""A relative time limit is never below this, so that noise does not decide."""
CHECK_RUNS = 3
"""Runs of a reference on each case, and of a candidate whose readings leave a doubt, at most."""

CAP_FACTOR = 20
"""A run is stopped at this multiple of its relative time limit: how hopeless it is need not be known."""
CAP_AT_LEAST_NS = 1_000_000_000


class Yardstick:
    """The references of a task in one language, run on all cases."""

    def __init__(self, task: Task, language: str, roster: Roster, oracle: Oracle) -> None:
        self.sources = task.references_in(language)
        self._task = task
        self._limits: LanguageLimits = task.limits[language]
        self._roster = roster
        self._oracle = oracle
        self._runs: dict[str, dict[str, list[Run]]] = {}
        self._fastest: dict[str, Source | None] = {}

    def measure(self, cases: Sequence[Case], progress: Callable[[str], None]) -> None:
        """Run every reference on every case; they fix the expected answers where the task has none.

        Raises:
            TaskError: a reference does not build, or fails or disagrees where it gives the answer.
            MeasureError: the harness failed.
        """
        for number, case in enumerate(cases, 1):
            progress(f"references of {self._task.id}: case {number} of {len(cases)}")
            if case.expected is not None:
                self._oracle.set_expected(case, case.expected)
            self._runs[case.id] = self._in_turn(case)
            self._fastest[case.id] = self._fastest_on(case)
            limit_ns = self.time_limit(case)
            if limit_ns is not None and self._limits.time_ns is None:
                self._roster.cap(case, max(CAP_AT_LEAST_NS, CAP_FACTOR * limit_ns))

    def runs(self, source: Source) -> Mapping[str, Sequence[Run]]:
        """The runs of a reference by case."""
        return {case: by_source[source.id] for case, by_source in self._runs.items()}

    def time_limit(self, case: Case) -> int | None:
        """The time limit of a case for the references themselves."""
        return self._limit(case, self._runs[case.id].values())

    def beside(self, contestant: Contestant, case: Case) -> tuple[list[Run], int | None]:
        """Runs of a candidate on a case, and the time limit measured beside them.

        A relative limit is taken from the fastest reference run in turn with the candidate: what the
        machine is doing just now slows both. One run is enough unless its time is close to the limit or
        it seems to work outside of the call.

        Raises:
            MeasureError: the harness failed.
        """
        runs: list[Run] = []
        paired: list[Run] = []
        fastest = self._fastest[case.id] if self._limits.time_ns is None else None
        limit_ns = None
        for _ in range(CHECK_RUNS):
            runs.append(self._roster.timed(contestant, case))
            if fastest is not None:
                paired.append(self._roster.timed(self._contestant(fastest), case))
            limit_ns = self._limit(case, [paired])
            if runs[0].status is not Status.OK or self._clear(case, runs, limit_ns):
                break
        return runs, limit_ns

    def excess(self, case: Case, runs: Sequence[Run]) -> Excess:
        """Work of a candidate outside of the call, beyond what the references do there."""
        anchors = [run for own in self._runs[case.id].values() for run in own if run.status is Status.OK]
        return excess(runs, anchors) if anchors else NOTHING

    def _in_turn(self, case: Case) -> dict[str, list[Run]]:
        """All references on a case, in turn, so that the fastest is the fastest at one time."""
        runs: dict[str, list[Run]] = {source.id: [] for source in self.sources}
        for number in range(CHECK_RUNS):
            for source in self.sources:
                if number and runs[source.id][0].status is not Status.OK:
                    continue
                runs[source.id].append(self._roster.timed(self._contestant(source), case))
        for source in self.sources:
            self._learn_answer(source, case, runs[source.id][0])
        return runs

    def _learn_answer(self, source: Source, case: Case, run: Run) -> None:
        """Where a task has no expected output, the first reference gives it and the others must agree."""
        if case.expected is not None:
            return
        if run.status is not Status.OK or run.answer is None:
            raise TaskError(
                f"task {self._task.id}: reference {source.id} fails case {case.id}: {run.status} {run.detail}"
            )
        if not self._oracle.knows(case):
            self._oracle.set_expected(case, run.answer)
        wrong = self._oracle.wrong(case, run.answer)
        if wrong:
            raise TaskError(
                f"task {self._task.id}: reference {source.id} is wrong on case {case.id}: {wrong}"
            )

    def _contestant(self, source: Source) -> Contestant:
        contestant = self._roster.contestant(source)
        if isinstance(contestant, BuildFailure):
            raise TaskError(
                f"task {self._task.id}: reference {source.id} does not build: {contestant.message}"
            )
        return contestant

    def _fastest_on(self, case: Case) -> Source | None:
        ranked = [
            (cpu_ns, place)
            for place, source in enumerate(self.sources)
            if (cpu_ns := _median_cpu_ns(self._runs[case.id][source.id])) is not None
        ]
        return self.sources[min(ranked)[1]] if ranked else None

    def _limit(self, case: Case, references: Iterable[Sequence[Run]]) -> int | None:
        """Absolute, or a factor of the fastest of these runs; None where none of them finished."""
        if self._limits.time_ns is not None:
            return self._limits.time_ns[case.scale - 1]
        assert self._limits.time_factor is not None
        medians = [cpu_ns for own in references if (cpu_ns := _median_cpu_ns(own)) is not None]
        return max(TIME_FLOOR_NS, round(min(medians) * self._limits.time_factor)) if medians else None

    def _clear(self, case: Case, runs: Sequence[Run], limit_ns: int | None) -> bool:
        cpu_ns = _median_cpu_ns(runs)
        near = limit_ns is not None and cpu_ns is not None and abs(cpu_ns - limit_ns) <= NEAR * limit_ns
        return not near and not self.excess(case, runs)


def _median_cpu_ns(runs: Sequence[Run]) -> float | None:
    readings = [run.cpu_ns for run in runs if run.status is Status.OK and run.cpu_ns is not None]
    return median(readings) if readings else None
