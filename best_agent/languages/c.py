"""C: plain programs."""

import os
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages import build_steps, tool_search
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation
from best_agent.model.task import Signature
from best_agent.sandbox.contract import Program

NAME = "c"
SUFFIXES: tuple[str, ...] = (".c",)
MISSING = (
    "C needs a compiler: install gcc or clang (Debian, Ubuntu: apt install gcc libc6-dev; "
    "Fedora: dnf install gcc; Arch: pacman -S gcc), or name one in CC"
)
_SOURCE, _PROGRAM = "program.c", "program"
# -w: warnings are the author's business; what is wanted of the compiler is the first error.
_FLAGS = ("-std=gnu17", "-w", "-fno-diagnostics-color")
_LIBRARIES = ("-lm", "-pthread")


def missing_tool() -> str | None:
    """One line saying which compiler to install, or None where one was found."""
    return MISSING if _compiler(os.environ.get("CC", "").strip()) is None else None


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """A compiled program from the cache, compiled inside the sandbox where it is new.

    Raises:
        UsageError: there is no compiler, or not a plain program is asked for.
        MeasureError: the sandbox failed.
    """
    build_steps.require_program(request, "C")
    tool = _compiler(os.environ.get("CC", "").strip())
    if tool is None:
        raise UsageError(MISSING)
    step = build_steps.Step(
        language=NAME,
        tool=tool,
        argv=(*tool.command, *_FLAGS, request.optimisation, _SOURCE, "-o", _PROGRAM, *_LIBRARIES),
        files={_SOURCE: request.source.text},
        product=_PROGRAM,
        executable=True,
        begins=r"\berror:|undefined reference|multiple definition",
    )
    built = build_steps.make(step, isolation)
    if isinstance(built, BuildFailure):
        return built
    return Program(language=NAME, mode=request.mode, argv=(str(built),), readable=(built,))


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:  # noqa: ARG001  (the contract's)
    """Nothing: there is no function mode.

    Raises:
        UsageError: always.
    """
    raise UsageError(build_steps.NO_FUNCTIONS.format(language="C"))


@lru_cache(maxsize=8)
def _compiler(named: str) -> Tool | None:
    for command in [named] if named else ["gcc", "clang", "cc"]:
        found = tool_search.which(command)
        version = tool_search.answer((*found, "--version")) if found else None
        if found and version:
            readable = tool_search.outside_system(tool_search.installation(Path(found[0])))
            return Tool(command=found, version=version, readable=readable)
    return None
