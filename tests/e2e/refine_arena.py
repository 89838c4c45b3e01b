"""A small but real arena for tests of the loop: programs run in a process of their own and are measured.

Time is the number of bytecodes executed, so that the same program always costs the same; memory is the
peak that tracemalloc sees. The task: the numbers of a list without repeats, in the order they came.
"""

import functools
import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from best_agent.errors import MeasureError
from best_agent.model.measurement import Compared, Interval
from best_agent.model.run import Isolation, Meter, Status
from best_agent.model.task import Source
from best_agent.model.verdict import CaseVerdict, Contest, PairedCase, ProgramVerdict, Shown
from best_agent.refine.contract import Assessment, Problem

SIZES = (40, 80, 160)
_RUNNER = """
import json, sys, tracemalloc
question = json.load(sys.stdin)
space = {"__name__": "candidate"}
exec(compile(question["code"], "candidate", "exec"), space)
solve = space["solve"]
count = 0
def trace(frame, event, argument):
    global count
    frame.f_trace_opcodes = True
    count += event == "opcode"
    return trace
lines = []
for numbers in question["inputs"]:
    count = 0
    sys.settrace(trace)
    answer = solve(list(numbers))
    sys.settrace(None)
    tracemalloc.start()
    solve(list(numbers))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lines.append([answer, count, peak])
print(json.dumps(lines))
"""

NAIVE = """\
def solve(numbers):
    copies = [list(numbers) for _ in range(30)]
    kept = []
    for number in numbers:
        found = False
        for other in kept:
            if other == number:
                found = True
        if not found:
            kept.append(number)
    return kept
"""
FASTER = """\
def solve(numbers):
    copies = [list(numbers) for _ in range(30)]
    kept = []
    for number in numbers:
        if number not in kept:
            kept.append(number)
    return kept
"""
LEANER = NAIVE.replace("    copies = [list(numbers) for _ in range(30)]\n", "    pass\n")
BEST = FASTER.replace("    copies = [list(numbers) for _ in range(30)]\n", "")
SLOWER = NAIVE.replace(
    "            if other == number:", "            same = other == number\n            if same:"
)
LEAN_BUT_SLOW = SLOWER.replace("    copies = [list(numbers) for _ in range(30)]\n", "")
WRONG = "def solve(numbers):\n    return sorted(set(numbers))\n"
CRASHING = "def solve(numbers):\n    return numbers[len(numbers)]\n"
BROKEN = "def solve(numbers):\n    return (\n"
SAME_AS_NAIVE = '"""Improved!"""\n' + NAIVE.replace("    kept = []", "    # nothing kept yet\n    kept = [ ]")


def hard_coded(seed: int = 1) -> str:
    """A program that knows the answers to the inputs of one seed, and nothing else."""
    known = {tuple(numbers): list(dict.fromkeys(numbers)) for numbers in _inputs(seed)}
    return f"KNOWN = {known!r}\n\n\ndef solve(numbers):\n    return list(KNOWN.get(tuple(numbers), ()))\n"


def problem() -> Problem:
    return Problem(
        id="first-seen",
        title="First seen",
        statement="Return the numbers without repeats, in the order they first came.",
        language="python",
        entry="solve",
        mode="function",
        sizes=SIZES,
        time_limits=("1 s",) * len(SIZES),
        memory_limits=((1 << 20, 1 << 14),) * len(SIZES),
    )


def start(code: str = NAIVE) -> Source:
    return Source(id="naive.py", language="python", text=code)


