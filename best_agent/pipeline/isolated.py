"""`run` without a task: any program, isolated, with what it used."""

import dataclasses
import os
import stat
import sys
from pathlib import Path
from typing import Final

from best_agent import languages
from best_agent.errors import UsageError
from best_agent.languages.contract import BuildFailure, BuildRequest, Language
from best_agent.model.run import Isolation, Limits, Run, Status
from best_agent.model.task import Mode, Source
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session

_SOURCE_BYTES: Final = 16 << 20
"""Largest source that is read."""


def run_isolated(
    path: Path, *, stdin: bytes, isolation: Isolation, limits: Limits, arguments: tuple[str, ...] = ()
) -> Run:
    """Run a program's source, in any language there is, or an executable once.

    Only that file of the user's is visible to it, and for Python the environment that the tool itself is
    installed in. A program that fails or does not compile is a `Run` with its status.

    Raises:
        UsageError: the file cannot be read or is none of these, or the compiler is missing.
        MeasureError: the sandbox failed.
    """
    program = _program(path, isolation, limits, arguments)
    if isinstance(program, BuildFailure):
        return _not_compiled(program, isolation)
    with open_session(program, isolation) as session:
        return session.run(stdin, limits)


def _program(
    path: Path, isolation: Isolation, limits: Limits, arguments: tuple[str, ...]
) -> Program | BuildFailure:
    # Inside, there is no folder beside the file's own, so that `..` through another leads nowhere.
    file = path.parent.resolve() / path.name
    mode = _mode(file)
    try:
        language = languages.by_suffix(file)
    except UsageError as error:
        if not mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
            raise UsageError(f"{error}; for a program of another kind: chmod +x {path.name}") from None
        return Program(language="binary", mode=Mode.PROGRAM, argv=(str(file), *arguments), readable=(file,))
    if language.NAME == "python":
        return _python(file, arguments)
    return _built(language, file, isolation, limits, arguments)


def _mode(file: Path) -> int:
    try:
        facts = file.stat()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    if not stat.S_ISREG(facts.st_mode):
        raise UsageError(f"{file} is not a file")
    return facts.st_mode


def _python(file: Path, arguments: tuple[str, ...]) -> Program:
    own_environment = Path(sys.prefix)
    return Program(
        language="python",
        mode=Mode.PROGRAM,
        argv=(sys.executable, str(file), *arguments),
        readable=(file, Path(sys.executable).parent, own_environment),
        env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"},
    )


def _built(
    language: Language, file: Path, isolation: Isolation, limits: Limits, arguments: tuple[str, ...]
) -> Program | BuildFailure:
    missing = language.missing_tool()
    if missing is not None:
        raise UsageError(missing)
    source = Source(id=file.name, language=language.NAME, text=_text(file), path=file)
    request = BuildRequest(source=source, mode=Mode.PROGRAM, memory_bytes=limits.memory_bytes)
    built = language.build(request, isolation)
    if isinstance(built, BuildFailure):
        return built
    return dataclasses.replace(built, argv=(*built.argv, *arguments))


def _text(file: Path) -> str:
    try:
        if os.path.getsize(file) > _SOURCE_BYTES:
            raise UsageError(f"{file} is larger than {_SOURCE_BYTES >> 20} MiB; is it a source?")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not a UTF-8 text; is it a source?") from None


def _not_compiled(failure: BuildFailure, isolation: Isolation) -> Run:
    first = failure.message.strip().partition("\n")[0]
    return Run(
        status=Status.COMPILE_ERROR,
        detail=first or "does not compile",
        stderr=failure.message.encode(),
        isolation=isolation,
    )
