"""`measure` and `compare`: from the targets a user wrote to figures, both sides in one run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.measure import growth
from best_agent.model.measurement import Growth
from best_agent.model.run import Meter
from best_agent.pipeline import own_inputs
from best_agent.pipeline.own_inputs import Inputs, Wanted
from best_agent.workload import agreement, interpreter, paired, rounds, sides, single, verdict
from best_agent.workload.figures import (
    Absolute,
    Comparison,
    Conditions,
    SideGrowth,
    SideReport,
    SizeMeasurement,
    State,
)
from best_agent.workload.layout import project_of
from best_agent.workload.process import RequestRefusedError
from best_agent.workload.recording import Recording
from best_agent.workload.sides import Side
from best_agent.workload.subject import InputSource, Origin, Subject
from best_agent.workload.target import Target, pair


def _quiet(_: str) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for, beside the targets."""

    inputs: Wanted = field(default_factory=Wanted)
    python: Path | None = None
    seed: int = 1
    time_limit: float = 60.0
    """Seconds that one call may take."""
    budget: rounds.Budget = field(default_factory=rounds.Budget)
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
        names = (before_target.name, after_target.name)
        setup = _Setup.of(after, request, trees.folder, names)
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
        return _measure(_Setup.of(side, request, trees.folder))


class _AbsentError(Exception):
    """The file before has no such function."""


class _UnprovedError(Exception):
    """A side was not imported from where it should be; the text says from where."""

    def __init__(self, why: str, origins: Sequence[Origin]) -> None:
        super().__init__(why)
        self.origins = tuple(origins)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """What both sides share."""

    after: Side
    request: Request
    python: interpreter.Interpreter
    source: InputSource | None
    """None: calls recorded from tests, of which one is chosen later."""
    recording: Recording | None

    @classmethod
    def of(cls, after: Side, request: Request, folder: Path, names: tuple[str, ...] = ()) -> "_Setup":
        assert after.file is not None
        tree = after.work_tree or after.tree
        project = project_of(tree / after.file.relative_to(after.tree), tree)
        python = interpreter.find(project if project.is_dir() else tree, request.python)
        source = own_inputs.named(request.inputs, after, names)
        recording = None
        if source is None:
            recording = own_inputs.record(request.inputs, after, python, folder, request.progress)
        return cls(after=after, request=request, python=python, source=source, recording=recording)

    @property
    def label(self) -> str:
        """The inputs in words, as far as they are known."""
        return self.source.label if self.source else "recorded from tests"

    def subject(self, side: Side) -> Subject:
        return Subject(side, self.python, self.request.time_limit)

    def inputs(self, baseline: Subject) -> Inputs:
        """What is measured; `baseline` is open."""
        if self.source is not None:
            return own_inputs.settled(self.request.inputs, self.source, baseline.use(self.source))
        assert self.recording is not None
        return own_inputs.chosen(self.request.inputs, self.recording, baseline, self.request.seed)

    def opening(
        self, both: Sequence[tuple[Side, str | None]], inputs: Inputs, core: int | None
    ) -> rounds.Opening:
        """Fresh workers for a round, each proved when it is opened and when its work is done.

        Given are the sides and the kinds of their functions.
        """
        sides_only = [side for side, _ in both]

        @contextmanager
        def opened() -> Iterator[tuple[Subject, ...]]:
            with ExitStack() as stack:
                subjects = tuple(stack.enter_context(self.subject(side)) for side in sides_only)
                for subject in subjects:
                    subject.start()
                _prove([subject.open(inputs.source) for subject in subjects], sides_only)
                for subject, (_, kind) in zip(subjects, both, strict=True):
                    subject.use(inputs.source, kind)
                    if core is not None:
                        subject.pin(core)
                yield subjects
                _prove([subject.origin() for subject in subjects], sides_only)

        return opened

    def conditions(self, origins: Sequence[Origin], label: str, notes: Sequence[str] = ()) -> Conditions:
        unseen = sorted({name for origin in origins for name in origin.unseen})
        said = [f"{name} allocates where tracemalloc does not look: memory is estimated" for name in unseen]
        return Conditions(
            inputs=label,
            python=".".join(map(str, self.python.version)),
            interpreter=str(self.python.path),
            found_by=self.python.found_by,
            notes=(*notes, *said),
            memory_meter=_memory_meter(origins),
        )


def _compare(setup: _Setup, before: Side) -> Comparison:
    both = (before, setup.after)
    with ExitStack() as stack:
        first, second = (stack.enter_context(setup.subject(side)) for side in both)
        setup.request.progress("importing both sides")
        after_origin = _opened(second, setup.source, "after")
        try:
            origins = (_opened(first, setup.source, "before", may_lack=True), after_origin)
        except _AbsentError as absent:
            second.close()
            return _new(setup, before, str(absent))
        try:
            _prove(origins, both)
            return _both(setup, first, second)
        except _UnprovedError as unproved:
            return Comparison(
                before=_report(before, unproved.origins[0]),
                after=_report(setup.after, unproved.origins[1]),
                conditions=setup.conditions(unproved.origins, setup.label),
                status=State.NOT_MEASURED,
                verdict=str(unproved),
            )


