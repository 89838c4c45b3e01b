"""Finding sets of tasks: the catalogue that comes with the tool, a folder, or an imported benchmark."""

from collections.abc import Callable, Mapping
from pathlib import Path

import best_agent
from best_agent.catalogue.importers.best import BestSet
from best_agent.catalogue.sets import FolderSet, TaskSet
from best_agent.catalogue.tables import suggestion
from best_agent.errors import TaskError, UsageError

__all__ = ["KINDS", "TaskSet", "open_set"]


def _own() -> TaskSet:
    package = Path(best_agent.__file__).resolve().parent
    # A wheel carries the tasks inside of the package; an editable install finds them beside it.
    for folder in (package / "_tasks", package.parent / "tasks"):
        if folder.is_dir():
            return FolderSet(folder, "the catalogue of best-agent")
    raise TaskError(f"the catalogue is missing from this installation: looked in {package / '_tasks'}")


KINDS: Mapping[str, Callable[[Path], TaskSet]] = {"best": BestSet}
"""Sets that are read by an importer, by the word before the colon."""


def open_set(spec: str | None) -> TaskSet:
    """The set of tasks that `--tasks SPEC` means.

    Args:
        spec: None for the tool's own catalogue; `best:DIR` for a checkout of the BEST benchmark; or a
            folder of tasks in our own format.

    Raises:
        UsageError: the spec names no kind of set and no folder.
        TaskError: the set cannot be read.
    """
    if spec is None:
        return _own()
    kind, colon, rest = spec.partition(":")
    if colon and kind in KINDS:
        if not rest or not Path(rest).is_dir():
            raise UsageError(f"--tasks {spec}: there is no folder '{rest}'")
        return KINDS[kind](Path(rest))
    folder = Path(spec)
    if spec and folder.is_dir():
        return FolderSet(folder, f"the folder {folder}")
    if colon:
        near = suggestion(kind, KINDS)
        raise UsageError(
            f"--tasks {spec}: '{kind}' is no kind of set{near}; the kinds are: {', '.join(KINDS)}"
        )
    raise UsageError(f"--tasks {spec}: there is no such folder; write a folder of tasks or best:DIR")
