"""Go: plain programs of one file and the standard library; modules are not fetched."""

from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages import build_steps, tool_search
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation
from best_agent.model.task import Signature
from best_agent.sandbox.contract import Program

NAME = "go"
SUFFIXES: tuple[str, ...] = (".go",)
MISSING = "Go needs its toolchain: install it (go.dev/dl; Debian, Ubuntu: apt install golang-go)"
_SOURCE, _PROGRAM = "program.go", "program"
_OFFLINE = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GO111MODULE": "auto"}
# With a core for each of many, compilers would run into the bound on processes.
_BUILD_THREADS = "4"
# Relative folders are refused, so a shell names them. No -trimpath: the standard library that is installed
# with Go up to 1.19 could not be used then, and took 8 s of CPU to build anew.
_SCRIPT = 'export GOCACHE="$PWD/cache" GOPATH="$PWD/path" GOTMPDIR="$PWD"; exec "$1" build -o "$2" "$3"'


def missing_tool() -> str | None:
    """One line saying what to install, or None where it was found."""
    return MISSING if _toolchain() is None else None


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """A compiled program from the cache, compiled inside the sandbox where it is new.

    Raises:
        UsageError: there is no toolchain, or not a plain program is asked for.
        MeasureError: the sandbox failed.
    """
    build_steps.require_program(request, "Go")
    tool = _toolchain()
    if tool is None:
        raise UsageError(MISSING)
    step = build_steps.Step(
        language=NAME,
        tool=tool,
        argv=("/bin/sh", "-c", _SCRIPT, "sh", *tool.command, _PROGRAM, _SOURCE),
        files={_SOURCE: request.source.text},
        product=_PROGRAM,
        executable=True,
        env={**_OFFLINE, "CGO_ENABLED": "0", "GOMAXPROCS": _BUILD_THREADS},
        address_space=False,
        begins=r"^[^#]",
    )
    built = build_steps.make(step, isolation)
    if isinstance(built, BuildFailure):
        return built
    return Program(
        language=NAME,
        mode=request.mode,
        argv=(str(built),),
        readable=(built,),
        # A wish, not a bound: the collector works harder before the limit is reached.
        env={"GOMEMLIMIT": str(build_steps.heap_bytes(request))},
        address_space=False,
    )


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:  # noqa: ARG001  (the contract's)
    """Nothing: there is no function mode.

    Raises:
        UsageError: always.
    """
    raise UsageError(build_steps.NO_FUNCTIONS.format(language="Go"))


@lru_cache(maxsize=1)
def _toolchain() -> Tool | None:
    found = tool_search.which("go")
    told = tool_search.answer((*found, "env", "GOROOT", "GOVERSION"), **_OFFLINE) if found else None
    root, _, version = (told or "").strip().partition("\n")
    program = Path(root) / "bin" / "go"
    if not root or not program.is_file():
        return None
    return Tool(command=(str(program),), version=version, readable=tool_search.outside_system((Path(root),)))
