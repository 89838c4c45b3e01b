"""Results in a `data/problems` tree, as the public harness of the BEST benchmark leaves it."""

import re
from collections.abc import Callable
from pathlib import Path

from best_agent.errors import ResultsError
from best_agent.evaluate.records import level_number, scored_task, task_results
from best_agent.evaluate.strict import Place, load, mapping, name
from best_agent.model.score import TaskResults

_DIGITS = re.compile(r"\d+", re.ASCII)


def read_tree(path: Path, progress: Callable[[str], None] = lambda _line: None) -> tuple[TaskResults, ...]:
    """The results under a folder: `<task>/problem.json` and `<task>/codes/<model>/level<l>/result.json`.

    The folder is `data/problems`, or a checkout that has it. A task that was never run has no results;
    a level without `result.json` was not recorded.

    Raises:
        ResultsError: there are no tasks there, or a file is malformed; the message names the place.
    """
    root = next(
        (folder for folder in (path / "data" / "problems", path / "problems") if folder.is_dir()), path
    )
    folders = _folders(root)
    if not any((folder / "problem.json").is_file() for folder in folders):
        raise ResultsError(
            f"{path}: there is no folder <task>/problem.json in it; name a data/problems folder"
        )
    results = []
    for number, folder in enumerate(folders, 1):
        progress(f"reading task {folder.name}, {number} of {len(folders)}")
        results.append(_task(folder))
    progress("")
    return tuple(results)


def _task(folder: Path) -> TaskResults:
    description = folder / "problem.json"
    place = Place(description)
    record = mapping(load(description), place)
    for key in ("cate", "difficulty", "memory_limit"):
        if key not in record:
            place.refuse(f"lacks the key '{key}'")
    task = scored_task(name(folder.name, Place(folder)), record, place)
    recorded: dict[str, dict[int, tuple[object, Place]]] = {}
    codes = folder / "codes"
    for model in _folders(codes) if codes.is_dir() else ():
        recorded[model.name] = {}
        for level in _folders(model):
            result = level / "result.json"
            if result.is_file():
                number = level_number(level.name, task, Place(level))
                recorded[model.name][number] = (load(result), Place(result))
    return task_results(task, recorded, Place(codes))


def _folders(path: Path) -> list[Path]:
    """Folders in a folder, in the order in which people count; hidden ones are nobody's results."""
    try:
        found = [entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error.strerror})") from None
    return sorted(
        found, key=lambda entry: [(int(n), "") for n in _DIGITS.findall(entry.name)] + [(0, entry.name)]
    )
