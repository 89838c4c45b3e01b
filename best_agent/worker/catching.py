"""Catches the calls of one function while something else runs, and keeps their arguments in a file.

The function object is given the code of a trampoline: whoever holds the function, by `from m import f`,
in a registry, as a default or as a method, holds that very object and is seen. Calls that the function
makes of itself are not kept, nor calls that raise. Arguments are pickled before the call, by and for this
interpreter only.

The file is a line of JSON, then for each call a line of JSON (`length`, `test`, and what recorded.py says
of it) and `length` bytes of pickle. It is written call by call: what was kept survives a test that hangs.
"""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import hashlib
import importlib.machinery
import inspect
import json
import os
import pickle
import re
import sys
import threading
import time
import types
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

EXTRA = 16
"""Calls beyond the bound that are kept when they are larger than all before."""
Arguments = Tuple[Tuple[Any, ...], Dict[str, Any]]


class UnrecordableError(Exception):
    """The target is there, and its calls cannot be caught; the text says why."""


class _TooLargeError(Exception):
    """A pickle grew past what is left of the budget."""


class _Bounded:
    """A file for a pickler that takes at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.parts: List[bytes] = []
        self.room = limit

    def write(self, data: Any) -> int:
        """Take a part of the pickle, or refuse it before it costs memory."""
        self.room -= len(data)
        if self.room < 0:
            raise _TooLargeError
        self.parts.append(bytes(data))
        return len(data)


class Recorder:
    """What was seen of one function, and the file that its calls are kept in.

    Of `spec` it reads: `file` and `module` of the function, its `qualname`, the file `out`, and the bounds
    `max_calls`, `max_bytes`, `max_keeping_seconds`.
    """

    def __init__(self, spec: Dict[str, Any], describe: Callable[[Arguments], Dict[str, Any]]) -> None:
        self.spec = spec
        self.describe = describe
        self.caught: List[Tuple[Any, Any, int]] = []
        """(function object, original, leading arguments to leave out); trampolines know the index."""
        self.where: Optional[str] = None
        """File of the module that the function was found in."""
        self.problem: Optional[str] = None
        """Why its calls cannot be caught."""
        self.calls = self.kept = self.raised = 0
        self.skipped: Dict[str, int] = {}
        self.test = ""
        """What runs now, in words."""
        self._file = os.path.normcase(os.path.realpath(spec["file"]))
        self._owner = os.getpid()
        self._room: int = spec["max_bytes"]
        self._seconds: float = spec["max_keeping_seconds"]
        self._seen: Set[bytes] = set()
        self._largest = 0
        self._lock = threading.Lock()
        self._inside = threading.local()
        self._out = open(spec["out"], "wb", buffering=0)  # noqa: SIM115  (open as long as the tests run)
        self._line({"recording": 1, "python": list(sys.version_info[:3])})

    def look_at(self, module: Any) -> None:
        """Catch the function if this is the module that it is in."""
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            return
        named = getattr(module, "__name__", None) == self.spec["module"]
        if not named and os.path.basename(path) != os.path.basename(self.spec["file"]):
            return
        if named or os.path.normcase(os.path.realpath(path)) == self._file:
            self.where = path
            try:
                self._catch(*find_function(module, self.spec["qualname"]))
            except UnrecordableError as error:
                self.problem = str(error)

    def look_at_all(self) -> None:
        """Look at every loaded module, for those that came in by another way than a source loader."""
        for module in list(sys.modules.values()):
            self.look_at(module)

    def watch_imports(self) -> None:
        """Look at each module as soon as its source has been executed."""
        loader: Any = importlib.machinery.SourceFileLoader
        executed = loader.exec_module

        def exec_module(itself: Any, module: Any) -> None:
            executed(itself, module)
            self.look_at(module)

        loader.exec_module = exec_module

    def enter(self, index: int, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """What a trampoline does: keep the arguments, then make the call."""
        _, original, leading = self.caught[index]
        if getattr(self._inside, "busy", False) or os.getpid() != self._owner:
            return original(*args, **kwargs)
        self._inside.busy = True
        try:
            given = (args[leading:], kwargs)
            described = self.describe(given)
            pickled = self._pickled(given)
            try:
                result = original(*args, **kwargs)
            except BaseException:
                self.raised += 1
                raise
            if pickled is not None:
                self._keep(pickled, described)
            return result
        finally:
            self._inside.busy = False

    def _catch(self, function: Any, leading: int) -> None:
        if any(function is known for known, _, _ in self.caught):
            return
        self.caught.append((function, _copy(function), leading))
        _keep_signature(function)
        function.__code__ = trampoline(function, len(self.caught) - 1)

    def _pickled(self, given: Arguments) -> Optional[bytes]:
        self.calls += 1
        if self._seconds <= 0 or self.kept >= self.spec["max_calls"] + EXTRA:
            self._skip("enough calls were kept")
            return None
        start = time.monotonic()
        sink: Any = _Bounded(self._room)
        try:
            pickle.Pickler(sink, pickle.HIGHEST_PROTOCOL).dump(given)
        except _TooLargeError:
            self._skip("larger than the room that was left")
            return None
        except Exception as error:  # noqa: BLE001  (an argument's own code may raise anything)
            self._skip("cannot be kept: %s" % _kind_of(error))
            return None
        finally:
            self._seconds -= time.monotonic() - start
        return b"".join(sink.parts)

    def _keep(self, pickled: bytes, described: Dict[str, Any]) -> None:
        digest = hashlib.sha256(pickled).digest()
        with self._lock:
            if digest in self._seen:
                self._skip("the same as one before")
                return
            if self.kept >= self.spec["max_calls"] and len(pickled) <= self._largest:
                self._skip("enough calls were kept")
                return
            self._seen.add(digest)
            self._largest = max(self._largest, len(pickled))
            self._room -= len(pickled)
            self.kept += 1
            self._line({"length": len(pickled), "test": self.test, **described})
            self._out.write(pickled)

    def _skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def _line(self, value: Dict[str, Any]) -> None:
        self._out.write(json.dumps(value).encode("ascii") + b"\n")


def find_function(module: Any, qualname: str) -> Tuple[Any, int]:
    """The function object that a name stands for, and how many leading arguments its callers do not give.

    Raises:
        UnrecordableError: there is no such name, or it is not a function of Python code.
    """
    value = static = module
    for part in qualname.split("."):
        holder = value
        try:
            value = getattr(holder, part)
        except AttributeError:
            raise UnrecordableError("%s has no %s" % (module.__name__, qualname)) from None
        families = holder.__mro__ if isinstance(holder, type) else (holder,)
        static = next((vars(one)[part] for one in families if part in getattr(one, "__dict__", ())), value)
    leading = int(isinstance(static, classmethod))
    if isinstance(static, (staticmethod, classmethod)):
        static = static.__func__
    if hasattr(static, "cache_info") and isinstance(getattr(static, "__wrapped__", None), types.FunctionType):
        static = static.__wrapped__  # functools.lru_cache: each new call arrives at what it wraps
    if not isinstance(static, types.FunctionType):
        raise UnrecordableError("%s is of type %s, not a Python function" % (qualname, type(static).__name__))
    if inspect.isasyncgenfunction(static):
        raise UnrecordableError("%s is an asynchronous generator" % qualname)
    return static, leading


def trampoline(function: Any, index: int) -> types.CodeType:
    """Code that hands the arguments to the recorder; it has the free variables that `function` has.

    Python lets a function have other code only if that has as many free variables.
    """
    free = function.__code__.co_freevars
    lines = ["def outer():", *("    %s = None" % name for name in free)]
    waits, awaits = ("async ", "await ") if inspect.iscoroutinefunction(function) else ("", "")
    lines += ["    %sdef inner(*__best_agent_args, **__best_agent_kwargs):" % waits]
    lines += ["        if 0: %s" % ", ".join(free)] if free else []
    lines += ["        recorder = __import__('sys').modules[%r].RECORDER" % __name__]
    enter = "        return %srecorder.enter" % awaits
    lines += [enter + "(%d, __best_agent_args, __best_agent_kwargs)" % index, "    return inner"]
    names: Dict[str, Any] = {}
    exec(compile("\n".join(lines), function.__code__.co_filename, "exec"), names)  # noqa: S102  (made above)
    code: types.CodeType = names["outer"]().__code__
    return code.replace(co_name=function.__name__, co_firstlineno=function.__code__.co_firstlineno)


def one_line(error: BaseException) -> str:
    """An exception in one bounded line."""
    text = (str(error).strip().splitlines() or [""])[0][:160]
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def _kind_of(error: BaseException) -> str:
    """An exception in one line without what is particular to one call, so that it can be counted."""
    return re.sub(r"(local object|<\w+)\b.*", r"\1", one_line(error)).replace("<", "a ")


def _copy(function: Any) -> Any:
    code, names = function.__code__, function.__globals__
    original: Any = types.FunctionType(
        code, names, function.__name__, function.__defaults__, function.__closure__
    )
    original.__kwdefaults__ = function.__kwdefaults__
    original.__qualname__ = function.__qualname__
    original.__module__ = function.__module__
    return original


def _keep_signature(function: Any) -> None:
    """Let who looks at the parameters, as frameworks do, see those of the original."""
    try:
        function.__signature__ = inspect.signature(function)
    except (TypeError, ValueError):
        return


RECORDER: Any = None
"""The recorder that trampolines hand their calls to."""
