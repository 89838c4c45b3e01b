"""How many calls make a batch: what the first call of a process costs must not decide."""

import time

import pytest

from best_agent.worker import meter


def _burn(nanoseconds: int) -> None:
    end = time.process_time_ns() + nanoseconds
    while time.process_time_ns() < end:
        pass


@pytest.mark.parametrize("times_too_long", [2, 20])
def test_a_first_call_that_loads_and_caches_does_not_make_batches_of_one_call(times_too_long):
    seen = []

    def target() -> None:
        if not seen:
            _burn(min(times_too_long * meter.shortest_batch_ns(), meter.SURE_NS // 2))
        seen.append(None)

    loops, reading = meter.calibrate(meter.Caller(target), lambda: ((), {}), size=1)
    assert loops > 1
    assert reading.loops == loops


def test_a_burst_in_the_midst_of_growing_batches_does_not_end_the_growth():
    calls = []

    def target() -> None:
        calls.append(None)
        if len(calls) == 2:
            _burn(2 * meter.shortest_batch_ns())

    loops, _ = meter.calibrate(meter.Caller(target), lambda: ((), {}), size=1)
    assert loops > 10


def test_a_call_that_is_long_enough_is_a_batch():
    loops, _ = meter.calibrate(
        meter.Caller(lambda: _burn(2 * meter.shortest_batch_ns())), lambda: ((), {}), size=1
    )
    assert loops == 1
