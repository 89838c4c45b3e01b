"""Finding the workload of a target among `bench_*.py` files, by reading them and without running them.

Many files of that name are programs that start to measure when they are imported, so only a file that
says it builds inputs for the very target is ever loaded.
"""

import ast
import os
from dataclasses import dataclass
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.workload.layout import project_of
from best_agent.workload.target import parse

_FOLDERS = ("benchmarks", "benchmark", "bench", "tests", "test", "perf")
_PATTERN = "bench_*.py"
_MOST_FILES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A function of a workload file that builds inputs for the target."""

    file: Path
    function: str


def find(target: Path, name: str, tree: Path) -> Found | None:
    """The workload for a function of the file `target` (absolute, in `tree`), or None.

    Looked at: `bench_*.py` beside the file, at the roots of its project and of the tree, and anywhere
    below their benchmarks, bench, tests and perf folders.

    Raises:
        UsageError: several workloads are for this function.
    """
    found = [
        Found(file=file, function=function)
        for file in _files(target, tree)
        for function, wanted in declared(_source(file))
        if wanted is not None and is_for(wanted, file, target, name, tree)
    ]
    if len(found) > 1:
        places = ", ".join(f"{one.file}::{one.function}" for one in found[:4])
        raise UsageError(
            f"{len(found)} workloads are for {name}: {places}; choose with --workload FILE[::FUNCTION]"
        )
    return found[0] if found else None


def declared(source: bytes) -> tuple[tuple[str, str | None], ...]:
    """(function, target) for each function of a source decorated with `workload`; None: not a literal.

    A source that is not Python declares nothing.
    """
    if b"workload" not in source or b"best_agent" not in source:
        return ()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found: list[tuple[str, str | None]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found += [(node.name, _target(call)) for call in node.decorator_list if _is_workload(call)]
    return tuple(found)


def is_for(wanted: str, bench: Path, target: Path, name: str, tree: Path) -> bool:
    """Whether a workload's target, as written in the file `bench`, is the function `name` of `target`."""
    try:
        parsed = parse(wanted)
    except UsageError:
        return False
    if parsed.path is None or parsed.name != name:
        return False
    bases = (project_of(bench, tree), tree, bench.parent)
    real = os.path.realpath(target)
    return any(os.path.realpath(base / parsed.path) == real for base in bases)


def _files(target: Path, tree: Path) -> tuple[Path, ...]:
    roots = dict.fromkeys((target.parent, project_of(target, tree), tree))
    found: dict[Path, None] = {}
    for root in roots:
        found.update(dict.fromkeys(sorted(root.glob(_PATTERN))))
        for folder in (root / name for name in _FOLDERS):
            found.update(dict.fromkeys(sorted(folder.rglob(_PATTERN))[:_MOST_FILES]))
    unique = {os.path.realpath(file): file for file in reversed(found) if file.is_file()}
    return tuple(reversed(unique.values()))


def _source(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _is_workload(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (isinstance(called, ast.Name) and called.id == "workload") or (
        isinstance(called, ast.Attribute) and called.attr == "workload"
    )


def _target(call: ast.expr) -> str | None:
    assert isinstance(call, ast.Call)
    named = [keyword.value for keyword in call.keywords if keyword.arg == "target"]
    first = (list(call.args) + named)[:1]
    if first and isinstance(first[0], ast.Constant) and isinstance(first[0].value, str):
        return first[0].value
    return None
