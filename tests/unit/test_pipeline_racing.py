import itertools
from collections.abc import Sequence

import pytest

from best_agent.measure.sequential import Plan
from best_agent.model.measurement import Compared
from best_agent.model.run import Limits, Meter, Phase, Run, Status
from best_agent.model.task import Case, Mode, Source
from best_agent.pipeline.racing import PAGED_RESOLUTION, TRACED_RESOLUTION, Lane, Race, memory_shown
from best_agent.sandbox.contract import Program
from best_agent.units import KIB


class Scripted:
    """A contestant whose readings are written down; they repeat from the start when they run out."""

    def __init__(
        self, name: str, cpu_ms: Sequence[float], peak: int = 100 * KIB, answer: bytes = b"1"
    ) -> None:
        self.source = Source(id=name, language="python", text=name)
        self.program = Program(language="python", mode=Mode.FUNCTION, memory_pass=True)
        self.runs = 0
        self._cpu_ms = itertools.cycle(cpu_ms)
        self._peak = peak
        self._answer = answer

    def timed(self, stdin: bytes, limits: Limits) -> Run:
        self.runs += 1
        phase = Phase(cpu_ns=1_000_000, minor_faults=10)
        cpu_ns = round(next(self._cpu_ms) * 1e6)
        return Run(
            status=Status.OK, cpu_ns=cpu_ns, wall_ns=cpu_ns, answer=self._answer, load=phase, write_out=phase
        )

    def peak(self, case: Case, stdin: bytes, limits: Limits, timed: Run) -> Run:
        return Run(status=Status.OK, peak_bytes=self._peak, memory_meter=Meter.EXACT)


def wrong(case: Case, answer: bytes) -> str | None:
    return None if answer == b"1" else "expected 1"


def lanes(*scales: int) -> list[Lane]:
    return [
        Lane(case=Case(id=f"{scale}.{n}", scale=scale, stdin=b""), stdin=b"", limits=Limits())
        for n, scale in enumerate(scales)
    ]


NOISE = [10.0, 10.3, 9.8, 10.1, 9.9]


def race(before: Scripted, after: Scripted, *scales: int):
    return Race(before, after, lanes(*scales), wrong).run(Plan(), budget_s=60)  # type: ignore[arg-type]  # scripted


def test_the_largest_scale_decides() -> None:
    found = race(Scripted("a", NOISE), Scripted("b", [x / 3 for x in NOISE]), 1, 2, 2)
    assert found.scale == 2
    assert found.time_shown == "less"
    assert found.time is not None
    assert found.time.ratio == pytest.approx(1 / 3, rel=0.05)
    assert [case.scale for case in found.cases] == [1, 2, 2]


def test_equal_programs_show_nothing_and_take_every_pair() -> None:
    before, after = Scripted("a", NOISE), Scripted("b", NOISE[::-1])
    found = race(before, after, 1)
    assert found.time_shown == "none"
    assert found.time is not None
    assert found.time.n == Plan().cap


@pytest.mark.parametrize(("least", "pairs"), [(1, 3), (4, 4), (5, 5)])
def test_a_spent_budget_ends_a_race_but_not_below_the_least_pairs(least: int, pairs: int) -> None:
    before, after = Scripted("a", NOISE), Scripted("b", NOISE[::-1])
    entry = Race(before, after, lanes(1), wrong)  # type: ignore[arg-type]  # scripted
    found = entry.run(Plan(), budget_s=0, least_pairs=least)
    assert found.time is not None
    assert found.time.n == pairs


def test_a_call_too_small_for_the_clock_shows_nothing() -> None:
    found = race(Scripted("a", [0.0]), Scripted("b", [1.0]), 1)
    assert found.time_shown == "none"
    assert found.time is not None
    assert found.time.ratio_ci is None


def test_a_wrong_answer_in_the_race_drops_the_case_with_its_reason() -> None:
    found = race(Scripted("a", NOISE), Scripted("b", NOISE, answer=b"2"), 1)
    assert found.time is None
    assert found.time_shown == "none"
    assert "b answered wrongly" in found.cases[0].reason


def test_no_common_case_is_no_race() -> None:
    found = race(Scripted("a", NOISE), Scripted("b", NOISE))
    assert (found.scale, found.time, found.cases) == (None, None, ())


def quantity(before: float, after: float, meter: Meter = Meter.EXACT) -> Compared:
    return Compared(
        before=before, after=after, ratio=after / before if before else None, ratio_ci=None, meter=meter, n=5
    )


@pytest.mark.parametrize(
    ("found", "resolution", "shown"),
    [
        (None, TRACED_RESOLUTION, "none"),
        (quantity(100_000, 50_000), TRACED_RESOLUTION, "less"),
        (quantity(100_000, 200_000), TRACED_RESOLUTION, "more"),
        (quantity(100_000, 98_000), TRACED_RESOLUTION, "none"),
        (quantity(400, 100), TRACED_RESOLUTION, "none"),
        (quantity(2_000, 1_000), TRACED_RESOLUTION, "less"),
        (quantity(0, 100_000), TRACED_RESOLUTION, "more"),
        (quantity(100_000, 0), TRACED_RESOLUTION, "less"),
        (quantity(4_096, 8_192), PAGED_RESOLUTION, "none"),
        (quantity(8_192, 0), PAGED_RESOLUTION, "none"),
        (quantity(8_192, 20_480), PAGED_RESOLUTION, "more"),
        (quantity(100_000, 50_000, Meter.UNAVAILABLE), TRACED_RESOLUTION, "none"),
    ],
)
def test_a_peak_differs_beyond_the_meter_and_five_percent(
    found: Compared | None, resolution: int, shown: str
) -> None:
    assert memory_shown(found, resolution) == shown
