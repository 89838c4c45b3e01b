"""A table of scores as data: for JSON, as CSV, and as Markdown."""

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from best_agent.model.score import Estimate, ModelScore, Protocol, ScoreTable

EXPLAINED = "share of the time-and-memory grid that the answers pass, weighted to the hard cells"
"""What dual@k is, in the words of every page."""
_FIGURES = ("dual", "time", "space", "pass")


def figures(ks: tuple[int, ...]) -> list[str]:
    """The figures of a table in their order: dual@1, dual@10, time@1, ..."""
    return [f"{name}@{k}" for name in _FIGURES for k in ks]


def missing_counts_as(protocol: Protocol) -> str:
    """What a result that is not there counts as."""
    return "passed" if protocol is Protocol.BEST_2026 else "failed"


def results(table: ScoreTable) -> dict[str, Any]:
    """`results` of the JSON document; every figure is [value, low, high] of a 95% interval."""
    return {
        "protocol": table.protocol.value,
        "k": list(table.ks),
        "models": [_model(model) for model in table.models],
        "references": _model(table.references),
        "excluded": [asdict(one) for one in table.excluded],
        "missing": [asdict(gap) for gap in table.missing],
        "missing_counts_as": missing_counts_as(table.protocol),
        "differences": [
            {
                "leader": one.leader,
                "model": one.model,
                "figure": one.figure,
                "difference": _triple(one.difference),
                "tasks": one.difference.tasks,
            }
            for one in table.differences
        ],
        "totals": totals(table),
    }


def totals(table: ScoreTable) -> dict[str, int]:
    """Counts over the whole table."""
    return {
        "models": len(table.models),
        "tasks": table.tasks,
        "excluded": len(table.excluded),
        "missing": len(table.missing),
    }


def as_csv(table: ScoreTable) -> str:
    """One line for each figure of each model in each group: model,n,group,tasks,figure,value,low,high."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["protocol", "model", "n", "group", "tasks", "figure", "value", "low", "high"])
    everybody = (*table.models, table.references)
    for model in everybody:
        groups = {"all": model.scores}
        groups |= {f"difficulty:{name}": scores for name, scores in model.by_difficulty.items()}
        groups |= {f"category:{name}": scores for name, scores in model.by_category.items()}
        for group, scores in groups.items():
            for figure, estimate in scores.items():
                triple = ["" if number is None else repr(number) for number in _triple(estimate)]
                row = [
                    table.protocol.value,
                    model.model,
                    model.samples,
                    group,
                    estimate.tasks,
                    figure,
                    *triple,
                ]
                writer.writerow(row)
    return out.getvalue()


def as_markdown(table: ScoreTable) -> str:
    """The table as a Markdown section, to be pasted into a README or a pull request."""
    names = figures(table.ks)
    heading = f"**dual@{table.ks[-1]}**: {EXPLAINED}. Protocol {table.protocol.value}, {table.tasks} tasks, "
    lines = [
        heading + "95% intervals over tasks.",
        "",
        _row(["model", "n", *names]),
        _row(["---", *["---:"] * (len(names) + 1)]),
    ]
    everybody = (*table.models, table.references)
    lines += [
        _row([_escape(model.model), str(model.samples), *[_cell(model.scores.get(name)) for name in names]])
        for model in everybody
    ]
    groups = difficulties(table)
    for name in (f"dual@{k}" for k in table.ks):
        lines += ["", _row([name, *map(_escape, groups)]), _row(["---", *["---:"] * len(groups)])]
        lines += [
            _row(
                [
                    _escape(model.model),
                    *[_cell(model.by_difficulty.get(group, {}).get(name)) for group in groups],
                ]
            )
            for model in everybody
        ]
    if table.excluded:
        lines += ["", "Excluded tasks:"]
        lines += [f"- {_escape(one.task)}: {_escape(one.reason)}" for one in table.excluded]
    if table.missing:
        counted = missing_counts_as(table.protocol)
        lines += ["", f"{len(table.missing)} missing results were counted as {counted}."]
    return "\n".join(lines)


def difficulties(table: ScoreTable) -> list[str]:
    """The difficulties of the table, easy to hard, others after them."""
    known = ("easy", "medium", "hard")
    found = {group for model in (*table.models, table.references) for group in model.by_difficulty}
    return [name for name in known if name in found] + sorted(found.difference(known))


def number(value: float) -> str:
    """A score as people read it."""
    return f"{value:.3f}"


def _model(model: ModelScore) -> dict[str, Any]:
    return {
        "model": model.model,
        "n": model.samples,
        "tasks": model.tasks,
        "score": _triples(model.scores),
        "not_scored": dict(model.not_scored),
        "by_difficulty": _grouped(model.by_difficulty),
        "by_category": _grouped(model.by_category),
        "per_task": {task: dict(values) for task, values in model.per_task.items()},
    }


def _grouped(groups: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
    return {
        name: {"tasks": next((one.tasks for one in scores.values()), 0), "score": _triples(scores)}
        for name, scores in groups.items()
    }


def _triples(scores: Mapping[str, Estimate]) -> dict[str, list[float | None]]:
    return {figure: _triple(estimate) for figure, estimate in scores.items()}


def _triple(estimate: Estimate) -> list[float | None]:
    """[value, low, high]; low and high are None where one task alone gives no interval."""
    interval = estimate.ci
    return [estimate.value, interval.low if interval else None, interval.high if interval else None]


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    if estimate.ci is None:
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.ci.low)}, {number(estimate.ci.high)}]"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """Text without meaning to Markdown's tables, emphasis and links."""
    return "".join(f"\\{letter}" if letter in "|\\`*_[]<>#" else letter for letter in text)
