"""Two programs run in turn on the same inputs, until a difference is shown or the cap is reached."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from best_agent.judge.outside import FLAG as OUTSIDE_FLAG
from best_agent.judge.outside import Excess, excess
from best_agent.measure.intervals import MIN_PAIRS
from best_agent.measure.quantity import compared
from best_agent.measure.sequential import Outcome, Plan, closing_look, look
from best_agent.model.measurement import Compared
from best_agent.model.run import Limits, Meter, Run, Status
from best_agent.model.task import Case
from best_agent.model.verdict import Contest, PairedCase, Shown
from best_agent.pipeline.contestant import Contestant
from best_agent.pipeline.judging import PAGE_BYTES

SMALL_SCALE_PAIRS = 5
TRACED_RESOLUTION = 512
"""Bytes below which two peaks read by tracemalloc count as the same; it repeats exactly."""
PAGED_RESOLUTION = 2 * PAGE_BYTES
"""The same for peaks read by page faults: each end of the call may fall on either side of a page."""
MEMORY_MARGIN = 0.05

Wrong = Callable[[Case, bytes], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A case as both programs read it."""

    case: Case
    stdin: bytes
    limits: Limits


@dataclass(slots=True)
class _Readings:
    """What the two sides of one case gave, pair by pair."""

    before: list[Run] = field(default_factory=list)
    after: list[Run] = field(default_factory=list)
    failure: str = ""


