"""One status and one line from the figures of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from best_agent.model.measurement import Compared
from best_agent.units import format_bytes, format_ns, format_ratio
from best_agent.workload.figures import SameResults, SizeComparison, SizeMeasurement, State

PEAK_RATIO = 1.05
"""Peaks whose ratio stays within this are called the same."""
PEAK_BYTES = 4096
"""A smaller change of a peak is never a finding."""
RETAINED_BYTES = 64
"""More than this left behind per call than before is a leak."""
_WELL_KNOWN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    direction: int
    """-1 less, 0 the same or not shown, 1 more."""
    words: str


def judge(sizes: Sequence[SizeComparison], same: SameResults) -> tuple[State, str]:
    """Status and verdict line. The largest size that was measured speaks for the function.

    A regression is more time or memory there, more bytes left behind, or different results; a
    regression at a smaller size only is said in the line.
    """
    measured = [size for size in sizes if size.cpu is not None]
    if not measured:
        reason = next((size.reason for size in sizes if size.reason), "no size could be timed")
        state = State.REGRESSION if same.differences else State.NOT_MEASURED
        return state, _different(same) if same.differences else f"not measured: {reason}"
    largest = measured[-1]
    changes = (_time(largest), _peak(largest), _retained(measured))
    state = _state(changes, same, complete=len(measured) == len(sizes) and largest.peak is not None)
    figures = _headline(changes, state)
    line = f"{_different(same)}; {figures}" if same.differences else f"{figures}, {_results(same)}"
    return state, f"{line}{_smaller(measured)}{_gaps(sizes)}"


def _state(changes: Sequence[_Change], same: SameResults, *, complete: bool) -> State:
    directions = {change.direction for change in changes}
    if same.differences or 1 in directions:
        return State.REGRESSION
    if not complete:
        return State.PARTIAL
    return State.IMPROVED if -1 in directions else State.OK


def _headline(changes: Sequence[_Change], state: State) -> str:
    words = ", ".join(change.words for change in changes if change.words)
    directions = {change.direction for change in changes}
    if directions == {0}:
        return words if state is State.PARTIAL else f"no difference shown: {words}"
    if {-1, 1} <= directions:
        return f"a trade: {words}"
    spent, held, kept = (change.direction for change in changes)
    if held or kept:
        names = {-1: "better" if spent else "leaner", 1: "worse" if spent else "heavier"}
    else:
        names = {-1: "faster", 1: "slower"}
    return f"{names[max(directions, key=abs)]}: {words}"


def _time(size: SizeComparison) -> _Change:
    assert size.cpu is not None
    compared, shown, name = (
        (size.wall, size.wall_shown, "wall time") if size.waits else (size.cpu, size.cpu_shown, "CPU time")
    )
    assert compared is not None
    if shown == "not-shown" or compared.ratio is None:
        return _Change(direction=0, words=_alike(name, compared))
    return _Change(direction=1 if shown == "more" else -1, words=f"{format_ratio(compared.ratio)} {name}")


def _alike(name: str, compared: Compared) -> str:
    """How well it is known that nothing changed: by the end of the interval that is farther from 1."""
    if compared.ratio_ci is None:
        return f"{name} not told apart"
    off = max(compared.ratio_ci.high - 1, 1 - compared.ratio_ci.low)
    if off >= _WELL_KNOWN:
        return f"{name} not told apart within {off:.0%}"
    return f"{name} the same (within {max(off, 0.005):.1%})"


def _peak(size: SizeComparison) -> _Change:
    peak = size.peak
    if peak is None:
        return _Change(direction=0, words="memory not measured")
    low = size.peak_ratio_low if size.peak_ratio_low is not None else peak.ratio
    high = size.peak_ratio_high if size.peak_ratio_high is not None else peak.ratio
    small = abs(peak.after - peak.before) < PEAK_BYTES
    if peak.ratio is None:
        grown = peak.after >= PEAK_BYTES
        words = f"{format_bytes(peak.after)} peak memory where there was none" if grown else "memory the same"
        return _Change(direction=int(grown), words=words)
    assert low is not None
    assert high is not None
    sizes = f"{format_bytes(peak.before)} -> {format_bytes(peak.after)}"
    if not small and low > PEAK_RATIO:
        return _Change(direction=1, words=f"{format_ratio(peak.ratio)} peak memory ({sizes})")
    if not small and high < 1 / PEAK_RATIO:
        return _Change(direction=-1, words=f"{format_ratio(peak.ratio)} peak memory ({sizes})")
    unlike = low > PEAK_RATIO or high < 1 / PEAK_RATIO
    words = f"peak memory within {format_bytes(PEAK_BYTES)}" if unlike else "memory the same"
    return _Change(direction=0, words=words)


def _retained(sizes: Sequence[SizeComparison]) -> _Change:
    """More left behind at every size; one size alone may be a container that grew just then."""
    known = [size.retained for size in sizes if size.retained is not None]
    if known and all(kept.after - kept.before > RETAINED_BYTES for kept in known):
        return _Change(direction=1, words=f"{format_bytes(known[-1].after)} more kept after each call")
    if known and all(kept.before - kept.after > RETAINED_BYTES for kept in known):
        return _Change(direction=-1, words=f"{format_bytes(known[-1].before)} less kept after each call")
    return _Change(direction=0, words="")


def _results(same: SameResults) -> str:
    if any("not deterministic" in reason for reason in same.uncertain):
        return "results not comparable (the function is not deterministic)"
    if same.equal < same.of:
        return f"same results on {same.equal} of {same.of} inputs, the others not comparable"
    return f"same results on {same.equal} of {same.of} input{'s' if same.of != 1 else ''}"


def _different(same: SameResults) -> str:
    return f"DIFFERENT RESULTS on {same.of - same.equal} of {same.of} inputs ({same.differences[0]})"


def _smaller(measured: Sequence[SizeComparison]) -> str:
    """Smaller sizes that go the other way than the largest."""
    top = _time(measured[-1]).direction
    others = [(size, _time(size)) for size in measured[:-1]]
    against = [
        f"{change.words} at n={size.n:,}" for size, change in others if change.direction == 1 and top != 1
    ]
    return f"; but {', '.join(against)}" if against else ""


def _gaps(sizes: Sequence[SizeComparison]) -> str:
    missing = [f"{size.n:,}" for size in sizes if size.cpu is None]
    return f"; not measured at n={', '.join(missing)}" if missing else ""


def describe(sizes: Sequence[SizeMeasurement]) -> str:
    """One line on a function that is measured alone, at its largest size."""
    measured = [size for size in sizes if size.cpu is not None]
    if not measured:
        reason = next((size.reason for size in sizes if size.reason), "no size could be timed")
        return f"not measured: {reason}"
    size = measured[-1]
    assert size.cpu is not None
    words = [f"{format_ns(size.cpu.value)} CPU time"]
    if size.peak is not None:
        words.append(f"{format_bytes(size.peak.value)} peak memory")
    if size.retained is not None and size.retained.value > RETAINED_BYTES:
        words.append(f"{format_bytes(size.retained.value)} kept after each call")
    return f"{', '.join(words)} at n={size.n:,}"
