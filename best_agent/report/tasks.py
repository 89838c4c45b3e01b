"""The results of `tasks list` and `tasks show` as JSON; see docs/tasks.md."""

from collections.abc import Sequence
from typing import Any

from best_agent.model.task import LanguageLimits, Source, Task
from best_agent.report.envelope import envelope


def list_payload(
    description: str, tasks: Sequence[Task], unusable: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The document of `tasks list`."""
    return envelope(
        "tasks",
        results=[_outline(task) for task in tasks],
        summary={
            "set": description,
            "tasks": len(tasks),
            "unusable": [{"id": task_id, "reason": reason} for task_id, reason in unusable],
        },
        isolation=None,
        meters={},
    )


def task_payload(description: str, task: Task) -> dict[str, Any]:
    """The document of `tasks show`."""
    signature = task.signature
    whole = {
        **_outline(task),
        "statements": list(task.statements),
        "signature": None
        if signature is None
        else {
            "entry": task.references[0].entry,
            "parameters": [{"name": name, "type": kind} for name, kind in signature.parameters],
            "returns": signature.returns,
        },
        "cases_per_scale": task.cases_per_scale,
        "limits": {language: _limits(limits) for language, limits in task.limits.items()},
        "naive": [_source(source) for source in task.naive],
        "checker": task.checker is not None,
        "exact_output": task.exact_output,
        "tau": task.tau,
        "sigma": task.sigma,
    }
    return envelope("tasks", results=[whole], summary={"set": description}, isolation=None, meters={})


def _outline(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "set": task.set_name,
        "mode": task.mode.value,
        "difficulty": task.difficulty,
        "categories": list(task.categories),
        "languages": list(task.languages),
        "sizes": list(task.sizes),
        "space_levels": task.space_levels,
        "references": [_source(source) for source in task.references],
        "notes": list(task.notes),
    }


def _source(source: Source) -> dict[str, Any]:
    return {
        "id": source.id,
        "language": source.language,
        "entry": source.entry,
        "file": None if source.path is None else str(source.path),
        "claimed_time": source.claimed_time,
        "claimed_space": source.claimed_space,
    }


def _limits(limits: LanguageLimits) -> dict[str, Any]:
    return {
        "memory_bytes": [list(row) for row in limits.memory_bytes],
        "time_factor": limits.time_factor,
        "time_ns": None if limits.time_ns is None else list(limits.time_ns),
    }
