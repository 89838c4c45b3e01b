"""`measure` and `compare`: from the targets a user wrote to figures, both sides in one run."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.measure import growth
from best_agent.model.measurement import Growth
from best_agent.model.run import Meter
from best_agent.workload import agreement, interpreter, paired, sides, single, verdict
from best_agent.workload.figures import (
    Absolute,
    Comparison,
    Conditions,
    SideGrowth,
    SideReport,
    SizeComparison,
    SizeMeasurement,
    State,
)
from best_agent.workload.layout import project_of
from best_agent.workload.paired import DEFAULT_BUDGET, Budget
from best_agent.workload.process import RequestRefusedError
from best_agent.workload.sides import Side
from best_agent.workload.sources import choose
from best_agent.workload.subject import InputSource, Origin, Subject
from best_agent.workload.target import Target, pair

DEFAULT_SIZES = (1_000, 10_000, 100_000)


def _quiet(_: str) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for, beside the targets."""

    workload: str | None = None
    """`FILE[::FUNCTION]`."""
    call: str | None = None
    sizes: tuple[int, ...] | None = None
    python: Path | None = None
    seed: int = 1
    time_limit: float = 60.0
    """Seconds that one call may take."""
    budget: Budget = DEFAULT_BUDGET
    progress: Callable[[str], None] = _quiet


def compare(first: Target, second: Target | None, request: Request) -> Comparison:
    """Measure two states of a function in turn, on equal inputs.

    Raises:
        UsageError: a target, a revision, a workload or an interpreter is not there or not usable.
        MeasureError: the harness failed.
    """
    if first.path is None and (second is None or second.path is None):
        first = sides.completed(first)
    before_target, after_target = pair(first, second)
    with sides.trees() as trees:
        before, after = trees.side(before_target), trees.side(after_target)
        if after.file is None:
            raise UsageError(f"{after_target.path} is not in {after.label}: there is nothing to compare")
        setup = _Setup.of(after, request)
        if before.file is None:
            return _new(setup, before, f"{before_target.path} is not in {before.label}")
        return _compare(setup, before)


def measure(target: Target, request: Request) -> Absolute:
    """Measure one function alone.

    Raises:
        UsageError: the target, a revision, a workload or an interpreter is not there or not usable.
        MeasureError: the harness failed.
    """
    with sides.trees() as trees:
        side = trees.side(sides.completed(target))
        if side.file is None:
            raise UsageError(f"{side.target.path} is not in {side.label}")
        return _measure(_Setup.of(side, request))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """What both sides share."""

    after: Side
    request: Request
    python: interpreter.Interpreter
    source: InputSource

    @classmethod
    def of(cls, after: Side, request: Request) -> "_Setup":
        assert after.file is not None
        tree = after.work_tree or after.tree
        project = project_of(tree / after.file.relative_to(after.tree), tree)
        return cls(
            after=after,
            request=request,
            python=interpreter.find(project if project.is_dir() else tree, request.python),
            source=choose(after, workload=request.workload, call=request.call),
        )

    def subject(self, side: Side) -> Subject:
        return Subject(side, self.python, self.request.time_limit)

    def sizes(self, named: tuple[int, ...] | None) -> tuple[int, ...]:
        """Sizes by the command line, the workload, or our own choice."""
        if self.request.sizes is not None:
            return self.request.sizes
        if named is not None:
            return named
        if self.source.call is not None and "{n}" not in self.source.call:
            return (1,)
        return DEFAULT_SIZES

    def conditions(self, origins: Sequence[Origin], notes: Sequence[str] = ()) -> Conditions:
        unseen = sorted({name for origin in origins for name in origin.unseen})
        said = [f"{name} allocates where tracemalloc does not look: memory is estimated" for name in unseen]
        return Conditions(
            inputs=self.source.label,
            python=".".join(map(str, self.python.version)),
            interpreter=str(self.python.path),
            found_by=self.python.found_by,
            notes=(*notes, *said),
            memory_meter=_memory_meter(origins),
        )


