"""Timing in rounds of fresh processes, the sides in turn.

A process has luck of its own: where its memory lies alone shows as 10 to 20% between two processes that
run the same code, and stays for as long as they live. So a pair of readings comes from a pair of processes
that are new in each round, and the interval over the rounds holds that luck as well.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from best_agent.measure.intervals import MIN_PAIRS, log_ratio_interval
from best_agent.measure.sequential import Outcome, Plan, look
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.subject import Reading, Subject

FAILURES = (WorkerDiedError, WorkerTimeoutError, RequestRefusedError)

BATCHES = 3
"""Batches of a side in a round, of which the median is the round's reading."""
SLOW_BATCH_NS = 300_000_000
"""A batch longer than this is taken once a round and without a warm-up of its own."""
INPUTS = 3
"""Rounds go through so many different inputs, the ones that were compared before."""
_LOOKS = (5, 8, 12, 16, 20, 30, 50)
_LIKE = 4
_OUTSIDE_SHARE = 0.8
_OUTSIDE_SLACK_NS = 2_000_000

Opening = Callable[[], AbstractContextManager[tuple[Subject, ...]]]
"""Starts workers for the sides, imports and proves them."""


def plan(most: int) -> Plan:
    """When to look at the pairs of at most so many rounds."""
    return Plan(looks=(*(count for count in _LOOKS if count < most), most), min_effect=0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much time the rounds may take."""

    seconds: float = 30.0
    """For all sizes together, beyond the smallest number of rounds."""
    plan: Plan = field(default_factory=lambda: plan(12))
    """Counts of rounds at which a difference may be claimed; the last is the cap."""


@dataclass(slots=True, kw_only=True)
class SizeReadings:
    """What the rounds gave at one size; per call, [side][round]."""

    n: int
    cpu: tuple[list[float], ...]
    wall: tuple[list[float], ...]
    loops: tuple[int, ...] = ()
    batch_ns: float = 0.0
    """Longest batch of the first round."""
    unseen: list[float] = field(default_factory=list)
    """CPU seen from outside beyond what can be explained, by round; in ns."""
    waited: list[bool] = field(default_factory=list)
    """For every batch, whether it spent most of its time waiting."""
    failure: str = ""
    done: bool = False

    @property
    def rounds(self) -> int:
        """Complete rounds."""
        return len(self.cpu[-1])

    @property
    def waits(self) -> bool:
        """Whether the function mostly waits, on both sides: wall time is then what counts."""
        return bool(self.waited) and statistics.mean(self.waited) > 0.75

    @property
    def outside_agrees(self) -> bool:
        """Whether the clock read from outside leaves no large part of the work unseen from inside."""
        return not self.unseen or statistics.median(self.unseen) < _OUTSIDE_SLACK_NS


def take(
    opening: Opening,
    sizes: Sequence[int],
    *,
    sides: int,
    seed: int,
    budget: Budget,
    progress: Callable[[str], None],
) -> tuple[SizeReadings, ...]:
    """Rounds at all sizes until each is decided, the cap is reached or the time is over.

    Raises:
        UsageError, MeasureError: as `opening` does.
    """
    found = tuple(SizeReadings(n=size, cpu=_columns(sides), wall=_columns(sides)) for size in sizes)
    deadline = time.monotonic() + budget.seconds
    for number in range(budget.plan.cap):
        open_sizes = [size for size in found if not size.done]
        if not open_sizes or (number >= MIN_PAIRS and time.monotonic() > deadline):
            break
        with opening() as subjects:
            for size in open_sizes:
                progress(f"timing: round {number + 1} of at most {budget.plan.cap}, n={size.n:,}")
                _round(subjects, size, seed + number % INPUTS, number)
                size.done = bool(size.failure) or _decided(size, budget.plan)
    return found


def _columns(sides: int) -> tuple[list[float], ...]:
    return tuple([] for _ in range(sides))


def _round(subjects: tuple[Subject, ...], size: SizeReadings, seed: int, number: int) -> None:
    try:
        if not size.loops:
            size.loops = alike([subject.calibrate(size.n, seed) for subject in subjects])
        slow = size.batch_ns > SLOW_BATCH_NS
        if number and not slow:
            for subject, loops in zip(subjects, size.loops, strict=True):
                subject.time(size.n, seed, loops)  # the first batch of a process fills its caches
        taken = [_turn(subjects, size, seed, number + batch) for batch in range(1 if slow else BATCHES)]
    except FAILURES as error:
        size.failure = str(error)
        for subject in subjects:
            subject.revive()
        return
    for side, loops in enumerate(size.loops):
        readings = [turn[side] for turn in taken]
        size.cpu[side].append(max(1.0, statistics.median(one.cpu_ns for one in readings)))
        size.wall[side].append(max(1.0, statistics.median(one.wall_ns for one in readings)))
        size.batch_ns = max(size.batch_ns, loops * size.wall[side][-1])
        size.waited += [one.waited for one in readings]
        size.unseen += [excess for one in readings if (excess := _unseen(one, loops)) is not None]


def _turn(subjects: tuple[Subject, ...], size: SizeReadings, seed: int, turn: int) -> tuple[Reading, ...]:
    """One batch of each side, the first side first in every second turn."""
    order = range(len(subjects)) if turn % 2 == 0 else reversed(range(len(subjects)))
    taken = {which: subjects[which].time(size.n, seed, size.loops[which]) for which in order}
    return tuple(taken[which] for which in range(len(subjects)))


def alike(calibrated: Sequence[tuple[int, float]]) -> tuple[int, ...]:
    """Calls in a batch of each side: the same number where the sides are of a like speed.

    More calls in a batch touch and reuse other memory, which alone shows as 10 to 20%. Given is, for each
    side, the number that makes its batch long enough, and the cost of a call.
    """
    loops = [count for count, _ in calibrated]
    costs = [cost for _, cost in calibrated]
    like = max(costs) <= _LIKE * min(costs)
    return tuple(max(loops) for _ in loops) if like else tuple(loops)


def _decided(size: SizeReadings, plan: Plan) -> bool:
    """Whether a difference is shown, by CPU time or, where the function waits, by wall time."""
    if len(size.cpu) < 2:
        return False
    before, after = size.wall if size.waits else size.cpu
    if look(before, after, plan) in (Outcome.LESS, Outcome.MORE):
        return True
    # To stop early because nothing is there claims nothing, so it needs no share of alpha.
    if size.rounds not in plan.looks:
        return False
    _, interval = log_ratio_interval(before, after)
    return 1 - plan.min_effect < interval.low and interval.high < 1 + plan.min_effect


def _unseen(reading: Reading, loops: int) -> float | None:
    if reading.outside_ns is None:
        return None
    return (reading.outside_ns - reading.cpu_ns / _OUTSIDE_SHARE) * loops
