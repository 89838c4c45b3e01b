"""`measure` and `compare`: from the targets a user wrote to figures, both sides in one run."""

from collections.abc import Sequence
from contextlib import ExitStack

from best_agent.errors import UsageError
from best_agent.measure import growth
from best_agent.model.measurement import Growth
from best_agent.pipeline.own_inputs import Inputs
from best_agent.pipeline.own_setup import (
    AbsentError,
    Request,
    Setup,
    UnprovedError,
    core_for,
    memory_meter,
    opened,
    prove,
    side_report,
)
from best_agent.workload import agreement, paired, rounds, sides, single, verdict
from best_agent.workload.figures import (
    Absolute,
    Comparison,
    SideGrowth,
    SideReport,
    SizeMeasurement,
    State,
)
from best_agent.workload.paired import Memory
from best_agent.workload.sides import Side
from best_agent.workload.subject import Subject
from best_agent.workload.target import Target, pair

__all__ = ["Request", "compare", "measure"]


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
        setup = Setup.of(after, request, trees.folder, names)
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
        return _measure(Setup.of(side, request, trees.folder))


def _compare(setup: Setup, before: Side) -> Comparison:
    both = (before, setup.after)
    with ExitStack() as stack:
        first, second = (stack.enter_context(setup.subject(side)) for side in both)
        setup.request.progress("importing both sides")
        after_origin = opened(second, setup.source, "after")
        try:
            origins = (opened(first, setup.source, "before", may_lack=True), after_origin)
        except AbsentError as absent:
            second.close()
            return _new(setup, before, str(absent))
        try:
            prove(origins, both)
            return _both(setup, first, second)
        except UnprovedError as unproved:
            return Comparison(
                before=side_report(before, unproved.origins[0]),
                after=side_report(setup.after, unproved.origins[1]),
                conditions=setup.conditions(unproved.origins, setup.label),
                status=State.NOT_MEASURED,
                verdict=str(unproved),
            )


def _both(setup: Setup, first: Subject, second: Subject) -> Comparison:
    """All of a comparison; `first` and `second` are open and serve for all but the clock."""
    request, both = setup.request, (first.side, second.side)
    inputs = setup.inputs(first)
    first.use(inputs.source)
    second.use(inputs.source)
    found = agreement.agree(first, second, inputs.sizes, request.seed, request.progress)
    sizes = [size for size in inputs.sizes if size not in found.unusable]
    held = _memory(setup, first, second, inputs, found)
    same = agreement.agree_on(first, second, inputs.compared, request.seed, found.same)
    origins = (first.origin(), second.origin())
    prove(origins, both)
    first.close()
    second.close()
    core, notes = core_for(parallel=found.parallel)
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
        before=side_report(both[0], origins[0]),
        after=side_report(both[1], origins[1]),
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


def _memory(
    setup: Setup, first: Subject, second: Subject, inputs: Inputs, found: agreement.Agreement
) -> dict[int, Memory]:
    """Memory at every size that can be measured."""
    meter = memory_meter([first.origin(), second.origin()])
    held = {}
    for size in inputs.sizes:
        if size in found.unusable:
            continue
        setup.request.progress(f"n={size:,}: memory of both")
        held[size] = paired.memory(
            first,
            second,
            size,
            setup.request.seed,
            call_ns=found.call_ns.get(size, 0.0),
            meter=meter,
            jitter=len(inputs.sizes) > 1,
        )
    return held


_UNSEEN = "n={:,}: seen from outside, the process used more CPU than the calls show"


def _new(setup: Setup, before: Side, why: str) -> Comparison:
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


def _measure(setup: Setup) -> Absolute:
    with setup.subject(setup.after) as subject:
        setup.request.progress("importing")
        origin = opened(subject, setup.source, setup.after.label)
        try:
            prove([origin], [setup.after])
            return _one(setup, subject)
        except UnprovedError as unproved:
            return Absolute(
                side=side_report(setup.after, unproved.origins[0]),
                conditions=setup.conditions(unproved.origins, setup.label),
                status=State.NOT_MEASURED,
                verdict=str(unproved),
            )


def _one(setup: Setup, subject: Subject) -> Absolute:
    request, side = setup.request, setup.after
    inputs = setup.inputs(subject)
    subject.use(inputs.source)
    found = agreement.works(subject, inputs.sizes, request.seed, request.progress)
    sizes = [size for size in inputs.sizes if size not in found.unusable]
    meter = memory_meter([subject.origin()])
    held = {}
    for size in sizes:
        request.progress(f"n={size:,}: memory")
        call_ns = found.call_ns.get(size, 0.0)
        held[size] = single.memory(subject, size, request.seed, call_ns=call_ns, meter=meter)
    origin = subject.origin()
    prove([origin], [side])
    subject.close()
    core, notes = core_for(parallel=found.parallel)
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
        side=side_report(side, origin),
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


def _fit(points: Sequence[tuple[int, float | None]]) -> Growth | None:
    known = [(size, cost) for size, cost in points if cost]
    return growth.fit([size for size, _ in known], [cost for _, cost in known]) if known else None
