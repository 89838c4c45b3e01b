"""From what a supervisor saw to a run: every rule by itself."""

import signal
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.model.run import Isolation, Limits, Meter, Status
from best_agent.model.task import Mode
from best_agent.sandbox import outcome
from best_agent.sandbox.outcome import Sight

MS = 1_000_000
LIMITS = Limits()
# module loaded, empty call, measured call of 10 ms and 50 faults
STEPS = (
    (1 * MS, 100, 0, 1),
    (2 * MS, 200, 10, 11),
    (2 * MS + 1000, 202, 1011, 1012),
    (2 * MS + 2000, 202, 2012, 2013),
    (12 * MS + 3000, 254, 20 * MS, 20 * MS + 1),
)
SEEN = Sight(
    steps=STEPS,
    expected=5,
    stopped=None,
    exit_code=0,
    signal=None,
    cpu_ns=13 * MS,
    minor_faults=260,
    wall_ns=30 * MS,
    peak_bytes=None,
    resident=(),
    trouble="",
    memory_ran_out=False,
    cut=(),
    answer=b"[1]",
    stdout=b"",
    stderr=b"",
    collected={},
)
PROGRAM = replace(SEEN, steps=(), expected=0, stdout=b"out", answer=b"", peak_bytes=5 << 20)


def run_of(seen=SEEN, mode=Mode.FUNCTION, python=True, traced=False):
    return outcome.run_of(
        seen, mode=mode, python=python, limits=LIMITS, traced=traced, isolation=Isolation.STRICT
    )


def test_the_empty_call_is_subtracted_from_the_measured_one():
    run = run_of()
    assert run.status is Status.OK
    assert run.cpu_ns == 10 * MS
    assert run.region.minor_faults == 50
    assert (run.load.cpu_ns, run.load.minor_faults) == (2 * MS + 2000, 202)
    assert (run.write_out.cpu_ns, run.write_out.minor_faults) == (1 * MS - 3000, 6)
    assert run.faults_bytes == 50 * outcome.mmap.PAGESIZE


def test_a_single_round_has_nothing_to_subtract():
    seen = replace(SEEN, steps=STEPS[3:], expected=2)
    assert run_of(seen, python=False).cpu_ns == 10 * MS + 1000


def test_c_has_its_peak_from_faults_and_python_only_from_a_traced_run():
    compiled = run_of(python=False)
    assert (compiled.peak_bytes, compiled.memory_meter) == (compiled.faults_bytes, Meter.EXACT)
    timed = run_of()
    assert (timed.peak_bytes, timed.memory_meter) == (None, Meter.UNAVAILABLE)
    traced = run_of(replace(SEEN, answer=b"4096\n[1]"), traced=True)
    assert (traced.peak_bytes, traced.memory_meter, traced.answer) == (4096, Meter.EXACT, b"[1]")


@pytest.mark.parametrize(
    "answer", [b"[1]", b"\n[1]", b"-5\n[1]", b"1e9\n[1]", b"9" * 40 + b"\n[1]", b"x\n[1]"]
)
def test_a_traced_answer_without_a_sound_peak_is_no_result(answer):
    assert run_of(replace(SEEN, answer=answer), traced=True).status is Status.NO_RESULT


def test_programs_are_measured_whole_and_their_peak_is_an_estimate():
    run = run_of(PROGRAM, mode=Mode.PROGRAM, python=False)
    assert (run.cpu_ns, run.wall_ns) == (13 * MS, 30 * MS)
    assert (run.peak_bytes, run.memory_meter) == (5 << 20, Meter.ESTIMATED)
    assert (run.answer, run.load) == (b"out", None)


def test_a_driver_answers_on_standard_output():
    assert run_of(replace(SEEN, stdout=b"7\n", answer=b""), mode=Mode.DRIVER, python=False).answer == b"7\n"


@pytest.mark.parametrize(
    ("change", "status", "detail"),
    [
        ({"stopped": "cpu"}, Status.TIME_LIMIT, "CPU"),
        ({"stopped": "wall"}, Status.TIME_LIMIT, "wall"),
        ({"stopped": "output"}, Status.OUTPUT_LIMIT, "printed"),
        ({"stopped": "answer"}, Status.OUTPUT_LIMIT, "answer"),
        ({"stopped": "scratch"}, Status.OUTPUT_LIMIT, "files"),
        ({"stopped": "memory"}, Status.MEMORY_LIMIT, "together"),
        ({"stopped": "protocol"}, Status.NO_RESULT, "order"),
        ({"signal": signal.SIGSYS}, Status.FORBIDDEN, "not allowed"),
        ({"signal": signal.SIGXCPU}, Status.TIME_LIMIT, "CPU"),
        ({"signal": signal.SIGXFSZ}, Status.OUTPUT_LIMIT, "file"),
        ({"signal": signal.SIGKILL, "memory_ran_out": True}, Status.MEMORY_LIMIT, "out of memory"),
        ({"signal": signal.SIGKILL}, Status.RUNTIME_ERROR, "died of SIGKILL; no limit was passed"),
        ({"signal": signal.SIGKILL, "memory_ran_out": None}, Status.RUNTIME_ERROR, "by itself, or by"),
        ({"signal": signal.SIGKILL, "cpu_ns": LIMITS.cpu_ns + 1}, Status.TIME_LIMIT, "CPU"),
        ({"signal": signal.SIGSEGV}, Status.RUNTIME_ERROR, "SIGSEGV"),
        (
            {"signal": signal.SIGABRT, "stderr": b"terminate called\n  what():  std::bad_alloc\n"},
            Status.MEMORY_LIMIT,
            "bad_alloc",
        ),
        ({"signal": signal.SIGABRT, "stderr": b"assert\n"}, Status.RUNTIME_ERROR, "SIGABRT: assert"),
        ({"signal": 63}, Status.RUNTIME_ERROR, "signal 63"),
        ({"exit_code": 1, "stderr": b"T\nKeyError: 3\n\n"}, Status.RUNTIME_ERROR, "KeyError: 3"),
        ({"exit_code": 1, "stderr": b"MemoryError\n"}, Status.MEMORY_LIMIT, "MemoryError"),
        ({"exit_code": 4}, Status.RUNTIME_ERROR, "exit code 4"),
        ({"exit_code": 3}, Status.OUTPUT_LIMIT, "deep"),
        ({"exit_code": 127, "trouble": "exec: No such file"}, Status.RUNTIME_ERROR, "No such file"),
        ({"steps": STEPS[:3]}, Status.NO_RESULT, "before"),
        ({"steps": ()}, Status.NO_RESULT, "before"),
        ({"answer": b""}, Status.NO_RESULT, "without an answer"),
    ],
)
def test_each_end_has_its_status(change, status, detail):
    if "signal" in change:
        change = {"exit_code": None, **change}
    run = run_of(replace(SEEN, **change))
    assert run.status is status
    assert detail in run.detail
    assert run.answer is None


