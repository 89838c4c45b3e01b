"""The question of a round, made from measured feedback only.

Hidden inputs, expected answers, the references' source and the timing code are never in it. The wording
is in `templates/`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from best_agent.measure.growth import fit
from best_agent.model.refinement import CandidateResult, Objective, Reason
from best_agent.model.run import Status
from best_agent.model.task import Source
from best_agent.model.verdict import CaseVerdict, ProgramVerdict
from best_agent.refine.accept import Terms, words
from best_agent.refine.contract import Assessment, Problem
from best_agent.refine.proposals.base import Prompt
from best_agent.units import format_bytes, format_ns

MAX_ATTEMPTS = 12
MAX_COMPILER_CHARACTERS = 600
_LANGUAGE_NAMES = {"python": "Python", "cpp": "C++"}
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Iteration)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a round knows of its parent."""

    parent: Source
    assessment: Assessment | None
    """None in a dry run: nothing was measured."""
    last_change: CandidateResult | None = None
    """What the race said in which the parent was accepted, against its own parent."""


def build_prompt(
    problem: Problem, terms: Terms, feedback: Feedback, attempts: Sequence[CandidateResult] = ()
) -> Prompt:
    """The question of a round."""
    values = {
        "title": problem.title,
        "statement": _fenced(problem.statement.strip(), "text"),
        "objective": _objective(terms),
        "language": _LANGUAGE_NAMES.get(problem.language, problem.language),
        "code": _fenced(feedback.parent.text, problem.language),
        "measurements": _measurements(problem, feedback),
        "attempts": "\n".join(_attempts(attempts)) or "Nothing yet.",
        "form": _form(problem),
    }
    return Prompt(system=template("system.md").template, user=template("user.md").substitute(values))


def first_question(problem: Problem, terms: Terms, attempts: Sequence[CandidateResult] = ()) -> Prompt:
    """The question where there is no program to start from."""
    values = {
        "title": problem.title,
        "statement": _fenced(problem.statement.strip(), "text"),
        "sizes": ", ".join(f"{size:,}" for size in problem.sizes),
        "objective": f"What will count is this. {_wanted(terms)}.",
        "attempts": "\n".join(_attempts(attempts)) or "Nothing yet.",
        "form": _form(problem),
    }
    return Prompt(system=template("system.md").template, user=template("first.md").substitute(values))


def template(name: str) -> Template:
    """A template by its file name. Values are put in once; `$` in them is only text."""
    return Template((files("best_agent.refine") / "templates" / name).read_text(encoding="utf-8"))


def public_failure(result: CandidateResult) -> str:
    """Why a candidate failed, without a word of the inputs or the expected answers.

    A compiler's message and the name of an exception speak of the program alone; all else might quote
    an input.
    """
    if result.status == Status.COMPILE_ERROR:
        return f"it does not compile: {result.detail[:MAX_COMPILER_CHARACTERS]}"
    scale = re.search(r"at scale \d+", result.detail)
    where = f" {scale[0]}" if scale else ""
    if result.status == Status.RUNTIME_ERROR:
        found = _EXCEPTION.search(result.detail)
        return f"it ended with {found[0] if found else 'an error'}{where}"
    return f"{result.status}{where}"


def _objective(terms: Terms) -> str:
    limits = (
        f"time may grow to {terms.max_time_ratio:g} times that of the current program and peak memory to "
        f"{terms.max_memory_ratio:g} times"
    )
    return f"{_wanted(terms)}. No more may be lost than this: {limits}."


def _wanted(terms: Terms) -> str:
    wanted = {
        Objective.TIME: "Less CPU time at the largest size",
        Objective.MEMORY: "Less peak memory at the largest size",
        Objective.BOTH: "Less CPU time or less peak memory at the largest size, best of all both",
    }
    return wanted[terms.objective]


