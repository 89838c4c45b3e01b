"""What `measure` and `compare` have in common on the command line."""

import argparse
import platform
from pathlib import Path

from best_agent.cli.common import (
    add_output_flags,
    add_seed_flag,
    positive_float,
    positive_int,
    progress_writer,
)
from best_agent.measure.intervals import MIN_PAIRS
from best_agent.pipeline.own_code import Request
from best_agent.pipeline.own_inputs import Wanted
from best_agent.workload import rounds


def add_shared_flags(parser: argparse.ArgumentParser) -> None:
    """Inputs, interpreter, limits and output."""
    inputs = parser.add_argument_group("inputs (default: the workload for the target in bench_*.py)")
    inputs.add_argument(
        "--workload", metavar="FILE[::FUNCTION]", help="a file with functions decorated with @workload"
    )
    inputs.add_argument("--call", metavar="CALL", help="a call written out; {n} is the size, {seed} the seed")
    inputs.add_argument(
        "--from-tests", action="store_true", help="inputs recorded from your tests that call the function"
    )
    inputs.add_argument(
        "--tests",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="with --from-tests: run these tests only",
    )
    inputs.add_argument(
        "--sizes", type=_sizes, metavar="N,N,...", help="sizes of the inputs (default: the workload's)"
    )
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PATH",
        help="the interpreter or environment that runs the code (default: the project's)",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_float,
        metavar="S",
        default=60.0,
        help="seconds that one call may take (default: 60)",
    )
    parser.add_argument(
        "--rounds",
        type=_rounds,
        metavar="N",
        default=12,
        help="at most so many rounds of fresh processes, at least 3 (default: 12); more see less",
    )
    add_seed_flag(parser)
    add_output_flags(parser)


def request(args: argparse.Namespace) -> Request:
    """What the flags say."""
    return Request(
        inputs=Wanted(
            workload=args.workload,
            call=args.call,
            from_tests=args.from_tests,
            tests=tuple(args.tests),
            sizes=args.sizes,
        ),
        python=args.python,
        seed=args.seed,
        time_limit=args.time_limit,
        budget=rounds.Budget(plan=rounds.plan(args.rounds)),
        progress=progress_writer(args),
    )


def system() -> str:
    """The machine in two words: `Linux x86_64`."""
    return f"{platform.system()} {platform.machine()}"


def _rounds(text: str) -> int:
    count = positive_int(text)
    if count < MIN_PAIRS:
        raise argparse.ArgumentTypeError(f"an interval needs at least {MIN_PAIRS} rounds")
    return count


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted({positive_int(part.strip().replace("_", "")) for part in text.split(",")}))
