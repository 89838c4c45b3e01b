"""Python functions in the sandbox: results, failures, limits, and what the meters say of known costs."""

import json
import marshal

import pytest
from sandbox_programs import LIMITS, MIB, SECOND, call, function

from best_agent.errors import MeasureError
from best_agent.judge import answers
from best_agent.model.run import Isolation, Limits, Meter, Status
from best_agent.sandbox.launcher import open_session


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("def solve(x): return [x, str(x), None, True, 1.5]", [3, "3", None, True, 1.5]),
        ("def solve(x): return {(1, 2): {x}, 'k': b'\\x00'}", {(1, 2): {3}, "k": b"\x00"}),
        ("def solve(x): return 2 ** 70, -(2 ** 5000)", (2**70, -(2**5000))),
        ("def solve(x): return '\\ud800'", "\ud800"),
        ("class Solution:\n    def go(self, x): return x * 2", 6),
    ],
)
def test_results_come_back_as_what_they_are(isolation, source, answer):
    run = call(source, 3, isolation=isolation, entry="Solution.go" if "class" in source else "solve")
    assert run.status is Status.OK
    assert answers.decode(run.answer) == answer


def test_prints_never_reach_the_answer(isolation):
    run = call(
        "import sys\ndef solve():\n    print('[1]')\n    print('note', file=sys.stderr)\n    return [2]",
        isolation=isolation,
    )
    assert (run.answer, run.stdout, run.stderr) == (b"[2]", b"[1]\n", b"note\n")


def test_an_iterator_is_drawn_inside_the_measured_call(isolation):
    lazy = "def solve(n):\n    return (sum(range(i % 200)) for i in range(n))"
    eager = "def solve(n):\n    return [sum(range(i % 200)) for i in range(n)]"
    drawn = call(lazy, 20_000, isolation=isolation)
    listed = call(eager, 20_000, isolation=isolation)
    assert json.loads(drawn.answer)["g"] == json.loads(listed.answer)
    assert drawn.cpu_ns > listed.cpu_ns / 3


