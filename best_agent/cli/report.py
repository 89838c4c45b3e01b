"""`best-agent report`: score and show results that already exist. Nothing is run."""

import argparse
from pathlib import Path

from best_agent.cli.common import add_output_flags, emit, progress_writer
from best_agent.cli.main import EXIT_CLEAN
from best_agent.evaluate.sources import read_all
from best_agent.model.score import Protocol, ScoreTable
from best_agent.report import scores
from best_agent.report.console.report import scores_text
from best_agent.report.envelope import envelope
from best_agent.scoring.table import score

_DESCRIPTION = """\
Score existing results of models on a task set; nothing is run. RESULTS is a JSON file, or a folder
data/problems as the public harness of the BEST benchmark leaves it (or the checkout that holds it).
Several are taken as one task set; the same model twice on a task is an error.

examples:
  best-agent report results.json
  best-agent report path/to/BEST/data/problems --k 1,5,10
  best-agent report alpha.json beta.json --format markdown --output scores.md
  best-agent report results.json --protocol best-2026    the public harness's own numbers

Under the default protocol what is missing counts as failed, a task that no reference passes is excluded
and named, and no score exceeds 1. docs/scoring.md sets out every difference.

Exit codes: 0 scored, 2 usage, or results that cannot be scored.
"""
_MOST_K = 1_000_000


def _ks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= _MOST_K for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of whole numbers from 1, like 1,10")
    return tuple(sorted({int(part) for part in parts}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `report`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULTS", help="a JSON file or a data/problems folder"
    )
    parser.add_argument(
        "--protocol",
        choices=[protocol.value for protocol in Protocol],
        default=Protocol.DEFAULT.value,
        help="rules of scoring (default: default)",
    )
    parser.add_argument(
        "--k", type=_ks, default=(1, 10), metavar="K,K", help="sample counts of dual@k, ... (default: 1,10)"
    )
    add_output_flags(parser, ("text", "json", "csv", "markdown"))


def run(args: argparse.Namespace) -> int:
    """Read, score, show."""
    progress = progress_writer(args)
    results = read_all(args.results, progress)
    table = score(results, protocol=Protocol(args.protocol), ks=args.k, progress=progress)
    payload = envelope(
        "report",
        results=scores.results(table),
        summary=scores.totals(table),
        isolation=None,
        meters={"time": "unavailable", "memory": "unavailable"},
    )
    emit(args, payload, lambda colour: _render(table, args.format, colour=colour))
    return EXIT_CLEAN


def _render(table: ScoreTable, wanted: str, *, colour: bool) -> str:
    if wanted == "csv":
        return scores.as_csv(table)
    if wanted == "markdown":
        return scores.as_markdown(table)
    return scores_text(table, colour=colour)
