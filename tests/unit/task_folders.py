"""A valid task of our own format in a folder, to be spoilt in one place by each test."""

import csv
from pathlib import Path

TASK = """\
title = "Double"
difficulty = "easy"
categories = ["arithmetic"]
mode = "function"
entry = "solve"
sizes = [10, 100]
space_levels = 2

[signature]
parameters = [["values", "list[int]"]]
returns = "int"

[[reference]]
file = "reference_fast.py"
claimed_time = "O(n)"
claimed_space = "O(1)"

[naive]
files = ["naive.py"]

[limits.python]
memory_kb = [[64, 8], [640, 64]]
time_factor = 3.0
"""
GENERATOR = """\
import random


def generate(n, seed):
    rng = random.Random(seed)
    return ([rng.randint(0, 9) for _ in range(n)],)
"""
PROGRAM = "def solve(values):\n    return 2 * sum(values)\n"


def write_task(root: Path, task_id: str = "double") -> Path:
    """A folder with a task that loads without complaint."""
    folder = root / task_id
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    (folder / "statement.md").write_text("# Double\n\nUp to {size} numbers, within {memory_limit}.\n")
    (folder / "generate.py").write_text(GENERATOR)
    (folder / "reference_fast.py").write_text(PROGRAM)
    (folder / "naive.py").write_text(PROGRAM)
    return folder


def change(path: Path, old: str, new: str) -> None:
    """Replace a text that stands exactly once in a file."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new))


BEST_STD = """\
#include <bits/stdc++.h>
using namespace std;
class Solution {
public:
    int solve1(vector<int>& v) { return helper(v) + 0; }
    int solve2(vector<int>& v) { return solve1(v); }
    int helper(vector<int>& v) { return (int)v.size(); }
};
"""
BEST_TEST = """\
#include "std.h"
int main() { int n; cin >> n; vector<int> v(n); Solution solution; cout << solution.solve(v); }
"""
BEST_ROW = {
    "id": "7",
    "desc": (
        "# Problem Statement\nCount the numbers.\n\nn <= @data\n"
        "Time limit: @time_limit ms\nMemory limit: @memory_limit KB\n"
    ),
    "data": "[10, 100, 1000]",
    "time_limit": "1000.0",
    "memory_limit": "[[6400, 640, 64]]",
    "std": BEST_STD,
    "test": BEST_TEST,
    "cate": "math, sort",
    "difficulty": "Medium",
}


def write_best(root: Path, *rows: dict[str, str], cases: int = 9) -> Path:
    """A checkout of BEST with these rows, each row a change of `BEST_ROW`, and numbered cases for each."""
    folder = root / "data"
    folder.mkdir(parents=True)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(BEST_ROW))
        writer.writeheader()
        for row in rows or ({},):
            writer.writerow({**BEST_ROW, **row})
    for row in rows or ({},):
        task = folder / "test_cases" / row.get("id", BEST_ROW["id"])
        task.mkdir(parents=True, exist_ok=True)
        for number in range(1, cases + 1):
            (task / f"{number}.in").write_text(f"{number}\n")
            (task / f"{number}.out").write_text(f"{number}\n")
    return root
