"""The figures of one function: clocks around calls, tracemalloc in passes of their own.

Own code is trusted, so the clocks are read in here, around the call and nothing else; the tool reads the
process's CPU clock from outside as well, where the system offers that.
"""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import collections
import contextlib
import gc
import io
import os
import sys
import time
import tracemalloc
import warnings
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

with contextlib.suppress(ImportError):  # Windows has no such module
    import resource

_HAS_USAGE = "resource" in globals()

Arguments = Tuple[Tuple[Any, ...], "dict[str, Any]"]

# Bound once: packages that freeze time in tests replace the names in the module.
_cpu_clock = time.process_time_ns
_wall_clock = time.perf_counter_ns

COARSE_NS = 200_000_000
"""Shortest batch where the process clock ticks in 1/64 s (Windows)."""
FINE_NS = 5_000_000
"""Shortest batch elsewhere: far above the cost of reading the clocks and of being interrupted once."""
SURE_NS = 1_000_000_000
"""A batch shorter than this is long enough only if it is so twice."""
MAX_LOOPS = 10_000
_SERIES = 3
MAX_BUILD_NS = 100_000_000
"""CPU time that building the inputs of one batch may take; bounds their memory as well."""
MAX_ITEMS = 4_000_000
"""Bound for size x calls in one batch."""


class Reading(NamedTuple):
    """One batch of calls."""

    cpu_ns: int
    wall_ns: int
    loops: int
    gave_up: Optional[int] = None
    """Times the process gave up the processor to wait for something; None where the system does not tell."""


def children_cpu_ns() -> int:
    """CPU time of ended child processes; 0 where the system does not tell."""
    if not _HAS_USAGE:
        return 0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def voluntary_switches() -> Optional[int]:
    """Times this process waited for something; being pushed aside by another process is none of them."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw if _HAS_USAGE else None


def shortest_batch_ns() -> int:
    """How long a batch must be at least for this system's process clock."""
    return COARSE_NS if os.name == "nt" else FINE_NS


