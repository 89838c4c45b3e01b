"""A worker process in the user's interpreter, as the tool sees it."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from best_agent.errors import BestAgentError, MeasureError, UsageError
from best_agent.worker import frames
from best_agent.workload.gitrepo import clean_environment
from best_agent.workload.interpreter import Interpreter

_PROGRAM = Path(frames.__file__).with_name("main.py")
_START_SECONDS = 60.0
_STDERR_TAIL = 4000
_WHAT = {
    "start": "the start of the interpreter",
    "open": "loading the function",
    "inputs": "loading the inputs",
    "marked": "loading the workloads",
    "give": "building an input",
    "stage": "building the inputs",
}
"""What people call a request; every other one calls the function."""


class WorkerDiedError(MeasureError):
    """The worker ended in the midst of a request: a crash, os._exit, or the kernel killed it."""


class WorkerTimeoutError(MeasureError):
    """A request took longer than the user allows; the worker was ended."""


class RequestRefusedError(BestAgentError):
    """The worker answered that it cannot do what was asked.

    `kind`: usage, absent, import, workload, inputs, raised, tracing.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.exit_code = UsageError.exit_code


class WorkerProcess:
    """One worker. Use it as a context manager: at the end it and what it started are gone."""

    def __init__(self, interpreter: Interpreter, folder: Path) -> None:
        """Start the worker in `folder`, without waiting for it: several start at the same time.

        Raises:
            MeasureError: the interpreter cannot be started.
        """
        self._greeted = False
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the worker)
        environment = clean_environment({"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"})
        try:
            self._process = subprocess.Popen(
                [str(interpreter.path), str(_PROGRAM)],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            self._stderr.close()
            raise MeasureError(f"{interpreter.path} cannot be started: {error.strerror or error}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin.fileno()
        self._answers = self._process.stdout.fileno()

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    def ask(self, op: str, seconds: float, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON values)
        """Send a request and wait for its answer.

        Raises:
            RequestRefusedError: the worker says why it cannot.
            WorkerDiedError: the process ended.
            WorkerTimeoutError: no answer within `seconds`; the worker was ended.
        """
        if not self._greeted:
            self._receive(_START_SECONDS, "start")
            self._greeted = True
        try:
            frames.send(self._requests, {"op": op, **fields})
        except OSError:
            raise WorkerDiedError(f"the process {self._ending()}") from None
        answer = self._receive(seconds, op)
        if not answer.pop("ok"):
            raise RequestRefusedError(str(answer["kind"]), str(answer["message"]))
        return answer

    def cpu_ns(self) -> int | None:
        """The process's CPU clock read from outside, or None where the system has no such clock."""
        clock = getattr(time, "clock_gettime_ns", None)
        if clock is None or not os.path.isdir("/proc"):
            return None
        try:
            reading: int = clock((~self.pid << 3) | 2)
        except OSError:
            return None
        return reading

    def pin(self, core: int) -> bool:
        """Keep the worker on one core; False where the system does not let us."""
        try:
            os.sched_setaffinity(self.pid, {core})
        except (AttributeError, OSError):
            return False
        return True

    def close(self) -> None:
        """End the worker and the processes of its session."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, seconds: float, op: str) -> dict[str, Any]:
        deadline = _Deadline(self._process, self._answers, seconds)
        try:
            with deadline:
                answer: dict[str, Any] | None = frames.receive(self._answers)
        except (EOFError, ValueError, OSError):
            answer = None
        if deadline.passed:
            what = _WHAT.get(op, "the call")
            raise WorkerTimeoutError(f"{what} did not end within {seconds:.0f} s; --time-limit allows more")
        if answer is None:
            raise WorkerDiedError(f"the process {self._ending()}")
        return answer

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        return f"{_code_in_words(code)}{self._last_words()}"

    def _last_words(self) -> str:
        if self._stderr.closed:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _STDERR_TAIL))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""


class _Deadline:
    """Ends a process that does not answer in time, so that a blocking read returns."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int, seconds: float) -> None:
        self._process = process
        self._descriptor = descriptor
        self._seconds = seconds
        self._timer: threading.Timer | None = None
        self.passed = False

    def __enter__(self) -> Self:
        if os.name == "posix":
            ready, _, _ = select.select([self._descriptor], [], [], self._seconds)
            if not ready:
                self._end()
            return self
        self._timer = threading.Timer(self._seconds, self._end)
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self.passed = True
        self._process.kill()


def _code_in_words(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
