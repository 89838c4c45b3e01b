"""One side under measurement: its worker, restarted where it dies, and the readings that can be taken."""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from best_agent.workload.interpreter import Interpreter
from best_agent.workload.process import WorkerProcess
from best_agent.workload.sides import Side

_SLACK_SECONDS = 30.0
"""For what is not the call: building inputs, collecting garbage, imports."""
_GRACE_SECONDS = 1.0
_TRACED = 10
"""How much longer a call may take under tracemalloc."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A call that a test made; see `worker.recorded.builder`."""

    file: Path
    index: int
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """Where the arguments of calls come from: a workload's function, a call written out, a recorded call."""

    label: str
    file: Path | None = None
    function: str | None = None
    call: str | None = None
    names: tuple[str, ...] = ()
    """With `call`: the names of the functions that it may be written with."""
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What the worker says of the modules it has loaded."""

    file: str
    modules: int
    strangers: tuple[tuple[str, str], ...]
    """(module, the file it came from) of what should be this side's and is not."""
    unseen: tuple[str, ...]
    """Loaded packages that allocate where tracemalloc does not look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One batch of calls, per call."""

    cpu_ns: float
    wall_ns: float
    outside_ns: float | None
    """CPU per call by the clock read from outside, the request's own cost included."""
    waited: bool
    """The call takes more than twice its CPU time, and gives up the processor itself to wait."""


