"""Compiling: inside the sandbox, for the text is untrusted; once, for the result is kept by its hash."""

import hashlib
import re
from pathlib import Path

from best_agent.errors import MeasureError
from best_agent.languages import build_cache
from best_agent.languages.contract import BuildFailure
from best_agent.languages.cpp_driver import PRELUDE, PRELUDE_FILE, SOLUTION_FILE, Texts
from best_agent.languages.cpp_prelude import precompiled
from best_agent.languages.cpp_toolchain import Compiler
from best_agent.model.run import Isolation, Limits, Run, Status
from best_agent.model.task import Mode
from best_agent.sandbox.contract import Program

FORMAT = 1
"""Raised whenever the same input would give another program."""
PROGRAM_FILE = "program"
COMPILE_LIMITS = Limits(
    cpu_ns=60_000_000_000,
    wall_ns=240_000_000_000,
    memory_bytes=2 << 30,
    output_bytes=64 << 20,
    stderr_bytes=64 << 10,
    scratch_bytes=256 << 20,
)
MESSAGE_LINES = 12
MESSAGE_CHARACTERS = 2000

# -w: warnings are the author's business; what is wanted of the compiler is the first error.
_FLAGS = ("-std=gnu++17", "-w", "-fno-diagnostics-color")
_GCC_FLAGS = ("-fmax-errors=3", "-ftemplate-backtrace-limit=2", "-fdiagnostics-show-caret")
_CLANG_FLAGS = ("-ferror-limit=3", "-ftemplate-backtrace-limit=2")
_ERROR = re.compile(r"\b(?:fatal |internal compiler )?[eE]rror:|undefined reference|multiple definition")
_TROUBLE_OF_PRELUDE = re.compile(r"\.gch\b|precompiled|internal compiler error")
# Texts of ours are nothing that a solution's author could mend.
_OUR_PLACE = re.compile(r"(?:main\.cpp|function\.hpp|marks\.cpp|cc\w+\.[os]):(?:\d+:)*\s*")
# A line that says something; the others show source text or go on with what was said.
_BEGINS = re.compile(r"\S+:(?:\d+:|\()|\S+: |In file included|compilation terminated|\d+ errors?\b")
_TOO_LARGE = "File size limit exceeded"
_CHAIN = re.compile(
    r"In file included from|\s+from |compilation terminated|.*required from |.*: In substitution of "
    r"|\d+ errors?\b|/"
)
_FAILURES = {
    Status.TIME_LIMIT: f"compiling took longer than {COMPILE_LIMITS.cpu_ns // 1_000_000_000} s",
    Status.MEMORY_LIMIT: f"compiling took more than {COMPILE_LIMITS.memory_bytes >> 30} GiB of memory",
    Status.OUTPUT_LIMIT: f"the compiled program is larger than {COMPILE_LIMITS.output_bytes >> 20} MiB",
    Status.FORBIDDEN: "compiling did something that the sandbox forbids",
}


def compile_texts(
    compiler: Compiler, texts: Texts, level: str, linking: tuple[str, ...], isolation: Isolation
) -> Path | BuildFailure:
    """The compiled program's file in the cache; `level` as -O2, `linking` for the linker alone.

    Raises:
        MeasureError: the sandbox failed.
        UsageError: the cache cannot be used.
    """
    flags = (*_FLAGS, *(_GCC_FLAGS if compiler.is_gcc else _CLANG_FLAGS), level)
    folder = build_cache.builds_folder()
    key = _key(compiler, texts, (*flags, *linking))
    kept = build_cache.find(folder, key)
    if kept is not None:
        return kept
    prelude = precompiled(compiler, flags) if texts.prelude else None
    run = _compile(compiler, texts, (*flags, *linking), prelude, isolation)
    if run.status is not Status.OK and prelude is not None and _TROUBLE_OF_PRELUDE.search(_said(run)):
        run = _compile(compiler, texts, (*flags, *linking), None, isolation)
    program = run.collected.get(PROGRAM_FILE)
    if run.status is not Status.OK or not program:
        return _failure(run, texts)
    path = build_cache.store(folder, key, program, executable=True)
    build_cache.prune(folder)
    return path


def _key(compiler: Compiler, texts: Texts, flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    parts = [str(FORMAT), compiler.identity, str(len(flags)), *flags, str(texts.prelude), *texts.units]
    for name in sorted(texts.files):
        parts += [name, texts.files[name]]
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _compile(
    compiler: Compiler, texts: Texts, flags: tuple[str, ...], prelude: Path | None, isolation: Isolation
) -> Run:
    from best_agent.sandbox.launcher import open_session

    files = {name: text.encode("utf-8", "surrogatepass") for name, text in texts.files.items()}
    if texts.prelude and prelude is None:
        files[PRELUDE_FILE] = PRELUDE.encode()
    search = () if prelude is None else ("-I", str(prelude))
    program = Program(
        language="cpp",
        mode=Mode.PROGRAM,
        argv=(*compiler.command, *flags, *search, *texts.units, "-o", PROGRAM_FILE),
        readable=(*compiler.readable, *(() if prelude is None else (prelude,))),
        # The only folder that can be written to is the one it works in.
        env={"LC_ALL": "C", "TMPDIR": "."},
        files=files,
        collect=(PROGRAM_FILE,),
    )
    with open_session(program, isolation) as session:
        return session.run(b"", COMPILE_LIMITS)


def _said(run: Run) -> str:
    return (run.stderr or run.stdout).decode("utf-8", "replace")


def _failure(run: Run, texts: Texts) -> BuildFailure:
    said = _said(run)
    known = _FAILURES.get(Status.OUTPUT_LIMIT if _TOO_LARGE in said else run.status)
    if known is not None:
        return BuildFailure(message=known)
    if run.status is Status.OK or not said.strip():
        raise MeasureError(
            f"the compiler left no program and no message ({run.detail or run.status}); "
            "see: best-agent doctor"
        )
    message = shorten(said)
    if texts.expected:
        message += f"\nthe task calls it as: {texts.expected}"
    return BuildFailure(message=message)


def shorten(said: str) -> str:
    """A compiler's message from its first error on, bounded, without what it says of our own texts."""
    lines = [line.rstrip().removeprefix("./") for line in said.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if _ERROR.search(line)), 0)
    # An error within a library's header names the author's line before it.
    kept = [line for line in lines[:first] if line.startswith(SOLUTION_FILE) and "required from" in line][-1:]
    hidden = False
    for number, line in enumerate(lines[first:]):
        if _BEGINS.match(line):
            hidden = _is_hidden(line)
        if not hidden or number == 0:
            kept.append(_OUR_PLACE.sub("", line))
    text = "\n".join(kept[:MESSAGE_LINES])
    return text if len(text) <= MESSAGE_CHARACTERS else text[: MESSAGE_CHARACTERS - 3] + "..."


def _is_hidden(line: str) -> bool:
    if line.startswith(SOLUTION_FILE):
        return False
    return _OUR_PLACE.match(line) is not None or _CHAIN.match(line) is not None
