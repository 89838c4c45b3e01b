"""Flags that mean the same in every verb, and the way results leave the tool."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from best_agent.errors import UsageError
from best_agent.model.run import Isolation
from best_agent.report.envelope import to_json
from best_agent.units import parse_size


def size(text: str) -> int:
    """An argparse type for sizes such as 64KiB."""
    try:
        return parse_size(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive_int(text: str) -> int:
    """An argparse type for whole numbers from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def positive_float(text: str) -> float:
    """An argparse type for numbers above 0."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def add_output_flags(parser: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    """--format, --output, --quiet and --verbose."""
    parser.add_argument(
        "--format", choices=formats, default="text", help="how the result is written (default: text)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the result to FILE instead of standard output"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--verbose", action="store_true", help="say more on standard error")


def add_isolation_flag(parser: argparse.ArgumentParser) -> None:
    """--isolation for verbs that run code which is not the user's own."""
    parser.add_argument(
        "--isolation",
        choices=("auto", *(level.value for level in Isolation)),
        default="auto",
        help="how the program is confined; auto takes the best that works here and never 'none'",
    )


def add_seed_flag(parser: argparse.ArgumentParser) -> None:
    """--seed for generated inputs."""
    parser.add_argument("--seed", type=int, default=1, help="seed of generated inputs (default: 1)")


def check_output(args: argparse.Namespace) -> None:
    """Refuse an output file that cannot be written, before anything long or paid is begun.

    Raises:
        UsageError: its folder is missing, or it is a folder, or it may not be written.
    """
    output: Path | None = args.output
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"--output {output}: it is a folder; name a file")
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        raise UsageError(f"--output {output}: it may not be written")


def emit(args: argparse.Namespace, payload: Mapping[str, Any], render: Callable[[bool], str]) -> None:
    """Write a result: the envelope as JSON, or the text of `render(colour)`.

    Raises:
        UsageError: the output file cannot be written.
    """
    output: Path | None = args.output
    colour = output is None and sys.stdout.isatty()
    text = to_json(payload) if args.format == "json" else render(colour)
    if output is None:
        sys.stdout.write(text.rstrip("\n") + "\n")
        sys.stdout.flush()
        return
    try:
        output.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}; nothing else was lost") from None


def progress_writer(args: argparse.Namespace) -> Callable[[str], None]:
    """Progress on standard error: one line that is rewritten on a terminal, silence with --quiet.

    An empty line ends it. Where standard error is no terminal, lines are written only with --verbose.
    """
    if args.quiet:
        return lambda _line: None
    if not sys.stderr.isatty():
        return print_line if args.verbose else (lambda _line: None)

    def rewrite(line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line[:120]}")
        sys.stderr.flush()

    return rewrite


def print_line(line: str) -> None:
    """Talk: a line on standard error; an empty one is left out."""
    if line:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
