"""From the runs of one case to its verdict, and from the verdicts of all cases to the program's."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from best_agent.judge.answers import AnswerError, decode
from best_agent.judge.outputs import text_difference, value_difference
from best_agent.judge.outside import FLAG as OUTSIDE_FLAG
from best_agent.judge.outside import Excess
from best_agent.model.run import Run, Status
from best_agent.model.task import Case, Mode, Task
from best_agent.model.verdict import CaseVerdict
from best_agent.units import format_bytes, format_ns

PAGE_BYTES = 4096
NEAR = 0.15
"""A time within this share of its limit is measured again."""
_WORST_FIRST = (
    Status.INTERNAL_ERROR,
    Status.COMPILE_ERROR,
    Status.FORBIDDEN,
    Status.WRONG_ANSWER,
    Status.RUNTIME_ERROR,
    Status.NO_RESULT,
    Status.OUTPUT_LIMIT,
    Status.MEMORY_LIMIT,
    Status.TIME_LIMIT,
    Status.OK,
)

Check = Callable[[tuple[object, ...], object], bool | str]


class Oracle:
    """Says whether an answer to a case of a task is right."""

    def __init__(self, task: Task, *, exact: bool, check: Check | None) -> None:
        self._task = task
        self._exact = exact or task.exact_output
        self._check = check
        self._expected: dict[str, bytes] = {}
        self._values: dict[str, object] = {}
        self._right: dict[str, bytes] = {}

    def set_expected(self, case: Case, answer: bytes) -> None:
        """Take this answer as the right one of a case.

        Raises:
            AnswerError: function mode, and the bytes are no answer.
        """
        if self._task.mode is Mode.FUNCTION:
            self._values[case.id] = decode(answer)
        self._expected[case.id] = answer

    def knows(self, case: Case) -> bool:
        """Whether answers to the case can be judged."""
        return self._check is not None or case.id in self._expected

    def wrong(self, case: Case, answer: bytes) -> str | None:
        """Why the answer is wrong, in one line, or None."""
        if self._right.get(case.id) == answer:
            return None
        reason = self._reason(case, answer)
        if reason is None:
            self._right[case.id] = answer
        return reason

    def _reason(self, case: Case, answer: bytes) -> str | None:
        if self._task.mode is not Mode.FUNCTION:
            found = text_difference(self._expected[case.id], answer, exact=self._exact)
            return None if found is None else str(found)
        try:
            value = decode(answer)
        except AnswerError as error:
            return f"the result cannot be read: {error}"
        if self._check is not None:
            assert case.arguments is not None
            verdict = self._check(case.arguments, value)
            return None if verdict is True else (verdict or "the checker refuses it")
        found = value_difference(self._values[case.id], value)
        return None if found is None else str(found)


def effective_status(run: Run, *, ignore_exit_status: bool) -> Status:
    """The run's status; a protocol that ignores exit statuses takes what was printed before the end."""
    failed_late = run.status in (Status.RUNTIME_ERROR, Status.NO_RESULT) and run.region is not None
    if ignore_exit_status and failed_late and run.answer is not None:
        return Status.OK
    return run.status


def case_verdict(
    case: Case,
    timed: Sequence[Run],
    peak: Run,
    *,
    wrong: str | None,
    time_limit_ns: int | None,
    memory_limits: Sequence[int],
    excess: Excess,
) -> CaseVerdict:
    """The verdict on one case from its runs, the first of which failed or all of which answered.

    Time and memory beyond the loosest limits fail the case but keep their figures.
    """
    flags = tuple(dict.fromkeys(flag for run in (*timed, peak) for flag in run.flags))
    if excess:
        flags = (*flags, OUTSIDE_FLAG)
    readings = [run.cpu_ns for run in timed if run.cpu_ns is not None]
    walls = [run.wall_ns for run in timed if run.wall_ns is not None]
    peak_bytes = peak.peak_bytes
    verdict = CaseVerdict(
        case=case.id,
        scale=case.scale,
        status=timed[0].status,
        detail=timed[0].detail,
        cpu_ns=round(median(readings)) + excess.cpu_ns if readings else None,
        wall_ns=round(median(walls)) if walls else None,
        peak_bytes=None if peak_bytes is None else peak_bytes + excess.minor_faults * PAGE_BYTES,
        memory_meter=peak.memory_meter,
        time_limit_ns=time_limit_ns,
        flags=flags,
    )
    if timed[0].status is not Status.OK:
        return verdict
    if wrong is not None:
        return replace(verdict, status=Status.WRONG_ANSWER, detail=wrong)
    if peak.status is not Status.OK:
        return replace(verdict, status=peak.status, detail=f"while its memory was measured: {peak.detail}")
    return _within_limits(replace(verdict, answered=True), max(memory_limits))


def _within_limits(verdict: CaseVerdict, loosest_bytes: int) -> CaseVerdict:
    cpu_ns, limit_ns, peak_bytes = verdict.cpu_ns, verdict.time_limit_ns, verdict.peak_bytes
    if limit_ns is not None and cpu_ns is not None:
        if abs(cpu_ns - limit_ns) <= NEAR * limit_ns:
            verdict = replace(verdict, flags=(*verdict.flags, "near-the-limit"))
        if cpu_ns > limit_ns:
            detail = f"{format_ns(cpu_ns)} of CPU, the limit is {format_ns(limit_ns)}"
            return replace(verdict, status=Status.TIME_LIMIT, detail=detail)
    if peak_bytes is not None and peak_bytes > loosest_bytes:
        detail = f"a peak of {format_bytes(peak_bytes)}, the loosest limit is {format_bytes(loosest_bytes)}"
        return replace(verdict, status=Status.MEMORY_LIMIT, detail=detail)
    return verdict


def overall(cases: Sequence[CaseVerdict]) -> tuple[Status, str]:
    """The worst status over the cases and its detail; wrong answers come before limits."""
    worst = min(cases, key=lambda verdict: _WORST_FIRST.index(verdict.status))
    if worst.status is Status.OK:
        return Status.OK, ""
    return worst.status, f"case {worst.case} (scale {worst.scale}): {worst.detail}"
