"""Items are put in front of a list in a loop.

## What it does
Finds `items.insert(0, item)` inside a loop, where `items` is a list that outlives the round.

## Why is this bad
All items are moved by one place, each time: n inserts cost n * n / 2 moves. `collections.deque` takes an item
on either end in the same time whatever its length.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is left out where the list is sliced, sorted, compared, or handed to code that may want a list.
"""

from typing import TYPE_CHECKING

from best_agent.rules.deques import calls_at_front, into_deque
from best_agent.rules.lists import is_list, loops_outliving
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """`insert(0, item)` on lists inside of loops."""
    for step, variable in calls_at_front(facts, "insert", 2):
        if is_list(facts, variable) and loops_outliving(facts, step, variable):
            message = (
                f"`{variable.name}.insert(0, ...)` in a loop moves all items each time, O(n*n) in all; "
                "deque.appendleft() is O(1)"
            )
            yield facts.finding(RULE, step, message, into_deque(facts, variable))


RULE = Rule(
    id="BA103",
    name="insert-at-front-of-list-in-loop",
    kind="time",
    confidence="high",
    gain=80.0,
    bad=sources("""\
def f(items: list) -> list:
    out = []
    for item in items:
        out.insert(0, item)
    return out
---
def f(n: int):
    digits = []
    while n:
        n, digit = divmod(n, 10)
        digits.insert(0, digit)
    return sum(digits), len(digits), digits[-1] if digits else None
"""),
    good=sources("""\
import sys

def f(paths):
    for path in paths:
        sys.path.insert(0, path)
---
def f(rows):
    for row in rows:
        line = [row]
        line.insert(0, "x")
        yield line
---
def f(items, item):
    items = list(items)
    items.insert(0, item)
    return items
"""),
    workload="def make(n):\n    return (list(range(n)),)\n",
    size=20_000,
    check=check,
)