class Caller:
    """Calls the target and makes what it returns whole, by the kind of result that it gives."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.kind = "plain"
        """plain, iterator, awaitable or async-iterator; known after `observe`, here or in another process."""
        self._loop: Any = None

    def observe(self, arguments: Arguments) -> Any:
        """Call once and return the whole result; an iterator becomes ("iterator", [items])."""
        args, kwargs = arguments
        self.kind = "plain"
        result = self.function(*args, **kwargs)
        if hasattr(result, "__await__"):
            self.kind = "awaitable"
            return self.loop.run_until_complete(_awaited(result))
        if hasattr(result, "__aiter__") and hasattr(result, "__anext__"):
            self.kind = "async-iterator"
            return ("async-iterator", self.loop.run_until_complete(_collected(result)))
        if hasattr(result, "__next__") and not isinstance(result, io.IOBase):
            self.kind = "iterator"
            return ("iterator", list(result))
        return result

    @property
    def loop(self) -> Any:
        """One event loop for all calls."""
        if self._loop is None:
            import asyncio  # a third of the worker's start, needed by few functions

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop

    def run(self, batch: Sequence[Arguments]) -> None:
        """Call once for each arguments, results dropped; the loop is as thin as Python allows."""
        function = self.function
        if self.kind == "plain":
            if any(kwargs for _, kwargs in batch):
                for args, kwargs in batch:
                    function(*args, **kwargs)
            else:
                for args, _ in batch:
                    function(*args)
        elif self.kind == "iterator":
            for args, kwargs in batch:
                collections.deque(function(*args, **kwargs), maxlen=0)
        elif self.kind == "awaitable":
            for args, kwargs in batch:
                self.loop.run_until_complete(_awaited(function(*args, **kwargs)))
        else:
            for args, kwargs in batch:
                self.loop.run_until_complete(_drained(function(*args, **kwargs)))


async def _awaited(result: Any) -> Any:
    return await result


async def _collected(result: Any) -> List[Any]:
    return [item async for item in result]


async def _drained(result: Any) -> None:
    async for _ in result:
        pass


def settle() -> None:
    """Collect garbage, so that none of it is collected in the next call."""
    gc.collect()


def clocks() -> Reading:
    """What the clocks show; CPU with that of ended children."""
    return Reading(_cpu_clock() + children_cpu_ns(), _wall_clock(), 0)


def timed(caller: Caller, batch: Sequence[Arguments]) -> Reading:
    """CPU and wall time of a batch of calls; to be called right after `settle`."""
    children = children_cpu_ns()
    switches = voluntary_switches()
    wall = _wall_clock()
    cpu = _cpu_clock()
    caller.run(batch)
    cpu = _cpu_clock() - cpu
    wall = _wall_clock() - wall
    gave_up = None if switches is None else (voluntary_switches() or 0) - switches
    return Reading(cpu + children_cpu_ns() - children, wall, len(batch), gave_up)


def calibrate(caller: Caller, build: Callable[[], Arguments], size: int) -> Tuple[int, Reading]:
    """Calls a batch needs to be long enough for the clock, and the last reading taken on the way."""
    wanted = shortest_batch_ns()
    loops = 1
    while True:
        build_ns, reading = _tried(caller, build, loops)
        if wanted <= _spent(reading) < SURE_NS:
            # A first call loads and caches, or the machine was busy. Taken at its word it would make
            # batches of one cold call, which cost twice as much as the warm ones of the other side.
            reading = min(reading, _tried(caller, build, loops)[1], key=_spent)
        spent = _spent(reading)
        cap = max(1, min(MAX_LOOPS, MAX_BUILD_NS // build_ns, MAX_ITEMS // max(size, 1)))
        if spent >= wanted or loops >= cap:
            return loops, reading
        loops = min(cap, max(loops * 2, min(loops * 10, int(loops * wanted * 1.2 / max(spent, 1)))))


def _tried(caller: Caller, build: Callable[[], Arguments], loops: int) -> Tuple[int, Reading]:
    """CPU time of building one input, and a batch of so many calls."""
    start = _cpu_clock()
    batch = [build() for _ in range(loops)]
    build_ns = max(1, (_cpu_clock() - start) // loops)
    settle()
    return build_ns, timed(caller, batch)


def _spent(reading: Reading) -> int:
    """Wall time counts only for what waits: on a busy machine it says nothing of the work."""
    return reading.wall_ns if reading.cpu_ns < reading.wall_ns / 10 else reading.cpu_ns


class Stopped(Exception):  # noqa: N818  (what happened, in one word)
    """The target switches tracemalloc off or resets it: no figure can be had."""


def peak_bytes(caller: Caller, build: Callable[[], Arguments]) -> int:
    """Peak of Python's allocations during one call, beyond what was there before it.

    The input is traced too, so that a target which grows or empties it is counted for the difference.

    Raises:
        Stopped: the target stopped tracemalloc.
    """
    gc.collect()
    tracemalloc.start(1)
    try:
        batch = [build()]
        gc.collect()
        base = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        caller.run(batch)
        if not tracemalloc.is_tracing():
            raise Stopped
        return max(0, tracemalloc.get_traced_memory()[1] - base)
    finally:
        tracemalloc.stop()


def _forget_names() -> None:
    """Empty the interpreter's table of attributes looked up: it keeps names that unpickling has just made."""
    clear = getattr(sys, "_clear_type_cache", None)
    if clear is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated from 3.13 on
            clear()


def retained_bytes(caller: Caller, build: Callable[[int], Arguments], calls: int) -> int:
    """Bytes that stay behind after `calls` calls whose inputs and results were dropped, garbage collected.

    Each call has an input of its own. The least of three series counts: what leaks does so in every one,
    while a cache that grows now and then, or what a thread leaves for later, does not. A series before
    them fills caches that are filled once.

    Raises:
        Stopped: the target stopped tracemalloc.
    """
    gc.collect()
    tracemalloc.start(1)
    try:
        # Integers of a reading's size, traced: a reading that takes the place of one adds nothing.
        held = [int("9" * 9) - series for series in range(_SERIES + 1)]
        for series in range(_SERIES + 1):
            for number in range(calls):
                caller.run([build(series * calls + number)])
            build(0)  # what builds the inputs may keep its last one: at every reading it is the same
            _forget_names()
            gc.collect()
            held[series] = tracemalloc.get_traced_memory()[0]
        if not tracemalloc.is_tracing():
            raise Stopped
        return min(held[series + 1] - held[series] for series in range(_SERIES))
    finally:
        tracemalloc.stop()
