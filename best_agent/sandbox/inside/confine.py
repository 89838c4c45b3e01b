"""What a target does to itself, in order, between its birth and the first byte of foreign code."""

import os
import resource
import signal
from typing import Final, NamedTuple

from best_agent.sandbox.inside import kernel, landlock, seccomp

_STACK_BYTES: Final = 64 << 20
_OPEN_FILES: Final = 256
_OPEN_FILES_ALONE: Final = 32
"""For a function: what pipes and sockets hold is memory that no meter sees."""
_CORE_BYTES: Final = 1
"""Not 0: exactly 1 keeps the kernel from starting a crash reporter as well."""
_SECOND_NS: Final = 1_000_000_000


class Confinement(NamedTuple):
    """What holds for every target of a session."""

    ruleset: int | None
    """Landlock rules; None: no Landlock and no system call filter either (isolation none)."""
    target_uid: int | None
    """User to become first, where the supervisor itself is still root."""
    keep_read: bool
    """Keep the right to read and traverse what root owns, under Landlock: the interpreter may lie in a
    folder that only root can enter."""
    own_signals_only: bool
    """The kernel cannot scope signals by Landlock: filter them by process id."""
    shared_files: bool
    """Targets work in the host's own file tree."""


class Bounds(NamedTuple):
    """What holds for one target."""

    core: int | None
    cpu_ns: int
    address_bytes: int
    """Address space in all."""
    file_bytes: int
    processes: int | None
    one_process: bool
    may_exec: bool


def confine(confinement: Confinement, bounds: Bounds) -> None:
    """Give up everything that the target shall not have. Called in the target's own process.

    Raises:
        OSError: a step failed; the target must not go on.
    """
    if bounds.core is not None:
        os.sched_setaffinity(0, {bounds.core})
    _limit(bounds)
    kernel.prctl(kernel.PR_SET_THP_DISABLE, 1)
    if confinement.target_uid is not None:
        kept = (kernel.CAP_DAC_READ_SEARCH,) if confinement.keep_read else ()
        kernel.become(confinement.target_uid, *kept)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, int(signal.SIGKILL))
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if confinement.ruleset is None:
        return
    landlock.restrict(confinement.ruleset)
    own = os.getpid()
    seccomp.install(
        seccomp.program(
            one_process=bounds.one_process,
            may_exec=bounds.may_exec,
            signals_to=own if bounds.one_process or confinement.own_signals_only else None,
            shared_files=confinement.shared_files,
            own_pid=own,
        )
    )


def _limit(bounds: Bounds) -> None:
    whole_seconds = -(-bounds.cpu_ns // _SECOND_NS) + 1
    wanted = [
        (resource.RLIMIT_CORE, _CORE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES_ALONE if bounds.one_process else _OPEN_FILES),
        (resource.RLIMIT_STACK, _STACK_BYTES),
        (resource.RLIMIT_FSIZE, bounds.file_bytes),
        (resource.RLIMIT_CPU, whole_seconds),
        (resource.RLIMIT_AS, bounds.address_bytes),
    ]
    if bounds.processes is not None:
        wanted.append((resource.RLIMIT_NPROC, bounds.processes))
    for kind, value in wanted:
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def default_signals() -> None:
    """Undo what a Python parent hands down: programs expect to die of a closed pipe."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
