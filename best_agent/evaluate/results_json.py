"""Results as one JSON file: a list of tasks, each with the results of models per level and sample."""

from pathlib import Path

from best_agent.evaluate.records import level_number, scored_task, task_results
from best_agent.evaluate.strict import Place, flag, items, known_keys, load, mapping, text
from best_agent.model.score import TaskResults

_NEEDED = {"id", "cate", "difficulty", "memory_limit", "results"}
_ALLOWED = {"data", "time_limit", "scales", "tau", "sigma", "cases_per_scale", "separate_programs"}


def read_file(path: Path) -> tuple[TaskResults, ...]:
    """The results in a file.

    ```
    [{"id": 7, "cate": "dp,graph", "difficulty": "easy", "memory_limit": [[6400, 640, 64]],
      "results": {"std": {"level0": {"std": [{"case": "1", "result": "Accepted", ...}, ...]}, ...},
                  "model": {"level0": {"model_1": [...], ...}, ...}}}, ...]
    ```

    Raises:
        ResultsError: anything in the file is not of this shape; the message names the place.
    """
    seen: set[str] = set()
    results = []
    for record, place in items(load(path), Place(path)):
        found = mapping(record, place)
        known_keys(found, place, needed=_NEEDED, allowed=_ALLOWED)
        identity = _identity(found["id"], place / "id")
        if identity in seen:
            (place / "id").refuse(f"task {identity} stands twice in the file")
        seen.add(identity)
        task = scored_task(identity, found, place)
        here = place / "results"
        recorded = {}
        for model, levels in mapping(found["results"], here).items():
            at = here / model
            recorded[model] = {
                level_number(name, task, at): (samples, at / name)
                for name, samples in mapping(levels, at).items()
            }
        separate = flag(found.get("separate_programs", True), place / "separate_programs")
        results.append(task_results(task, recorded, here, separate_programs=separate))
    return tuple(results)


def _identity(value: object, place: Place) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value, place)
