"""`best-agent measure`: time and memory of a function on inputs of growing size."""

import argparse

from best_agent.cli.common import emit
from best_agent.cli.compare import exit_code
from best_agent.cli.own_code import add_shared_flags, request, system
from best_agent.model.run import Isolation
from best_agent.pipeline import own_code
from best_agent.report.envelope import envelope
from best_agent.report.own_code import absolute, meters
from best_agent.workload.figures import Absolute
from best_agent.workload.target import parse

_DESCRIPTION = """\
Measure a function in your own interpreter on inputs of growing size: CPU and wall time, peak memory, memory
kept after each call, and how they grow. Your code runs as pytest runs it: not isolated.

examples:
  best-agent measure src/pkg/text.py::dedupe
  best-agent measure src/pkg/text.py::Index.lookup@v1.2 --workload benchmarks/bench_text.py
  best-agent measure text.py::dedupe --call "dedupe(['a'] * {n})" --sizes 1000,10000,100000

To compare two states of a function use compare: figures of two runs of measure are not comparable.

Exit codes: 0 measured, 2 usage, 3 not measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `measure`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "target", metavar="TARGET", help="FILE::NAME[@REV]; REV: git revision, index, worktree"
    )
    add_shared_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and show."""
    asked = request(args)
    found = own_code.measure(parse(args.target), asked)
    asked.progress("")
    document = envelope(
        "measure",
        results=[absolute(found)],
        summary={"status": found.status.value, "verdict": found.verdict},
        isolation=Isolation.NONE.value,
        meters=meters(found.conditions, found.sizes),
    )
    emit(args, document, lambda colour: _text(found, colour))
    return exit_code(found.status)


def _text(found: Absolute, colour: bool) -> str:
    from best_agent.report.console.compare import absolute_text  # rich is loaded for text only

    return absolute_text(found, system(), colour=colour)
