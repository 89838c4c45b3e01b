"""A tuple is built in a loop by concatenation.

## What it does
Finds `items += (item,)` (and `items = items + (item,)`) inside a loop, where `items` is a tuple.

## Why is this bad
A tuple cannot change: each concatenation copies all that was there before, so n items cost n * n / 2 copies.
A list grows in place.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is left out where the value is used in the loop for anything but growing.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.accumulation import Growth, as_augmented, collect, growths
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Fix
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """Growing tuples inside of loops."""
    for growth in growths(facts, "tuple"):
        name = growth.variable.name
        message = (
            f"`{name}` is a tuple and grows in a loop: each concatenation copies all of it, O(n*n) in all; "
            "a list grows in place"
        )
        yield facts.finding(RULE, growth.step, message, _fix(facts, growth))


def _fix(facts: "Facts", growth: Growth) -> "Fix | None":
    return collect(
        facts,
        growth,
        start=_start,
        grow=lambda other: _grow(facts, other),
        finish=lambda name: f"tuple({name})",
    )


def _start(value: "Node", text: str) -> str:
    """A list of the items that the tuple starts with."""
    literal = value.type == "tuple" and text.startswith("(")
    return f"[{text[1:-1]}]" if literal or not text else f"list({text})"


def _grow(facts: "Facts", growth: Growth) -> tuple[Edit, ...] | None:
    """A tuple of one item becomes an append; a list takes any other as it stands."""
    part = growth.parts[0]
    single = len(growth.parts) == 1 and part.type == "tuple" and part.named_child_count == 1
    if growth.form == "prepend" or not single or part.named_children[0].type == "list_splat":
        return as_augmented(facts, growth)
    node = growth.step.node
    item = facts.text(part.named_children[0])
    return (Edit(node.start_byte, node.end_byte, f"{growth.variable.name}.append({item})"),)


RULE = Rule(
    id="BA107",
    name="tuple-concatenation-in-loop",
    kind="time",
    confidence="high",
    gain=80.0,
    bad=sources("""\
def f(n: int) -> tuple:
    squares = ()
    for i in range(n):
        squares += (i * i,)
    return squares
---
def f(n: int):
    out = (0, 1)
    for i in range(n):
        if i % 3:
            out = out + (i, -i)
    total = sum(out)
    return out, total
"""),
    good=sources("""\
def f(n):
    squares = []
    for i in range(n):
        squares += (i * i,)
    return tuple(squares)
---
def f(rows):
    out = []
    for row in rows:
        key = ()
        key += (row,)
        out.append(key)
    return out
---
def f():
    axes = ()
    for axis in ("x", "y"):
        axes += (axis,)
    return axes
"""),
    workload="def make(n):\n    return (n,)\n",
    size=5_000,
    check=check,
)
