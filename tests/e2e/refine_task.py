"""A small task of our own format on which a whole `refine` takes seconds, and programs for it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TASK = """\
title = "First seen"
difficulty = "easy"
categories = ["hashing"]
mode = "function"
entry = "solve"
sizes = [50, 200, 800]
space_levels = 2

[signature]
parameters = [["numbers", "list[int]"]]
returns = "list[int]"

[[reference]]
file = "reference_fast.py"
claimed_time = "O(n)"
claimed_space = "O(n)"

[naive]
files = ["naive.py"]

[limits.python]
memory_kb = [[512, 16], [2048, 64], [8192, 256]]
time_factor = 4.0
"""
GENERATOR = """\
import random


def generate(n, seed):
    rng = random.Random(seed)
    return ([rng.randrange(n) for _ in range(n)],)
"""
REFERENCE = "def solve(numbers):\n    return list(dict.fromkeys(numbers))\n"
NAIVE = """\
def solve(numbers):
    copies = [list(numbers) for _ in range(60)]
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
    copies = [list(numbers) for _ in range(50)]
    return list(dict.fromkeys(numbers))
"""
LEANER = """\
def solve(numbers):
    kept = []
    for number in numbers:
        if number not in kept:
            kept.append(number)
    return kept
"""
SLOWER = NAIVE.replace("        for other in kept:", "        for other in kept + kept + kept:")
WRONG = "def solve(numbers):\n    return sorted(set(numbers))\n"
SPYING = "import os\n\n\ndef solve(numbers):\n    raise ValueError(sorted(os.environ.items()))\n"
RULED = """\
def solve(numbers):
    kept = []
    waiting = list(numbers)
    while waiting:
        number = waiting.pop(0)
        if number not in kept:
            kept.append(number)
    return kept
"""


def write_tasks(root: Path) -> Path:
    """A folder that --tasks takes, with the task `first-seen`."""
    folder = root / "tasks" / "first-seen"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    (folder / "statement.md").write_text(
        "# First seen\n\nThe numbers without repeats, in the order they came.\n"
    )
    (folder / "generate.py").write_text(GENERATOR)
    (folder / "reference_fast.py").write_text(REFERENCE)
    (folder / "naive.py").write_text(NAIVE)
    return folder.parent


def arguments(root: Path, *more: str) -> list[str]:
    """The command line of a `refine` on the task."""
    return [
        *(sys.executable, "-m", "best_agent", "refine", "--task", "first-seen"),
        *("--tasks", str(root / "tasks"), *more),
    ]


def environment(**more: str) -> dict[str, str]:
    """An environment without keys, whatever the tests' own has."""
    kept = {name: value for name, value in os.environ.items() if "KEY" not in name and "OPENAI" not in name}
    return {**kept, **more}


def best_agent(root: Path, command: Sequence[str], **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end."""
    return subprocess.run(command, cwd=root, env=environment(**more), capture_output=True, text=True)