def _fenced(code: str, label: str) -> str:
    """The text between fences longer than any run of backticks in it, so that it cannot end them."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{label}\n{code.rstrip()}\n{marks}"


def _form(problem: Problem) -> str:
    name = _LANGUAGE_NAMES.get(problem.language, problem.language)
    shape = {
        "function": f"It defines `{problem.entry}` with the same parameters and the same kind of result.",
        "driver": f"It has the same class and method `{problem.entry}` and no main function.",
        "program": "It reads standard input and prints to standard output.",
    }
    return (
        f"Write the whole program in {name} in ONE fenced code block, not a diff and not a part of it. "
        f"{shape.get(problem.mode, '')} Use the standard library only; start no threads or processes."
    )


def _measurements(problem: Problem, feedback: Feedback) -> str:
    if feedback.assessment is None:
        return "(The current program is measured when the run starts; its figures stand here then.)"
    verdict = feedback.assessment.verdict
    parts = [_table(problem, verdict)]
    parts += _growth_lines(problem, verdict)
    parts += _costliest(problem, verdict)
    parts += [
        f"Compared with an expert solution: {words(contest.time, 'time')}, {words(contest.memory, 'memory')}."
        for contest in feedback.assessment.against_references
    ]
    change = feedback.last_change
    if change is not None:
        figures = f"{words(change.time, 'time')}, {words(change.memory, 'memory')}"
        parts.append(f"The last accepted change against the program before it: {figures}.")
    return "\n".join(parts)


def _table(problem: Problem, verdict: ProgramVerdict) -> str:
    lines = [
        "| size | CPU time | peak memory | result | time limit | memory limits passed |",
        "|---|---|---|---|---|---|",
    ]
    for number, size in enumerate(problem.sizes, start=1):
        cases = [case for case in verdict.cases if case.scale == number]
        row = verdict.grid[number - 1] if number <= len(verdict.grid) else ()
        limits = problem.memory_limits[number - 1] if number <= len(problem.memory_limits) else ()
        passed = ", ".join(
            f"{format_bytes(limit)} {'yes' if ok else 'no'}" for limit, ok in zip(limits, row, strict=False)
        )
        time_limit = problem.time_limits[number - 1] if number <= len(problem.time_limits) else "none"
        lines.append(
            f"| {size:,} | {_worst(cases, 'cpu')} | {_worst(cases, 'peak')} | {_status(cases)} "
            f"| {time_limit} | {passed or '-'} |"
        )
    return "\n".join(lines)


def _worst(cases: Iterable[CaseVerdict], quantity: str) -> str:
    if quantity == "cpu":
        times = [case.cpu_ns for case in cases if case.cpu_ns is not None]
        return format_ns(max(times)) if times else "not known"
    peaks = [case.peak_bytes for case in cases if case.peak_bytes is not None]
    return format_bytes(max(peaks)) if peaks else "not known"


def _status(cases: Iterable[CaseVerdict]) -> str:
    bad = [case.status for case in cases if case.status is not Status.OK]
    return str(bad[0]) if bad else "ok"


def _growth_lines(problem: Problem, verdict: ProgramVerdict) -> list[str]:
    times: list[tuple[int, float]] = []
    peaks: list[tuple[int, float]] = []
    for case in verdict.cases:
        size = problem.sizes[case.scale - 1] if case.scale <= len(problem.sizes) else 0
        if size and case.cpu_ns:
            times.append((size, float(case.cpu_ns)))
        if size and case.peak_bytes:
            peaks.append((size, float(case.peak_bytes)))
    lines = []
    for quantity, points in (("CPU time", times), ("peak memory", peaks)):
        growth = fit([size for size, _ in points], [cost for _, cost in points]) if points else None
        if growth is None:
            continue
        ci = "" if growth.ci is None else f" [{growth.ci.low:.2f} .. {growth.ci.high:.2f}]"
        lines.append(f"Growth: {quantity} goes with size^{growth.exponent:.2f}{ci}.")
    return lines


def _costliest(problem: Problem, verdict: ProgramVerdict) -> list[str]:
    timed = [case for case in verdict.cases if case.cpu_ns is not None]
    if not timed:
        return []
    worst = max(timed, key=lambda case: case.cpu_ns or 0)
    size = problem.sizes[worst.scale - 1] if worst.scale <= len(problem.sizes) else 0
    share = (worst.cpu_ns or 0) / max(1, sum(case.cpu_ns or 0 for case in timed))
    peak = "" if worst.peak_bytes is None else f", {format_bytes(worst.peak_bytes)} at the peak"
    figures = f"size {size:,}, {format_ns(worst.cpu_ns or 0)}{peak}"
    return [f"The costliest case: {figures}; it takes {share:.0%} of the time of all {len(timed)} cases."]


def _attempts(attempts: Sequence[CandidateResult]) -> list[str]:
    lines = [f"- {line}" for result in attempts[-MAX_ATTEMPTS:] if (line := _attempt(result))]
    left_out = len(attempts) - MAX_ATTEMPTS
    return [f"- ({left_out} earlier attempts are left out)", *lines] if left_out > 0 else lines


def _attempt(result: CandidateResult) -> str | None:
    if result.reason is Reason.NOT_MEASURED:
        return None
    figures = f"{words(result.time, 'time')}, {words(result.memory, 'memory')}"
    if result.reason is Reason.FIRST:
        return f"{result.id}: right, the first program to improve"
    if result.accepted:
        return f"{result.id}: accepted; against its parent: {figures}"
    if result.reason is Reason.FAILED:
        return f"{result.id}: rejected: {public_failure(result)}"
    if result.time is not None or result.memory is not None:
        return f"{result.id}: rejected, {result.reason}; against its parent: {figures}"
    if result.reason in (Reason.LOST_CELL, Reason.LOST_CASE, Reason.DUPLICATE):
        return f"{result.id}: rejected, {result.reason}: {result.detail}"
    return f"{result.id}: rejected, {result.reason}"
