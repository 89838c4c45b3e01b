"""Starts supervisors and speaks with them: the harness's side of a session."""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import best_agent
from best_agent.errors import IsolationError, MeasureError
from best_agent.model.run import Isolation, Limits, Run
from best_agent.sandbox import cores, engines, layout, outcome, scrutiny
from best_agent.sandbox.contract import Program, Session
from best_agent.sandbox.inside import channel, namespaces

_START_S: Final = 30.0
_GRACE_S: Final = 30.0
"""Beyond a run's own wall limit, until the supervisor is given up."""
_CLOSE_S: Final = 5.0
_NS_PER_S: Final = 1_000_000_000
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_BOOT: Final = (
    "import sys; sys.path.insert(0, {root!r}); from best_agent.sandbox.inside import supervisor; "
    "del sys.path[0]; supervisor.main({descriptor})"
)


class NotStartedError(IsolationError):
    """No supervisor could be started under an isolation; nothing was run."""

    def __init__(self, isolation: str, reason: str) -> None:
        super().__init__(
            f"'{isolation}' isolation cannot be had here: {reason}. Nothing was run; see: best-agent doctor"
        )
        self.reason = reason


def open_session(program: Program, isolation: Isolation) -> Session:
    """A program held ready in a sandbox of its own; the supervisor starts with the first run.

    The isolation is taken as given: `probe.choose` says what this machine can do.
    """
    return _Session(program, isolation)


class _Session:
    """See `contract.Session`."""

    def __init__(self, program: Program, isolation: Isolation) -> None:
        self._program = program
        self._isolation = isolation
        self._supervisor: _Supervisor | None = None
        self._closed = False
        self._scrutiny = scrutiny.Scrutiny()

    @property
    def isolation(self) -> Isolation:
        return self._isolation

    def run(self, stdin: bytes, limits: Limits, *, traced: bool = False) -> Run:
        if self._closed:
            raise MeasureError("the session is closed")
        seen, flags = self._see(stdin, limits, traced=traced)
        python = self._program.python_source is not None
        run = outcome.run_of(
            seen,
            mode=self._program.mode,
            python=python,
            limits=limits,
            traced=traced,
            isolation=self._isolation,
            flags=flags,
        )
        if not python:
            return run
        return self._scrutiny.judge(
            run,
            seen,
            stdin,
            traced=traced,
            ask=lambda content, stand_in: self._see(content, limits, stand_in=stand_in)[0],
        )

    def _see(
        self, stdin: bytes, limits: Limits, *, traced: bool = False, stand_in: str | None = None
    ) -> tuple[outcome.Sight, tuple[str, ...]]:
        """One run as the supervisor saw it, and flags of its conditions."""
        try:
            header, blobs = self._ask(stdin, limits, traced=traced, stand_in=stand_in)
            return outcome.sight(header, blobs), tuple(header["flags"])
        except (OSError, ValueError, KeyError, TypeError, channel.ChannelClosedError) as error:
            self._drop()
            reason = str(error) or "it ended without a word"
            raise MeasureError(f"the sandbox's supervisor failed: {reason}") from error
        except BaseException:
            # Interrupted between question and answer: the conversation cannot be taken up again.
            self._drop()
            raise

    def _ask(
        self, stdin: bytes, limits: Limits, *, traced: bool, stand_in: str | None
    ) -> tuple[Mapping[str, Any], tuple[bytes, ...]]:
        supervisor = self._ready(limits)
        # A run whose time does not count waits for nobody and takes no core from one whose time does.
        timed = not traced and not self._program.collect
        place = cores.reserved() if timed else contextlib.nullcontext(cores.Core(None))
        with place as core, _sealed(stdin) as fd:
            message = supervisor.ask(
                _order(limits, core.number, traced=traced, stand_in=stand_in), fd, limits
            )
        if "error" in message.header:
            raise OSError(message.header["error"])
        message.header["flags"] = core.flags
        return message.header, message.blobs

    def _ready(self, limits: Limits) -> "_Supervisor":
        """The supervisor; another one where the scratch file system must have another size."""
        current = self._supervisor
        if current is not None and current.scratch_bytes != limits.scratch_bytes:
            self._drop()
            current = None
        if current is None:
            current = self._supervisor = _start(self._program, self._isolation, limits.scratch_bytes)
        return current

    def _drop(self) -> None:
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor = None

    def close(self) -> None:
        self._closed = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _order(limits: Limits, core: int | None, *, traced: bool, stand_in: str | None) -> dict[str, Any]:
    return {
        "core": core,
        "traced": traced,
        "stand_in": stand_in,
        "cpu_ns": limits.cpu_ns,
        "wall_ns": limits.wall_ns,
        "memory_bytes": limits.memory_bytes,
        "output_bytes": limits.output_bytes,
        "stderr_bytes": limits.stderr_bytes,
        "processes": limits.processes,
        "scratch_bytes": limits.scratch_bytes,
    }


