"""The Python side of the measured call: runs in the target, next to foreign code, and holds no secret.

What foreign code could replace is looked up before it is loaded; nothing here is a boundary, though: the
supervisor reads the clocks from outside and believes no byte.
"""

import contextlib
import gc
import linecache
import marshal
import os
import socket
import sys
import traceback
import tracemalloc
import types
from collections.abc import Callable
from typing import Any, Final

from best_agent.sandbox.inside import answers

FD_EVENT: Final = 3
FD_GO: Final = 4
FD_ANSWER: Final = 5
LOADED, READY, DONE = b"L", b"R", b"D"
ROUNDS: Final = LOADED + 3 * (READY + DONE)
"""What the supervisor expects: the module is loaded, two empty calls, the measured one."""
EXIT_RAISED: Final = 1
EXIT_UNENCODABLE: Final = 3
STAND_INS: Final = {
    "blank": "def solve(*_):\n    return None\n",
    "echo": "def solve(answer):\n    return answer\n",
}
"""Solutions that do nothing: what the driver itself costs on an input, and on an answer."""
_FILE: Final = "solution.py"
_TracedMemory = Callable[[], tuple[int, int]]
_Measure = Callable[[Callable[..., Any], tuple[Any, ...], Callable[[int, bytes], int]], tuple[Any, int]]
_INPUT_AT_MOST: Final = 1 << 40


def _nothing(*_: object) -> None:
    return None


def run(source: str, entry: str, *, traced: bool, echo: bool = False) -> None:
    """Load a source, meet the supervisor for an empty and a measured call, send the answer, and end.

    `echo`: the input is an answer, which is decoded and handed to the solution.
    """
    code = EXIT_RAISED
    try:
        code = _answer(source, entry, traced=traced, echo=echo)
    except SystemExit:
        code = 0  # without an answer this is `no-result`, whatever the program wanted to say
    except BaseException:  # noqa: BLE001  (whatever foreign code raises is its result)
        _report()
    finally:
        _flush()
        os._exit(code)


def _answer(source: str, entry: str, *, traced: bool, echo: bool) -> int:
    # Bound now: later the module's attributes are what foreign code made of them.
    loads, write = marshal.loads, os.write
    leave: Callable[[int], object] = os._exit
    encode, start_tracing, stop_tracing = answers.encode, tracemalloc.start, tracemalloc.stop
    measure = _traced_call(*_take_tracemalloc()) if traced else _call
    solve = _load(source, entry)
    del source
    gc.collect()
    text = _input(write)
    # What the module left alive must not make reading the input slower, nor be collected meanwhile.
    collecting = gc.isenabled()
    gc.disable()
    arguments = (answers.decode(text),) if echo else loads(text)
    if collecting:
        gc.enable()
    del text
    if traced:
        start_tracing()
    # Twice: the first empty call warms what the second, which is the baseline, and the real one share.
    measure(_nothing, arguments, write)
    measure(_nothing, arguments, write)
    result, peak = measure(solve, arguments, write)
    if traced:
        stop_tracing()
    try:
        text = encode(result)
    except answers.UnencodableError:
        return EXIT_UNENCODABLE
    if traced:
        text = b"%d\n" % peak + text
    view = memoryview(text)
    while view:
        view = view[write(FD_ANSWER, view) :]
    _flush()
    leave(0)
    return 0


def _load(source: str, entry: str) -> Callable[..., Any]:
    module = types.ModuleType("solution")
    module.__file__ = _FILE
    sys.modules["solution"] = module
    linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
    exec(compile(source, _FILE, "exec"), module.__dict__)  # noqa: S102  (running it is the purpose)
    found: Any = module
    for name in entry.split("."):
        if isinstance(found, type):
            found = found()
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]  # foreign; a result that cannot be called raises there


def _input(write: Callable[[int, bytes], int]) -> bytes:
    """The input, which reaches this process only after the module was loaded."""
    write(FD_EVENT, LOADED)
    with socket.socket(fileno=FD_GO) as channel:
        _, fds, _, _ = socket.recv_fds(channel, 1, 1)
        channel.detach()
    with open(fds[0], "rb", buffering=0) as file:
        return file.read()


def _call(
    solve: Callable[..., Any], arguments: tuple[Any, ...], write: Callable[[int, bytes], int]
) -> tuple[Any, int]:
    read, make_whole = os.read, answers.make_whole
    write(FD_EVENT, READY)
    read(FD_GO, 1)
    result = make_whole(solve(*arguments))
    write(FD_EVENT, DONE)
    read(FD_GO, 1)
    return result, 0


def _take_tracemalloc() -> tuple[_TracedMemory, Callable[[], None]]:
    """What reads the peak and what resets it; foreign code finds tracemalloc switched off, as when timed.

    So it can neither stop the tracing, nor reset the peak, nor be lean only while it is traced, by the
    means that the module offers.
    """
    mine = tracemalloc.get_traced_memory, tracemalloc.reset_peak
    for module in (tracemalloc, sys.modules["_tracemalloc"]):
        for name in ("start", "stop", "reset_peak", "clear_traces"):
            setattr(module, name, _nothing)
        setattr(module, "is_tracing", lambda: False)  # noqa: B010  (a name that is not there for mypy)
        setattr(module, "get_traced_memory", lambda: (0, 0))  # noqa: B010  (the same)
    return mine


def _traced_call(traced_memory: _TracedMemory, reset_peak: Callable[[], None]) -> _Measure:
    def call(
        solve: Callable[..., Any], arguments: tuple[Any, ...], write: Callable[[int, bytes], int]
    ) -> tuple[Any, int]:
        read, make_whole = os.read, answers.make_whole
        write(FD_EVENT, READY)
        read(FD_GO, 1)
        reset_peak()
        before, _ = traced_memory()
        result = make_whole(solve(*arguments))
        _, peak = traced_memory()
        write(FD_EVENT, DONE)
        read(FD_GO, 1)
        return result, max(0, peak - before)

    return call


def _report() -> None:
    try:
        text = traceback.format_exc(limit=-20)
    except BaseException:  # noqa: BLE001  (an exception whose text raises, or no memory for it)
        kind = sys.exc_info()[0]
        text = f"{kind.__name__ if kind else 'Exception'}\n"
    try:
        os.write(2, text.encode("utf-8", "backslashreplace"))
    except OSError:
        return


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # foreign code may have put anything there
            stream.flush()
