"""Calling both sides on the same inputs, to see whether they do the same before anything is timed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from best_agent.errors import UsageError
from best_agent.workload import equality
from best_agent.workload.figures import SameResults
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.subject import InputSource, Subject

INPUTS_PER_SIZE = 3
_SLOW_NS = 5_000_000_000
"""A call longer than this is not repeated only to compare results."""
_RANDOM = "not deterministic"
_PARALLEL = 1.3
_PARALLEL_FROM_NS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What the calls on all inputs showed."""

    same: SameResults
    unusable: dict[int, str]
    """Sizes that cannot be timed, with the reason."""
    call_ns: dict[int, float]
    """Longest first call at each size, the greater of CPU and wall time."""
    parallel: bool
    """A call took more CPU than wall time: it uses several cores."""


@dataclass(slots=True)
class _Tally:
    equal: int = 0
    of: int = 0
    close: int = 0
    differences: dict[str, str] = field(default_factory=dict)
    uncertain: dict[str, None] = field(default_factory=dict)
    unusable: dict[int, str] = field(default_factory=dict)
    call_ns: dict[int, float] = field(default_factory=dict)
    parallel: bool = False
    worked: bool = False

    def saw(self, size: int, one: equality.Observation) -> None:
        """Keep what a call cost."""
        self.call_ns[size] = max(self.call_ns.get(size, 0.0), one["cpu_ns"], one["wall_ns"])
        self.parallel |= one["cpu_ns"] > _PARALLEL * one["wall_ns"] and one["wall_ns"] > _PARALLEL_FROM_NS


def agree(
    before: Subject, after: Subject, sizes: Sequence[int], seed: int, progress: Callable[[str], None]
) -> Agreement:
    """Call both on up to three different inputs of each size.

    Raises:
        UsageError: the two sides were given different inputs, or both raise on every input.
        RequestRefusedError: the inputs cannot be built.
    """
    tally = _Tally()
    for position, size in enumerate(sizes):
        progress(f"n={size:,}: comparing results")
        _one_size(before, after, size, seed, tally)
        if _too_slow(tally.unusable.get(size)):
            late = dict.fromkeys(sizes[position + 1 :], f"not tried: {tally.unusable[size]}")
            tally.unusable.update(late)
            break
    if not tally.worked and tally.unusable and not tally.differences:
        raise UsageError(f"nothing to measure: {next(iter(tally.unusable.values()))}")
    random = any(_RANDOM in reason for reason in tally.uncertain)
    same = SameResults(
        equal=tally.equal,
        of=tally.of,
        within_tolerance=tally.close,
        # Where a function differs from itself, a difference between the sides says nothing.
        differences=() if random else tuple(tally.differences.values()),
        uncertain=tuple(tally.uncertain),
    )
    return Agreement(same=same, unusable=tally.unusable, call_ns=tally.call_ns, parallel=tally.parallel)


def agree_on(
    before: Subject, after: Subject, recorded: Sequence[InputSource], seed: int, found: SameResults
) -> SameResults:
    """The same results, with those on recorded calls added."""
    if any(_RANDOM in reason for reason in found.uncertain):
        return found
    tally = _Tally(equal=found.equal, of=found.of, close=found.within_tolerance)
    tally.uncertain.update(dict.fromkeys(found.uncertain))
    for number, source in enumerate(recorded, 1):
        try:
            before.use(source)
            after.use(source)
            pair = _both(before, after, number, seed, tally)
        except RequestRefusedError as refused:
            tally.uncertain[f"recorded call {number}: {refused}"] = None
            continue
        if pair is not None:
            _compare(pair, number, tally, f"recorded call {number}")
    return SameResults(
        equal=tally.equal,
        of=tally.of,
        within_tolerance=tally.close,
        differences=(*found.differences, *tally.differences.values()),
        uncertain=tuple(tally.uncertain),
    )


def _too_slow(reason: str | None) -> bool:
    return reason is not None and "--time-limit" in reason


