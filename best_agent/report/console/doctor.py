"""What `doctor` shows: a row for each feature, and below it what its absence costs."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from best_agent.report.console.base import render

_STYLES = {"ready": "green", "limited": "yellow", "missing": "red"}


def render_doctor(rows: Sequence[tuple[str, str, str, str]], *, system: str, colour: bool) -> str:
    """Rows of (name, state, finding, cost) as text."""
    return render(lambda console: _draw(console, rows, system), colour=colour)


def _draw(console: Console, rows: Sequence[tuple[str, str, str, str]], system: str) -> None:
    console.print(Text(system, style="bold"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, state, finding, cost in rows:
        said = Text(finding)
        if cost:
            said.append(f"\n{cost}", style="dim")
        table.add_row(Text(state, style=_STYLES.get(state, "")), Text(name), said)
    console.print(table)
