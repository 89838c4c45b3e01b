"""A list is made to count its items.

## What it does
Finds `len([... for ... if ...])`.

## Why is this bad
All items are kept, though only their number is asked for: memory grows with the input. It takes about the
same time to count them one by one.

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

from best_agent.rules.arguments import sole_argument
from best_agent.rules.editing import fix_of, replace
from best_agent.rules.laziness import is_asynchronous, is_short, without_brackets
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts

_SIMPLE = frozenset({"identifier", "integer", "string", "true", "none", "tuple"})


def check(facts: "Facts") -> "Iterator[Finding]":
    """List comprehensions whose length is taken."""
    for step in facts.calls("len"):
        made = sole_argument(facts, step.node)
        if made is None or made.type != "list_comprehension" or is_asynchronous(facts, made):
            continue
        body, function = made.child_by_field_name("body"), step.node.child_by_field_name("function")
        if body is None or function is None or not _is_simple(body) or is_short(facts, made, step):
            continue
        edits = (replace(function, "sum"), *without_brackets(facts, step.node, made), replace(body, "1"))
        message = "all items are kept in a list, O(n) memory, to count them; sum(1 for ...) keeps none"
        fix = fix_of(edits, "safe") if facts.is_builtin("sum", step.scope) else None
        yield facts.finding(RULE, step, message, fix)


def _is_simple(body: "Node") -> bool:
    """Nothing happens when the item is made."""
    if body.type == "tuple":
        return all(_is_simple(child) for child in body.named_children)
    return body.type in _SIMPLE


RULE = Rule(
    id="BA205",
    name="len-of-list-comprehension",
    kind="memory",
    confidence="high",
    gain=500.0,
    bad=sources("""\
def f(numbers: list[int]) -> int:
    return len([number for number in numbers if number % 3 == 0])
---
def f(words):
    return len([(word, i) for i, word in enumerate(words) if word])
"""),
    good=sources("""\
def f(numbers):
    return len([[number] for number in numbers]), len([number, 1])
---
def f(numbers):
    odd = [number for number in numbers if number % 2]
    return len(odd), odd[:3]
---
def f(numbers):
    return sum(1 for number in numbers if number % 3 == 0)
"""),
    workload="def make(n):\n    return (list(range(n)),)\n",
    size=100_000,
    check=check,
)