class _AbsentError(Exception):
    """The file before has no such function."""


def _compare(setup: _Setup, before: Side) -> Comparison:
    with ExitStack() as stack:
        first, second = (stack.enter_context(setup.subject(side)) for side in (before, setup.after))
        setup.request.progress("importing both sides")
        after_origin = _opened(second, setup.source, "after")
        try:
            origins = (_opened_before(first, setup.source), after_origin)
        except _AbsentError as absent:
            second.close()
            return _new(setup, before, str(absent))
        wrong = _misplaced(origins, (before, setup.after))
        if wrong:
            return _unproved(setup, (before, setup.after), origins, wrong)
        return _both(setup, first, second)


def _both(setup: _Setup, first: Subject, second: Subject) -> Comparison:
    request, both = setup.request, (first, second)
    first.use(setup.source)
    sizes = setup.sizes(second.use(setup.source))
    found = agreement.agree(first, second, sizes, request.seed, request.progress)
    notes = _pinned(both, parallel=found.parallel)
    meter = _memory_meter([side.origin() for side in both])
    rows: list[SizeComparison] = []
    for size in sizes:
        if size in found.unusable:
            rows.append(SizeComparison(n=size, reason=found.unusable[size]))
            continue
        request.progress(f"n={size:,}: measuring both in turn")
        jitter = size != 1 or len(sizes) > 1
        row, timed = paired.one_size(
            first, second, size, request.seed, budget=request.budget, meter=meter, jitter=jitter
        )
        rows.append(row)
        if timed is not None and not timed.outside_agrees:
            notes.append(f"n={size:,}: the process used more CPU than the call shows, seen from outside")
    origins = (first.origin(), second.origin())
    wrong = _misplaced(origins, (first.side, second.side))
    if wrong:
        return _unproved(setup, (first.side, second.side), origins, wrong)
    status, line = verdict.judge(rows, found.same)
    return Comparison(
        before=_report(first.side, origins[0]),
        after=_report(second.side, origins[1]),
        conditions=setup.conditions(origins, notes),
        status=status,
        verdict=line,
        sizes=tuple(rows),
        growth_before=SideGrowth(
            cpu=_fit([(row.n, row.cpu.before if row.cpu else None) for row in rows]),
            peak=_fit([(row.n, row.peak.before if row.peak else None) for row in rows]),
        ),
        growth_after=SideGrowth(
            cpu=_fit([(row.n, row.cpu.after if row.cpu else None) for row in rows]),
            peak=_fit([(row.n, row.peak.after if row.peak else None) for row in rows]),
        ),
        same_results=found.same,
    )


def _new(setup: _Setup, before: Side, why: str) -> Comparison:
    """The function was not there before: absolute figures of what is there now."""
    alone = _measure(setup)
    measured = alone.status is State.OK
    return Comparison(
        before=SideReport(label=before.label, target=str(before.target), file="", modules=0),
        after=alone.side,
        conditions=alone.conditions,
        status=State.NEW if measured else alone.status,
        verdict=f"new: {alone.verdict} ({why})" if measured else alone.verdict,
        growth_after=alone.growth,
        absolute=alone.sizes,
    )


def _measure(setup: _Setup) -> Absolute:
    request, side = setup.request, setup.after
    with setup.subject(side) as subject:
        request.progress("importing")
        origin = _opened(subject, setup.source, side.label)
        if origin.strangers:
            return _alone(setup, origin, (), _stranger(side, origin), State.NOT_MEASURED)
        sizes = setup.sizes(subject.use(setup.source))
        observed = agreement.works(subject, sizes, request.seed, request.progress)
        _pinned((subject,), parallel=observed.parallel)
        meter = _memory_meter([subject.origin()])
        rows = []
        for size in sizes:
            request.progress(f"n={size:,}: measuring")
            reason = observed.unusable.get(size)
            rows.append(
                SizeMeasurement(n=size, reason=reason)
                if reason
                else single.one_size(subject, size, request.seed, budget=request.budget, meter=meter)
            )
        origin = subject.origin()
    if origin.strangers:
        return _alone(setup, origin, (), _stranger(side, origin), State.NOT_MEASURED)
    return _alone(setup, origin, rows, verdict.describe(rows), _state_of(rows))


