"""What a function can try against its own meters, from inside their process."""

import marshal

import pytest
from sandbox_programs import LIMITS, MIB, available, call, function

from best_agent.model.run import Isolation, Limits, Status
from best_agent.sandbox.launcher import open_session

ISOLATION = Isolation.RESTRICTED
WORK = "def work(x):\n    d = {}\n    for a in x: d[a] = d.get(a, 0) + 1\n    return sorted(d.items())[:3]\n"
HONEST = WORK + "def solve(x): return work(x)\n"
INPUT = list(range(60_000))
ROOMY = Limits(cpu_ns=LIMITS.cpu_ns, wall_ns=LIMITS.wall_ns, memory_bytes=512 * MIB)


@pytest.fixture(scope="module")
def honest_ns():
    """What the work costs where nobody hides it."""
    available(ISOLATION)
    with open_session(function(HONEST), ISOLATION) as session:
        return min(session.run(marshal.dumps((INPUT,), 4), ROOMY).cpu_ns for _ in range(3))


def costs(source):
    """The least a program can be had for, in three runs, and the flags of all."""
    with open_session(function(source), ISOLATION) as session:
        runs = [session.run(marshal.dumps((INPUT,), 4), ROOMY) for _ in range(3)]
    return runs, min((run.cpu_ns for run in runs if run.status is Status.OK), default=None)


def test_a_patched_loader_gains_nothing(honest_ns):
    source = WORK + (
        "import marshal\nreal = marshal.loads\nkept = []\n"
        "def loads(data):\n    args = real(data)\n    kept.append(work(*args))\n    return args\n"
        "marshal.loads = loads\n"
        "def solve(x): return kept[0] if kept else work(x)\n"
    )
    _, best = costs(source)
    assert best > honest_ns / 2


def test_work_hidden_before_the_call_is_charged(honest_ns):
    # A profile hook runs between the input's arrival and the call, where honest code cannot.
    source = WORK + (
        "import sys, gc\nkept = {}\n"
        "def hook(frame, event, arg):\n"
        "    if event == 'c_return' and 'arguments' in frame.f_locals and not kept:\n"
        "        sys.setprofile(None)\n        kept[0] = work(*frame.f_locals['arguments'])\n"
        "sys.setprofile(hook)\n"
        "def solve(x): return kept[0] if kept else work(x)\n"
    )
    runs, best = costs(source)
    assert best > honest_ns / 2
    assert all("work-outside-region" in run.flags for run in runs if run.cpu_ns > 0)


def test_the_input_is_not_there_while_the_module_loads():
    source = (
        "import os\nseen = []\n"
        "for fd in range(3, 64):\n"
        "    try: seen.append((fd, os.fstat(fd).st_size))\n    except OSError: pass\n"
        "try: seen.append(os.read(0, 10))\nexcept OSError: pass\n"
        "def solve(x): return [list(s) if isinstance(s, tuple) else len(s) for s in seen]\n"
    )
    run = call(source, INPUT, isolation=ISOLATION)
    assert run.answer == b"[[3,0],[4,0],[5,0],0]"


def test_a_lazy_subclass_is_not_a_list():
    source = (
        "class Lazy(list):\n    def __iter__(self): return iter([1])\n    def __len__(self): return 1\n"
        "def solve(x): return Lazy()\n"
    )
    assert call(source, INPUT, isolation=ISOLATION).answer == b'{"o":"solution.Lazy"}'


def test_an_early_done_is_no_result():
    source = WORK + "import os\ndef solve(x):\n    os.write(3, b'D')\n    os.read(4, 1)\n    return work(x)\n"
    run = call(source, INPUT, isolation=ISOLATION)
    assert run.status is Status.NO_RESULT


def test_a_result_made_after_an_early_done_is_charged(honest_ns):
    source = WORK + (
        "import os\ndef solve(x):\n    os.write(3, b'D')\n    os.read(4, 1)\n"
        "    for _ in range(4): r = work(x)\n    os.write(5, b'[1]')\n    os._exit(0)\n"
    )
    runs, best = costs(source)
    assert best > 2 * honest_ns
    assert all("work-outside-region" in run.flags for run in runs)


@pytest.mark.parametrize("noise", [b"X", b"DD", b"RD", b"D" * 100])
def test_noise_on_the_handshake_is_no_result(noise):
    run = call(
        f"import os\ndef solve(x):\n    os.write(3, {noise!r})\n    return 1\n", 1, isolation=ISOLATION
    )
    assert run.status is Status.NO_RESULT
    assert run.cpu_ns is None or run.answer is None


def test_a_fake_answer_in_front_of_the_real_one_is_not_valid_twice():
    run = call("import os\ndef solve(x):\n    os.write(5, b'[9]')\n    return 1\n", 1, isolation=ISOLATION)
    assert run.answer == b"[9]1"  # not one document: the judge's decoder refuses it


LEAN = "    if sys._getframe(1).f_locals.get('reset_peak'): return 40000\n"
ALLOCATE = "    b = [bytes(500) for _ in range(40000)]\n    n = len(b)\n    del b\n"