@pytest.mark.parametrize(
    ("source", "status", "detail"),
    [
        ("def solve(x):\n    return {}['missing']", Status.RUNTIME_ERROR, "KeyError: 'missing'"),
        ("raise ValueError('at import')", Status.RUNTIME_ERROR, "ValueError: at import"),
        ("def other(x): pass", Status.RUNTIME_ERROR, "has no attribute 'solve'"),
        ("solve = 3", Status.RUNTIME_ERROR, "not callable"),
        ("def solve(x):\n    return solve(x)", Status.RUNTIME_ERROR, "RecursionError"),
        ("def solve(x):\n    raise SystemExit", Status.NO_RESULT, ""),
        ("def solve(x):\n    import os; os._exit(0)", Status.NO_RESULT, ""),
        ("def solve(x):\n    import os; os._exit(7)", Status.RUNTIME_ERROR, "exit code 7"),
        ("def solve(x):\n    import os; os.abort()", Status.RUNTIME_ERROR, "SIGABRT"),
        ("def solve(x):\n    import os; os.kill(os.getpid(), 9)", Status.RUNTIME_ERROR, "SIGKILL"),
        ("def solve(x):\n    return bytes(10 ** 9)", Status.MEMORY_LIMIT, "MemoryError"),
        ("def solve(x):\n    return [0] * 10 ** 6", Status.OUTPUT_LIMIT, "answer"),
        (
            "def solve(x):\n    y = []\n    for _ in range(300): y = [y]\n    return y",
            Status.OUTPUT_LIMIT,
            "deep",
        ),
        (
            "class E(Exception):\n    def __str__(self): raise E\ndef solve(x): raise E",
            Status.RUNTIME_ERROR,
            "E",
        ),
        ("def solve(x):\n    while True: pass", Status.TIME_LIMIT, "CPU"),
        ("def solve(x):\n    import time; time.sleep(60)", Status.TIME_LIMIT, "wall"),
        (
            "def solve(x):\n    import ctypes\n    ctypes.CDLL(None).syscall(0x40000000)",
            Status.FORBIDDEN,
            "not allowed",
        ),
    ],
)
def test_each_failure_has_its_status(source, status, detail):
    limits = Limits(cpu_ns=SECOND // 2, wall_ns=2 * SECOND, memory_bytes=256 * MIB, output_bytes=MIB)
    run = call(source, 1, isolation=Isolation.RESTRICTED, limits=limits)
    assert run.status is status, run
    assert detail in run.detail
    assert run.answer is None


def test_a_failed_run_leaves_the_session_usable(isolation):
    source = "def solve(x):\n    if x == 0: raise ValueError\n    return x"
    with open_session(function(source), isolation) as session:
        seen = [session.run(marshal.dumps((x,), 4), LIMITS).status for x in (1, 0, 2)]
    assert seen == [Status.OK, Status.RUNTIME_ERROR, Status.OK]


def test_every_run_starts_afresh_and_alike(isolation):
    source = "import os\nn = []\ndef solve():\n    n.append(1)\n    return len(n), hash('x'), os.getpid()"
    with open_session(function(source), isolation) as session:
        first, second = (answers.decode(session.run(b"(\x00\x00\x00\x00", LIMITS).answer) for _ in range(2))
    assert first[:2] == second[:2]
    assert first[0] == 1
    assert first[2] != second[2]


def test_two_sessions_run_in_turn(isolation):
    with (
        open_session(function("def solve(x): return x + 1"), isolation) as one,
        open_session(function("def solve(x): return x - 1"), isolation) as other,
    ):
        pairs = [
            (one.run(marshal.dumps((x,), 4), LIMITS).answer, other.run(marshal.dumps((x,), 4), LIMITS).answer)
            for x in range(3)
        ]
    assert pairs == [(b"1", b"-1"), (b"2", b"0"), (b"3", b"1")]


def test_a_closed_session_refuses(isolation):
    session = open_session(function("def solve(): return 1"), isolation)
    session.close()
    session.close()
    with pytest.raises(MeasureError, match="closed"):
        session.run(b"", LIMITS)


def test_input_that_is_not_marshal_is_the_callers_error_and_harms_nobody(isolation):
    with open_session(function("def solve(*a): return 1"), isolation) as session:
        assert session.run(b"\xff\xff", LIMITS).status is Status.RUNTIME_ERROR
        assert session.run(marshal.dumps((), 4), LIMITS).status is Status.OK


@pytest.mark.parametrize(
    ("source", "truth"),
    [
        ("def solve(n):\n    x = [None] * (n // 8)\n    return len(x)", 1.0),
        ("def solve(n):\n    x = bytearray(n)\n    return len(x)", 1.0),
        ("def solve(n):\n    x = [bytes(967) for _ in range(n // 1000)]\n    return len(x)", 1.01),
    ],
)
@pytest.mark.parametrize("size", [64_000, 640_000, 6_400_000])
def test_the_traced_peak_is_what_was_allocated(best, source, truth, size):
    with open_session(function(source), best) as session:
        runs = [session.run(marshal.dumps((size,), 4), LIMITS, traced=True) for _ in range(2)]
    assert runs[0].peak_bytes == runs[1].peak_bytes
    assert runs[0].memory_meter is Meter.EXACT
    assert size <= runs[0].peak_bytes <= truth * size + 2048


def test_what_the_input_takes_is_not_the_calls(isolation):
    source = "def solve(x):\n    x.sort()\n    return x[0]"
    run = call(source, list(range(100_000, 0, -1)), isolation=isolation, traced=True)
    assert run.peak_bytes < 16_000 + 400_000  # the sort's own buffer at most


def test_the_three_phases_are_recorded(isolation):
    heavy_import = "x = [str(i) for i in range(200_000)]\ndef solve(n):\n    return sum(range(n))"
    run = call(heavy_import, 3_000_000, isolation=isolation)
    assert run.load.cpu_ns > 5_000_000
    assert run.load.minor_faults > 1000
    assert run.cpu_ns == run.region.cpu_ns > 5_000_000
    assert run.wall_ns > run.cpu_ns / 2
    assert run.write_out.cpu_ns > 0
    assert run.flags == ()


def test_an_untraced_run_claims_no_peak_but_shows_its_faults(isolation):
    run = call("def solve():\n    return len(bytearray(3_000_000))", isolation=isolation)
    assert (run.peak_bytes, run.memory_meter) == (None, Meter.UNAVAILABLE)
    assert 2_800_000 < run.faults_bytes < 3_400_000


def test_nothing_can_be_written_by_a_function(isolation):
    source = "def solve():\n    try: open('f', 'w')\n    except OSError as e: return e.errno\n    return 0"
    assert call(source, isolation=isolation).answer == b"13"