def test_a_stop_of_ours_is_the_reason_however_the_target_died():
    seen = replace(SEEN, stopped="cpu", signal=signal.SIGKILL, exit_code=None)
    assert run_of(seen).status is Status.TIME_LIMIT


def test_the_last_empty_round_is_the_baseline():
    # The first round costs 40 us and 9 faults, the second 4 us and 1 fault, the call 10 us and 3 faults.
    ends = ((0, 0, 0), (40_000, 9, 50_000), (40_000, 9, 50_000), (44_000, 10, 60_000))
    steps = tuple((*end, end[2]) for end in (*ends, (44_000, 10, 60_000), (54_000, 13, 90_000)))
    run = run_of(replace(SEEN, steps=steps, expected=6, cpu_ns=60_000, minor_faults=14), python=False)
    assert (run.region.cpu_ns, run.region.minor_faults, run.wall_ns) == (6_000, 2, 20_000)


def test_an_incredible_baseline_is_cut_and_flagged():
    wasteful = (
        STEPS[0],
        STEPS[1],
        (500 * MS, 5000, 20, 21),
        (500 * MS, 5000, 30, 31),
        (501 * MS, 5100, 40, 41),
    )
    run = run_of(replace(SEEN, steps=wasteful), python=False)
    assert run.flags == ("suspect",)
    assert run.region.minor_faults == 100 - outcome.BASELINE_AT_MOST // outcome.mmap.PAGESIZE
    assert run.cpu_ns == 0  # the millisecond that an empty call is believed to cost


def test_the_detail_stays_one_bounded_line():
    run = run_of(replace(SEEN, exit_code=1, stderr=b"\xff" * 10_000 + b"\n"))
    assert len(run.detail) <= 300
    assert "\n" not in run.detail


def test_the_detail_holds_nothing_that_a_terminal_obeys():
    words = b"ValueError: \x1b[2J\x1b]0;owned\x07 a\tb \xc2\x9b1m \xe2\x80\xae \xc3\xa9\n"
    run = run_of(replace(SEEN, exit_code=1, stderr=words))
    assert run.detail.replace("\t", "").isprintable()
    assert run.detail.startswith("ValueError: ")
    assert run.detail.endswith("\u00e9")


counters = st.integers(0, 1 << 60)


@given(
    steps=st.lists(st.tuples(counters, counters, counters, counters), max_size=6),
    expected=st.integers(0, 5),
    cpu_ns=counters,
    faults=counters,
    code=st.one_of(st.none(), st.integers(0, 255)),
    number=st.one_of(st.none(), st.integers(1, 64)),
    stderr=st.binary(max_size=50),
    answer=st.binary(max_size=20),
    traced=st.booleans(),
)
def test_whatever_was_seen_no_cost_is_negative_and_only_success_answers(
    steps, expected, cpu_ns, faults, code, number, stderr, answer, traced
):
    seen = replace(
        SEEN,
        steps=tuple(steps),
        expected=expected,
        cpu_ns=cpu_ns,
        minor_faults=faults,
        exit_code=code if number is None else None,
        signal=number,
        stderr=stderr,
        answer=answer,
    )
    run = run_of(seen, traced=traced)
    costs = (run.cpu_ns, run.wall_ns, run.peak_bytes, run.faults_bytes)
    assert all(cost is None or cost >= 0 for cost in costs)
    assert (run.answer is not None) == (run.status is Status.OK)
    assert (run.detail == "") == (run.status is Status.OK)


@pytest.mark.parametrize("drop", ["steps", "stopped", "cpu_ns", "collected"])
def test_a_message_that_lacks_something_is_the_harness_s_trouble(drop):
    header = {
        "steps": [], "expected": 0, "stopped": None, "exit_code": 0, "signal": None, "cpu_ns": 1,
        "minor_faults": 1, "wall_ns": 1, "peak_bytes": None, "resident": [], "trouble": "", "cut": [],
        "memory_ran_out": None, "collected": [],
    }  # fmt: skip
    assert outcome.sight(header, (b"", b"", b"")).cpu_ns == 1
    del header[drop]
    with pytest.raises(KeyError):
        outcome.sight(header, (b"", b"", b""))
