"""What a set of tasks is, and the set that is a folder of tasks in our own format."""

import re
from pathlib import Path
from typing import Protocol

from best_agent.catalogue.load import TASK_FILE, load_task
from best_agent.catalogue.tables import suggestion
from best_agent.errors import TaskError
from best_agent.model.task import Task

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*", re.ASCII)


class TaskSet(Protocol):
    """Tasks that belong together."""

    @property
    def description(self) -> str:
        """What the set is and where it was found, in one line."""
        ...

    def ids(self) -> tuple[str, ...]:
        """The ids of all tasks, in order. Cheap: no task is loaded."""
        ...

    def load(self, task_id: str) -> Task:
        """One task, validated.

        Raises:
            TaskError: there is no such task (near ones are suggested), or it is not usable; the message
                names the file and the key.
        """
        ...


class FolderSet:
    """A folder that holds one folder for each task of our own format."""

    def __init__(self, root: Path, description: str) -> None:
        """Take a folder.

        Raises:
            TaskError: it is no folder or holds no task.
        """
        self._root = root
        self._description = description
        if (root / TASK_FILE).is_file():
            raise TaskError(
                f"{root} is one task; name the folder that holds it: --tasks {root.resolve().parent}"
            )
        self._ids = _task_folders(root)

    @property
    def description(self) -> str:
        """What the set is and where it was found."""
        return self._description

    def ids(self) -> tuple[str, ...]:
        """The names of the folders that hold a task.toml."""
        return self._ids

    def load(self, task_id: str) -> Task:
        """One task, validated.

        Raises:
            TaskError: unknown, or not usable.
        """
        if task_id not in self._ids:
            raise unknown_task(task_id, self._ids, self._description)
        if _ID.fullmatch(task_id) is None:
            raise TaskError(
                f"{self._root / task_id}: name the folder with a-z, 0-9, - and _ only; it is the id"
            )
        return load_task(self._root / task_id, "own")


def _task_folders(root: Path) -> tuple[str, ...]:
    try:
        found = sorted(entry.name for entry in root.iterdir() if (entry / TASK_FILE).is_file())
    except OSError as error:
        raise TaskError(f"cannot read the tasks in {root}: {error.strerror}") from None
    if not found:
        raise TaskError(f"{root} holds no tasks: no folder in it has a {TASK_FILE}")
    return tuple(found)


def unknown_task(task_id: str, known: tuple[str, ...], description: str) -> TaskError:
    """The error for an id that a set does not have."""
    near = suggestion(task_id, known)
    return TaskError(f"there is no task '{task_id}' in {description}{near}; see: best-agent tasks list")
