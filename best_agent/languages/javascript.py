"""JavaScript: plain programs run by node, of one file and node's own modules."""

import re
from functools import lru_cache
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages import build_steps, tool_search
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation
from best_agent.model.task import Signature
from best_agent.sandbox.contract import Program

NAME = "javascript"
SUFFIXES: tuple[str, ...] = (".js", ".mjs", ".cjs")
MISSING = "JavaScript needs node: install it (nodejs.org; Debian, Ubuntu: apt install nodejs)"
_WHERE = "console.log(process.execPath + '\\n' + process.version + ' ' + process.versions.v8)"
# Its cryptography would read the system's settings, which it is not shown.
_ENV = {"OPENSSL_CONF": "/dev/null"}
_PLACE = re.compile(r"program\.[mc]?js:(\d+)$", re.MULTILINE)
_ERROR = re.compile(r"^SyntaxError: .*$", re.MULTILINE)


def missing_tool() -> str | None:
    """One line saying what to install, or None where it was found."""
    return MISSING if _node() is None else None


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """The program as it stands, once node has found its syntax to be right.

    Raises:
        UsageError: there is no node, or not a plain program is asked for.
        MeasureError: the sandbox failed.
    """
    build_steps.require_program(request, "JavaScript")
    tool = _node()
    if tool is None:
        raise UsageError(MISSING)
    name = _file_name(request)
    step = build_steps.Step(
        language=NAME,
        tool=tool,
        argv=(*tool.command, "--check", name),
        files={name: request.source.text},
        product=name,
        executable=False,
        env=_ENV,
        address_space=False,
    )
    checked = build_steps.make(step, isolation)
    if isinstance(checked, BuildFailure):
        return BuildFailure(message=_in_one_line(checked.message))
    return Program(
        language=NAME,
        mode=request.mode,
        argv=(*tool.command, f"--max-old-space-size={build_steps.heap_bytes(request) >> 20}", name),
        readable=tool.readable,
        env=_ENV,
        files={name: request.source.text.encode("utf-8", "surrogatepass")},
        address_space=False,
    )


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:  # noqa: ARG001  (the contract's)
    """Nothing: there is no function mode.

    Raises:
        UsageError: always.
    """
    raise UsageError(build_steps.NO_FUNCTIONS.format(language="JavaScript"))


def _file_name(request: BuildRequest) -> str:
    """The name: node tells a module from a script by the ending."""
    suffix = request.source.path.suffix.lower() if request.source.path else ""
    return f"program{suffix if suffix in SUFFIXES else '.js'}"


def _in_one_line(message: str) -> str:
    place, error = _PLACE.search(message), _ERROR.search(message)
    return f"line {place[1]}: {error[0]}" if place and error else message


@lru_cache(maxsize=1)
def _node() -> Tool | None:
    found = tool_search.which("node") or tool_search.which("nodejs")
    # What lies in PATH may be a version manager's stand-in.
    told = tool_search.answer((*found, "-e", _WHERE)) if found else None
    program, _, version = (told or "").strip().partition("\n")
    if not program or not version:
        return None
    readable = tool_search.outside_system(tool_search.installation(Path(program)))
    return Tool(command=(program,), version=version, readable=readable)
