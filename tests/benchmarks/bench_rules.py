"""What each rule's rewrite brings: bad and fixed in one run, CPU time and tracemalloc peak.

Run it as a program: `python tests/benchmarks/bench_rules.py [ID...]`. It ends with 1 if a rule brings less
than 1.5x on its own axis, or less than half of the gain that it claims.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from best_agent.analysis import analyse
from best_agent.rules.registry import Rule, rules_for
from best_agent.rules.rewrites import rewritten

LEAST_GAIN = 1.5
ROUNDS = 5


def fixed(rule: Rule) -> str:
    """The first bad example with its fix made."""
    source = rule.bad[0].encode()
    finding = next(f for f in analyse(source, "python") if f.rule == rule.id and f.fix is not None)
    return rewritten(source, finding).decode()


def load(source: str, name: str) -> Callable[..., Any]:
    """A function that a source defines."""
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)
    return namespace[name]


def cpu_ns(function: Callable[..., Any], make: Callable[[int], Any], size: int) -> int:
    """CPU time of one call on a fresh input."""
    arguments = make(size)
    start = time.process_time_ns()
    function(*arguments)
    return time.process_time_ns() - start


def peak_bytes(function: Callable[..., Any], make: Callable[[int], Any], size: int) -> int:
    """The most that one call held at a time, beyond its input."""
    arguments = make(size)
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(rule: Rule) -> tuple[float, float]:
    """How many times more time and memory the bad example takes than the fixed one."""
    make = load(rule.workload, "make")
    bad, good = load(rule.bad[0], "f"), load(fixed(rule), "f")
    pairs = [(cpu_ns(bad, make, rule.size), cpu_ns(good, make, rule.size)) for _ in range(ROUNDS)]
    ratios = sorted(before / max(after, 1) for before, after in pairs)
    memory = peak_bytes(bad, make, rule.size) / max(peak_bytes(good, make, rule.size), 1)
    return ratios[ROUNDS // 2], memory


def main(ids: list[str]) -> int:
    """Print the table."""
    version = ".".join(map(str, sys.version_info[:3]))
    sys.stdout.write(f"CPython {version}; before / after, median of {ROUNDS} pairs; own axis starred\n")
    failed = False
    for rule in rules_for("python"):
        if ids and rule.id not in ids:
            continue
        time_ratio, memory_ratio = measure(rule)
        own = time_ratio if rule.kind == "time" else memory_ratio
        marks = ("*", " ") if rule.kind == "time" else (" ", "*")
        low = own < LEAST_GAIN or own < rule.gain / 2
        failed |= low
        sys.stdout.write(
            f"{rule.id}  {rule.name:40} n={rule.size:<7} time {time_ratio:9.2f}x{marks[0]} "
            f"memory {memory_ratio:9.2f}x{marks[1]} claimed {rule.gain:g}x{'  LOW' if low else ''}\n"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