def _state_of(rows: Sequence[SizeMeasurement]) -> State:
    if all(row.cpu is None for row in rows):
        return State.NOT_MEASURED
    complete = all(row.cpu is not None and row.peak is not None for row in rows)
    return State.OK if complete else State.PARTIAL


def _alone(
    setup: _Setup, origin: Origin, rows: Sequence[SizeMeasurement], line: str, status: State
) -> Absolute:
    return Absolute(
        side=_report(setup.after, origin),
        conditions=setup.conditions([origin]),
        status=status,
        verdict=line,
        sizes=tuple(rows),
        growth=SideGrowth(
            cpu=_fit([(row.n, row.cpu.value if row.cpu else None) for row in rows]),
            peak=_fit([(row.n, row.peak.value if row.peak else None) for row in rows]),
        ),
    )


def _opened(subject: Subject, source: InputSource, name: str) -> Origin:
    try:
        return subject.open(source)
    except RequestRefusedError as refused:
        raise UsageError(f"{name}: {refused}") from None


def _opened_before(subject: Subject, source: InputSource) -> Origin:
    try:
        return subject.open(source)
    except RequestRefusedError as refused:
        if refused.kind == "absent":
            raise _AbsentError(f"{subject.side.label} has no '{subject.side.target.name}'") from None
        raise UsageError(f"before ({subject.side.label}): {refused}") from None


def _misplaced(origins: Sequence[Origin], both: Sequence[Side]) -> str:
    """Why the two sides are not proved to be what the user meant; nothing where they are."""
    for origin, side in zip(origins, both, strict=True):
        if origin.strangers:
            return _stranger(side, origin)
    if origins[0].file == origins[1].file and not sides.same_state(both[0], both[1]):
        return f"both sides are the file {origins[0].file}"
    return ""


def _stranger(side: Side, origin: Origin) -> str:
    name, path = origin.strangers[0]
    more = f" (and {len(origin.strangers) - 1} more)" if len(origin.strangers) > 1 else ""
    where = f"{name} was imported from {path}{more}"
    return f"not measured: for {side.label}, {where}, outside of its tree {side.tree}"


def _unproved(setup: _Setup, both: tuple[Side, Side], origins: tuple[Origin, Origin], why: str) -> Comparison:
    return Comparison(
        before=_report(both[0], origins[0]),
        after=_report(both[1], origins[1]),
        conditions=setup.conditions(origins),
        status=State.NOT_MEASURED,
        verdict=why if why.startswith("not measured") else f"not measured: {why}",
    )


def _pinned(subjects: Sequence[Subject], *, parallel: bool) -> list[str]:
    """Keep the workers on one core, unless the function uses several; what a reader should know of it."""
    if parallel:
        return ["the function uses several cores: not kept on one, CPU time is the sum over them"]
    core = paired.a_core()
    if core is None:
        return []
    kept = [subject.pin(core) for subject in subjects]
    return [] if all(kept) else ["could not be kept on one core"]


def _memory_meter(origins: Sequence[Origin]) -> Meter:
    return Meter.ESTIMATED if any(origin.unseen for origin in origins) else Meter.EXACT


def _report(side: Side, origin: Origin) -> SideReport:
    return SideReport(
        label=side.label,
        target=str(side.target),
        file=origin.file,
        modules=origin.modules,
        shared=side.shared,
    )


def _fit(points: Sequence[tuple[int, float | None]]) -> Growth | None:
    known = [(size, cost) for size, cost in points if cost]
    return growth.fit([size for size, _ in known], [cost for _, cost in known])
