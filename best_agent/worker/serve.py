"""The worker's loop: one request, one answer, until the tool closes the pipe.

What the user's code prints goes nowhere near the answers: they travel on copies of the first two
descriptors, which are then pointed elsewhere.
"""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import os
import sys
import traceback
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import api, canon, frames, meter, side, target
from .target import Refused

_SHIM = "best_agent"
_UNSEEN = ("pyarrow", "polars", "torch", "tensorflow", "jax", "cv2", "duckdb", "lxml")
"""Packages that allocate where tracemalloc does not look."""
_SHOWN = 200


class Worker:
    """What is loaded in this process, and the requests that can be made of it."""

    def __init__(self) -> None:
        self._finder: Optional[side.SideFinder] = None
        self._loaded: Optional[target.Loaded] = None
        self._caller: Optional[meter.Caller] = None
        self._inputs: Optional[target.Inputs] = None
        self._batch: List[meter.Arguments] = []

    def open(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Take a side: import its target."""
        where = side.Side(
            tree=request["tree"],
            work_tree=request["work_tree"],
            roots=tuple(request["roots"]),
            top=request["top"],
            helpers=tuple(request["helpers"]),
        )
        self._finder = side.install(where)
        if where.top != _SHIM:
            _provide_decorator()
        self._loaded = target.load(request["file"], request["module"], request["name"])
        if not where.top:
            side.named(self._finder, self._loaded.module.__name__)
        self._caller = meter.Caller(self._loaded.function)
        return {"module": self._loaded.module.__name__, **self.origin({})}

    def origin(self, request: Dict[str, Any]) -> Dict[str, Any]:  # noqa: ARG002  (every request has one shape)
        """Where the modules loaded so far came from."""
        assert self._finder is not None and self._loaded is not None  # noqa: PT018  (opened)
        name = self._loaded.module.__name__
        return {
            "file": side.real(getattr(self._loaded.module, "__file__", "") or ""),
            "modules": len(side.modules_of(name.split(".", 1)[0])),
            "strangers": side.strangers(self._finder)[:20],
            "unseen": [package for package in _UNSEEN if package in sys.modules],
        }

    def inputs(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Choose what builds the inputs: a workload file's function a call written out or a recorded one."""
        assert self._loaded is not None
        if request["kind"] is not None:
            self._measured().kind = request["kind"]
        if request.get("call") is not None:
            self._inputs = target.from_call(
                request["call"], self._loaded.module, request["name"], request["names"]
            )
            return {"sizes": None}
        if request.get("recorded") is not None:
            from . import recorded  # it needs much of the standard library that others do not

            file, index, mode = request["recorded"]
            self._inputs = target.Inputs(recorded.builder(file, index, mode))
            return {"sizes": None}
        self._inputs, sizes, wanted = target.from_workload(request["file"], request["function"])
        return {"sizes": sizes, "target": wanted}

    def marked(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """The workloads of a file."""
        return {"workloads": target.marked(request["file"])}

    def give(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Build the input of the next `observe`: its digest, to be the same on both sides."""
        arguments = self._build(request["size"], request["seed"])
        self._batch = [arguments]
        return {"given": self._walker(opaque_own=True).canon(arguments).exact}

    def observe(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Call once with what was given: what came of it, what became of the arguments."""
        (arguments,) = self._batch
        self._batch = []
        target.seed_generators(request["seed"])
        caller = self._measured()
        started = meter.clocks()
        result, raised = _called(caller, arguments)
        ended = meter.clocks()
        outcome = self._described(result) if raised is None else self._raised(raised)
        outcome.update(cpu_ns=ended.cpu_ns - started.cpu_ns, wall_ns=ended.wall_ns - started.wall_ns)
        return {**outcome, "arguments": self._canon(arguments), "kind": caller.kind}

    def calibrate(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """How many calls a batch needs."""
        size, seed = request["size"], request["seed"]
        loops, reading = meter.calibrate(self._measured(), lambda: self._build(size, seed), size)
        return {"loops": loops, "cpu_ns": reading.cpu_ns, "wall_ns": reading.wall_ns, "of": reading.loops}

    def stage(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Build the inputs of the next batch and settle garbage: `time` then does little but call."""
        size, seed = request["size"], request["seed"]
        self._batch = []  # the last one is freed here, where no clock is read
        self._batch = [self._build(size, seed) for _ in range(request["loops"])]
        target.seed_generators(seed)
        meter.settle()
        return {}

    def time(self, request: Dict[str, Any]) -> Dict[str, Any]:  # noqa: ARG002  (every request has one shape)
        """Time the staged batch."""
        reading = meter.timed(self._measured(), self._batch)
        return {"cpu_ns": reading.cpu_ns, "wall_ns": reading.wall_ns, "gave_up": reading.gave_up}

    def peak(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Peak of a call's allocations."""
        size, seed = request["size"], request["seed"]
        return {"peak_bytes": meter.peak_bytes(self._measured(), lambda: self._build(size, seed))}

    def retained(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Bytes that stay behind after calls."""
        size, seed, calls = request["size"], request["seed"], request["calls"]
        kept = meter.retained_bytes(self._measured(), lambda number: self._build(size, seed + number), calls)
        return {"retained_bytes": kept, "calls": calls}

    def _measured(self) -> meter.Caller:
        assert self._caller is not None
        return self._caller

    def _build(self, size: int, seed: int) -> meter.Arguments:
        assert self._inputs is not None
        return self._inputs(size, seed)

    def _walker(self, opaque_own: bool = False) -> canon.Walker:
        assert self._loaded is not None
        own = self._loaded.module.__name__
        return canon.Walker(lambda module: module == own, opaque_own=opaque_own)

    def _canon(self, value: Any) -> Dict[str, Any]:
        try:
            found = self._walker().canon(value)
        except canon.TooLarge:
            return {"exact": None, "shape": None, "floats": None, "opaque": []}
        return {
            "exact": found.exact,
            "shape": found.shape,
            "floats": None if found.floats is None else [_written(number) for number in found.floats],
            "opaque": list(found.opaque),
        }

    def _described(self, result: Any) -> Dict[str, Any]:
        return {
            "raised": None,
            "result": self._canon(result),
            "type": type(result).__name__,
            "shown": _short(result),
        }

    def _raised(self, error: BaseException) -> Dict[str, Any]:
        message = canon.without_addresses(str(error))
        name = self._walker().type_name(type(error))
        return {
            "raised": [name.lstrip("."), message],
            "result": self._canon([name, message]),
            "type": type(error).__name__,
            "shown": "%s: %s" % (type(error).__name__, message[:_SHOWN]),
            "place": target.place_of(error),
        }


def _called(caller: meter.Caller, arguments: meter.Arguments) -> Tuple[Any, Optional[BaseException]]:
    try:
        return caller.observe(arguments), None
    except BaseException as error:  # noqa: BLE001  (what the target raises is its result)
        return None, error


def _written(number: float) -> Any:
    return number if number == number and abs(number) != float("inf") else repr(number)


def _short(value: Any) -> str:
    try:
        text = repr(value) if not hasattr(value, "__len__") or len(value) <= _SHOWN else _cut(value)
    except Exception:  # noqa: BLE001  (a repr of the user's may raise anything)
        return "<%s>" % type(value).__name__
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _cut(value: Any) -> str:
    return (
        repr(value[:_SHOWN])
        if isinstance(value, (list, tuple, str, bytes))
        else "<%s of %d>"
        % (
            type(value).__name__,
            len(value),
        )
    )


def _provide_decorator() -> None:
    """Let `from best_agent import workload` work here, whatever is installed in this environment."""
    module = types.ModuleType(_SHIM, "The part of best-agent that workload files import.")
    module.workload = api.workload  # type: ignore[attr-defined]  # a module made by hand
    sys.modules[_SHIM] = module


def _answer(handler: Callable[[Dict[str, Any]], Dict[str, Any]], request: Dict[str, Any]) -> Dict[str, Any]:
    try:
        return {"ok": True, **handler(request)}
    except Refused as refused:
        return {"ok": False, "kind": refused.kind, "message": refused.message}
    except meter.Stopped:
        return {"ok": False, "kind": "tracing", "message": "the function switches tracemalloc off itself"}
    except BaseException as error:  # noqa: BLE001  (the target may raise anything at any call)
        text = "".join(traceback.format_exception_only(type(error), error)).strip()
        return {"ok": False, "kind": "raised", "message": text[:500]}


def main() -> None:
    """Serve until the tool closes the pipe."""
    incoming, outgoing = _private_pipes()
    _die_with_parent()
    worker = Worker()
    own_pid = os.getpid()
    requests = {
        name: getattr(worker, name)
        for name in (
            "open",
            "origin",
            "inputs",
            "marked",
            "give",
            "observe",
            "calibrate",
            "stage",
            "time",
            "peak",
            "retained",
        )
    }
    frames.send(outgoing, {"ok": True, "python": sys.version.split()[0], "executable": sys.executable})
    while True:
        request = frames.receive(incoming)
        if request is None:
            break
        answer = _answer(requests[request["op"]], request)
        if os.getpid() != own_pid:
            os._exit(0)  # a child that the target forked and that came back here has no business to answer
        frames.send(outgoing, answer)
    os._exit(0)  # threads and exit handlers of the user's code must not keep a finished worker alive


def _private_pipes() -> "tuple[int, int]":
    if os.name == "nt":
        import msvcrt

        for descriptor in (0, 1):
            msvcrt.setmode(descriptor, os.O_BINARY)  # type: ignore[attr-defined]  # on Windows they are there
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return incoming, outgoing


def _die_with_parent() -> None:
    """On Linux: a tool that is killed takes its workers with it, whatever they are busy with."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    except (ImportError, OSError, AttributeError):
        return
