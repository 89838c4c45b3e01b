"""Starting a target that is a program of its own: descriptors in their places, confinement, exec."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Final

from best_agent.sandbox.inside import confine, kernel

_OUT_OF_THE_WAY: Final = 64


def take_places(fds: Sequence[int], ruleset: int | None) -> tuple[int, int | None]:
    """Put descriptors at 0, 1, 2 ... in order, without treading on one another, and close all others.

    The last one reports trouble before foreign code runs; it and the Landlock rules are closed by exec.

    Returns:
        Where the one for trouble and the rules are now.
    """
    wanted = list(fds) if ruleset is None else [*fds, ruleset]
    lifted = [os.dup2(fd, _OUT_OF_THE_WAY + place, inheritable=False) for place, fd in enumerate(wanted)]
    trouble = len(fds) - 1
    for place, fd in enumerate(lifted):
        os.dup2(fd, place, inheritable=place < trouble)
    kernel.close_all_above(len(wanted) - 1)
    return trouble, None if ruleset is None else trouble + 1


def start(
    argv: Sequence[str],
    env: Mapping[str, str],
    fds: Sequence[int],
    confinement: confine.Confinement,
    bounds: confine.Bounds,
    *,
    traced: bool,
) -> int:
    """Fork and execute; the process id of the target, a direct child, traced where that is allowed.

    Trouble before or at exec is written to the last of `fds` as `confine: ...` or `exec: ...`.
    """
    pid = os.fork()
    if pid:
        return pid
    trouble, stage = fds[-1], "confine"
    try:
        trouble, ruleset = take_places(fds, confinement.ruleset)
        confine.default_signals()
        if traced:
            with contextlib.suppress(OSError):  # then the peak of the tree is not known, nothing worse
                kernel.ptrace(kernel.PTRACE_TRACEME, 0, 0)
        confine.confine(confinement._replace(ruleset=ruleset), bounds)
        stage = "exec"
        os.execvpe(argv[0], list(argv), dict(env))  # noqa: S606  (no shell, on purpose)
    except OSError as error:
        os.write(trouble, f"{stage}: {error.strerror or error}".encode())
    finally:
        os._exit(127)
