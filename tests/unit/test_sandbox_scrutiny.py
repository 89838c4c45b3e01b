"""What outside meters can hold against a target: the rules, without a target."""

from dataclasses import replace

import pytest
from test_sandbox_outcome import MS, SEEN, STEPS, run_of

from best_agent.model.run import Status
from best_agent.sandbox.scrutiny import OUTSIDE, SUSPECT, Scrutiny, resident_growth

MIB = 1 << 20


def reading(ns):
    """A sight whose input took so long to read."""
    shift = ns - (STEPS[1][0] - STEPS[0][0])
    return replace(
        SEEN,
        steps=(STEPS[0], *((cpu + shift, *rest) for cpu, *rest in STEPS[1:])),
        cpu_ns=SEEN.cpu_ns + shift,
    )


class Stand:
    """Answers for stand-ins, and counts the questions."""

    def __init__(self, **sights):
        self.sights = sights
        self.asked = []

    def __call__(self, content, stand_in):
        self.asked.append(stand_in)
        return self.sights[stand_in or "again"]


def judge(scrutiny, seen, ask, traced=False):
    return scrutiny.judge(run_of(seen, traced=traced), seen, b"x" * 100, traced=traced, ask=ask)


def test_quick_reading_asks_nobody():
    ask = Stand()
    assert judge(Scrutiny(), reading(MS // 3), ask).flags == ()
    assert ask.asked == []


def test_slow_reading_that_a_blank_run_needs_too_is_honest():
    ask = Stand(blank=reading(9 * MS))
    assert judge(Scrutiny(), reading(10 * MS), ask).flags == ()
    assert ask.asked == ["blank"]


def test_slow_reading_that_a_repetition_does_not_need_is_noise():
    ask = Stand(blank=reading(MS), again=reading(MS))
    assert judge(Scrutiny(), reading(10 * MS), ask).flags == ()


def test_work_before_the_call_is_charged_and_flagged_and_asked_about_once():
    ask = Stand(blank=reading(MS), again=reading(10 * MS))
    scrutiny = Scrutiny()
    run = judge(scrutiny, reading(10 * MS), ask)
    assert run.flags == (OUTSIDE,)
    assert run.cpu_ns == 10 * MS + 9 * MS
    questions = len(ask.asked)
    assert judge(scrutiny, reading(11 * MS), ask).cpu_ns == 10 * MS + 10 * MS
    assert len(ask.asked) == questions


def test_work_after_the_call_is_charged_and_flagged():
    late = replace(SEEN, cpu_ns=SEEN.cpu_ns + 20 * MS, steps=reading(MS // 3).steps)
    ask = Stand(echo=replace(SEEN, steps=reading(MS // 3).steps), again=late)
    run = judge(Scrutiny(), late, ask)
    assert run.flags == (OUTSIDE,)
    assert run.cpu_ns > 25 * MS


def test_failures_are_not_looked_into():
    ask = Stand()
    assert judge(Scrutiny(), replace(reading(10 * MS), exit_code=1), ask).status is Status.RUNTIME_ERROR
    assert ask.asked == []


def memory(faults, resident):
    first, *middle, last = reading(MS // 3).steps
    end = (last[0], middle[-1][1] + faults // 4096 + 2, *last[2:])
    return replace(
        SEEN,
        steps=(first, *middle, end),
        minor_faults=end[1],
        resident=((10 * MIB, MIB, 10 * MIB), (10 * MIB, MIB, 10 * MIB + resident)),
    )


def traced(peak):
    return replace(memory(0, 0), answer=b"%d\n[1]" % peak)


@pytest.mark.parametrize(
    ("faults", "resident", "peak", "suspect"),
    [
        (20 * MIB, 20 * MIB, MIB, True),
        (20 * MIB, 0, MIB, False),  # given back and taken again
        (0, 20 * MIB, MIB, False),  # counted coarsely
        (20 * MIB, 20 * MIB, 15 * MIB, False),
        (200 * 1024, 200 * 1024, 1024, False),  # below what resident memory can tell
    ],
)
@pytest.mark.parametrize("traced_first", [False, True])
def test_a_peak_is_doubted_when_both_meters_deny_it(faults, resident, peak, suspect, traced_first):
    scrutiny, ask = Scrutiny(), Stand()
    order = [(memory(faults, resident), False), (traced(peak), True)]
    runs = [judge(scrutiny, seen, ask, how) for seen, how in (reversed(order) if traced_first else order)]
    assert runs[0].flags == ()
    assert (SUSPECT in runs[1].flags) == suspect


def test_resident_memory_below_the_load_s_own_peak_says_nothing():
    seen = replace(SEEN, resident=((10 * MIB, MIB, 14 * MIB), (13 * MIB, MIB, 14 * MIB)))
    assert resident_growth(seen) == 0
    assert resident_growth(replace(SEEN, resident=())) is None
    libraries = replace(SEEN, resident=((10 * MIB, MIB, 10 * MIB), (13 * MIB, 3 * MIB, 13 * MIB)))
    assert resident_growth(libraries) == MIB