@contextlib.contextmanager
def _sealed(content: bytes) -> Any:  # noqa: ANN401  (a generator of one descriptor)
    """A descriptor of bytes that nobody can change any more, at its start."""
    fd = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
        seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
        yield fd
    finally:
        os.close(fd)


def _start(program: Program, isolation: Isolation, scratch_bytes: int) -> "_Supervisor":
    """A supervisor by the first engine that works.

    Raises:
        IsolationError: none does; the reason is the first one's.
    """
    reason: IsolationError | None = None
    for engine in engines.candidates(isolation):
        try:
            started = _Supervisor(program, isolation, scratch_bytes, engine)
        except IsolationError as error:
            reason = reason or error
        else:
            engines.remember(isolation, engine)
            return started
    raise reason or NotStartedError(isolation.value, "nothing on this machine brings it about")


class _Supervisor:
    """The process inside, from the outside."""

    def __init__(self, program: Program, isolation: Isolation, scratch_bytes: int, engine: str) -> None:
        self.scratch_bytes = scratch_bytes
        self._root = tempfile.mkdtemp(prefix="best-agent-")
        self._process: subprocess.Popen[bytes] | None = None
        self._harness, theirs = socket.socketpair()
        try:
            config = self._config(program, isolation, engine)
            boot = _BOOT.format(root=str(Path(best_agent.__file__).parent.parent), descriptor=theirs.fileno())
            self._process = subprocess.Popen(
                engines.command(config, [layout.interpreter(), "-s", "-S", "-P", "-c", boot]),
                env={"PATH": _PATH, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            self._start(config, program)
        except BaseException:
            theirs.close()
            self.close()
            raise

    def _config(self, program: Program, isolation: Isolation, engine: str) -> dict[str, Any]:
        readable = layout.readable(program)
        strict = isolation is Isolation.STRICT
        uid = layout.target_uid() if isolation is not Isolation.NONE else None
        box = namespaces.SCRATCH
        if not strict:
            box = os.path.join(self._root, "box")
            os.mkdir(box, 0o700)
            os.chmod(self._root, 0o711)  # noqa: S103  (the target's user has to pass through)
        env = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": box, "TMPDIR": box, **program.env}
        return {
            "isolation": isolation.value,
            "engine": engine,
            "root": self._root,
            "box": box,
            "readable": list(readable),
            "scratch_bytes": self.scratch_bytes,
            "target_uid": uid,
            "keep_read": uid is not None and not strict and layout.needs_privilege_to_read(readable),
            "source": program.python_source,
            "entry": program.entry,
            "argv": list(program.argv),
            "env": env,
            "handshakes": program.handshakes,
            "address_space": program.address_space,
            "files": list(program.files),
            "collect": list(program.collect),
        }

    def _start(self, config: dict[str, Any], program: Program) -> None:
        self._harness.settimeout(_START_S)
        try:
            channel.send(self._harness, config, list(program.files.values()))
            reply = channel.receive(self._harness, blob_bytes=0)
        except channel.ChannelClosedError:
            raise NotStartedError(config["isolation"], "its supervisor ended before it was ready") from None
        if "error" in reply.header:
            raise NotStartedError(config["isolation"], reply.header["error"])
        if config["engine"] != engines.PLAIN:
            # Only a place to build the file tree on, which has become a root of its own.
            with contextlib.suppress(OSError):
                os.rmdir(self._root)

    def ask(self, order: Mapping[str, Any], stdin: int, limits: Limits) -> channel.Message:
        """Have one run made; the supervisor's words."""
        self._harness.settimeout(limits.wall_ns / _NS_PER_S + _GRACE_S)
        channel.send(self._harness, order, fds=[stdin])
        most = 2 * limits.output_bytes + limits.stderr_bytes + limits.scratch_bytes
        return channel.receive(self._harness, blob_bytes=most)

    def close(self) -> None:
        """End the supervisor and with it whatever it started. Can be called twice."""
        self._harness.close()
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(_CLOSE_S)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self._root, ignore_errors=True)
