"""`best-agent run`: judge a program on a task, or run any program isolated and report its usage."""

import argparse
import sys
from pathlib import Path

from best_agent.cli.common import (
    add_isolation_flag,
    add_output_flags,
    add_seed_flag,
    emit,
    positive_float,
    progress_writer,
    size,
)
from best_agent.cli.main import EXIT_CLEAN, EXIT_FINDINGS
from best_agent.errors import UsageError
from best_agent.model.run import Limits, Meter, Status
from best_agent.pipeline.protocol import PROTOCOLS

_DESCRIPTION = """\
With --task: judge FILE on a task of the catalogue. Every case is run isolated, its time and peak memory
are read from outside, and it is run in turn with each reference, so the ratios are of one machine at one
time. Without --task: run any program isolated and report what it used, the start of its runtime
included. Sources in C, C++, Java, Rust and Go are built first, isolated too; nothing is fetched. Java and
node are told to keep their heap within --memory-limit.

examples:
  best-agent run solution.py --task pair-sums
  best-agent run solution.cpp --task 16 --tasks best:path/to/BEST
  best-agent run program.py < input.txt
  best-agent run program.rs < input.txt
  best-agent run ./a.out --stdin input.txt --time-limit 5 --memory-limit 256MiB

Exit codes: 0 ok, 1 any other status of the program, 2 usage, 3 not measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `run`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="the program: .py, .cpp; without --task also .c, .js, .java, .rs, .go or an executable",
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="arguments of the program, without --task; after --"
    )
    parser.add_argument(
        "--task", metavar="ID", help="the task to judge it on; `best-agent tasks list` shows them"
    )
    parser.add_argument(
        "--tasks", metavar="SPEC", help="where tasks come from: best:DIR or a folder; default: the catalogue"
    )
    parser.add_argument("--language", metavar="NAME", help="python or cpp; default: by the file's suffix")
    parser.add_argument("--entry", default="solve", help="function or method that is called (default: solve)")
    parser.add_argument(
        "--protocol", choices=tuple(PROTOCOLS), default="default", help="how it is judged; docs/scoring.md"
    )
    parser.add_argument(
        "--no-race", action="store_true", help="only the verdict and the grid, no paired ratios: quick"
    )
    parser.add_argument(
        "--stdin", type=Path, metavar="FILE", help="standard input, without --task; default: ours if piped"
    )
    parser.add_argument(
        "--time-limit",
        type=positive_float,
        metavar="S",
        default=10.0,
        help="CPU seconds of a run (default: 10)",
    )
    parser.add_argument(
        "--memory-limit", type=size, metavar="SIZE", help="memory of a run, without --task (default: 1GiB)"
    )
    add_isolation_flag(parser)
    add_seed_flag(parser)
    add_output_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Dispatch to the two uses of the verb."""
    if not args.file.is_file():
        raise UsageError(f"there is no file {args.file}")
    return _on_task(args) if args.task else _isolated(args)


def _on_task(args: argparse.Namespace) -> int:
    from best_agent import languages
    from best_agent.catalogue.locate import open_set
    from best_agent.pipeline import protocol
    from best_agent.pipeline.sources import load_source
    from best_agent.pipeline.task_run import run_on_task
    from best_agent.pipeline.trial import Trial
    from best_agent.report.console.task_run import render_task_run
    from best_agent.report.envelope import envelope
    from best_agent.report.task_run import results, summary
    from best_agent.sandbox.probe import choose

    if args.arguments or args.stdin:
        raise UsageError("with --task the input is the task's own: leave out arguments and --stdin")
    task = open_set(args.tasks).load(args.task)
    candidate = load_source(args.file, args.language, entry=args.entry)
    missing = languages.get(candidate.language).missing_tool()
    if missing:
        raise UsageError(missing)
    progress = progress_writer(args)
    trial = Trial(
        task,
        candidate.language,
        protocol=protocol.get(args.protocol),
        isolation=choose(args.isolation),
        seed=args.seed,
        time_limit_s=args.time_limit,
        progress=progress,
    )
    with trial:
        verdict = run_on_task(trial, candidate, race=not args.no_race, progress=progress)
    progress("")
    payload = envelope(
        "run",
        results=results(verdict),
        summary=summary(verdict),
        isolation=verdict.candidate.isolation,
        meters={"time": verdict.candidate.time_meter, "memory": verdict.candidate.memory_meter},
    )
    emit(args, payload, lambda colour: render_task_run(verdict, colour))
    return EXIT_CLEAN if verdict.candidate.status is Status.OK else EXIT_FINDINGS


def _isolated(args: argparse.Namespace) -> int:
    from best_agent.pipeline.isolated import run_isolated
    from best_agent.report.console.isolated import render_isolated
    from best_agent.report.envelope import envelope
    from best_agent.report.isolated import results
    from best_agent.sandbox.probe import choose

    bounds = Limits(cpu_ns=round(args.time_limit * 1e9), wall_ns=round(args.time_limit * 3e9))
    if args.memory_limit:
        bounds = Limits(cpu_ns=bounds.cpu_ns, wall_ns=bounds.wall_ns, memory_bytes=args.memory_limit)
    outcome = run_isolated(
        args.file,
        stdin=_stdin(args.stdin),
        isolation=choose(args.isolation),
        limits=bounds,
        arguments=tuple(args.arguments),
    )
    payload = envelope(
        "run",
        results=results(outcome),
        summary={"status": outcome.status},
        isolation=outcome.isolation,
        meters={
            "time": Meter.UNAVAILABLE if outcome.cpu_ns is None else Meter.EXACT,
            "memory": outcome.memory_meter,
        },
    )
    emit(args, payload, lambda colour: render_isolated(outcome, colour))
    return EXIT_CLEAN if outcome.status is Status.OK else EXIT_FINDINGS


def _stdin(path: Path | None) -> bytes:
    if path is not None:
        try:
            return path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
