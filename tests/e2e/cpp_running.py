"""Builds and runs C++ as the tool does; what the C++ tests share."""

import csv
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from best_agent.errors import IsolationError
from best_agent.judge.answers import decode
from best_agent.languages import cpp
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation, Limits, Run, Status
from best_agent.model.task import Mode, Signature, Source
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session
from best_agent.sandbox.probe import choose

BEST = Path(__file__).parents[3] / "shared" / "data" / "best"
LIMITS = Limits(memory_bytes=512 << 20)

needs_compiler = pytest.mark.skipif(cpp.missing_tool() is not None, reason="no C++ compiler is installed")
needs_best = pytest.mark.skipif(not BEST.is_dir(), reason="the sample of BEST is not beside the repository")


@cache
def isolation() -> Isolation:
    """The best isolation that this machine has; skips where it has none."""
    try:
        return choose("auto")
    except IsolationError as error:
        pytest.skip(str(error))


def signature(parameters: Iterable[str], returns: str) -> Signature:
    return Signature(parameters=tuple((f"p{i}", kind) for i, kind in enumerate(parameters)), returns=returns)


def build_function(text: str, shape: Signature, entry: str = "solve") -> Program | BuildFailure:
    source = Source(id="candidate", language="cpp", text=text, entry=entry)
    return cpp.build(BuildRequest(source=source, mode=Mode.FUNCTION, signature=shape), isolation())


def built(program: Program | BuildFailure) -> Program:
    assert isinstance(program, Program), program.message
    return program


def failure(program: Program | BuildFailure) -> str:
    assert isinstance(program, BuildFailure), program
    return program.message


def run(program: Program, stdin: bytes, limits: Limits = LIMITS) -> Run:
    with open_session(program, isolation()) as session:
        return session.run(stdin, limits)


def call(text: str, shape: Signature, *arguments: object, entry: str = "solve") -> object:
    """The decoded result of a function given in C++."""
    done = run(built(build_function(text, shape, entry)), cpp.encode_arguments(arguments, shape))
    assert done.status is Status.OK, (done.detail, done.stderr)
    assert done.answer is not None
    return decode(done.answer)


@cache
def best_rows() -> dict[str, dict[str, str]]:
    """The sample's tasks by id."""
    csv.field_size_limit(1 << 30)
    with open(BEST / "data" / "data.csv", newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@cache
def best_expected() -> dict[str, Any]:
    return json.loads((BEST / "expected.json").read_text(encoding="utf-8"))


def best_entries(task: str) -> list[tuple[str, str]]:
    """(name in expected.json, entry) of each reference of a task."""
    names = list(best_expected()[task]["references"])
    return [(name, "solve" if len(names) == 1 else f"solve{i}") for i, name in enumerate(names, 1)]


def build_best(
    task: str, entry: str, *, public: bool = False, text: str | None = None
) -> Program | BuildFailure:
    """A solution (by default the task's references) with the task's own main program."""
    row = best_rows()[task]
    source = Source(id=f"best:{task}", language="cpp", text=row["std"] if text is None else text, entry=entry)
    request = BuildRequest(
        source=source,
        mode=Mode.DRIVER,
        driver=row["test"],
        optimisation="-O0" if public else "-O2",
        normalise_memory=not public,
    )
    return cpp.build(request, isolation())


def best_case(task: str, case: int) -> tuple[bytes, bytes]:
    """Input and expected output of a case, counted from 1."""
    folder = BEST / "data" / "test_cases" / task
    return (folder / f"{case}.in").read_bytes(), (folder / f"{case}.out").read_bytes()
