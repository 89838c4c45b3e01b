"""The tables of `tasks list` and `tasks show` that a person reads."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from best_agent.model.task import LanguageLimits, Source, Task
from best_agent.report.console.base import render
from best_agent.units import format_bytes, format_ns

_SHOWN_NOTES = 10


def render_task_list(
    description: str, tasks: Sequence[Task], unusable: Sequence[tuple[str, str]], colour: bool
) -> str:
    """One row for each task, and a line for each that cannot be used."""
    return render(lambda console: _draw_list(console, description, tasks, unusable), colour=colour)


def render_task(task: Task, space_level: int, colour: bool) -> str:
    """All of a task but the programs: statement, sizes, limits, references.

    `space_level` counts from 0 and chooses the statement.
    """
    return render(lambda console: _draw_task(console, task, space_level), colour=colour)


def _draw_list(
    console: Console, description: str, tasks: Sequence[Task], unusable: Sequence[tuple[str, str]]
) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("id", "difficulty", "languages"):
        table.add_column(heading, overflow="fold", no_wrap=True)
    for heading in ("sizes", "refs"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("title")
    for task in tasks:
        table.add_row(
            _plain(task.id),
            _plain(task.difficulty),
            Text(", ".join(task.languages)),
            Text(_ends(task.sizes)),
            Text(str(len(task.references))),
            _cut(Text.assemble(("(has defects) " if task.notes else "", "yellow"), _plain(task.title))),
        )
    if tasks:
        console.print(table)
    for task_id, problem in unusable:
        console.print(Text.assemble(("unusable ", "red"), _plain(task_id), ": ", _plain(problem)))
    count = f"{len(tasks)} task{'' if len(tasks) == 1 else 's'} in {description}"
    hint = "; one of them: best-agent tasks show ID" if tasks else ""
    console.print(Text(f"{count}{hint}", style="dim"))


def _cut(text: Text) -> Text:
    """Text that is cut where the line ends: a list has one task in a line."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _draw_task(console: Console, task: Task, space_level: int) -> None:
    console.print(Text.assemble((task.id, "bold"), ": ", _plain(task.title)))
    facts = [task.difficulty, *task.categories, f"{task.mode} mode"]
    console.print(_plain(" · ".join(facts)))
    console.print()
    # The authors broke the lines; to break them again would tear their examples apart.
    console.print(_plain(task.statement(space_level).rstrip()), soft_wrap=True)
    console.print()
    if task.signature is not None:
        inside = ", ".join(f"{name}: {kind}" for name, kind in task.signature.parameters)
        console.print(_plain(f"signature: {task.references[0].entry}({inside}) -> {task.signature.returns}"))
    for language in task.languages:
        console.print(_limits(task, language, task.limits[language]))
    console.print(_references(task))
    _draw_notes(console, task.notes)


def _draw_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes[:_SHOWN_NOTES]:
        console.print(Text.assemble(("note: ", "yellow"), _plain(note)))
    if len(notes) > _SHOWN_NOTES:
        console.print(Text(f"and {len(notes) - _SHOWN_NOTES} notes more: --format json has them all"))


def _titled(title: str) -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")


def _limits(task: Task, language: str, limits: LanguageLimits) -> Table:
    table = _titled(f"limits in {language}")
    table.add_column("scale", justify="right")
    table.add_column("size", justify="right")
    table.add_column("time", justify="right")
    for level in range(1, task.space_levels + 1):
        table.add_column(f"memory {level}", justify="right")
    for scale, size in enumerate(task.sizes):
        row = limits.memory_bytes[scale]
        time = (
            f"{limits.time_factor:g}x fastest" if limits.time_ns is None else format_ns(limits.time_ns[scale])
        )
        table.add_row(str(scale + 1), f"{size:,}", time, *(format_bytes(limit) for limit in row))
    return table


def _references(task: Task) -> Table:
    table = _titled("solutions")
    for heading in ("id", "language", "claimed time", "claimed space", "file"):
        table.add_column(heading, overflow="fold")
    for source in (*task.references, *task.naive):
        table.add_row(
            _plain(source.id),
            _plain(source.language),
            _plain(source.claimed_time or "-"),
            _plain(source.claimed_space or "-"),
            _plain(_place(source)),
        )
    return table


def _place(source: Source) -> str:
    return source.path.name if source.path is not None else f"{source.entry}()"


def _ends(sizes: Sequence[int]) -> str:
    """`1,000 .. 100,000`."""
    return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} .. {sizes[-1]:,}"


_VISIBLE = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "�")
"""Other people's texts must not move the cursor of a terminal."""


def _plain(text: str) -> Text:
    return Text(text.translate(_VISIBLE))
