"""Catching a function's calls by its code: whoever holds the function, and nothing of it is changed."""

import asyncio
import functools
import inspect
import json
import pickle
import sys
import threading
import types

import pytest

from best_agent.worker import catching, recorded
from best_agent.worker.recorded import builder

SOURCE = '''
import functools

def plain(a, b=2, *rest, c=3, **more):
    """Says hello."""
    return (a, b, rest, c, more)

def outer():
    free, other = [1], [2]
    def inner(x):
        return (free, other, x)
    return inner

closed = outer()
REGISTRY = {"plain": plain}

def default(of=plain):
    return of(1)

def fact(n):
    return 1 if n < 2 else n * fact(n - 1)

def emptied(items):
    taken = list(items)
    items.clear()
    return taken

def many(n):
    yield from range(n)

@functools.lru_cache
def cached(n):
    return n * 2

def decorated_by(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function("injected", *args)
    return wrapper

@decorated_by
def decorated(first, second):
    return (first, second)

async def slow(x):
    return x

async def slow_many():
    yield 1

class Base:
    def method(self, x):
        return x

class Box(Base):
    def __init__(self):
        self.n = 0
    def method(self, x):
        self.n += 1
        return super().method(x) + self.n
    def inherits(self):
        return __class__
    @classmethod
    def make(cls, x):
        return (cls, x)
    @staticmethod
    def static(x):
        return x
    @property
    def prop(self):
        return 1

class Child(Box):
    pass

partial = functools.partial(plain, 1)
builtin = len
'''


@pytest.fixture
def module(monkeypatch, tmp_path):
    made = types.ModuleType("caught_module")
    made.__file__ = str(tmp_path / "caught_module.py")
    (tmp_path / "caught_module.py").write_text(SOURCE)
    monkeypatch.setitem(sys.modules, "caught_module", made)
    exec(compile(SOURCE, made.__file__, "exec"), made.__dict__)
    return made


@pytest.fixture
def catch(module, tmp_path, monkeypatch):
    """Starts a recorder on a name of the module."""

    def start(name, **bounds):
        spec = {
            "file": module.__file__,
            "module": "caught_module",
            "qualname": name,
            "out": str(tmp_path / "calls"),
            "max_calls": 50,
            "max_bytes": 1 << 20,
            "max_keeping_seconds": 60,
            **bounds,
        }
        recorder = catching.Recorder(spec, recorded.describe)
        monkeypatch.setattr(catching, "RECORDER", recorder)
        recorder.look_at_all()
        return recorder

    return start


def kept(tmp_path, count):
    path = str(tmp_path / "calls")
    return [builder(path, index, "recorded")(0, 0) for index in range(count)]


def test_all_ways_of_giving_arguments_are_kept_and_the_call_is_made(module, catch, tmp_path):
    recorder = catch("plain")
    assert module.plain(1) == (1, 2, (), 3, {})
    assert module.plain(1, 5, 6, c=7, z=8) == (1, 5, (6,), 7, {"z": 8})
    assert module.plain(*[1, 2], a2=3) == (1, 2, (), 3, {"a2": 3})
    assert recorder.kept == 3
    assert kept(tmp_path, 3) == [((1,), {}), ((1, 5, 6), {"c": 7, "z": 8}), ((1, 2), {"a2": 3})]


def test_wrong_arguments_raise_as_before(module, catch):
    recorder = catch("plain")
    with pytest.raises(TypeError, match=r"plain\(\) missing 1 required positional argument: 'a'"):
        module.plain()
    assert (recorder.kept, recorder.raised) == (0, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, held: held["f"](1),
        lambda m, held: m.REGISTRY["plain"](1),
        lambda m, held: m.default(),
        lambda m, held: held["partial"](),
        lambda m, held: m.partial(2),
    ],
)
def test_whoever_held_the_function_before_is_seen(module, catch, call):
    held = {"f": module.plain, "partial": functools.partial(module.plain, 1)}
    recorder = catch("plain")
    call(module, held)
    assert recorder.kept == 1


def test_the_function_stays_what_it_was_to_those_who_look_at_it(module, catch):
    before = module.plain
    signature = inspect.signature(before)
    catch("plain")
    assert module.plain is before
    assert inspect.signature(module.plain) == signature
    assert (module.plain.__name__, module.plain.__doc__) == ("plain", "Says hello.")
    assert module.plain.__code__.co_filename == module.__file__
    assert pickle.loads(pickle.dumps(module.plain)) is before


def test_free_variables_are_kept(module, catch, tmp_path):
    catch("closed")
    assert module.closed(3) == ([1], [2], 3)
    assert kept(tmp_path, 1) == [((3,), {})]


def test_methods_are_kept_with_their_object_and_super_works(module, catch, tmp_path):
    recorder = catch("Box.method")
    box = module.Box()
    assert box.method(1) == 2
    assert module.Child().method(5) == 6
    assert recorder.kept == 2
    (first, argument), _ = kept(tmp_path, 1)[0]
    assert (type(first), first.n, argument) == (module.Box, 0, 1), "the object as it was before the call"


def test_a_method_that_is_inherited_is_found_where_it_is_written(module, catch):
    recorder = catch("Child.method")
    module.Child().method(1)
    assert recorder.kept == 1


def test_a_method_with_the_hidden_class_variable(module, catch):
    recorder = catch("Box.inherits")
    assert module.Child().inherits() is module.Box
    assert recorder.kept == 1