def _both(setup: _Setup, first: Subject, second: Subject) -> Comparison:
    """All of a comparison; `first` and `second` are open and serve for all but the clock."""
    request, both = setup.request, (first.side, second.side)
    inputs = setup.inputs(first)
    first.use(inputs.source)
    second.use(inputs.source)
    found = agreement.agree(first, second, inputs.sizes, request.seed, request.progress)
    sizes = [size for size in inputs.sizes if size not in found.unusable]
    meter = _memory_meter([first.origin(), second.origin()])
    held = {}
    for size in sizes:
        request.progress(f"n={size:,}: memory of both")
        held[size] = paired.memory(
            first,
            second,
            size,
            request.seed,
            call_ns=found.call_ns.get(size, 0.0),
            meter=meter,
            jitter=len(inputs.sizes) > 1,
        )
    same = agreement.agree_on(first, second, inputs.compared, request.seed, found.same)
    origins = (first.origin(), second.origin())
    _prove(origins, both)
    first.close()
    second.close()
    core, notes = _core(parallel=found.parallel)
    taken = rounds.take(
        setup.opening([(first.side, first.kind), (second.side, second.kind)], inputs, core),
        sizes,
        sides=2,
        seed=request.seed,
        budget=request.budget,
        progress=request.progress,
    )
    plan = request.budget.plan
    timed = {readings.n: paired.row(readings, held[readings.n], plan) for readings in taken}
    rows = [timed.get(n) or paired.unusable(n, found.unusable.get(n, "")) for n in inputs.sizes]
    notes += [_UNSEEN.format(readings.n) for readings in taken if not readings.outside_agrees]
    status, line = verdict.judge(rows, same)
    return Comparison(
        before=_report(both[0], origins[0]),
        after=_report(both[1], origins[1]),
        conditions=setup.conditions(origins, inputs.source.label, (*notes, *inputs.notes)),
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
        same_results=same,
    )


_UNSEEN = "n={:,}: seen from outside, the process used more CPU than the calls show"


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
    with setup.subject(setup.after) as subject:
        setup.request.progress("importing")
        origin = _opened(subject, setup.source, setup.after.label)
        try:
            _prove([origin], [setup.after])
            return _one(setup, subject)
        except _UnprovedError as unproved:
            return Absolute(
                side=_report(setup.after, unproved.origins[0]),
                conditions=setup.conditions(unproved.origins, setup.label),
                status=State.NOT_MEASURED,
                verdict=str(unproved),
            )


def _one(setup: _Setup, subject: Subject) -> Absolute:
    request, side = setup.request, setup.after
    inputs = setup.inputs(subject)
    subject.use(inputs.source)
    found = agreement.works(subject, inputs.sizes, request.seed, request.progress)
    sizes = [size for size in inputs.sizes if size not in found.unusable]
    meter = _memory_meter([subject.origin()])
    held = {}
    for size in sizes:
        request.progress(f"n={size:,}: memory")
        call_ns = found.call_ns.get(size, 0.0)
        held[size] = single.memory(subject, size, request.seed, call_ns=call_ns, meter=meter)
    origin = subject.origin()
    _prove([origin], [side])
    subject.close()
    core, notes = _core(parallel=found.parallel)
    taken = rounds.take(
        setup.opening([(side, subject.kind)], inputs, core),
        sizes,
        sides=1,
        seed=request.seed,
        budget=request.budget,
        progress=request.progress,
    )
    timed = {readings.n: single.row(readings, held[readings.n]) for readings in taken}
    rows = [
        timed.get(size) or SizeMeasurement(n=size, reason=found.unusable.get(size, ""))
        for size in inputs.sizes
    ]
    notes += [_UNSEEN.format(readings.n) for readings in taken if not readings.outside_agrees]
    return Absolute(
        side=_report(side, origin),
        conditions=setup.conditions([origin], inputs.source.label, (*notes, *inputs.notes)),
        status=_state_of(rows),
        verdict=verdict.describe(rows),
        sizes=tuple(rows),
        growth=SideGrowth(
            cpu=_fit([(row.n, row.cpu.value if row.cpu else None) for row in rows]),
            peak=_fit([(row.n, row.peak.value if row.peak else None) for row in rows]),
        ),
    )


def _state_of(rows: Sequence[SizeMeasurement]) -> State:
    if all(row.cpu is None for row in rows):
        return State.NOT_MEASURED
    complete = all(row.cpu is not None and row.peak is not None for row in rows)
    return State.OK if complete else State.PARTIAL


def _opened(subject: Subject, source: InputSource | None, name: str, *, may_lack: bool = False) -> Origin:
    try:
        return subject.open(source)
    except RequestRefusedError as refused:
        if may_lack and refused.kind == "absent":
            raise _AbsentError(f"{subject.side.label} has no '{subject.side.target.name}'") from None
        raise UsageError(f"{name} ({subject.side.label}): {refused}") from None


def _prove(origins: Sequence[Origin], both: Sequence[Side]) -> None:
    """That every side is the code the user meant, and that two sides are not one file."""
    for origin, side in zip(origins, both, strict=True):
        if origin.strangers:
            raise _UnprovedError(_stranger(side, origin), origins)
    if len(both) > 1 and origins[0].file == origins[1].file and not sides.same_state(both[0], both[1]):
        raise _UnprovedError(f"not measured: both sides are the file {origins[0].file}", origins)


def _stranger(side: Side, origin: Origin) -> str:
    name, path = origin.strangers[0]
    more = f" (and {len(origin.strangers) - 1} more)" if len(origin.strangers) > 1 else ""
    where = f"{name} was imported from {path}{more}"
    return f"not measured: for {side.label}, {where}, outside of its tree {side.tree}"


def _core(*, parallel: bool) -> tuple[int | None, list[str]]:
    """The core both workers share, unless the function uses several; what a reader should know of it."""
    if parallel:
        return None, ["the function uses several cores: not kept on one, CPU time is the sum over them"]
    return paired.a_core(), []


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
    return growth.fit([size for size, _ in known], [cost for _, cost in known]) if known else None
