"""A list is made to be summed up or searched for its least or greatest item.

## What it does
Finds `sum([...])`, `min([...])` and `max([...])` with a list comprehension inside.

## Why is this bad
All items are kept until the last one is made, though each is looked at once: memory grows with the input. A
generator keeps one item. It takes about the same time.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```
"""

from typing import TYPE_CHECKING

from best_agent.rules.editing import fix_of
from best_agent.rules.laziness import REDUCTIONS, is_asynchronous, is_short, sole_iterable, without_brackets
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """List comprehensions as the argument of a reduction."""
    for step in facts.calls(*REDUCTIONS):
        made = sole_iterable(facts, step.node)
        if made is None or made.type != "list_comprehension":
            continue
        if is_asynchronous(facts, made) or is_short(facts, made, step):
            continue
        fix = fix_of(without_brackets(facts, step.node, made), "safe")
        message = (
            "all items are kept in a list, O(n) memory, though each is looked at once; a generator keeps one"
        )
        yield facts.finding(RULE, step, message, fix)


RULE = Rule(
    id="BA201",
    name="list-comprehension-into-reduction",
    kind="memory",
    confidence="high",
    gain=5000.0,
    bad=sources("""\
def f(n: int) -> int:
    return sum([i * i for i in range(n)])
---
def f(words: list[str]):
    return max([len(word) for word in words], default=0), min([len(word) for word in words if word] or [0])
---
def f(rows):
    return sum([sum([cell for cell in row]) for row in rows], start=1)
"""),
    good=sources("""\
def f(n):
    return sum(i * i for i in range(n))
---
def f(words):
    return ", ".join([word.upper() for word in words]), sorted([len(word) for word in words])
---
def f(a, b):
    return max([a, b]), max([i for i in a], [i for i in b])
"""),
    workload="def make(n):\n    return (n,)\n",
    size=100_000,
    check=check,
)