class Race:
    """A race of two contestants over cases that both are known to solve."""

    def __init__(self, before: Contestant, after: Contestant, lanes: Sequence[Lane], wrong: Wrong) -> None:
        self._before = before
        self._after = after
        self._lanes = tuple(lanes)
        self._wrong = wrong
        self._readings: Mapping[str, _Readings] = {lane.case.id: _Readings() for lane in lanes}

    def run(self, plan: Plan, *, budget_s: float, least_pairs: int = MIN_PAIRS) -> Contest:
        """Race: the largest scale by the plan, the smaller ones with few pairs for the record.

        `budget_s` bounds the wall time of the deciding scale, once there are `least_pairs` pairs.

        Raises:
            MeasureError: the harness failed.
        """
        scales = sorted({lane.case.scale for lane in self._lanes})
        if not scales:
            return Contest(baseline=self._before.source.id, cases=(), scale=None, time=None, memory=None)
        for scale in scales[:-1]:
            for number in range(SMALL_SCALE_PAIRS):
                self._pass_over(scale, number)
        outcome = self._decide(scales[-1], plan, budget_s, max(least_pairs, MIN_PAIRS))
        return self._contest(scales[-1], outcome)

    def _decide(self, scale: int, plan: Plan, budget_s: float, least_pairs: int) -> Outcome:
        end = time.monotonic() + budget_s
        outcome = Outcome.CONTINUE
        number = 0
        while outcome is Outcome.CONTINUE:
            self._pass_over(scale, number)
            number += 1
            before, after = self._sums(scale, "cpu_ns")
            if len(before) < number or min(*before, *after) <= 0:
                return Outcome.NOT_SHOWN  # a case failed, or the call is too small for the clock
            outcome = look(before, after, plan)
            if outcome is Outcome.CONTINUE and number >= least_pairs and time.monotonic() > end:
                return closing_look(before, after, plan)
        return outcome

    def _pass_over(self, scale: int, number: int) -> None:
        """One pair on each case of the scale; who goes first alternates, so that drift cancels."""
        for lane in self._lanes:
            readings = self._readings[lane.case.id]
            if lane.case.scale != scale or readings.failure:
                continue
            order: tuple[Literal["before", "after"], ...] = ("before", "after")
            runs = {}
            for side in order if number % 2 == 0 else reversed(order):
                runs[side] = self._run(side, lane)
            failure = next((why for side in order if (why := self._failure(side, lane, runs[side]))), "")
            if failure:
                readings.failure = failure
                continue
            readings.before.append(runs["before"])
            readings.after.append(runs["after"])

    def _run(self, side: Literal["before", "after"], lane: Lane) -> Run:
        if side == "before":
            return self._before.timed(lane.stdin, lane.limits)
        return self._after.timed(lane.stdin, lane.limits)

    def _failure(self, side: Literal["before", "after"], lane: Lane, run: Run) -> str:
        name = self._before.source.id if side == "before" else self._after.source.id
        if run.status is not Status.OK or run.answer is None:
            return f"{name} ended with {run.status} in the race: {run.detail}"
        wrong = self._wrong(lane.case, run.answer)
        return f"{name} answered wrongly in the race: {wrong}" if wrong else ""

    def _sums(self, scale: int, quantity: Literal["cpu_ns", "wall_ns"]) -> tuple[list[float], list[float]]:
        """Per pair, the sum of a quantity over the cases of a scale, both sides; failed cases drop out."""
        good = [
            self._readings[lane.case.id]
            for lane in self._lanes
            if lane.case.scale == scale and not self._readings[lane.case.id].failure
        ]
        pairs = min((len(readings.before) for readings in good), default=0)
        shifts = [self._excess(readings).cpu_ns if quantity == "cpu_ns" else 0 for readings in good]

        def total(side: Literal["before", "after"], number: int) -> float:
            runs = [getattr(readings, side)[number] for readings in good]
            return float(sum(getattr(run, quantity) or 0 for run in runs))

        before = [total("before", number) for number in range(pairs)]
        after = [total("after", number) + sum(shifts) for number in range(pairs)]
        return before, after

    def _excess(self, readings: _Readings) -> Excess:
        return excess(readings.after, readings.before)

    def _contest(self, scale: int, outcome: Outcome) -> Contest:
        cases = tuple(self._paired(lane) for lane in self._lanes)
        memories = [case.memory for case in cases if case.scale == scale and case.memory is not None]
        memory = max(memories, key=lambda quantity: quantity.after, default=None)
        flagged = any(self._excess(readings) for readings in self._readings.values())
        return Contest(
            baseline=self._before.source.id,
            cases=cases,
            scale=scale,
            time=_quantity(*self._sums(scale, "cpu_ns")),
            wall=_quantity(*self._sums(scale, "wall_ns")),
            memory=memory,
            time_shown=_shown(outcome),
            memory_shown=memory_shown(memory, self._resolution()),
            flags=(OUTSIDE_FLAG,) if flagged else (),
        )

    def _resolution(self) -> int:
        traced = self._before.program.memory_pass and self._after.program.memory_pass
        return TRACED_RESOLUTION if traced else PAGED_RESOLUTION

    def _paired(self, lane: Lane) -> PairedCase:
        readings = self._readings[lane.case.id]
        if readings.failure:
            return PairedCase(
                case=lane.case.id,
                scale=lane.case.scale,
                time=None,
                wall=None,
                memory=None,
                reason=readings.failure,
            )
        shift = self._excess(readings).cpu_ns
        return PairedCase(
            case=lane.case.id,
            scale=lane.case.scale,
            time=_quantity(
                [float(run.cpu_ns or 0) for run in readings.before],
                [float((run.cpu_ns or 0) + shift) for run in readings.after],
            ),
            wall=_quantity(
                [float(run.wall_ns or 0) for run in readings.before],
                [float(run.wall_ns or 0) for run in readings.after],
            ),
            memory=self._memory(lane, readings),
        )

    def _memory(self, lane: Lane, readings: _Readings) -> Compared | None:
        faults = self._excess(readings).minor_faults
        before = [self._before.peak(lane.case, lane.stdin, lane.limits, run) for run in readings.before]
        after = [self._after.peak(lane.case, lane.stdin, lane.limits, run) for run in readings.after]
        lows = [float(run.peak_bytes) for run in before if run.peak_bytes is not None]
        highs = [float(run.peak_bytes + faults * PAGE_BYTES) for run in after if run.peak_bytes is not None]
        if len(lows) != len(before) or len(highs) != len(after):
            return None
        meter = Meter.worst(run.memory_meter for run in (*before, *after))
        return compared(lows, highs, meter=meter, exact=meter is Meter.EXACT)


def _quantity(before: Sequence[float], after: Sequence[float]) -> Compared | None:
    if not before:
        return None
    return compared(before, after, meter=Meter.EXACT, exact=False)


def _shown(outcome: Outcome) -> Shown:
    if outcome is Outcome.LESS:
        return "less"
    return "more" if outcome is Outcome.MORE else "none"


def memory_shown(memory: Compared | None, resolution_bytes: int) -> Shown:
    """Whether a peak is less or more, beyond the meter's resolution and 5%."""
    if memory is None or memory.meter is Meter.UNAVAILABLE:
        return "none"
    if abs(memory.after - memory.before) <= resolution_bytes:
        return "none"
    if memory.after < memory.before * (1 - MEMORY_MARGIN):
        return "less"
    return "more" if memory.after > memory.before * (1 + MEMORY_MARGIN) else "none"
