"""The worker in every CPython of this machine: loading, equal results, clocks, memory, crashes."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from best_agent.errors import MeasureError
from best_agent.workload import interpreter
from best_agent.workload.layout import place
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.sides import Side
from best_agent.workload.subject import InputSource, Recorded, Subject
from best_agent.workload.target import parse

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")

MODULE = """
import asyncio, os, signal, sys, time

KEPT = []

class Index:
    def __init__(self, n): self.n = n
    def lookup(self, k): return [self.n, k]
    @classmethod
    def made(cls, k): return cls(k).n
    @staticmethod
    def twice(k): return 2 * k

def double(items, *, add=0): return [2 * x + add for x in items]
def lazily(items):
    for x in items: yield x * 2
async def waits(items):
    await asyncio.sleep(0)
    return sum(items)
async def streams(items):
    for x in items: yield x
def empties(items):
    total = 0
    while items: total += items.pop()
    return total
def leaks(items): KEPT.append(bytes(1000)); return len(items)
def prints(items): print("x" * 100); sys.stderr.write("y"); os.write(1, b"z"); return input if items else None
def exits(items): sys.exit("bye")
def dies(items): os.kill(os.getpid(), signal.SIGKILL)
def leaves(items): os._exit(3)
def hangs(items):
    while True: pass
def forks(items):
    if os.fork() == 0:
        return "child"
    os.wait()
    return "parent"
def holds(items): return bytes(len(items))
"""


def interpreters():
    """For each version the newest that pyenv has, or else the one on PATH."""
    folder = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = []
    for version in VERSIONS:
        kept = sorted(folder.glob(f"{version}.*/bin/python")) if folder.is_dir() else []
        on_path = shutil.which(f"python{version}")
        place = kept[-1] if kept else Path(on_path) if on_path else None
        found.append(pytest.param(place, id=version))
    return found


@pytest.fixture(scope="module", params=interpreters())
def python(request):
    if request.param is None:
        pytest.skip("this CPython is not on this machine")
    return interpreter.find(Path.cwd(), request.param)


@pytest.fixture(scope="module")
def own():
    return interpreter.find(Path.cwd(), Path(sys.executable))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    (root / "pkg").mkdir()
    (root / "pkg/__init__.py").write_text("")
    (root / "pkg/text.py").write_text(MODULE)
    return root


def subject(tree, python, name, limit=20.0):
    file = tree / "pkg/text.py"
    target = parse(f"pkg/text.py::{name}")
    side = Side(
        label="work tree", target=target, tree=tree, file=file, place=place(file, tree), work_tree=None
    )
    return Subject(side, python, limit)


def call(text):
    return InputSource(label="call", call=text)


def observed(tree, python, name, text, size=5):
    with subject(tree, python, name) as side:
        side.open()
        side.use(call(text))
        return side.observe(size, 1)


def test_the_worker_measures(python, tree):
    with subject(tree, python, "double") as side:
        origin = side.open()
        assert origin.strangers == ()
        assert origin.modules == 2
        assert side.use(call("double(list(range({n})), add=1)")) is None
        first = side.observe(4, 1)
        assert first["shown"] == "[1, 3, 5, 7]"
        assert first["result"]["exact"] == side.observe(4, 2)["result"]["exact"]
        loops, cost = side.calibrate(1000, 1)
        assert loops > 1
        assert cost > 0
        reading = side.time(1000, 1, loops)
        assert reading.cpu_ns > 0
        assert reading.wall_ns > 0
        peaks = {side.peak(10_000, 1) for _ in range(3)}
        assert len(peaks) == 1
        assert 80_000 < peaks.pop() < 600_000
        assert side.retained(1000, 1, 5) == 0


@pytest.mark.parametrize(
    ("name", "text", "shown", "kind"),
    [
        ("lazily", "lazily([1, 2])", "('iterator', [2, 4])", "iterator"),
        ("waits", "waits([1, 2])", "3", "awaitable"),
        ("streams", "streams([1, 2])", "('async-iterator', [1, 2])", "async-iterator"),
        ("Index.lookup", "Index({n}).lookup(3)", "[5, 3]", "plain"),
        ("Index.made", "Index.made(3)", "3", "plain"),
        ("Index.twice", "twice(3)", "6", "plain"),
        ("prints", "pkg.text.prints([1])", "<built-in function input>", "plain"),
    ],
)
def test_every_kind_of_function_is_called_to_its_end(python, tree, name, text, shown, kind):
    with subject(tree, python, name) as side:
        side.open()
        side.use(call(text))
        seen = side.observe(5, 1)
        assert (seen["raised"], seen["shown"], seen["kind"]) == (None, shown, kind)
        loops, _ = side.calibrate(5, 1)
        assert side.time(5, 1, min(loops, 10)).cpu_ns > 0
        assert side.peak(5, 1) >= 0


def test_every_call_gets_an_input_of_its_own(own, tree):
    with subject(tree, own, "empties") as side:
        side.open()
        side.use(call("empties(list(range({n})))"))
        assert [side.observe(5, 1)["shown"] for _ in range(2)] == ["10", "10"]
        one, two = (side.observe(5, seed)["arguments"]["exact"] for seed in (1, 2))
        assert one == two


def test_what_stays_behind_after_each_call_is_seen(own, tree):
    with subject(tree, own, "leaks") as side:
        side.open()
        side.use(call("leaks([1])"))
        assert 1000 <= side.retained(1, 1, 5) < 1200


def test_what_builds_the_inputs_is_not_held_against_the_function(python, tree, tmp_path):
    """Unpickling leaves names in the interpreter's table of attributes; a builder may keep its last input."""
    bench = tmp_path / "bench_kept.py"
    bench.write_text(
        "import pickle\nfrom best_agent import workload\nlast = {}\n"
        "@workload('m.py::double', sizes=(10,))\ndef build(n, seed):\n"
        "    last['text'] = 'x' * 1000 * (seed % 17)\n"
        "    return ([pickle.loads(pickle.dumps(len)) and x for x in range(n)],)\n"
    )
    with subject(tree, python, "double") as side:
        source = InputSource(label="", file=bench, function="build")
        side.open(source)
        side.use(source)
        assert side.retained(10, 1, 5) == 0


