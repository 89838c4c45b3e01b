"""A table of scores for the terminal."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from best_agent.model.score import Difference, Estimate, Excluded, Missing, ModelScore, Protocol, ScoreTable
from best_agent.report.console.base import render
from best_agent.report.scores import EXPLAINED, difficulties, figures, missing_counts_as, number

_SHOWN = 12
"""Lines of a list that is not the subject of the page; the rest is in the JSON."""
_GAP = 2
"""Spaces between two columns."""
_FEW = 10
"""Tasks below which drawing them again shows too little of how tasks differ."""


def scores_text(table: ScoreTable, *, colour: bool) -> str:
    """What `best-agent report` prints."""
    return render(lambda console: _draw(console, table), colour=colour)


def _draw(console: Console, table: ScoreTable) -> None:
    everybody = (*table.models, table.references)
    console.print(_plain(f"dual@{table.ks[-1]}: {EXPLAINED}."))
    console.print(
        _plain(
            f"Protocol {table.protocol.value}, {_count(table.tasks, 'task')}, 95% intervals over tasks. "
            "time@k: the loosest memory limit alone; space@k: the smallest inputs alone; pass@k: the easiest "
            "cell. 'std' are the references.",
            "dim",
        )
    )
    names = figures(table.ks)
    _print_grid(console, ["model", "n", *names], [_scores(model, names) for model in everybody], keys=2)
    groups = difficulties(table)
    if groups:
        console.print(_plain("by difficulty (tasks)"))
        _print_by_difficulty(console, everybody, groups, [f"dual@{k}" for k in table.ks])
    for line in _notes(table):
        console.print(line)


def _scores(model: ModelScore, names: Sequence[str]) -> list[Text]:
    return [Text(model.model), Text(str(model.samples)), *[_figure(model.scores.get(name)) for name in names]]


def _print_by_difficulty(
    console: Console, models: Sequence[ModelScore], groups: Sequence[str], names: Sequence[str]
) -> None:
    counts = {group: max(_tasks(model.by_difficulty.get(group, {})) for model in models) for group in groups}
    heads = [f"{group} ({counts[group]})\n{name}" for group in groups for name in names]
    rows = [
        [
            Text(model.model),
            *[_figure(model.by_difficulty.get(group, {}).get(name)) for group in groups for name in names],
        ]
        for model in models
    ]
    _print_grid(console, ["model", *heads], rows, keys=1)


def _tasks(scores: Mapping[str, Estimate]) -> int:
    return max((estimate.tasks for estimate in scores.values()), default=0)


def _print_grid(console: Console, heads: Sequence[str], rows: Sequence[Sequence[Text]], *, keys: int) -> None:
    """One table where it fits; else several below each other that repeat the first `keys` columns.

    No figure is ever cut: half of an interval reads like another interval.
    """
    widths = [
        max(_width(head), *(_width(row[place].plain) for row in rows)) for place, head in enumerate(heads)
    ]
    for places in _shares(widths, keys, console.width):
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
        for place in (*range(keys), *places):
            table.add_column(
                Text(heads[place]),
                justify="right" if place else "left",
                overflow="fold",
                no_wrap=place > 0,
                min_width=widths[place] if place else None,
            )
        for row in rows:
            table.add_row(*row[:keys], *(row[place] for place in places))
        console.print(table)


def _shares(widths: Sequence[int], keys: int, room: int) -> list[list[int]]:
    """The columns behind the key columns, in shares that fit beside them; a long first column is folded."""
    free = room - sum(width + _GAP for width in (min(widths[0], room // 3), *widths[1:keys]))
    shares: list[list[int]] = [[]]
    used = 0
    for place, width in enumerate(widths[keys:], keys):
        if shares[-1] and used + width > free:
            shares.append([])
            used = 0
        shares[-1].append(place)
        used += width + _GAP
    return shares


def _width(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _figure(estimate: Estimate | None) -> Text:
    """The value, and its interval in the line below."""
    if estimate is None:
        return Text("-")
    text = Text(number(estimate.value))
    if estimate.ci is not None:
        text.append(f"\n{estimate.ci.low:.2f}-{estimate.ci.high:.2f}", style="dim")
    return text


def _notes(table: ScoreTable) -> list[Text]:
    lines = _differences(table.differences)
    for model in table.models:
        lines += [
            _plain(f"{model.model}: no {', '.join(names)}: {reason}")
            for reason, names in _reasons(model.not_scored).items()
        ]
    lines += _beyond(table)
    lines += _excluded(table.excluded)
    lines += _missing(table.missing, missing_counts_as(table.protocol))
    if 1 < table.tasks < _FEW:
        lines.append(_plain(f"with fewer than {_FEW} tasks the intervals come out too narrow", "dim"))
    return lines


def _differences(differences: Sequence[Difference]) -> list[Text]:
    lines = []
    for one in differences[:_SHOWN]:
        interval = one.difference.ci
        between = f" [{number(interval.low)}, {number(interval.high)}]" if interval else ""
        ahead = number(one.difference.value)
        lines.append(_plain(f"{one.figure}: {one.leader} is ahead of {one.model} by {ahead}{between}"))
    return [*lines, *_more(len(differences))]


def _reasons(not_scored: Mapping[str, str]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for figure, reason in not_scored.items():
        reasons.setdefault(reason, []).append(figure)
    return reasons


def _beyond(table: ScoreTable) -> list[Text]:
    found = [
        f"{model.model} {number(estimate.value)}"
        for model in table.models
        if (estimate := model.scores.get("beyond_references")) and estimate.value > 0
    ]
    if not found:
        return []
    counted = (
        "counted above, so that scores can exceed 1"
        if table.protocol is Protocol.BEST_2026
        else "not counted"
    )
    return [
        _plain(
            f"beyond the references ({counted}): weight of passed cells that no reference passes, "
            f"relative to that of the cells they pass: {', '.join(found)}"
        )
    ]


def _excluded(excluded: Sequence[Excluded]) -> list[Text]:
    if not excluded:
        return []
    lines = [_plain(f"excluded, {_count(len(excluded), 'task')}:")]
    lines += [_plain(f"  {one.task}: {one.reason}") for one in excluded[:_SHOWN]]
    return [*lines, *_more(len(excluded))]


def _missing(missing: Sequence[Missing], counted: str) -> list[Text]:
    if not missing:
        return []
    lines = [_plain(f"missing, counted as {counted}, {_count(len(missing), 'gap')}:")]
    lines += [_plain(f"  {gap.model}, task {gap.task}: {gap.what}") for gap in missing[:_SHOWN]]
    return [*lines, *_more(len(missing))]


def _more(count: int) -> list[Text]:
    rest = count - _SHOWN
    return [_plain(f"  and {rest} more; --format json lists all", "dim")] if rest > 0 else []


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _plain(text: str, style: str = "") -> Text:
    """Text that is never read as markup: names come from files that others wrote."""
    return Text(text, style=style)
