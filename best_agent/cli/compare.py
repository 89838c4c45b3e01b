"""`best-agent compare`: what an edit of a function costs or saves."""

import argparse

from best_agent.cli.common import emit
from best_agent.cli.main import EXIT_CLEAN, EXIT_FINDINGS, EXIT_NOT_MEASURED
from best_agent.cli.own_code import add_shared_flags, request, system
from best_agent.model.run import Isolation
from best_agent.pipeline import own_code
from best_agent.report.envelope import envelope
from best_agent.report.own_code import comparison, meters
from best_agent.workload.figures import Comparison, State
from best_agent.workload.target import parse

_DESCRIPTION = """\
Measure two states of a function in turn, on equal inputs, in your own interpreter: CPU and wall time, peak
memory, memory kept after each call, and whether the results are the same. Every ratio is after / before.

  compare FILE::NAME           before: HEAD           after: the work tree
  compare FILE::NAME@REV       before: REV            after: the work tree
  compare A B                  before: A              after: B

REV is a git revision, `index` or `worktree`. NAME is a function or Class.method. As B, NAME@REV alone means
the file of A; alone, NAME is looked up in the repository. Your code runs as pytest runs it: not isolated.

examples:
  best-agent compare src/pkg/text.py::dedupe
  best-agent compare src/pkg/text.py::dedupe@main
  best-agent compare old.py::f new.py::f --call "f(list(range({n})))" --sizes 1000,10000,100000
  best-agent compare src/pkg/text.py::dedupe dedupe@index --workload benchmarks/bench_text.py

Inputs come from a workload file, bench_*.py beside the file or in benchmarks/, bench/ or tests/:
  from best_agent import workload

  @workload("src/pkg/text.py::dedupe", sizes=(1_000, 10_000, 100_000))
  def dedupe_input(n, seed):
      return ([i % 100 for i in range(n)],)     # positional arguments, or (args, kwargs)

Exit codes: 0 no regression, 1 a regression or different results, 2 usage, 3 not measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `compare`."""
    parser.description = _DESCRIPTION
    parser.add_argument("first", metavar="A", help="FILE::NAME[@REV]")
    parser.add_argument(
        "second", metavar="B", nargs="?", help="FILE::NAME[@REV] or NAME[@REV]; default: A in the work tree"
    )
    add_shared_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, show, and say by the exit code whether something got worse."""
    second = None if args.second is None else parse(args.second)
    asked = request(args)
    found = own_code.compare(parse(args.first), second, asked)
    asked.progress("")
    document = envelope(
        "compare",
        results=[comparison(found)],
        summary={"status": found.status.value, "verdict": found.verdict},
        isolation=Isolation.NONE.value,
        meters=meters(found.conditions, found.sizes or found.absolute),
    )
    emit(args, document, lambda colour: _text(found, colour))
    return exit_code(found.status)


def exit_code(status: State) -> int:
    """1 for what got worse, 3 for what could not be measured, else 0."""
    codes = {State.REGRESSION: EXIT_FINDINGS, State.NOT_MEASURED: EXIT_NOT_MEASURED}
    return codes.get(status, EXIT_CLEAN)


def _text(found: Comparison, colour: bool) -> str:
    from best_agent.report.console.compare import comparison_text  # rich is loaded for text only

    return comparison_text(found, system(), colour=colour)
