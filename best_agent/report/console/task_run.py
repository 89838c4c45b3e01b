"""The table of `run --task` that a person reads."""

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from best_agent.model.measurement import Compared
from best_agent.model.run import Status
from best_agent.model.verdict import CaseVerdict, Contest, TaskVerdict
from best_agent.report.console.base import render
from best_agent.units import format_bytes, format_ns, format_ratio

_EXPLAINED = "share of the time-and-memory grid that it passes, weighted to the hard cells"


def render_task_run(verdict: TaskVerdict, colour: bool) -> str:
    """The verdict, the grid, the cases and the ratios to each reference."""
    return render(lambda console: _draw(console, verdict), colour=colour)


def _draw(console: Console, verdict: TaskVerdict) -> None:
    candidate = verdict.candidate
    good = candidate.status is Status.OK
    console.print(
        Text.assemble(
            (f"{candidate.id}", "bold"), f" on {verdict.task} ({verdict.title}), {candidate.language}: ",
            (candidate.status, "bold green" if good else "bold red"),
        )
    )  # fmt: skip
    if candidate.detail:
        console.print(Text(f"  {candidate.detail}"))
    if candidate.cases:
        console.print(_cases(verdict))
        console.print(_grid(verdict))
    for contest in verdict.contests:
        console.print(Text(_sentence(contest)))
    if verdict.dual is not None:
        console.print(Text(f"dual score {verdict.dual:.3f}: {_EXPLAINED}"))
    else:
        console.print(Text("dual score: not defined, no reference passes any cell of this task here"))
    if verdict.beyond_references:
        console.print(
            Text(f"beyond every reference: {verdict.beyond_references:.3f} of the attainable weight")
        )
    for note in verdict.notes:
        console.print(Text(f"note: {note}"))
    console.print(
        Text(
            f"isolation {candidate.isolation} · time {candidate.time_meter} · memory {candidate.memory_meter}"
            f" · protocol {verdict.protocol}",
            style="dim",
        )
    )


def _cases(verdict: TaskVerdict) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("scale", "size", "case"):
        table.add_column(heading, justify="right" if heading != "case" else "left")
    for heading in ("CPU", "limit", "peak"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for case in verdict.candidate.cases:
        table.add_row(
            str(case.scale),
            f"{verdict.sizes[case.scale - 1]:,}",
            case.case,
            _or_dash(case.cpu_ns, format_ns),
            _or_dash(case.time_limit_ns, format_ns),
            _or_dash(case.peak_bytes, format_bytes),
            _case_words(case),
        )
    return table


def _case_words(case: CaseVerdict) -> Text:
    text = Text(case.status, style="green" if case.status is Status.OK else "red")
    if case.flags:
        text.append(f" ({', '.join(case.flags)})", style="yellow")
    return text


def _grid(verdict: TaskVerdict) -> Table:
    """Rows are scales, columns space levels: passed, missed, or beyond what any reference passes."""
    levels = len(verdict.candidate.grid[0]) if verdict.candidate.grid else 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="grid", title_justify="left")
    table.add_column("scale", justify="right")
    for level in range(levels):
        table.add_column(f"space level {level + 1}")
    for scale, row in enumerate(verdict.candidate.grid):
        cells = [
            _cell(passed, verdict.attainable[scale][level], verdict.memory_limits[scale][level])
            for level, passed in enumerate(row)
        ]
        table.add_row(str(scale + 1), *cells)
    return table


def _cell(passed: bool, attainable: bool, limit_bytes: int) -> Text:
    if passed:
        word, style = ("passed", "green") if attainable else ("passed (no reference does)", "bold green")
    else:
        word, style = ("missed", "red") if attainable else ("missed (as every reference)", "dim")
    return Text(f"{word}  <= {format_bytes(limit_bytes)}", style=style)


def _sentence(contest: Contest) -> str:
    if contest.scale is None:
        return f"against {contest.baseline}: no case that both finish"
    return (
        f"against {contest.baseline} at scale {contest.scale}: CPU {_words(contest.time, format_ns)}, "
        f"peak memory {_words(contest.memory, format_bytes)}"
    )


def _words(quantity: Compared | None, figure: Callable[[float], str]) -> str:
    if quantity is None:
        return "not measured"
    if quantity.ratio is None:
        return f"{figure(quantity.after)} where it has {figure(quantity.before)}"
    words = format_ratio(quantity.ratio)
    if quantity.ratio_ci is None:
        return f"{words} (ratio {quantity.ratio:.3g})"
    interval = f"{quantity.ratio_ci.low:.3g} to {quantity.ratio_ci.high:.3g}"
    return f"{words} (ratio {quantity.ratio:.3g}, 95% {interval})"


def _or_dash(value: int | None, words: Callable[[float], str]) -> str:
    return "-" if value is None else words(value)