class Subject:
    """A side with a running worker. Use it as a context manager."""

    def __init__(self, side: Side, interpreter: Interpreter, time_limit: float) -> None:
        """Say what is measured and how long one call may take, in seconds."""
        self.side = side
        self._interpreter = interpreter
        self._limit = time_limit
        self.kind: str | None = None
        """Whether calls give plain results, iterators, awaitables; None before one was observed."""
        self._source: InputSource | None = None
        self._core: int | None = None
        self._worker: WorkerProcess | None = None

    def start(self) -> None:
        """Start a worker, without waiting until it is there.

        Raises:
            MeasureError: the interpreter cannot be started.
        """
        self.close()
        tree = self.side.tree
        self._worker = WorkerProcess(self._interpreter, tree if tree.is_dir() else Path.cwd())

    def open(self, source: InputSource | None = None) -> Origin:
        """Import the target in the worker, which is started if it was not.

        Raises:
            RequestRefusedError: the target does not load or is not there.
            MeasureError: the worker does not start or dies.
        """
        side = self.side
        assert side.file is not None
        assert side.place is not None
        if self._worker is None:
            self.start()
        helpers = _helpers(source, side)
        answer = self._ask(
            "open",
            self._limit + _SLACK_SECONDS,
            tree=str(side.tree),
            work_tree=None if side.work_tree is None else str(side.work_tree),
            roots=[str(root) for root in side.place.roots],
            top=side.place.top or "",
            helpers=[str(helper) for helper in helpers],
            file=str(side.file),
            module=side.place.module,
            name=side.target.name,
        )
        return _origin(answer)

    def use(self, source: InputSource, kind: str | None = None) -> tuple[int, ...] | None:
        """Take inputs from there; the sizes that the workload names, if it does.

        `kind` is the kind of function, where it was observed in another process.

        Raises:
            RequestRefusedError: the workload does not load, or the call is not one of the target.
        """
        self._source = source
        self.kind = kind or self.kind
        answer = self._ask(
            "inputs",
            self._limit + _SLACK_SECONDS,
            kind=self.kind,
            call=source.call,
            name=self.side.target.name,
            names=list(source.names) or [self.side.target.name],
            file=None if source.file is None else str(source.file),
            function=source.function,
            recorded=None
            if source.recorded is None
            else [str(source.recorded.file), source.recorded.index, source.recorded.mode],
        )
        sizes = answer["sizes"]
        return None if sizes is None else tuple(int(size) for size in sizes)

    def revive(self) -> None:
        """Start anew after the worker died, in the state it was in."""
        assert self._source is not None
        self.start()
        self.open(self._source)
        self.use(self._source)
        if self._core is not None:
            self.pin(self._core)

    def origin(self) -> Origin:
        """Where everything loaded so far came from."""
        return _origin(self._ask("origin", _SLACK_SECONDS))

    def observe(self, size: int, seed: int, seconds: float | None = None) -> dict[str, Any]:
        """Call once and describe what came of it (see `Worker.observe`)."""
        given = self._ask("give", _SLACK_SECONDS, size=size, seed=seed)
        limit = self._limit + _GRACE_SECONDS if seconds is None else seconds
        seen = self._ask("observe", limit, seed=seed)
        if seen["kind"] != "plain" or self.kind is None:
            self.kind = str(seen["kind"])
        return {**seen, **given}

    def calibrate(self, size: int, seed: int) -> tuple[int, float]:
        """How many calls make a batch long enough for the clock, and what one of them costs, in ns."""
        answer = self._ask("calibrate", self._limit * 2 + _SLACK_SECONDS, size=size, seed=seed)
        return int(answer["loops"]), max(1.0, answer["cpu_ns"] / answer["of"])

    def time(self, size: int, seed: int, loops: int) -> Reading:
        """Time one batch."""
        worker = self._running()
        worker.ask("stage", _SLACK_SECONDS, size=size, seed=seed, loops=loops)
        start = worker.cpu_ns()
        answer = worker.ask("time", self._limit + _GRACE_SECONDS)
        end = worker.cpu_ns()
        outside = None if start is None or end is None else (end - start) / loops
        # On a busy machine wall time passes although nothing waits; the switches tell the two apart.
        gave_up = answer["gave_up"] is None or answer["gave_up"] >= loops / 2
        return Reading(
            cpu_ns=answer["cpu_ns"] / loops,
            wall_ns=answer["wall_ns"] / loops,
            outside_ns=outside,
            waited=gave_up and answer["cpu_ns"] < answer["wall_ns"] / 2,
        )

    def peak(self, size: int, seed: int) -> int:
        """Peak bytes of one call."""
        answer = self._ask("peak", self._limit * _TRACED + _SLACK_SECONDS, size=size, seed=seed)
        return int(answer["peak_bytes"])

    def retained(self, size: int, seed: int, calls: int) -> float:
        """Bytes that stay behind, per call, in the best of several series of so many calls."""
        seconds = self._limit * _TRACED + _SLACK_SECONDS
        answer = self._ask("retained", seconds, size=size, seed=seed, calls=calls)
        return max(0.0, float(answer["retained_bytes"]) / calls)

    def pin(self, core: int) -> bool:
        """Keep the worker on one core, also after a restart."""
        self._core = core
        return self._running().pin(core)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> WorkerProcess:
        assert self._worker is not None
        return self._worker

    def _ask(self, op: str, seconds: float, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON values)
        return self._running().ask(op, seconds, **fields)


def _helpers(source: InputSource | None, side: Side) -> tuple[Path, ...]:
    """The workload's file and, where it is not a folder that code is imported from, its folder."""
    if source is None or source.file is None:
        return ()
    folder = source.file.parent
    tree = side.work_tree or side.tree
    assert side.place is not None
    own = (tree, tree / "src", *(_same_place(root, side) for root in side.place.roots))
    package = _same_place(side.place.package, side) if side.place.package else None
    inside = folder in own or (package is not None and folder.is_relative_to(package))
    return (source.file,) if inside else (source.file, folder)


def _same_place(path: Path, side: Side) -> Path:
    """A path of the side's tree, in the user's work tree."""
    if side.work_tree is None or not path.is_relative_to(side.tree):
        return path
    return side.work_tree / path.relative_to(side.tree)


def _origin(answer: dict[str, Any]) -> Origin:
    return Origin(
        file=answer["file"],
        modules=answer["modules"],
        strangers=tuple((name, path) for name, path in answer["strangers"]),
        unseen=tuple(answer["unseen"]),
    )
