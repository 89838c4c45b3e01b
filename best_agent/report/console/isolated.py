"""What `run` without a task shows: the program's output, then what it used."""

from rich.console import Console
from rich.text import Text

from best_agent.model.run import Run, Status
from best_agent.report.console.base import render
from best_agent.report.isolated import standard_output
from best_agent.units import format_bytes, format_ns


def render_isolated(run: Run, colour: bool) -> str:
    """The program's output and a line of usage."""
    return render(lambda console: _draw(console, run), colour=colour)


def _draw(console: Console, run: Run) -> None:
    for stream in (standard_output(run), run.stderr):
        text = stream.decode("utf-8", "replace")
        if text:
            console.print(Text(text.rstrip("\n")), soft_wrap=True)
    used = [
        f"CPU {format_ns(run.cpu_ns)}" if run.cpu_ns is not None else "CPU not measured",
        f"wall {format_ns(run.wall_ns)}" if run.wall_ns is not None else "wall not measured",
        f"peak {format_bytes(run.peak_bytes)} ({run.memory_meter})"
        if run.peak_bytes is not None
        else "peak not measured",
    ]
    style = "green" if run.status is Status.OK else "red"
    console.print(Text.assemble("--- ", (run.status, style), f": {run.detail}" if run.detail else ""))
    ended = f"exit code {run.exit_code}" if run.signal is None else f"signal {run.signal}"
    console.print(Text(f"{', '.join(used)}; {ended}; isolation {run.isolation}", style="dim"))
    if run.flags:
        console.print(Text(f"flags: {', '.join(run.flags)}", style="yellow"))
