"""Plain programs built inside the sandbox, for their text is untrusted, and kept by the hash of it all."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from best_agent.errors import MeasureError, UsageError
from best_agent.languages import build_cache
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.tool_search import Tool
from best_agent.model.run import Isolation, Limits, Run, Status
from best_agent.model.task import Mode
from best_agent.sandbox.contract import Program

FORMAT = 1
"""Raised whenever the same input would give another program."""
SOURCE_CHARACTERS = 512 << 10
"""Largest source that is built."""
BUILD_LIMITS = Limits(
    cpu_ns=120_000_000_000,
    wall_ns=360_000_000_000,
    memory_bytes=2 << 30,
    output_bytes=1 << 20,
    stderr_bytes=64 << 10,
    processes=256,
    scratch_bytes=512 << 20,
)
TOO_LARGE = f"the source is larger than {SOURCE_CHARACTERS >> 10} KiB"
NO_FUNCTIONS = (
    "{language} is offered for whole programs only, as in `best-agent run FILE < input` without --task; "
    "tasks are solved in Python or C++"
)
MESSAGE_LINES = 12
MESSAGE_CHARACTERS = 2000
_OUTSIDE_HEAP_BYTES = 64 << 20
"""What a runtime with a collector takes beside its heap: code, tables, stacks."""
_LEAST_HEAP_BYTES = 8 << 20

_FAILURES = {
    Status.TIME_LIMIT: f"building took longer than {BUILD_LIMITS.cpu_ns // 1_000_000_000} s",
    Status.MEMORY_LIMIT: f"building took more than {BUILD_LIMITS.memory_bytes >> 30} GiB of memory",
    Status.OUTPUT_LIMIT: "building printed too much, or wrote more than "
    f"{BUILD_LIMITS.scratch_bytes >> 20} MiB",
    Status.FORBIDDEN: "building did something that the sandbox forbids",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command that makes one file of some others, all in one folder."""

    language: str
    tool: Tool
    argv: tuple[str, ...]
    files: Mapping[str, str]
    """The sources by name."""
    product: str
    """Name of the file that is kept."""
    executable: bool
    env: Mapping[str, str] = field(default_factory=dict)
    address_space: bool = True
    """See `Program`."""
    begins: str = ""
    """Pattern of the line that a failure's message is to begin with, where the first one says little."""


def require_program(request: BuildRequest, language: str) -> None:
    """Nothing, for a plain program.

    Raises:
        UsageError: something else is asked for.
    """
    if request.mode is not Mode.PROGRAM:
        raise UsageError(NO_FUNCTIONS.format(language=language))


def heap_bytes(request: BuildRequest) -> int:
    """How far a collected heap may grow, so that heap and runtime together keep within the limit."""
    limit = request.memory_bytes
    return max(limit // 2, limit - _OUTSIDE_HEAP_BYTES, _LEAST_HEAP_BYTES)


def make(step: Step, isolation: Isolation) -> Path | BuildFailure:
    """The product's file in the cache, built where it is new.

    Raises:
        MeasureError: the sandbox failed.
        UsageError: the cache cannot be used.
    """
    if any(len(text) > SOURCE_CHARACTERS for text in step.files.values()):
        return BuildFailure(message=TOO_LARGE)
    folder, key = build_cache.builds_folder(), _key(step)
    kept = build_cache.find(folder, key)
    if kept is not None:
        return kept
    run = _run(step, isolation)
    product = run.collected.get(step.product)
    if run.status is not Status.OK or not product:
        return _failure(step, run)
    path = build_cache.store(folder, key, product, executable=step.executable)
    build_cache.prune(folder)
    return path


def _key(step: Step) -> str:
    digest = hashlib.sha256()
    parts = [str(FORMAT), step.language, step.tool.identity, step.product, str(len(step.argv)), *step.argv]
    for table in (step.env, step.files):
        parts.append(str(len(table)))
        for name in sorted(table):
            parts += [name, table[name]]
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _run(step: Step, isolation: Isolation) -> Run:
    from best_agent.sandbox.launcher import open_session

    program = Program(
        language=step.language,
        mode=Mode.PROGRAM,
        argv=step.argv,
        readable=step.tool.readable,
        # The only folder that can be written to is the one it works in.
        env={"LC_ALL": "C.UTF-8", "TMPDIR": ".", **step.env},
        files={name: text.encode("utf-8", "surrogatepass") for name, text in step.files.items()},
        collect=(step.product,),
        address_space=step.address_space,
    )
    with open_session(program, isolation) as session:
        return session.run(b"", BUILD_LIMITS)


def _failure(step: Step, run: Run) -> BuildFailure:
    said = (run.stderr or run.stdout).decode("utf-8", "replace")
    known = _FAILURES.get(run.status)
    if known is not None:
        return BuildFailure(message=known)
    if run.status is Status.OK or not said.strip():
        raise MeasureError(
            f"{step.argv[0]} left no program and no message ({run.detail or run.status}); "
            "see: best-agent doctor"
        )
    return BuildFailure(message=shorten(said, step.begins))


def shorten(said: str, begins: str) -> str:
    """A tool's message from the first line on that `begins` is found in, bounded."""
    lines = [line.rstrip().removeprefix("./") for line in said.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if re.search(begins, line)), 0)
    text = "\n".join(lines[first : first + MESSAGE_LINES])
    return text if len(text) <= MESSAGE_CHARACTERS else text[: MESSAGE_CHARACTERS - 3] + "..."
