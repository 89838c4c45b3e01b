"""Rust: plain programs of one file, compiled by rustc alone: crates are not fetched."""

import shutil
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages import build_steps, tool_search
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation
from best_agent.model.task import Signature
from best_agent.sandbox.contract import Program

NAME = "rust"
SUFFIXES: tuple[str, ...] = (".rs",)
MISSING = "Rust needs rustc: install it with rustup (rustup.rs; Debian, Ubuntu: apt install rustc)"
_NO_LINKER = "Rust needs a linker, cc: install gcc (Debian, Ubuntu: apt install gcc libc6-dev)"
_SOURCE, _PROGRAM = "program.rs", "program"
_FLAGS = ("--edition=2021", "--crate-name=program", "--cap-lints=allow", "--color=never", "-O")


def missing_tool() -> str | None:
    """One line saying what to install, or None where compiler and linker were found."""
    if _compiler() is None:
        return MISSING
    return None if shutil.which("cc") else _NO_LINKER


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """A compiled program from the cache, compiled inside the sandbox where it is new.

    Raises:
        UsageError: there is no compiler, or not a plain program is asked for.
        MeasureError: the sandbox failed.
    """
    build_steps.require_program(request, "Rust")
    missing, tool = missing_tool(), _compiler()
    if tool is None or missing is not None:
        raise UsageError(missing or MISSING)
    step = build_steps.Step(
        language=NAME,
        tool=tool,
        argv=(*tool.command, *_FLAGS, _SOURCE, "-o", _PROGRAM),
        files={_SOURCE: request.source.text},
        product=_PROGRAM,
        executable=True,
        address_space=False,
        begins=r"^error\b",
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
    raise UsageError(build_steps.NO_FUNCTIONS.format(language="Rust"))


@lru_cache(maxsize=1)
def _compiler() -> Tool | None:
    found = tool_search.which("rustc")
    # What lies in PATH may be rustup's stand-in, which needs a home folder to find the compiler by.
    sysroot = tool_search.answer((*found, "--print", "sysroot")) if found else None
    if sysroot is None:
        return None
    root = Path(sysroot.strip())
    program = root / "bin" / "rustc"
    version = tool_search.answer((str(program), "--version", "--verbose"))
    if version is None:
        return None
    readable = tool_search.outside_system((root / "bin", root / "lib"))
    return Tool(command=(str(program),), version=version, readable=readable)
