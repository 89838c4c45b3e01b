"""What `refine` shows: rounds on standard error as they go, and the summary at the end."""

from collections.abc import Iterable
from types import TracebackType
from typing import Self, TextIO

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from best_agent.model.measurement import Compared
from best_agent.model.refinement import CandidateResult, Refinement, RoundResult, Spend, Standing
from best_agent.report.console.base import render
from best_agent.units import format_bytes, format_ns, format_ratio, format_ratio_range, printable

_MAX_DETAIL = 300


class Progress:
    """Rounds as they happen: a live table on a terminal, plain lines elsewhere, nothing if quiet."""

    def __init__(self, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
        self._live: Live | None = None
        self._rows: list[CandidateResult] = []
        self._round: tuple[int, str] = (0, "")
        self._doing = ""
        self._step = ""
        if stream.isatty() and not quiet:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def started(self, initial: Standing) -> None:
        """The start is measured."""
        self._line(f"start: {cost(initial)}")

    def round_begun(self, number: int, parent: str) -> None:
        """A round asks for proposals."""
        self._round, self._rows = (number, parent), []
        self._status(f"round {number}: asking for proposals on {parent}")

    def judging(self, candidate: str, origin: str) -> None:
        """A candidate is about to be judged."""
        self._status(f"round {self._round[0]}: judging {candidate} ({origin})")

    def judged(self, result: CandidateResult) -> None:
        """A candidate was judged."""
        self._rows.append(result)
        if self._live is None:
            mark = "accepted" if result.accepted else "rejected"
            self._line(
                f"round {self._round[0]}: {label(result)}: {mark}, {result.reason}: {_cut(result.detail)}"
            )
        else:
            self._status("")

    def round_ended(self, result: RoundResult) -> None:
        """A round is over; on a terminal its table stays."""
        if self._live is not None:
            self._console.print(round_table(result.round, result.parent, result.candidates, result.best))
        best = f"{result.best} is the next parent" if result.best else "nothing was gained"
        self._line(f"round {result.round}: {best}")

    def say(self, line: str) -> None:
        """Something else that a reader wants to know."""
        self._line(line)
        self._rows = []
        self._status(line)

    def step(self, line: str) -> None:
        """A passing step; it is shown on a terminal, or if asked for."""
        if line and self._live is not None:
            self._step = line
            self._show()
        elif line and self._verbose:
            self._line(line)

    def _line(self, line: str) -> None:
        if not self._quiet:
            self._console.print(_text(line))

    def _status(self, doing: str) -> None:
        self._doing, self._step = doing, ""
        self._show()

    def _show(self) -> None:
        if self._live is None:
            return
        number, parent = self._round
        shown = Table.grid()
        if self._rows:
            shown.add_row(round_table(number, parent, self._rows, None))
        shown.add_row(_text(f"{self._doing}  {self._step}", "dim"))
        self._live.update(shown)


def render_refinement(refinement: Refinement, colour: bool) -> str:
    """The summary: rounds, start to final, references, the code, the patch, what it cost, why it ended."""
    return render(lambda console: _draw(console, refinement), colour=colour)


def round_table(number: int, parent: str, candidates: Iterable[CandidateResult], best: str | None) -> Table:
    """The candidates of a round."""
    table = Table(
        title=f"round {number}, from {parent}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for heading in ("candidate", "verdict", "why", "time", "peak memory"):
        table.add_column(heading, overflow="fold")
    for candidate in candidates:
        style = "green" if candidate.accepted else ""
        mark = " *" if candidate.id == best else ""
        table.add_row(
            _text(label(candidate) + mark, style=style),
            _text("accepted" if candidate.accepted else "rejected", style=style),
            _text(_why(candidate)),
            _text(ratio(candidate.time)),
            _text(ratio(candidate.memory)),
        )
    return table


def label(candidate: CandidateResult) -> str:
    """A candidate's id, with its origin where that says more."""
    return candidate.id if candidate.origin == candidate.id else f"{candidate.id} ({candidate.origin})"


def ratio(figure: Compared | None) -> str:
    """A ratio in words with its 95% interval: `3.10x less (2.91x to 3.30x less)`."""
    if figure is None:
        return "-"
    if figure.ratio is None and figure.after == 0:
        return "none, as before"
    if figure.ratio is None:
        return f"{format_bytes(figure.after)} more than nothing"
    text, interval = format_ratio(figure.ratio), figure.ratio_ci
    return text if interval is None else f"{text} ({format_ratio_range(interval.low, interval.high)})"


def cost(found: Standing) -> str:
    """Cost at the largest scale and cells passed, in one line."""
    last = found.scales[-1] if found.scales else None
    parts = [found.status]
    if last is not None:
        cpu = "CPU not known" if last.cpu_ns is None else f"{format_ns(last.cpu_ns)} of CPU"
        peak = "peak not known" if last.peak_bytes is None else f"{format_bytes(last.peak_bytes)} at the peak"
        parts.append(f"{cpu}, {peak} at size {last.size:,}")
    if found.cells:
        parts.append(f"{found.cells_passed} of {found.cells} cells of its time-and-memory grid")
    return "; ".join(parts)


def spent(spend: Spend) -> str:
    """Tokens and cost in one line."""
    calls = f"{spend.calls} call{'' if spend.calls == 1 else 's'}"
    if not spend.counted:
        return f"{calls}; tokens and cost are not known here"
    about = "about " if spend.estimated else ""
    usd = (
        "cost unknown (no price is known; --price IN OUT gives one)"
        if spend.usd is None
        else f"{spend.usd:.4f} USD"
    )
    return f"{calls}, {about}{spend.tokens_in:,} tokens in, {spend.tokens_out:,} out, {usd}"


def _draw(console: Console, refinement: Refinement) -> None:
    final = refinement.final
    console.print(
        _text(f"refine {refinement.target} ({refinement.language}), {refinement.source_note}", "bold")
    )
    for found in refinement.rounds:
        console.print(round_table(found.round, found.parent, found.candidates, found.best))
    console.print(_text(f"start  {cost(refinement.initial)}"))
    if final.standing is not None and final.id != refinement.initial.id:
        console.print(_text(f"final  {cost(final.standing)}"))
    console.print(_text(headline(refinement), "bold green" if final.time or final.memory else "bold"))
    if final.note:
        console.print(_text(f"note: {final.note}"))
    for line in _references(final.standing):
        console.print(_text(line))
    if refinement.patch:
        console.rule("final program", align="left", style="dim")
        console.print(_text(final.code.rstrip()), soft_wrap=True)
        console.rule("patch", align="left", style="dim")
        console.print(_text(refinement.patch.rstrip()), soft_wrap=True)
        console.rule(style="dim")
    console.print(_text(f"stopped: {refinement.stop_reason} ({refinement.stop_detail})"))
    if refinement.spend.calls:
        console.print(_text(f"asked: {spent(refinement.spend)}"))
    if refinement.run_dir:
        console.print(_text(f"kept in {refinement.run_dir}"), soft_wrap=True)
    meters = f"time {refinement.time_meter} · memory {refinement.memory_meter}"
    console.print(_text(f"isolation {refinement.isolation} · {meters}", style="dim"))


def headline(refinement: Refinement) -> str:
    """The result in one sentence."""
    final = refinement.final
    if final.id == refinement.initial.id:
        return "nothing better was found: the start stands"
    how = {"fresh-seeds": "confirmed on fresh inputs", "same-inputs": "confirmed in a race of its own"}
    state = how.get(final.verified, "confirmed") if final.confirmed else "not confirmed"
    return (
        f"start -> {final.id}: time {ratio(final.time)}, peak memory {ratio(final.memory)}; "
        f"{state}; intervals are 95%"
    )


def _references(found: Standing | None) -> list[str]:
    if found is None:
        return []
    return [
        f"against {distance.reference}: time {ratio(distance.time)}, peak memory {ratio(distance.memory)}"
        for distance in found.references
    ]


def _text(text: str, style: str = "") -> Text:
    """Text as it stands: no markup, and nothing of a stranger's that a terminal would obey."""
    return Text(printable(text), style)


def _why(candidate: CandidateResult) -> str:
    if candidate.time is None and candidate.memory is None:
        return f"{candidate.reason}: {_cut(candidate.detail)}"
    # The figures stand in columns of their own; what the reason adds to them follows a semicolon.
    _, _, more = candidate.detail.partition("; ")
    return f"{candidate.reason}: {_cut(more)}" if more else str(candidate.reason)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_DETAIL else text[: _MAX_DETAIL - 3] + "..."
