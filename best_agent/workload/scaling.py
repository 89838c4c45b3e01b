"""Which recorded calls are measured, at which sizes, and which are only compared for equal results.

Decided by trying: the baseline is called with the arguments as they were recorded and grown tenfold, again
and again, until a call takes too long to be repeated. What does not run outside of its test is left out;
what raises when grown is grown without variation, or used as it was recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from best_agent.errors import UsageError
from best_agent.workload.recording import RecordedCall

LONGEST_NS = 100_000_000
"""A size is used if the baseline's call is expected to stay below this: each is repeated a hundred times."""
LARGEST = 100_000
_SIZES = 3
_TRIED_TO_GROW = 4
"""Calls that are tried before all are used as recorded: collections before texts, in which there is little
that is distinct, and the largest first."""
_FACTOR = 10
_QUADRATIC = 100.0
"""How much longer ten times the size is thought to take before two sizes were seen."""
_OVERHEAD_NS = 100_000
_SHORT_NS = 5_000_000
_GROWING_MODES = ("varied", "repeated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call of the baseline with arguments built from a recording."""

    raised: str | None
    """Why it gave no result: what it raised, or that its arguments could not be built."""
    cpu_ns: int = 0


Try = Callable[[int, str, int], Attempt]
"""(index of the call, mode of `worker.recorded`, size) -> what came of it.

It must end a call that takes far longer than LONGEST_NS and say so in `raised`: a function of exponential
cost does not come back from ten times the size.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A call that is measured: `recorded.builder(path, index, mode)` builds its arguments."""

    index: int
    mode: str
    sizes: tuple[int, ...]

    @property
    def label(self) -> str:
        """How the inputs came about, in the words of the output."""
        return "recorded" if self.mode == "recorded" else "recorded, scaled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is done with a recording."""

    measured: Measured
    compared: tuple[int, ...]
    """Calls whose results are compared as recorded, the measured one among them."""
    left_out: tuple[tuple[int, str], ...] = ()
    """Calls that do not run outside of their tests, with the reason."""


def choose(calls: tuple[RecordedCall, ...], attempt: Try, sizes: tuple[int, ...] = ()) -> Choice:
    """Try the recorded calls on the baseline and choose.

    With `sizes` (`--sizes`) growing goes to these and no others.

    Raises:
        UsageError: none of the calls runs outside of its test.
    """
    runs: list[tuple[RecordedCall, Attempt]] = []
    left_out: list[tuple[int, str]] = []
    for call in calls:
        tried = attempt(call.index, "recorded", call.size or 1)
        if tried.raised is None:
            runs.append((call, tried))
        else:
            left_out.append((call.index, tried.raised))
    if not runs:
        none = f"none of the {len(calls)} recorded calls runs outside of its test"
        other = "give the input with --call or a workload file"
        raise UsageError(f"{none}; the first: {left_out[0][1]}; {other}")
    return Choice(
        measured=_grown(runs, attempt, sizes) or _as_recorded(runs),
        compared=tuple(call.index for call, _ in runs),
        left_out=tuple(left_out),
    )


def _grown(runs: list[tuple[RecordedCall, Attempt]], attempt: Try, sizes: tuple[int, ...]) -> Measured | None:
    growing = [(call.size, call, tried) for call, tried in runs if call.size]
    growing.sort(key=lambda entry: (entry[1].text, -entry[0], entry[1].index))
    for size, call, tried in growing[:_TRIED_TO_GROW]:
        for mode in _GROWING_MODES:
            at_size = partial(attempt, call.index, mode)
            reached = _asked_for(sizes, at_size) if sizes else _climb(size, tried, at_size)
            if reached:
                return Measured(index=call.index, mode=mode, sizes=reached)
    return None


def _asked_for(sizes: tuple[int, ...], attempt: Callable[[int], Attempt]) -> tuple[int, ...]:
    """The sizes if all of them run, else none."""
    return sizes if all(attempt(size).raised is None for size in sorted(sizes)) else ()


def _climb(size: int, at_first: Attempt, attempt: Callable[[int], Attempt]) -> tuple[int, ...]:
    """The last three of the sizes n, 10n, 100n ... that run in good time; none if n is the only one."""
    reached = [size]
    last_ns, factor = max(1, at_first.cpu_ns), _QUADRATIC
    while size * _FACTOR <= LARGEST and last_ns * factor <= LONGEST_NS:
        tried = attempt(size * _FACTOR)
        if tried.raised is None and tried.cpu_ns < _SHORT_NS:
            tried = min(tried, attempt(size * _FACTOR), key=lambda one: one.cpu_ns)  # the first one warms up
        if tried.raised is not None:
            break
        size *= _FACTOR
        reached.append(size)
        # A call of a microsecond is mostly overhead: its factor says nothing of the one to come.
        seen = tried.cpu_ns / last_ns
        factor = max(seen, float(_FACTOR)) if last_ns > _OVERHEAD_NS else _QUADRATIC
        last_ns = max(1, tried.cpu_ns)
    return tuple(reached[-_SIZES:]) if len(reached) > 1 else ()


def _as_recorded(runs: list[tuple[RecordedCall, Attempt]]) -> Measured:
    """The call that takes longest; of those that take the same, the one with the largest arguments."""
    call, _ = max(runs, key=lambda run: (run[1].cpu_ns, run[0].pickled_bytes, -run[0].index))
    return Measured(index=call.index, mode="recorded", sizes=(call.size or 1,))
