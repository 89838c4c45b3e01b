"""Entry point: finds the verb, imports its module, and turns errors into one line and an exit code."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NamedTuple

from best_agent import __version__
from best_agent.cli.parser import VerbParser
from best_agent.errors import BestAgentError

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_NOT_MEASURED = 3
EXIT_INTERRUPTED = 130


class Verb(NamedTuple):
    """A verb of the command line. Its module has `add_arguments(parser)` and `run(args) -> int`."""

    name: str
    module: str
    group: str
    summary: str
    intermixed: bool = False
    """Positional arguments may follow flags, and what stands after `--` is the program's."""


VERBS = (
    Verb(
        "measure",
        "best_agent.cli.measure",
        "your code",
        "time and memory of a function on inputs of growing size",
    ),
    Verb("compare", "best_agent.cli.compare", "your code", "what an edit of a function costs or saves"),
    Verb(
        "refine",
        "best_agent.cli.refine",
        "your code",
        "improve a solution round by round from measured feedback",
    ),
    Verb(
        "run",
        "best_agent.cli.run",
        "benchmarks",
        "judge a program on a task, or run any program isolated",
        intermixed=True,
    ),
    Verb("report", "best_agent.cli.report", "benchmarks", "score and show existing results"),
    Verb("tasks", "best_agent.cli.tasks", "benchmarks", "list and show tasks"),
    Verb(
        "doctor",
        "best_agent.cli.doctor",
        "set-up",
        "what this machine offers, and what each missing part costs",
    ),
)
_GROUPS = ("your code", "benchmarks", "set-up")


def overview() -> str:
    """The text of `best-agent --help`."""
    lines = [
        "usage: best-agent VERB [options]",
        "",
        "Measures what a change costs or saves in time and memory, relative to a baseline measured in",
        "the same run, and helps to mend it.",
    ]
    for group in _GROUPS:
        lines += ["", f"{group}:"]
        lines += [f"  {verb.name:<9} {verb.summary}" for verb in VERBS if verb.group == group]
    lines += [
        "",
        "Each verb explains itself: best-agent VERB --help",
        "Exit codes: 0 clean, 1 findings or a failed verdict, 2 usage, 3 not measured, 130 interrupted.",
    ]
    return "\n".join(lines)


def _dispatch(name: str, arguments: Sequence[str]) -> int:
    verb = next((verb for verb in VERBS if verb.name == name), None)
    if verb is None:
        known = ", ".join(verb.name for verb in VERBS)
        sys.stderr.write(f"best-agent: there is no verb '{name}'; the verbs are: {known}\n")
        return EXIT_USAGE
    module = importlib.import_module(verb.module)
    parser = VerbParser(prog=f"best-agent {verb.name}")
    module.add_arguments(parser)
    parse = parser.parse_intermixed_args if verb.intermixed else parser.parse_args
    code: int = module.run(parse(arguments))
    return code


def _answer(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(overview() + "\n")
        return EXIT_CLEAN if arguments else EXIT_USAGE
    if arguments[0] in ("-V", "--version"):
        sys.stdout.write(f"best-agent {__version__}\n")
        return EXIT_CLEAN
    return _dispatch(arguments[0], arguments[1:])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = _answer(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BestAgentError as error:
        sys.stderr.write(f"best-agent: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("best-agent: interrupted\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`| head`); keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CLEAN
    except Exception:  # noqa: BLE001  # the one boundary: a fault of ours is never a verdict
        traceback.print_exc()
        sys.stderr.write(
            "best-agent: internal error, a fault of best-agent and no verdict; please report it\n"
        )
        return EXIT_NOT_MEASURED
    return code


if __name__ == "__main__":
    raise SystemExit(main())
