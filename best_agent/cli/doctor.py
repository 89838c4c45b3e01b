"""`best-agent doctor`: what this machine offers, and what each missing part costs."""

import argparse
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum

from best_agent.cli.common import add_output_flags, emit
from best_agent.cli.main import EXIT_CLEAN

_DESCRIPTION = """\
Try out what this machine offers: how programs can be confined (by attacking it), how far time and memory can
be trusted (by measuring something known), which tools are there, and what each missing part costs you.

examples:
  best-agent doctor
  best-agent doctor --format json --output doctor.json
"""
_QUESTION_S = 10.0


class State(StrEnum):
    """How much of a feature there is."""

    READY = "ready"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One feature of this machine."""

    name: str
    state: State
    finding: str
    """What was found."""
    cost: str = ""
    """What the user goes without, and what to do about it; empty where nothing is missing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `doctor`."""
    parser.description = _DESCRIPTION
    add_output_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Try everything and show it."""
    from best_agent.report.envelope import envelope

    rows = examine()
    document = envelope(
        "doctor",
        results=[asdict(row) for row in rows],
        summary={state.value: sum(row.state is state for row in rows) for state in State},
        isolation=_best_isolation(),
        meters=_meters(),
    )
    emit(args, document, lambda colour: _text(rows, colour))
    return EXIT_CLEAN


def _text(rows: tuple[Row, ...], colour: bool) -> str:
    from best_agent.report.console.doctor import render_doctor  # rich is loaded for text only

    table = tuple((row.name, row.state.value, row.finding, row.cost) for row in rows)
    return render_doctor(table, system=f"{platform.system()} {platform.release()}", colour=colour)


def examine() -> tuple[Row, ...]:
    """Every feature, tried now."""
    checks = (
        _strict,
        _restricted,
        _time,
        _memory,
        _cores,
        _python,
        _compiler,
        _git,
        _bubblewrap,
        _models,
    )
    return tuple(check() for check in checks)


def _best_isolation() -> str | None:
    from best_agent.sandbox import probe

    return next((found.isolation.value for found in probe.report() if found.works), None)


def _meters() -> dict[str, str]:
    from best_agent.sandbox import probe

    best = next((found for found in probe.report() if found.works), None)
    return {
        "time": "exact" if best is not None and best.time_works else "unavailable",
        "memory": "exact" if best is not None and best.memory_works else "unavailable",
    }


def _strict() -> Row:
    from best_agent.model.run import Isolation
    from best_agent.sandbox import probe

    found = probe.probe(Isolation.STRICT)
    if found.works:
        said = f"a file tree, processes and network of its own ({found.engine}); tried by attacking it"
        return Row(name="isolation: strict", state=State.READY, finding=said)
    return Row(
        name="isolation: strict",
        state=State.MISSING,
        finding=found.reason,
        cost="programs run 'restricted': fenced off by rules, but on the host's own file tree and among its "
        "processes; allow user namespaces, or install bubblewrap",
    )


def _restricted() -> Row:
    from best_agent.model.run import Isolation
    from best_agent.sandbox import probe

    found = probe.probe(Isolation.RESTRICTED)
    if found.works:
        return Row(
            name="isolation: restricted",
            state=State.READY,
            finding="files, network and processes fenced off by Landlock and seccomp; tried by attacking it",
        )
    return Row(
        name="isolation: restricted",
        state=State.MISSING,
        finding=found.reason,
        cost="where strict is missing too, code by models and of benchmarks runs only with "
        "--isolation none, that is with your permissions",
    )


def _time() -> Row:
    works = _meters()["time"] == "exact"
    return Row(
        name="time",
        state=State.READY if works else State.LIMITED,
        finding="CPU time, read from outside the program in nanoseconds"
        if works
        else "CPU time of your own code only, read inside its process",
        cost="" if works else "run, eval and refine --task need a working isolation",
    )


def _memory() -> Row:
    works = _meters()["memory"] == "exact"
    return Row(
        name="memory",
        state=State.READY if works else State.LIMITED,
        finding="peak of the measured call: Python by its allocator, C++ by page faults counted outside"
        if works
        else "Python's own allocator only, read inside its process",
        cost="" if works else "run, eval and refine --task need a working isolation",
    )


def _cores() -> Row:
    from best_agent.sandbox import cores

    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    locked = cores.can_lock()
    said = f"{count} to measure on" if count > 1 else "one, shared with the tool itself"
    if not locked:
        return Row(
            name="cores",
            state=State.LIMITED,
            finding=f"{said}; they cannot be reserved",
            cost="two measurements at once disturb each other; make /run/lock or /tmp writable",
        )
    cost = "" if count > 1 else "more pairs of runs are needed for the same interval"
    return Row(name="cores", state=State.READY if count > 1 else State.LIMITED, finding=f"{said}", cost=cost)


def _python() -> Row:
    return Row(
        name="Python",
        state=State.READY,
        finding=f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}",
    )


def _compiler() -> Row:
    from best_agent import languages
    from best_agent.errors import UsageError

    try:
        missing = languages.get("cpp").missing_tool()
    except UsageError as error:
        missing = str(error)
    if missing is None:
        from best_agent.languages.cpp_toolchain import find_compiler

        compiler = find_compiler()
        version = compiler.version.partition("\n")[0] if compiler else "found"
        return Row(name="C++ compiler", state=State.READY, finding=version)
    return Row(
        name="C++ compiler",
        state=State.MISSING,
        finding=missing,
        cost="no C++ programs; Python works without",
    )


def _git() -> Row:
    version = _answer("git", "--version")
    if version is not None:
        return Row(name="git", state=State.READY, finding=version)
    return Row(
        name="git",
        state=State.MISSING,
        finding="not on PATH",
        cost="compare needs two files: FILE::NAME@REV and the state of HEAD cannot be read; install git",
    )


def _bubblewrap() -> Row:
    from best_agent.model.run import Isolation
    from best_agent.sandbox import probe

    version = _answer("bwrap", "--version")
    strict = probe.probe(Isolation.STRICT)
    if version is not None:
        if not strict.works:
            said = f"{version}, but it cannot make namespaces here either"
            return Row(name="bubblewrap", state=State.LIMITED, finding=said)
        use = "in use for strict isolation" if strict.engine == "bubblewrap" else "not needed here"
        return Row(name="bubblewrap", state=State.READY, finding=f"{version}, {use}")
    cost = "" if strict.works else "it can bring strict isolation where user namespaces are blocked"
    said = "not installed; not needed here" if strict.works else "not installed"
    return Row(name="bubblewrap", state=State.MISSING, finding=said, cost=cost)


def _models() -> Row:
    if importlib.util.find_spec("litellm") is not None:
        return Row(name="language models", state=State.READY, finding="litellm is installed")
    return Row(
        name="language models",
        state=State.MISSING,
        finding="litellm is not installed",
        cost="refine works with rules, --command and --candidates, not with --model; "
        "install it with: pip install 'best-agent[llm]'",
    )


def _answer(*command: str) -> str | None:
    """The first line a tool answers, or None where there is no such tool."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(command, capture_output=True, timeout=_QUESTION_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip().partition("\n")[0] or None
