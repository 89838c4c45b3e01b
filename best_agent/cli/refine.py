"""`best-agent refine`: improve a solution of a task round by round from measured feedback."""

import argparse
import sys
from pathlib import Path

from best_agent.cli.common import (
    add_isolation_flag,
    add_output_flags,
    add_seed_flag,
    check_output,
    emit,
    positive_float,
    positive_int,
)
from best_agent.cli.main import EXIT_CLEAN, EXIT_INTERRUPTED, EXIT_NOT_MEASURED
from best_agent.errors import UsageError
from best_agent.model.refinement import Objective, Refinement, StopReason

_DESCRIPTION = """\
Improve a solution of a task. Each round asks a source for whole programs, checks that they are right, runs
them in turn with the program they are to replace, and keeps the best one whose gain in time or in peak
memory is shown, with no loss in the other beyond 5%. The winner is measured again on fresh inputs, and that
figure is reported.

Proposals come from --model, --command or --candidates; with none of them from the built-in rewrite rules,
which are not a language model, need no key and no network.

examples:
  best-agent refine --task cold-reports
  best-agent refine --task pair-sums --start mine.py --candidates attempts/
  best-agent refine --task pair-sums --model openai/gpt-4o --max-usd 0.50
  best-agent refine --task pair-sums --model openai/local --api-base http://127.0.0.1:8000/v1
  best-agent refine --task pair-sums --command 'my-agent --quiet' --objective memory
  best-agent refine --task pair-sums --model openai/gpt-4o --dry-run
  best-agent refine --resume .best-agent/refine/pair-sums-1
"""
_EPILOG = """\
--command gets one JSON document on standard input (fields: round, language, entry, system, prompt, code) and
prints the program, or an answer with the program in a fenced block. Nothing printed: it has no more to say.

Every run is kept in its run directory, so that Ctrl-C or a kill loses nothing: --resume goes on, and no
answer is paid for twice. The final program and the patch lie there as well.

Exit codes: 0 also where nothing better was found; 1 no right program to start from was proposed; 2 usage, or
a source that is not set up right; 3 not measured, or the source failed; 130 interrupted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `refine`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("target", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--task", metavar="ID", help="the task; `best-agent tasks list` shows them")
    parser.add_argument("--tasks", metavar="SPEC", help="where tasks come from: best:DIR or a folder")
    parser.add_argument("--language", choices=("python", "cpp"), help="default: by --start, else python")
    parser.add_argument(
        "--start",
        type=Path,
        metavar="FILE",
        help="the program to improve; default: the task's naive solution",
    )
    _add_source_flags(parser)
    _add_rule_flags(parser)
    run = parser.add_argument_group("the run")
    run.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="where the run is kept; default: .best-agent/"
    )
    run.add_argument("--resume", type=Path, metavar="DIR", help="go on with the run that is kept there")
    run.add_argument(
        "--dry-run",
        action="store_true",
        help="show the first prompt and what leaves this machine; run nothing",
    )
    add_isolation_flag(parser)
    add_seed_flag(parser)
    add_output_flags(parser)


def _add_source_flags(parser: argparse.ArgumentParser) -> None:
    source = parser.add_argument_group("source of proposals (default: the built-in rules)")
    source.add_argument(
        "--model",
        action="append",
        metavar="NAME",
        help="a model by litellm's name; can be given several times",
    )
    source.add_argument("--api-base", metavar="URL", help="address of a server with the OpenAI chat protocol")
    source.add_argument("--samples", type=positive_int, metavar="N", help="answers a round of each model (1)")
    source.add_argument("--command", metavar="CMD", help="a program of yours that proposes; see below")
    source.add_argument("--candidates", type=Path, metavar="PATH", help="a file, or a folder of files")
    source.add_argument(
        "--answer-timeout",
        type=positive_float,
        metavar="S",
        help="seconds an answer may take (120; command: 300)",
    )
    source.add_argument(
        "--price",
        type=positive_float,
        nargs=2,
        metavar=("IN", "OUT"),
        help="USD per million tokens, for models whose price is not known",
    )


def _add_rule_flags(parser: argparse.ArgumentParser) -> None:
    rule = parser.add_argument_group("what counts, and when to stop")
    rule.add_argument(
        "--objective", choices=tuple(Objective), help="what has to be gained (both: either one)"
    )
    rule.add_argument(
        "--max-time-ratio", type=positive_float, metavar="R", help="how much time may grow for memory (1.05)"
    )
    rule.add_argument(
        "--max-memory-ratio",
        type=positive_float,
        metavar="R",
        help="how much memory may grow for time (1.05)",
    )
    rule.add_argument("--rounds", type=positive_int, metavar="N", help="at most so many rounds (8)")
    rule.add_argument("--patience", type=positive_int, metavar="N", help="rounds in a row without a gain (3)")
    rule.add_argument(
        "--max-tokens", type=positive_int, metavar="N", help="tokens that may be spent, in and out"
    )
    rule.add_argument("--max-usd", type=positive_float, metavar="USD", help="what may be spent")


def run(args: argparse.Namespace) -> int:
    """Refine, show the result, and say by the exit code how it ended."""
    from best_agent.cli import refine_setup as setup
    from best_agent.refine.proposals.base import SourceError

    if args.target is not None:
        raise UsageError(
            f"refine works on tasks so far, not yet on '{args.target}'; write --task ID (see `best-agent "
            "tasks list`), or measure an edit of your own with: best-agent compare"
        )
    plan = setup.prepare(args)
    if args.dry_run:
        sys.stdout.write(setup.dry_run(plan) + "\n")
        return EXIT_CLEAN
    check_output(args)
    refinement, failure = setup.execute(args, plan)
    if failure is not None and not refinement.rounds:
        raise SourceError(
            f"{failure}; nothing was proposed, the run is kept in {refinement.run_dir}",
            blame_configuration=failure.exit_code == SourceError("", blame_configuration=True).exit_code,
        )
    _emit(args, refinement)
    if failure is not None:
        sys.stderr.write(f"best-agent: {failure}\n")
        return failure.exit_code
    codes = {StopReason.INTERRUPTED: EXIT_INTERRUPTED, StopReason.NOT_MEASURED: EXIT_NOT_MEASURED}
    return codes.get(refinement.stop_reason, EXIT_CLEAN)


def _emit(args: argparse.Namespace, refinement: Refinement) -> None:
    from best_agent.cli.refine_setup import document
    from best_agent.report.console.refine import render_refinement

    emit(args, document(refinement), lambda colour: render_refinement(refinement, colour))
