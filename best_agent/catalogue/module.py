"""Running the Python files that belong to a task: its generator and its checker.

They are the task author's code and run in this process, never anything that a candidate wrote.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from best_agent.catalogue.files import read_text
from best_agent.errors import TaskError


def load_function(path: Path, name: str) -> Callable[..., Any]:
    """The function `name` of a Python file, whose module runs now.

    Raises:
        TaskError: the file does not run or does not define the function.
    """
    module = ModuleType(f"best_agent_task_{path.parent.name}_{path.stem}")
    module.__file__ = str(path)
    source = read_text(path)
    run_task_code(path, "does not run", lambda: exec(compile(source, path, "exec"), vars(module)))  # noqa: S102 (the task author's code)
    function = getattr(module, name, None)
    if not callable(function):
        raise TaskError(f"{path}: does not define the function '{name}'")
    found: Callable[..., Any] = function
    return found


def run_task_code(path: Path, what: str, call: Callable[[], object]) -> object:
    """What a call into a task's file returns.

    Raises:
        TaskError: it raised; the message names the file, `what` happened and the exception.
    """
    try:
        return call()
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise TaskError(f"{path}: {what}: {text}") from error
