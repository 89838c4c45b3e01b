"""Java: plain programs of one file and the JDK's own libraries."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages import build_steps, tool_search
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.java_names import names_in
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation
from best_agent.model.task import Signature
from best_agent.sandbox.contract import Program

NAME = "java"
SUFFIXES: tuple[str, ...] = (".java",)
MISSING = (
    "Java needs a JDK (javac, java and jar): install one (Debian, Ubuntu: apt install default-jdk-headless; "
    "Fedora: dnf install java-latest-openjdk-devel), or name its folder in JAVA_HOME"
)
_PRODUCT = "program.jar"
_TOOLS = ("javac", "jar", "java")
# One collector whatever the number of cores, and no file that other programs could look at.
_STEADY = ("-XX:+UseSerialGC", "-XX:-UsePerfData")
_SHORT_LIVED = tuple(f"-J{option}" for option in (*_STEADY, "-XX:TieredStopAtLevel=1", "-Xmx1g"))
_SCRIPT = (
    'bin=$1 file=$2; shift 2; "$bin/javac" "$@" -d classes -encoding UTF-8 -proc:none -nowarn "$file" && '
    f'exec "$bin/jar" "$@" --create --file {_PRODUCT} -C classes .'
)


def missing_tool() -> str | None:
    """One line saying what to install, or None where it was found."""
    return MISSING if _jdk(os.environ.get("JAVA_HOME", "").strip()) is None else None


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """A compiled program from the cache, compiled inside the sandbox where it is new.

    Raises:
        UsageError: there is no JDK, or not a plain program is asked for.
        MeasureError: the sandbox failed.
    """
    build_steps.require_program(request, "Java")
    tool = _jdk(os.environ.get("JAVA_HOME", "").strip())
    if tool is None:
        raise UsageError(MISSING)
    if len(request.source.text) > build_steps.SOURCE_CHARACTERS:
        return BuildFailure(message=build_steps.TOO_LARGE)
    names = names_in(request.source.text)
    step = build_steps.Step(
        language=NAME,
        tool=tool,
        argv=("/bin/sh", "-c", _SCRIPT, "sh", str(Path(tool.command[0]).parent), names.file, *_SHORT_LIVED),
        files={names.file: request.source.text},
        product=_PRODUCT,
        executable=False,
        address_space=False,
        begins=r"\berror:",
    )
    built = build_steps.make(step, isolation)
    if isinstance(built, BuildFailure):
        return built
    heap = f"-Xmx{build_steps.heap_bytes(request)}"
    return Program(
        language=NAME,
        mode=request.mode,
        argv=(*tool.command, *_STEADY, heap, "-cp", str(built), names.main),
        readable=(*tool.readable, built),
        address_space=False,
    )


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:  # noqa: ARG001  (the contract's)
    """Nothing: there is no function mode.

    Raises:
        UsageError: always.
    """
    raise UsageError(build_steps.NO_FUNCTIONS.format(language="Java"))


@lru_cache(maxsize=8)
def _jdk(named: str) -> Tool | None:
    found = tool_search.which("javac")
    home = Path(named) if named else Path(found[0]).resolve().parent.parent if found else None
    if home is None or not all((home / "bin" / tool).is_file() for tool in _TOOLS):
        return None
    home = home.resolve()
    try:
        version = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        version = tool_search.answer((str(home / "bin" / "javac"), "--version")) or ""
    readable = tool_search.outside_system((home, *_linked(home)))
    return Tool(command=(str(home / "bin" / "java"),), version=version, readable=readable)


def _linked(home: Path) -> Iterator[Path]:
    """Distributions keep a JDK's settings elsewhere and link to them."""
    for folder in (home / "conf", home / "lib"):
        for path in folder.rglob("*"):
            if path.is_symlink() and path.exists():
                yield path.resolve()
