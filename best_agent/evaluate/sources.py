"""Results from several files and folders as one task set."""

from collections.abc import Callable, Sequence
from pathlib import Path

from best_agent.errors import ResultsError
from best_agent.evaluate.problems_tree import read_tree
from best_agent.evaluate.results_json import read_file
from best_agent.model.score import TaskResults


def read_all(
    paths: Sequence[Path], progress: Callable[[str], None] = lambda _line: None
) -> tuple[TaskResults, ...]:
    """The results of all paths, tasks in the order in which they are first met.

    Models of one task may come from several places; the references may stand in all of them if they
    are the same in each.

    Raises:
        ResultsError: a path does not exist or is malformed, or two contradict each other.
    """
    merged: dict[str, TaskResults] = {}
    for path in paths:
        for one in _read(path, progress):
            known = merged.get(one.task.id)
            merged[one.task.id] = _merge(known, one, path) if known else one
    if not merged:
        raise ResultsError(f"{', '.join(map(str, paths))}: there are no results")
    return tuple(merged.values())


def _read(path: Path, progress: Callable[[str], None]) -> tuple[TaskResults, ...]:
    if not path.exists():
        raise ResultsError(f"{path}: there is no such file or folder")
    return read_tree(path, progress) if path.is_dir() else read_file(path)


def _merge(known: TaskResults, added: TaskResults, path: Path) -> TaskResults:
    place = f"{path}: task {added.task.id}"
    if (known.task, known.separate_programs) != (added.task, added.separate_programs):
        raise ResultsError(f"{place} differs in limits, category or difficulty from an earlier file's")
    both = known.models.keys() & added.models.keys()
    if both:
        raise ResultsError(f"{place}: there are results of '{min(both)}' already, from an earlier file")
    if known.references and added.references and known.references != added.references:
        raise ResultsError(
            f"{place}: its references did otherwise in an earlier file; scores would not compare"
        )
    return TaskResults(
        task=known.task,
        references=known.references or added.references,
        models={**known.models, **added.models},
        separate_programs=known.separate_programs,
    )
