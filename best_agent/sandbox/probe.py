"""What this machine can do, found out by doing it: each isolation is attacked before it is relied on."""

import functools
import json
import marshal
import os
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from best_agent.errors import IsolationError, MeasureError
from best_agent.model.run import Isolation, Limits, Run, Status
from best_agent.model.task import Mode
from best_agent.sandbox import engines
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import NotStartedError, open_session

_ORDER: Final = (Isolation.STRICT, Isolation.RESTRICTED)
_SECOND: Final = 1_000_000_000
_LIMITS: Final = Limits(cpu_ns=2 * _SECOND, wall_ns=10 * _SECOND)
_PEAK_BYTES: Final = 1 << 20
_ATTACKS: Final = """
def solve(secret, marker, victim):
    import os, socket
    def read():
        open(secret).read()
    def write():
        open(marker, "w").close()
    def fork():
        if os.fork() == 0:
            os._exit(0)
    def connect():
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    def signal():
        os.kill(victim, 0)
    def execute():
        os.execv("/bin/true", ["true"])
    def environment():
        open(f"/proc/{os.getppid()}/environ").read()
    succeeded = []
    for attack in (read, write, fork, connect, signal, environment, execute):
        try:
            attack()
        except OSError:
            continue
        succeeded.append(attack.__name__)
    kept = bytearray(1 << 20)
    return succeeded
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What came of trying one isolation."""

    isolation: Isolation
    works: bool
    reason: str
    """Why it does not work; empty where it does."""
    engine: str | None = None
    """What brings it about."""
    time_works: bool = False
    """The target's CPU clock could be read from outside."""
    memory_works: bool = False
    """Faults from outside and the traced peak agree with an allocation of known size."""


def choose(requested: str) -> Isolation:
    """The isolation to use: `auto` is the best that works here, never `none`.

    Raises:
        IsolationError: what was asked for cannot be had on this machine.
    """
    if requested == Isolation.NONE.value:
        return Isolation.NONE
    if requested == "auto":
        for isolation in _ORDER:
            if probe(isolation).works:
                return isolation
        raise IsolationError(
            f"this machine cannot confine foreign code: {probe(_ORDER[-1]).reason}. "
            "Use --isolation none to run it with your own permissions. Nothing was run"
        )
    wanted = Isolation(requested)
    found = probe(wanted)
    if not found.works:
        raise IsolationError(
            f"--isolation {wanted.value} cannot be had on this machine: {found.reason}. Nothing was run"
        )
    return wanted


def report() -> tuple[Probe, ...]:
    """Every isolation, tried."""
    return tuple(probe(isolation) for isolation in _ORDER)


@functools.cache
def probe(isolation: Isolation) -> Probe:
    """Try an isolation by real attacks; the result is kept for the life of this process."""
    if platform.system() != "Linux":
        return Probe(isolation=isolation, works=False, reason="it needs Linux")
    try:
        timed, traced = _attack(isolation)
    except NotStartedError as error:
        return Probe(isolation=isolation, works=False, reason=error.reason)
    except (MeasureError, OSError) as error:
        return Probe(isolation=isolation, works=False, reason=str(error))
    return _judge(isolation, timed, traced)


def _attack(isolation: Isolation) -> tuple[Run, Run]:
    program = Program(
        language="python", mode=Mode.FUNCTION, python_source=_ATTACKS, handshakes=2, memory_pass=True
    )
    with tempfile.TemporaryDirectory(prefix="best-agent-probe-") as folder:
        secret, marker = Path(folder, "secret"), Path(folder, "marker")
        secret.write_text("secret", encoding="ascii")
        if secret.stat().st_mode & 0o044 != 0o044:
            secret.chmod(0o644)
        # Open to everybody, so that only the isolation can be what keeps the program out.
        os.chmod(folder, 0o777)  # noqa: S103  (open to all on purpose)
        arguments = marshal.dumps((str(secret), str(marker), os.getpid()), 4)
        with open_session(program, isolation) as session:
            return session.run(arguments, _LIMITS), session.run(arguments, _LIMITS, traced=True)


def _judge(isolation: Isolation, timed: Run, traced: Run) -> Probe:
    if timed.status is not Status.OK or timed.answer is None:
        return Probe(isolation=isolation, works=False, reason=f"a trial run failed: {timed.detail}")
    succeeded = json.loads(timed.answer)
    if succeeded:
        reason = f"a trial program got through: {', '.join(map(str, succeeded))}"
        return Probe(isolation=isolation, works=False, reason=reason)
    peak = traced.peak_bytes or 0
    return Probe(
        isolation=isolation,
        works=True,
        reason="",
        engine=engines.in_use(isolation),
        time_works=timed.cpu_ns is not None and timed.load is not None and timed.load.cpu_ns > 0,
        memory_works=_PEAK_BYTES <= peak < 2 * _PEAK_BYTES and (timed.faults_bytes or 0) > _PEAK_BYTES // 2,
    )
