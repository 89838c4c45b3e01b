"""Python: functions run in a process cloned from a warmed interpreter, programs in a fresh one."""

import marshal
import sys
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from best_agent.errors import TaskError, UsageError
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation
from best_agent.model.task import Mode, Signature
from best_agent.sandbox.contract import Program

NAME = "python"
SUFFIXES: tuple[str, ...] = (".py",)

SOURCE_CHARACTERS = 1 << 20
"""Largest source that is looked at."""
MARSHAL_VERSION = 4
"""The first version that keeps two references to one object the same object."""
DEPTH = 200
"""Deepest nesting of an argument; the answers have the same bound."""

_SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
_CONTAINERS = frozenset({list, tuple, set, frozenset, dict})

# `-S` keeps third-party packages away, and with them `exit` and `quit`, which programs do use.
_PROGRAM_START = (
    "import sys; __import__('builtins').__dict__.update(exit=sys.exit, quit=sys.exit);"
    "sys.argv[:] = [__file__ := 'main.py'];"
    "exec(compile(open(__file__, 'rb').read(), __file__, 'exec'))"
)


def missing_tool() -> str | None:
    """None: the interpreter that runs the tool is there."""
    return None


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:  # noqa: ARG001  (nothing runs here)
    """A runnable program, or the syntax error with its line.

    Raises:
        UsageError: driver mode, which is for C++.
    """
    source = request.source
    if request.mode is Mode.DRIVER:
        raise UsageError(f"{source.id}: this task calls a C++ class; write the solution in C++")
    failure = _syntax_failure(source.text)
    if failure is not None:
        return failure
    if request.mode is Mode.FUNCTION:
        if not source.entry.isidentifier():
            raise UsageError(f"{source.id}: '{source.entry}' is not the name of a function")
        return Program(
            language=NAME,
            mode=Mode.FUNCTION,
            readable=interpreter_paths(),
            python_source=source.text,
            entry=source.entry,
            handshakes=2,
            memory_pass=True,
        )
    return Program(
        language=NAME,
        mode=Mode.PROGRAM,
        argv=(str(interpreter()), "-I", "-S", "-c", _PROGRAM_START),
        readable=interpreter_paths(),
        files={"main.py": source.text.encode("utf-8")},
    )


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:  # noqa: ARG001  (needs no types)
    """The arguments as marshal version 4, which the driver reads with `marshal.loads`.

    Raises:
        TaskError: a value is of a type that marshal would refuse or change.
    """
    _check_values(arguments, DEPTH)
    return marshal.dumps(arguments, MARSHAL_VERSION)  # type: ignore[arg-type]  # checked just above


@cache
def interpreter() -> Path:
    """The real path of the interpreter under the tool's own virtual environment."""
    base: str = getattr(sys, "_base_executable", None) or sys.executable
    return Path(base).resolve()


@cache
def interpreter_paths() -> tuple[Path, ...]:
    """What the interpreter reads to start: itself and its installation, where that is not the system's."""
    prefixes = {Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve()}
    outside = sorted(prefix for prefix in prefixes if prefix not in (Path("/"), Path("/usr")))
    program = interpreter()
    if not any(program.is_relative_to(folder) for folder in (*outside, Path("/usr"))):
        outside.append(program)
    return tuple(outside)


def _syntax_failure(text: str) -> BuildFailure | None:
    if len(text) > SOURCE_CHARACTERS:
        return BuildFailure(message=f"the source is larger than {SOURCE_CHARACTERS >> 20} MiB")
    try:
        text.encode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "solution.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        return BuildFailure(message=f"{where}{type(error).__name__}: {error.msg}")
    except (RecursionError, MemoryError):
        return BuildFailure(message="the source is nested too deeply for Python's parser")
    except ValueError as error:
        # Null bytes, lone surrogates, a number beyond the limit of digits.
        return BuildFailure(message=f"not Python source text: {error}")
    return None


def _check_values(value: object, depth: int) -> None:
    kind = type(value)
    if kind in _SCALARS:
        return
    if kind not in _CONTAINERS:
        raise TaskError(f"an argument holds a {kind.__qualname__}, which cannot be handed to the sandbox")
    if depth == 0:
        raise TaskError(f"an argument is nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        _check_items(value.keys(), depth)
        _check_items(value.values(), depth)
    elif isinstance(value, list | tuple | set | frozenset):
        _check_items(value, depth)


def _check_items(items: Iterable[object], depth: int) -> None:
    # The types of a million numbers are gathered at C speed; only containers are walked.
    if set(map(type, items)) <= _SCALARS:
        return
    for item in items:
        _check_values(item, depth - 1)
