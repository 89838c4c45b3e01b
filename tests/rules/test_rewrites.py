"""Rewrites of whole sources: one a fix, in order of gain, and all of them at once."""

import ast
import random

import pytest

from best_agent.analysis import analyse
from best_agent.rules.registry import rules_for
from best_agent.rules.rewrites import COMBINED, rewrites, rewritten

SEARCH = b'''\
#!/usr/bin/env python3
"""Shortest way through a maze."""

from __future__ import annotations

import sys  # for the limit


def solve(start, goal, grid):
    # breadth first
    h, w = len(grid), len(grid[0])
    queue = [(start, 0)]  # where, and how far
    visited = [start]
    while queue:
        (r, c), d = queue.pop(0)
        if (r, c) == goal:
            return d
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < h and 0 <= nc < w and grid[nr][nc] != "#":
                if (nr, nc) not in visited:
                    visited.append((nr, nc))
                    queue.append(((nr, nc), d + 1))
    return -1
'''


def run(source: bytes, *arguments):
    namespace: dict = {}
    exec(compile(source, "<search>", "exec"), namespace)
    return namespace["solve"](*arguments)


def mazes():
    chance = random.Random(7)
    for _ in range(20):
        h, w = chance.randint(1, 7), chance.randint(1, 7)
        grid = ["".join(chance.choice("..#") for _ in range(w)) for _ in range(h)]
        yield (0, 0), (chance.randrange(h), chance.randrange(w)), grid


def test_a_search_is_rewritten_in_two_steps_each_valid_on_its_own():
    found = {rewrite.rule: rewrite for rewrite in rewrites(SEARCH)}
    assert {"BA101", "BA102", COMBINED} == found.keys()
    second = {rewrite.rule: rewrite for rewrite in rewrites(found["BA101"].source)}
    assert second.keys() == {"BA102"}
    assert rewrites(second["BA102"].source) == ()
    assert second["BA102"].source == found[COMBINED].source
    sources = [found["BA101"].source, found["BA102"].source, found[COMBINED].source]
    for maze in mazes():
        expected = run(SEARCH, *maze)
        assert [run(source, *maze) for source in sources] == [expected] * 3


def test_comments_docstring_shebang_and_future_imports_keep_their_places():
    every = rewrites(SEARCH)[-1].source
    lines = every.decode().splitlines()
    assert lines[0] == "#!/usr/bin/env python3"
    assert lines[5:7] == ["import sys  # for the limit", "from collections import deque"]
    assert "    queue = deque([(start, 0)])  # where, and how far" in lines
    assert "    # breadth first" in lines
    assert ast.get_docstring(ast.parse(every)) == "Shortest way through a maze."


def test_the_combination_comes_last_and_the_others_in_order_of_gain():
    gains = {rule.id: rule.gain for rule in rules_for("python")}
    source = b"\n\n".join(
        rule.bad[0].replace("def f", f"def f{rule.id}").encode() for rule in rules_for("python")
    )
    found = rewrites(source)
    assert found[-1].rule == COMBINED
    order = [gains[rewrite.rule] for rewrite in found[:-1]]
    assert order == sorted(order, reverse=True)
    assert len({rewrite.source for rewrite in found}) == len(found)
    assert not [f for f in analyse(found[-1].source, "python") if f.rule in ("BA102", "BA104", "BA201")]


def test_one_fix_alone_makes_no_combination():
    assert [rewrite.rule for rewrite in rewrites(b"def f(n):\n    return sum([i for i in range(n)])\n")] == [
        "BA201"
    ]


def test_a_source_without_findings_or_with_syntax_errors_has_no_rewrites():
    assert rewrites(b"def f(n):\n    return n\n") == ()
    assert rewrites(SEARCH + b"x = (\n") == ()
    assert rewrites(b"") == ()


def test_a_finding_without_a_fix_leaves_the_source_as_it_is():
    source = b"def f(q: list):\n    while q:\n        q.pop(0)\n"
    (finding,) = analyse(source, "python")
    assert finding.fix is None
    assert rewritten(source, finding) == source


def test_names_that_are_taken_are_left_alone():
    source = SEARCH.replace(b"import sys", b"deque = print")
    assert "BA102" not in {rewrite.rule for rewrite in rewrites(source)}
    source = SEARCH.replace(b"import sys", b"import collections")
    rewrite = next(rewrite for rewrite in rewrites(source) if rewrite.rule == "BA102")
    assert b"collections.deque([(start, 0)])" in rewrite.source


def test_a_new_name_is_one_that_the_source_does_not_use():
    source = (
        b"def f(words):\n    seen = []\n    seen_set = 1\n    for w in words:\n        if w not in seen:\n"
    )
    source += b"            seen.append(w)\n    return seen, seen_set\n"
    (rewrite,) = rewrites(source)
    assert b"seen_set_2.add(w)" in rewrite.source


def test_an_import_inside_of_a_function_is_not_taken_for_one_of_the_module():
    source = SEARCH + b"\ndef other():\n    from collections import deque\n    return deque()\n"
    assert "BA102" not in {rewrite.rule for rewrite in rewrites(source)}


@pytest.mark.parametrize(
    "alias", ["other = items", "other, n = items, 1", "box = [items]", "other = n = items"]
)
@pytest.mark.parametrize(
    "loop",
    [
        "for a, b in list(enumerate(items)):\n        other += [a]",
        "lazy = [item for item in items]\n    for a in lazy:\n        other += [a]",
        "for i in range(n):\n        n += items.count(i)\n        other += [i]",
        "for i in range(n):\n        n += i in set(items)\n        other += [i]",
    ],
)
def test_no_fix_is_safe_that_rests_on_a_list_with_a_second_name(alias: str, loop: str):
    source = f"def f(n: int):\n    items = [1, 2]\n    {alias}\n    {loop}\n    return n\n"
    assert [f for f in analyse(source.encode(), "python") if f.fix and f.fix.safety == "safe"] == []
