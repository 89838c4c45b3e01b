"""What brings an isolation about, and the command that starts a supervisor under it."""

import os
import shutil
from collections.abc import Sequence
from typing import Any, Final

import best_agent
from best_agent.model.run import Isolation
from best_agent.sandbox.inside import namespaces

NAMESPACES: Final = "namespaces"
"""The supervisor makes its own namespaces."""
BUBBLEWRAP: Final = "bubblewrap"
"""bubblewrap makes them, on systems that let it but not us."""
PLAIN: Final = "plain"
"""No namespaces: rules alone, or nothing."""

_found: dict[Isolation, str] = {}


def candidates(isolation: Isolation) -> tuple[str, ...]:
    """The engines to try, best first; the one that worked before alone."""
    if isolation is not Isolation.STRICT:
        return (PLAIN,)
    if isolation in _found:
        return (_found[isolation],)
    # For root bubblewrap makes the same calls as we do, and would fail of the same.
    helped = os.geteuid() != 0 and shutil.which("bwrap") is not None
    return (NAMESPACES, BUBBLEWRAP) if helped else (NAMESPACES,)


def remember(isolation: Isolation, engine: str) -> None:
    """An engine has started a supervisor: use it from now on."""
    _found[isolation] = engine


def in_use(isolation: Isolation) -> str | None:
    """The engine that worked, or None where none was tried."""
    return _found.get(isolation)


def command(config: dict[str, Any], supervisor: Sequence[str]) -> list[str]:
    """The command line that starts a supervisor."""
    return [*_bubblewrap(config), *supervisor] if config["engine"] == BUBBLEWRAP else list(supervisor)


def _own_code() -> tuple[str, ...]:
    """The supervisor's code, which it loads after the walls are up; Landlock keeps targets from it."""
    package = os.path.dirname(os.path.abspath(best_agent.__file__))
    sandbox = os.path.join(package, "sandbox")
    return (
        os.path.join(package, "__init__.py"),
        os.path.join(sandbox, "__init__.py"),
        os.path.join(sandbox, "inside"),
    )


def _bubblewrap(config: dict[str, Any]) -> list[str]:
    """bubblewrap, brought to what `namespaces.enter` does.

    As the first process the supervisor reaps and kills what is left; bubblewrap's own would carry our
    environment in /proc/1. /proc is read-only, since a writable clear_refs resets a peak.
    """
    tree: list[str] = []
    for item in namespaces.shown((*config["readable"], *_own_code())):
        if item.link is None:
            tree += ["--ro-bind", item.path, item.path]
        else:
            tree += ["--symlink", item.link, item.path]
    return [
        shutil.which("bwrap") or "bwrap",
        *("--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--hostname", "sandbox", *tree, "--dev", "/dev", "--remount-ro", "/dev"),
        *("--proc", "/proc", "--remount-ro", "/proc", "--symlink", namespaces.SCRATCH, "/tmp"),  # noqa: S108  (a link inside, to the scratch)
        *("--perms", "0700", "--size", str(config["scratch_bytes"]), "--tmpfs", namespaces.SCRATCH),
        *("--remount-ro", "/", "--chdir", "/", "--"),
    ]