def _one_size(before: Subject, after: Subject, size: int, seed: int, tally: _Tally) -> None:
    seen: set[str] = set()
    for number in range(INPUTS_PER_SIZE):
        pair = _both(before, after, size, seed + number, tally)
        if pair is None:
            return
        first, second = pair
        if first["given"] != second["given"]:
            raise UsageError(
                f"the two sides were given different inputs for n={size}, seed={seed + number}: build them "
                "from n and seed only, not from the clock, the environment or unseeded generators"
            )
        if first["given"] in seen:  # the inputs do not depend on the seed
            return
        seen.add(first["given"])
        _compare(pair, size, tally)
        slow = max(first["cpu_ns"], first["wall_ns"], second["cpu_ns"], second["wall_ns"]) > _SLOW_NS
        if number == 0 and not slow:
            _repeat(before, after, pair, size, seed, tally)
        if slow or size in tally.unusable:
            return


def _both(
    before: Subject, after: Subject, size: int, seed: int, tally: _Tally
) -> tuple[equality.Observation, equality.Observation] | None:
    found: list[dict[str, Any]] = []
    failed: list[str] = []
    for name, side in (("before", before), ("after", after)):
        try:
            found.append(side.observe(size, seed))
        except (WorkerDiedError, WorkerTimeoutError) as error:
            failed.append(f"{name}: {error}")
            side.revive()
    if not failed:
        return found[0], found[1]
    tally.unusable[size] = "; ".join(failed)
    if len(failed) == 1:
        tally.of += 1
        tally.differences.setdefault("ended", f"n={size:,}: {failed[0]}")
    return None


def _compare(
    pair: tuple[equality.Observation, equality.Observation], size: int, tally: _Tally, name: str = ""
) -> None:
    first, second = pair
    name = name or f"n={size:,}"
    tally.of += 1
    different = equality.difference(first, second)
    if different is not None:
        tally.differences.setdefault(different.partition(":")[0], f"{name}: {different}")
    elif equality.too_large(first, second):
        tally.uncertain[f"{name}: the results are too large to compare"] = None
    else:
        tally.equal += 1
        tally.close += equality.tolerated(first, second)
    for name in equality.opaque(first, second):
        tally.uncertain[f"values of {name} were compared by type only"] = None
    raised = [one["shown"] for one in pair if one["raised"]]
    if raised:
        both = "both sides raise" if len(raised) == 2 else "one side raises"
        place = f" ({second['place']})" if second.get("place") else ""
        tally.unusable[size] = f"{both} {raised[-1]}{place} on the input of size {size:,}"
    else:
        tally.worked = True
    for one in pair:
        tally.saw(size, one)


def _repeat(
    before: Subject,
    after: Subject,
    pair: tuple[equality.Observation, equality.Observation],
    size: int,
    seed: int,
    tally: _Tally,
) -> None:
    """Call each side once more on an input it has had: a function may differ from itself."""
    for name, side, earlier in (("before", before, pair[0]), ("after", after, pair[1])):
        try:
            again = side.observe(size, seed)
        except (WorkerDiedError, WorkerTimeoutError) as error:
            tally.unusable[size] = f"{name}: {error}, on the second call with an equal input"
            side.revive()
            return
        if equality.difference(earlier, again) is not None:
            tally.uncertain[f"the function {name} is {_RANDOM}: equal inputs gave different results"] = None


def works(side: Subject, sizes: Sequence[int], seed: int, progress: Callable[[str], None]) -> Agreement:
    """Call one function alone on an input of each size, to see that it works before it is timed.

    Raises:
        UsageError: it raises on every input.
        RequestRefusedError: the inputs cannot be built.
    """
    tally = _Tally()
    for position, size in enumerate(sizes):
        progress(f"n={size:,}: a first call")
        try:
            seen = side.observe(size, seed)
        except (WorkerDiedError, WorkerTimeoutError) as error:
            tally.unusable[size] = str(error)
            side.revive()
        else:
            if seen["raised"]:
                place = f" ({seen['place']})" if seen.get("place") else ""
                tally.unusable[size] = f"it raises {seen['shown']}{place} on the input of size {size:,}"
            tally.saw(size, seen)
        if _too_slow(tally.unusable.get(size)):
            tally.unusable.update(dict.fromkeys(sizes[position + 1 :], f"not tried: {tally.unusable[size]}"))
            break
    if len(tally.unusable) == len(sizes):
        raise UsageError(f"nothing to measure: {next(iter(tally.unusable.values()))}")
    return Agreement(
        same=SameResults(equal=0, of=0),
        unusable=tally.unusable,
        call_ns=tally.call_ns,
        parallel=tally.parallel,
    )
