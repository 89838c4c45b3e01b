"""What `compare` and `measure` show: a table by size, growth, sameness, one verdict line, the origin."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from best_agent.model.measurement import Compared, Growth, Interval
from best_agent.model.run import Meter
from best_agent.report.console.base import render
from best_agent.units import format_bytes, format_ns, format_ratio
from best_agent.workload.figures import (
    Absolute,
    Comparison,
    Conditions,
    Figure,
    SideGrowth,
    SideReport,
    SizeComparison,
    SizeMeasurement,
    State,
)

_STYLE = {
    State.OK: "bold",
    State.IMPROVED: "bold green",
    State.REGRESSION: "bold red",
    State.NEW: "bold",
    State.PARTIAL: "bold yellow",
    State.NOT_MEASURED: "bold yellow",
}
_ROWS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("cpu", "CPU", format_ns),
    ("wall", "wall", format_ns),
    ("peak", "peak", format_bytes),
    ("retained", "kept/call", format_bytes),
)


def comparison_text(found: Comparison, system: str, *, colour: bool) -> str:
    """What `best-agent compare` prints; `system` names the machine, as `Linux x86_64`."""
    return render(lambda console: _comparison(console, found, system), colour=colour)


def absolute_text(found: Absolute, system: str, *, colour: bool) -> str:
    """What `best-agent measure` prints."""
    return render(lambda console: _absolute(console, found, system), colour=colour)


def _comparison(console: Console, found: Comparison, system: str) -> None:
    for name, side in (("before", found.before), ("after", found.after)):
        if side is not None:
            console.print(_line(f"{name:<7} {side.label:<18} {side.target}"))
    console.print(_line(f"inputs  {found.conditions.inputs}"))
    if found.sizes:
        console.print()
        console.print(_paired_table(found.sizes))
    if found.absolute:
        console.print()
        console.print(_single_table(found.absolute))
    console.print()
    growth = _growth_line(found.growth_before, found.growth_after)
    if growth:
        console.print(_line(growth))
    _sameness(console, found)
    _reasons(console, (*found.sizes, *found.absolute))
    console.print(Text(found.verdict, style=_STYLE[found.status]), soft_wrap=True)
    _footer(console, found.conditions, (found.before, found.after), system)


def _absolute(console: Console, found: Absolute, system: str) -> None:
    if found.side is not None:
        console.print(_line(f"target  {found.side.target} ({found.side.label})"))
    console.print(_line(f"inputs  {found.conditions.inputs}"))
    if found.sizes:
        console.print()
        console.print(_single_table(found.sizes))
    console.print()
    growth = _growth_line(None, found.growth)
    if growth:
        console.print(_line(growth))
    _reasons(console, found.sizes)
    console.print(Text(found.verdict, style=_STYLE[found.status]), soft_wrap=True)
    _footer(console, found.conditions, (found.side,), system)


def _paired_table(rows: Sequence[SizeComparison]) -> Table:
    table = _table("n", "", "before", "after", "change", "95% interval of after/before")
    for row in rows:
        size = f"{row.n:,}"
        for name, title, form in _ROWS:
            value: Compared | None = getattr(row, name)
            if value is None or (name == "retained" and not value.before and not value.after):
                continue
            shown = getattr(row, f"{name}_shown", "exact")
            cells = [form(value.before), form(value.after), _change(value, shown), _interval(value)]
            table.add_row(size, title, *cells)
            size = ""
        if row.cpu is None:
            table.add_row(size, "", "-", "-", "not measured", "")
    return table


def _single_table(rows: Sequence[SizeMeasurement]) -> Table:
    table = _table("n", "", "figure", "95% interval")
    for row in rows:
        size = f"{row.n:,}"
        for name, title, form in _ROWS:
            value: Figure | None = getattr(row, name)
            if value is None or (name == "retained" and not value.value):
                continue
            table.add_row(size, title, form(value.value), _range(value, form))
            size = ""
        if row.cpu is None:
            table.add_row(size, "", "not measured", "")
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(Text(head, style="dim"), justify="left" if place == 1 else "right", no_wrap=True)
    return table


def _change(value: Compared, shown: str) -> str:
    if shown == "not-shown":
        return "not shown"
    if value.ratio is None:
        return "the same" if value.after == value.before else "from nothing"
    return format_ratio(value.ratio)


def _interval(value: Compared) -> str:
    if value.ratio_ci is None:
        return "exact" if value.meter is Meter.EXACT else f"{value.meter.value}, no interval"
    suffix = "" if value.meter is Meter.EXACT else f" ({value.meter.value})"
    return f"{_short(value.ratio_ci.low)} to {_short(value.ratio_ci.high)}{suffix}"


def _short(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 0.1 or ratio >= 100 else f"{ratio:.2f}"


def _range(value: Figure, form: Callable[[float], str]) -> str:
    if value.ci is None:
        return value.meter.value
    return f"{form(value.ci.low)} to {form(value.ci.high)}"


def _growth_line(before: SideGrowth | None, after: SideGrowth) -> str:
    parts = []
    for name, old, new in (
        ("CPU", before.cpu if before else None, after.cpu),
        ("peak", before.peak if before else None, after.peak),
    ):
        if old is not None and new is not None:
            parts.append(f"{name} {_power(old)} -> {_power(new)}")
        elif new is not None:
            parts.append(f"{name} {_power(new)}")
    return f"growth  {'   '.join(parts)}" if parts else ""


def _power(growth: Growth) -> str:
    return f"n^{growth.exponent:z.2f}{_plus_minus(growth.ci)}"


def _plus_minus(interval: Interval | None) -> str:
    return f" ({interval.low:z.2f} to {interval.high:z.2f})" if interval else ""


def _sameness(console: Console, found: Comparison) -> None:
    same = found.same_results
    if same is None:
        return
    for line in same.differences:
        console.print(_line(f"differs {line}", "red"))
    if same.within_tolerance:
        console.print(_line(f"same    {same.within_tolerance} of them within 1e-9 (floats)"))
    for line in same.uncertain:
        console.print(_line(f"note    {line}", "yellow"))


def _reasons(console: Console, rows: Sequence[SizeComparison | SizeMeasurement]) -> None:
    for row in rows:
        if row.reason:
            console.print(_line(f"note    n={row.n:,}: {row.reason}", "yellow"))


def _footer(
    console: Console, conditions: Conditions, shown: Sequence[SideReport | None], system: str
) -> None:
    for note in conditions.notes:
        console.print(_line(f"note    {note}", "yellow"))
    for side in shown:
        if side is not None and side.file:
            modules = f"{side.modules} module{'s' if side.modules != 1 else ''}"
            shared = f", with {', '.join(side.shared[:3])} of the work tree" if side.shared else ""
            console.print(
                _line(f"origin  {side.label}: {side.file} ({modules} loaded from there{shared})", "dim")
            )
    console.print(
        _line(
            f"not isolated (your own code) · {system} · Python {conditions.python} "
            f"(found by {conditions.found_by}) · compare only with figures of this machine",
            "dim",
        )
    )


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style, overflow="fold")