def test_what_the_code_exits_with_is_its_result(own, tree):
    seen = observed(tree, own, "exits", "exits([])")
    assert seen["raised"] == ["builtins.SystemExit", "bye"]


def test_a_forked_child_that_comes_back_answers_nothing(own, tree):
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    assert observed(tree, own, "forks", "forks([])")["shown"] == "'parent'"


@pytest.mark.parametrize(("name", "says"), [("dies", "SIGKILL"), ("leaves", "exit code 3")])
def test_a_process_that_ends_is_told_and_can_be_started_anew(own, tree, name, says):
    with subject(tree, own, name) as side:
        side.open()
        side.use(call(f"{name}([])"))
        with pytest.raises(WorkerDiedError, match=says):
            side.observe(5, 1)
        with pytest.raises(WorkerDiedError):
            side.observe(5, 1)
        side.revive()
        assert side.origin().modules == 2


def test_a_call_that_takes_too_long_is_ended(own, tree):
    with subject(tree, own, "hangs") as side:
        side.open()
        side.use(call("hangs([])"))
        with pytest.raises(WorkerTimeoutError, match=r"the call did not end within .* --time-limit"):
            side.observe(5, 1, seconds=0.3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("double(", "is not Python"),
        ("double", "is not a call; write it like double\\(...\\)"),
        ("other([])", "calls other, not double"),
        ("double(list(range({n}))) + 1", "is not a call"),
    ],
)
def test_a_call_that_is_not_one_of_the_target_is_refused(own, tree, text, says):
    with subject(tree, own, "double") as side:
        side.open()
        with pytest.raises(RequestRefusedError, match=says) as refused:
            side.use(call(text))
        assert refused.value.kind == "usage"


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("doubel", "absent", "did you mean double"),
        ("Index.look", "absent", "did you mean lookup"),
        ("KEPT", "usage", "is a list, not a function"),
    ],
)
def test_a_name_that_is_no_function_is_refused(own, tree, name, kind, says):
    with subject(tree, own, name) as side, pytest.raises(RequestRefusedError, match=says) as refused:
        side.open()
    assert refused.value.kind == kind


def workload(folder: Path, body: str, decorator: str = "'pkg/text.py::double', sizes=(10, 5)") -> InputSource:
    file = folder / "bench_x.py"
    file.write_text(
        f"from best_agent import workload\n@workload({decorator})\ndef build(n, seed):\n    {body}\n"
    )
    return InputSource(label="workload", file=file, function="build")


def test_a_workload_needs_nothing_of_ours_installed(python, tree, tmp_path):
    source = workload(tmp_path, "return (list(range(n)),), {'add': seed}")
    with subject(tree, python, "double") as side:
        side.open(source)
        assert side.use(source) == (5, 10)
        assert side.observe(2, 7)["shown"] == "[7, 9]"


def test_random_inputs_are_equal_for_equal_seeds(own, tree, tmp_path):
    source = workload(tmp_path, "import random; return ([random.random() for _ in range(n)],)")
    given = set()
    for _ in range(2):
        with subject(tree, own, "double") as side:
            side.open(source)
            side.use(source)
            given.add(tuple(side.observe(5, seed)["given"] for seed in (1, 2)))
    assert len(given) == 1
    assert len(set(given.pop())) == 2


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return [1]", "returned a list; it must return the arguments as a tuple"),
        ("return None", "returned a NoneType"),
        ("raise KeyError('boo')", "building the input of size 5 raised KeyError: 'boo' .*bench_x.py, line 4"),
    ],
)
def test_a_builder_that_gives_no_arguments_is_told(own, tree, tmp_path, body, says):
    source = workload(tmp_path, body)
    with subject(tree, own, "double") as side:
        side.open(source)
        side.use(source)
        with pytest.raises(RequestRefusedError, match=says) as refused:
            side.observe(5, 1)
        assert refused.value.kind == "inputs"


@pytest.mark.parametrize(
    ("decorator", "says"),
    [
        ("'a.py::f', sizes=()", "sizes= is empty"),
        ("'a.py::f', sizes=(0,)", "at least 1, not 0"),
        ("'a.py::f', sizes=('1',)", "whole number"),
        ("'a.py::f', sizes=5", "not iterable"),
        ("5", "written as text"),
        ("", "missing 1 required"),
    ],
)
def test_a_decorator_used_wrongly_is_told(own, tree, tmp_path, decorator, says):
    source = workload(tmp_path, "return ()", decorator)
    with subject(tree, own, "double") as side:
        side.open(source)
        with pytest.raises(RequestRefusedError, match=says) as refused:
            side.use(source)
        assert refused.value.kind == "workload"


def test_a_recording_that_is_none_is_told(own, tree, tmp_path):
    (tmp_path / "calls").write_bytes(b"hello")
    source = InputSource(label="", recorded=Recorded(file=tmp_path / "calls", index=0, mode="recorded"))
    with subject(tree, own, "double") as side:
        side.open(source)
        with pytest.raises((RequestRefusedError, MeasureError)):
            side.use(source)