def test_class_and_static_methods_are_kept_as_their_callers_give_them(module, catch, tmp_path):
    catch("Box.make")
    assert module.Child.make(4) == (module.Child, 4)
    assert kept(tmp_path, 1) == [((4,), {})]
    catch("Box.static")
    assert module.Box().static(6) == 6
    assert kept(tmp_path, 1) == [((6,), {})]


def test_a_call_that_the_function_makes_of_itself_is_not_kept(module, catch):
    recorder = catch("fact")
    assert module.fact(6) == 720
    assert (recorder.calls, recorder.kept) == (1, 1)


def test_arguments_are_kept_as_they_were_before_the_call(module, catch, tmp_path):
    catch("emptied")
    items = [1, 2]
    assert module.emptied(items) == [1, 2]
    assert items == []
    assert kept(tmp_path, 1) == [(([1, 2],), {})]


def test_a_generator_is_caught_and_still_lazy(module, catch):
    recorder = catch("many")
    assert list(module.many(3)) == [0, 1, 2]
    assert recorder.kept == 1


def test_a_cache_is_seen_through(module, catch):
    recorder = catch("cached")
    assert [module.cached(4), module.cached(4), module.cached(5)] == [8, 8, 10]
    assert module.cached.cache_info().hits == 1
    assert recorder.kept == 2


def test_a_decorated_function_is_kept_with_what_its_callers_give(module, catch, tmp_path):
    catch("decorated")
    assert module.decorated("mine") == ("injected", "mine")
    assert kept(tmp_path, 1) == [(("mine",), {})]


def test_a_coroutine_stays_one_and_is_kept(module, catch, tmp_path):
    catch("slow")
    assert inspect.iscoroutinefunction(module.slow)
    assert asyncio.run(module.slow(3)) == 3
    assert kept(tmp_path, 1) == [((3,), {})]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "caught_module has no nothing"),
        ("Box.nothing", r"caught_module has no Box\.nothing"),
        ("plain.inner", "has no plain.inner"),
        ("slow_many", "slow_many is an asynchronous generator"),
        ("Box", "Box is of type type, not a Python function"),
        ("Box.prop", "of type property"),
        ("partial", "partial is of type partial"),
        ("builtin", "builtin is of type builtin_function_or_method"),
        ("REGISTRY", "REGISTRY is of type dict"),
    ],
)
def test_what_cannot_be_caught_is_said(module, name, why):
    with pytest.raises(catching.UnrecordableError, match=why):
        catching.find_function(module, name)


def test_equal_calls_are_kept_once(module, catch):
    recorder = catch("plain")
    for _ in range(3):
        module.plain([1])
    assert (recorder.calls, recorder.kept) == (3, 1)
    assert recorder.skipped == {"the same as one before": 2}


def test_beyond_the_bound_only_larger_calls_are_kept(module, catch):
    recorder = catch("plain", max_calls=3)
    for length in (1, 2, 30, 4, 5, 60, 6):
        module.plain([length] * length)
    assert recorder.kept == 4
    assert recorder.skipped == {"enough calls were kept": 3}


def test_there_is_an_end_to_larger_calls_too(module, catch):
    recorder = catch("plain", max_calls=1)
    for length in range(50):
        module.plain("x" * length)
    assert recorder.kept == 1 + catching.EXTRA


def test_a_call_larger_than_the_room_is_left_out_without_being_pickled_whole(module, catch):
    recorder = catch("plain", max_bytes=1000)
    module.plain(list(range(100_000)))
    module.plain(b"x" * 100_000)
    assert module.plain(b"small")
    assert recorder.kept == 1
    assert recorder.skipped == {"larger than the room that was left": 2}


def test_nothing_is_kept_after_the_time_for_it(module, catch):
    recorder = catch("plain", max_keeping_seconds=0)
    assert module.plain(1)
    assert recorder.skipped == {"enough calls were kept": 1}


class _Hostile:
    def __reduce__(self):
        raise ValueError("not me\nsecond line")


@pytest.mark.parametrize("value", [(x for x in ()), lambda: 1, _Hostile(), threading.Lock(), sys])
def test_what_cannot_be_pickled_is_counted_and_the_call_is_made(module, catch, value):
    recorder = catch("plain")
    assert module.plain(value)[0] is value
    (reason,) = recorder.skipped
    assert reason.startswith("cannot be kept: ")
    assert "\n" not in reason


def test_reasons_are_counted_by_their_kind(module, catch):
    def local(n):
        return lambda: n

    recorder = catch("plain")
    for n in range(3):
        module.plain(local(n))
    ((reason, count),) = recorder.skipped.items()
    assert count == 3
    assert "0x" not in reason


def test_an_argument_that_cannot_be_pickled_for_depth_is_left_out(module, catch):
    deep = []
    for _ in range(50_000):
        deep = [deep]
    recorder = catch("plain")
    module.plain(deep)
    assert next(iter(recorder.skipped)).startswith("cannot be kept: RecursionError")


def test_calls_of_threads_are_each_kept_whole(module, catch, tmp_path):
    recorder = catch("plain")
    threads = [threading.Thread(target=lambda n=n: [module.plain(n, k) for k in range(5)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorder.kept == 20
    assert sorted(args for args, _ in kept(tmp_path, 20)) == [(n, k) for n in range(4) for k in range(5)]


def test_the_index_says_length_size_and_test(module, catch, tmp_path):
    recorder = catch("plain")
    recorder.test = "test_it"
    module.plain([1, 2, 3])
    lines = (tmp_path / "calls").read_bytes().split(b"\n")
    entry = json.loads(lines[1])
    assert (entry["size"], entry["test"]) == (3, "test_it")
    assert entry["length"] > 0
