"""The cases of a task: made by its generator, or read where a set has fixed ones."""

import hashlib
import marshal
from collections.abc import Callable, Mapping
from pathlib import Path

from best_agent.catalogue.importers.best_cases import read_cases
from best_agent.catalogue.load import GENERATOR_FILE
from best_agent.catalogue.module import load_function, run_task_code
from best_agent.catalogue.signature import arguments_mismatch
from best_agent.errors import TaskError
from best_agent.model.task import Case, Task

_FIXED: Mapping[str, Callable[[Task], tuple[Case, ...]]] = {"best": read_cases}
"""Sets whose cases are files, by the name of the set."""
_MARSHAL_VERSION = 4


def has_fresh_cases(task: Task) -> bool:
    """Whether another seed gives other cases."""
    return task.set_name not in _FIXED


def load_cases(task: Task, seed: int) -> tuple[Case, ...]:
    """The cases of a task, by scale, the smallest first.

    Own tasks make them: the same seed gives the same cases, in every process and on every machine. Sets
    with fixed cases ignore the seed.

    Raises:
        TaskError: no case can be had, or the generator raises, gives other arguments each time, or
            arguments that the signature does not allow.
    """
    if task.set_name in _FIXED:
        return _FIXED[task.set_name](task)
    assert task.origin is not None
    path = task.origin / GENERATOR_FILE
    generate = load_function(path, "generate")
    cases: list[Case] = []
    for scale, size in enumerate(task.sizes, 1):
        for number in range(1, task.cases_per_scale + 1):
            case_seed = _case_seed(task.id, seed, scale, number)
            arguments = _arguments(task, path, generate, size, case_seed)
            cases.append(Case(id=f"{scale}.{number}", scale=scale, arguments=arguments))
            if len(cases) == 1 and _arguments(task, path, generate, size, case_seed) != arguments:
                raise TaskError(f"{path}: generate({size}, {case_seed}) gives other arguments each time")
    return tuple(cases)


def _arguments(
    task: Task, path: Path, generate: Callable[[int, int], object], size: int, case_seed: int
) -> tuple[object, ...]:
    call = f"generate({size}, {case_seed})"
    arguments = run_task_code(path, f"{call} failed", lambda: generate(size, case_seed))
    assert task.signature is not None
    problem = arguments_mismatch(arguments, task.signature)
    if problem is not None:
        raise TaskError(f"{path}: {call}: {problem}")
    assert isinstance(arguments, tuple)
    try:
        marshal.dumps(arguments, _MARSHAL_VERSION)
    except ValueError as error:
        raise TaskError(f"{path}: {call}: the arguments cannot be sent to a program: {error}") from None
    return arguments


def _case_seed(task_id: str, seed: int, scale: int, number: int) -> int:
    """A seed that differs from case to case and does not depend on the process."""
    digest = hashlib.blake2b(f"{task_id}/{seed}/{scale}/{number}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")