@dataclass(kw_only=True)
class CountingArena:
    """`before_race`: called before every race, to interrupt or fail it."""

    seed: int = 1
    before_race: Callable[[Source, Source], None] = lambda _before, _after: None
    confirm_with: Callable[[Source], Source] = lambda source: source
    """What is raced in the confirmation instead of the candidate, to let it fail."""
    assessed: list[str] = field(default_factory=list)

    @property
    def problem(self) -> Problem:
        return problem()

    def judge(self, candidate: Source) -> ProgramVerdict:
        self.assessed.append(candidate.id)
        return self._verdict(candidate, self.seed)

    def assess(self, candidate: Source) -> Assessment:
        verdict = self.judge(candidate)
        if verdict.status is not Status.OK:
            return Assessment(verdict=verdict)
        reference = Source(id="expert", language="python", text=BEST)
        return Assessment(
            verdict=verdict, against_references=(self._contest(reference, candidate, self.seed),)
        )

    def race(self, before: Source, after: Source, *, share: float = 1.0, also: Sequence[int] = ()) -> Contest:
        assert 0 < share <= 1
        assert set(also) < set(range(1, len(SIZES) + 1))
        self.before_race(before, after)
        return self._contest(before, after, self.seed)

    def confirm(self, before: Source, after: Source) -> tuple[Contest, str]:
        fresh, raced = self.seed + 1000, self.confirm_with(after)
        if any(self._verdict(source, fresh).status is not Status.OK for source in (before, raced)):
            return Contest(baseline=before.id, cases=(), scale=None, time=None, memory=None), "fresh-seeds"
        return self._contest(before, raced, fresh), "fresh-seeds"

    def _verdict(self, source: Source, seed: int) -> ProgramVerdict:
        measured = _measure(source.text, seed)
        if isinstance(measured, str):
            status = Status.COMPILE_ERROR if "SyntaxError" in measured else Status.RUNTIME_ERROR
            cases = (CaseVerdict(case="1", scale=1, status=status, detail=measured),)
            return ProgramVerdict(
                id=source.id, language="python", status=status, detail=measured, cases=cases
            )
        cases = tuple(
            _case(index, numbers, *figures)
            for index, (numbers, figures) in enumerate(zip(_inputs(seed), measured, strict=True), start=1)
        )
        bad = next((case for case in cases if case.status is not Status.OK), None)
        return ProgramVerdict(
            id=source.id,
            language="python",
            status=Status.OK if bad is None else bad.status,
            detail="" if bad is None else bad.detail,
            cases=cases,
            grid=tuple(
                tuple(
                    case.status is Status.OK and (case.peak_bytes or 0) <= limit
                    for limit in (1 << 20, 1 << 14)
                )
                for case in cases
            ),
            isolation=Isolation.NONE,
            time_meter=Meter.EXACT,
            memory_meter=Meter.EXACT,
        )

    def _contest(self, before: Source, after: Source, seed: int) -> Contest:
        first, second = _measure(before.text, seed), _measure(after.text, seed)
        if isinstance(first, str) or isinstance(second, str):
            raise MeasureError(f"a race of programs that do not run: {first} {second}")
        time, memory = (
            _compared(float(first[-1][1]), float(second[-1][1]), noise=0.01),
            _compared(float(first[-1][2]), float(second[-1][2]), noise=0.0),
        )
        return Contest(
            baseline=before.id,
            cases=(PairedCase(case="3", scale=3, time=time, wall=None, memory=memory),),
            scale=3,
            time=time,
            memory=memory,
            time_shown=_shown(time, 0.01),
            memory_shown=_shown(memory, 0.05),
        )


def _inputs(seed: int) -> list[list[int]]:
    drawn = random.Random(seed)
    return [[drawn.randrange(size) for _ in range(size)] for size in SIZES]


@functools.cache  # the same program costs the same bytecodes every time
def _measure(code: str, seed: int) -> list[tuple[object, int, int]] | str:
    question = json.dumps({"code": code, "inputs": _inputs(seed)})
    ended = subprocess.run(
        [sys.executable, "-I", "-c", _RUNNER], input=question, capture_output=True, text=True
    )
    if ended.returncode != 0:
        return ended.stderr.strip().splitlines()[-1]
    return [(answer, count, peak) for answer, count, peak in json.loads(ended.stdout)]


def _case(scale: int, numbers: list[int], answer: object, count: int, peak: int) -> CaseVerdict:
    right = answer == list(dict.fromkeys(numbers))
    return CaseVerdict(
        case=str(scale),
        scale=scale,
        status=Status.OK if right else Status.WRONG_ANSWER,
        detail="" if right else f"expected {numbers[0]} first, got something else",
        answered=right,
        cpu_ns=count * 100,
        peak_bytes=peak,
        memory_meter=Meter.EXACT,
    )


def _compared(before: float, after: float, *, noise: float) -> Compared:
    ratio = after / before
    interval = Interval(low=ratio * (1 - noise), high=ratio * (1 + noise)) if noise else None
    return Compared(before=before, after=after, ratio=ratio, ratio_ci=interval, meter=Meter.EXACT, n=5)


def _shown(figure: Compared, effect: float) -> Shown:
    assert figure.ratio is not None
    if figure.ratio < 1 - effect:
        return "less"
    return "more" if figure.ratio > 1 + effect else "none"
