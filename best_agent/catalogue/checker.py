"""Checkers: for tasks that have more than one right answer."""

from collections.abc import Callable

from best_agent.catalogue.module import load_function, run_task_code
from best_agent.catalogue.signature import mismatch
from best_agent.errors import TaskError
from best_agent.model.task import Task
from best_agent.model.value_types import parse_type

Check = Callable[[tuple[object, ...], object], bool | str]


def load_checker(task: Task) -> Check | None:
    """The task's checker, or None where the references decide.

    It takes the arguments of a case and the decoded answer, and returns True, or False or a reason. An
    answer whose type is not the one the signature promises is refused before the task's own code sees it.
    The checker raises TaskError where the task's code raises or returns something else.

    Raises:
        TaskError: the checker's file does not run or defines no `check`.
    """
    path = task.checker
    if path is None:
        return None
    function = load_function(path, "check")
    returns = None if task.signature is None else parse_type(task.signature.returns)

    def check(arguments: tuple[object, ...], answer: object) -> bool | str:
        if returns is not None and (problem := mismatch(answer, returns, "the answer")) is not None:
            return problem
        verdict = run_task_code(path, "check() failed", lambda: function(arguments, answer))
        if not isinstance(verdict, bool | str) or verdict == "":
            raise TaskError(f"{path}: check() must return True, False or a reason, not {verdict!r}")
        return verdict

    return check
