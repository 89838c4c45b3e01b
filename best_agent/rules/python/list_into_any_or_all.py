"""A list is made for `any` or `all`.

## What it does
Finds `any([...])` and `all([...])` with a list comprehension inside.

## Why is this bad
The list is made to its end before `any` sees its first item. Of a generator only so many items are made as it
takes to decide, and none of them is kept.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is marked unsafe where the items are made by code that may do more than compute: it would be called
less often.
"""

from typing import TYPE_CHECKING

from best_agent.rules.editing import fix_of
from best_agent.rules.laziness import is_asynchronous, is_short, sole_iterable, without_brackets
from best_agent.rules.purity import is_quiet
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """List comprehensions as the argument of any() and all()."""
    for step in facts.calls("any", "all"):
        made = sole_iterable(facts, step.node)
        if made is None or made.type != "list_comprehension":
            continue
        if is_asynchronous(facts, made) or is_short(facts, made, step):
            continue
        quiet = is_quiet(facts, made, facts.scope_of(made))
        fix = fix_of(without_brackets(facts, step.node, made), "safe" if quiet else "unsafe")
        message = (
            "the whole list is made before its first item is looked at; a generator stops when it is decided"
        )
        yield facts.finding(RULE, step, message, fix)


RULE = Rule(
    id="BA112",
    name="list-comprehension-into-any-or-all",
    kind="time",
    confidence="high",
    gain=80.0,
    bad=sources("""\
def f(numbers: list[int]) -> bool:
    return any([number > 10 for number in numbers])
---
def f(rows):
    return all([all([cell for cell in row],) for row in rows])
---
def f(items):
    return any([item.check() for item in items])
"""),
    good=sources("""\
def f(items):
    return any(item > 10 for item in items)
---
def f(a, b):
    return all([a, b]), all([a > i for i in (1, 2, 3)])
---
async def f(items):
    return any([await item for item in items])
"""),
    workload="def make(n):\n    return (list(range(n)),)\n",
    size=100_000,
    check=check,
)
