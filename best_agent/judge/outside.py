"""Work done outside of the measured call, seen as an excess over a baseline on the same input.

Driver and candidate share one process: code that solves while loading, returns a lazy result, or reports
`done` early moves its work into the phases around the call. The supervisor meters those phases too; a
baseline with the same driver, input and answer says what they cost an honest program.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from best_agent.model.run import Run

FLAG = "work-outside-region"
CPU_SLACK_NS = 2_000_000
"""Loading differs between honest programs by this much: their code is compiled there."""
CPU_FACTOR = 1.5
FAULT_SLACK = 64
FAULT_FACTOR = 1.1


class Excess(NamedTuple):
    """What a candidate did outside of the call beyond its baseline; zeros for honest programs."""

    cpu_ns: int
    minor_faults: int

    def __bool__(self) -> bool:
        return self.cpu_ns > 0 or self.minor_faults > 0


NOTHING = Excess(0, 0)


def excess(candidate: Sequence[Run], baseline: Sequence[Run]) -> Excess:
    """Median work of the candidate before and after the call that its baseline does not do.

    Runs without phases (program mode, runs that died early) have nothing outside of the call.
    """
    mine, theirs = _costs(candidate), _costs(baseline)
    if not mine or not theirs:
        return NOTHING
    cpu_ns = faults = 0
    for phase in (0, 1):
        cpu_ns += _beyond(
            [c[phase][0] for c in mine], [c[phase][0] for c in theirs], CPU_SLACK_NS, CPU_FACTOR
        )
        faults += _beyond(
            [c[phase][1] for c in mine], [c[phase][1] for c in theirs], FAULT_SLACK, FAULT_FACTOR
        )
    return Excess(cpu_ns, faults)


def _costs(runs: Sequence[Run]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [
        ((run.load.cpu_ns, run.load.minor_faults), (run.write_out.cpu_ns, run.write_out.minor_faults))
        for run in runs
        if run.load is not None and run.write_out is not None
    ]


def _beyond(mine: Sequence[int], theirs: Sequence[int], slack: int, factor: float) -> int:
    here, there = median(mine), median(theirs)
    return round(here - there) if here > there * factor + slack else 0