@pytest.mark.parametrize(
    "tamper",
    [
        "tracemalloc.stop()",
        "tracemalloc.is_tracing() and tracemalloc.stop()",
        "tracemalloc.get_traced_memory = lambda: (0, 0)",
        "_tracemalloc.stop(); _tracemalloc.get_traced_memory = lambda: (0, 0)",
        "tracemalloc.start()",
    ],
)
@pytest.mark.parametrize("blocks", [400, 40000])
def test_a_traced_program_cannot_switch_its_meter(tamper, blocks):
    source = f"""
import tracemalloc, _tracemalloc
def solve(x):
    if tracemalloc.is_tracing():
        return {blocks}
    {tamper}
    b = [bytes(500) for _ in range({blocks})]
    n = len(b)
    del b
    for module in (tracemalloc, _tracemalloc):
        for name in ("reset_peak", "clear_traces", "start", "stop"):
            getattr(module, name)()
    return n
"""
    with open_session(function(source), ISOLATION) as session:
        run = session.run(marshal.dumps((1,), 4), ROOMY, traced=True)
    assert run.status is Status.OK
    assert run.peak_bytes is not None
    assert blocks * 530 < run.peak_bytes < blocks * 600


@pytest.mark.parametrize("traced_first", [False, True])
def test_a_spoofed_peak_is_suspect(traced_first):
    source = "import sys\ndef solve(x):\n" + LEAN + ALLOCATE + "    return n\n"
    with open_session(function(source), ISOLATION) as session:
        runs = [
            session.run(marshal.dumps((1,), 4), ROOMY, traced=t) for t in (traced_first, not traced_first)
        ]
    assert runs[0].status is runs[1].status is Status.OK
    assert "suspect" in runs[1].flags


@pytest.mark.parametrize(
    "body",
    [
        "return len(sorted(x))",
        "return len([str(a) for a in x])",
        "return len({a: [a] for a in x})",
        "return sum(len([b for b in x]) for _ in range(10))",
        "return sum(len([str(b) for b in x]) for _ in range(5))",
        "return [len(bytearray(5_000_000)) for _ in range(10)]",
        "s = ''\n    for a in x: s += str(a)\n    return len(s)",
        "import decimal, fractions, statistics\n    return 1",
        "def f(n): return n and 1 + f(n - 1)\n    return f(900)",
        "y = [a + 1 for a in x]\n    x.clear()\n    return len([a + 1 for a in y])",
        "return [(a, [a]) for a in x]",
        "return {str(a): (a, float(a)) for a in x}",
    ],
)
@pytest.mark.parametrize("size", [100, 60_000])
def test_honest_programs_are_not_flagged(body, size):
    source = "def solve(x):\n    " + body + "\n"
    limits = Limits(cpu_ns=4 * LIMITS.cpu_ns, wall_ns=4 * LIMITS.wall_ns, memory_bytes=512 * MIB)
    with open_session(function(source), available(ISOLATION)) as session:
        runs = [
            session.run(marshal.dumps((INPUT[:size],), 4), limits, traced=t) for t in (False, True, False)
        ]
    assert [(run.status, run.flags) for run in runs] == [(Status.OK, ())] * 3


def test_huge_pages_cannot_be_switched_on_again():
    source = (
        "import ctypes\ndef solve():\n    libc = ctypes.CDLL(None, use_errno=True)\n"
        "    return [libc.prctl(41, 0, 0, 0, 0), ctypes.get_errno(), libc.prctl(42, 0, 0, 0, 0)]\n"
    )
    assert call(source, isolation=ISOLATION).answer == b"[-1,1,1]"


@pytest.mark.parametrize(
    "attempt",
    [
        "ctypes.CDLL(None).mmap(0, 1 << 21, 3, 0x40022, -1, 0) + 1",  # MAP_HUGETLB
        "ctypes.CDLL(None).memfd_create(b'x', 0) + 1",
        "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) + 1",
        "ctypes.CDLL(None).unshare(0x10000000) + 1",
        "ctypes.CDLL(None).personality(0) + 1",
        "ctypes.CDLL(None).sched_setaffinity(0, 8, b'\\xff' * 8) + 1",
        "ctypes.CDLL(None).fork() + 1",
        "ctypes.CDLL(None).shmget(0, 4096, 0o1600) + 1",
    ],
)
def test_calls_around_the_meters_are_refused(isolation, attempt):
    run = call(f"import ctypes, os\ndef solve():\n    return {attempt}\n", isolation=isolation)
    assert (run.status, run.answer) == (Status.OK, b"0")


def test_threads_work_and_their_time_counts(isolation):
    source = (
        "import threading\ndef spin():\n    for _ in range(1_500_000): pass\n"
        "def solve():\n    ts = [threading.Thread(target=spin) for _ in range(2)]\n"
        "    [t.start() for t in ts]\n    [t.join() for t in ts]\n    return 1\n"
    )
    run = call(source, isolation=isolation)
    assert run.status is Status.OK
    assert run.cpu_ns > 10_000_000
