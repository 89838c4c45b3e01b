"""The first item of a list is popped in a loop.

## What it does
Finds `items.pop(0)` inside a loop, where `items` is a list that outlives the round.

## Why is this bad
All items behind the first one are moved by one place, each time: a queue of n items costs n * n / 2 moves.
`collections.deque` takes an item off either end in the same time whatever its length.

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
    """`pop(0)` on lists inside of loops."""
    for step, variable in calls_at_front(facts, "pop", 1):
        if is_list(facts, variable) and loops_outliving(facts, step, variable):
            message = (
                f"`{variable.name}.pop(0)` in a loop moves all other items each time, O(n*n) in all; "
                "deque.popleft() is O(1)"
            )
            yield facts.finding(RULE, step, message, into_deque(facts, variable))


RULE = Rule(
    id="BA102",
    name="pop-first-of-list-in-loop",
    kind="time",
    confidence="high",
    gain=40.0,
    bad=sources("""\
def f(n: int) -> int:
    queue = list(range(n))
    total = 0
    while queue:
        total += queue.pop(0)
    return total
---
import sys

def f(edges, start):
    queue: list = [start]  # a node
    seen = {start}
    while len(queue) > 0:
        node = queue.pop(0)
        for other in edges[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen
"""),
    good=sources("""\
from collections import deque

def f(n):
    queue = deque(range(n))
    while queue:
        queue.popleft()
---
def f(args):
    args = list(args)
    first = args.pop(0)
    return first, args
---
def f(slots: dict, rounds):
    return [slots.pop(0, None) for _ in range(rounds)]
---
def f(rows):
    out = []
    for row in rows:
        cells = row.split()
        out.append(cells.pop(0))
    return out
"""),
    workload="def make(n):\n    return (n,)\n",
    size=60_000,
    check=check,
)
