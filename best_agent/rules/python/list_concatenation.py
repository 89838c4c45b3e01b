"""A list is built in a loop by concatenation.

## What it does
Finds `items = items + [item]` inside a loop, where `items` is a list. (`items += [item]` is fine.)

## Why is this bad
`+` makes a new list and copies all that was there before, so n items cost n * n / 2 copies. `append` and `+=`
grow the list in place.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is left out where the list has another name or is handed on, because that one would grow as well.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.accumulation import Growth, as_augmented, growths
from best_agent.rules.editing import fix_of
from best_agent.rules.facts.values import type_of
from best_agent.rules.lists import is_assigned, is_read
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding, Fix
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step
    from best_agent.rules.facts.roles import Role

_ITERATORS = frozenset({"enumerate", "zip", "reversed"})


def check(facts: "Facts") -> "Iterator[Finding]":
    """Lists that are copied to grow, inside of loops."""
    for growth in growths(facts, "list"):
        if growth.form == "augment":
            continue
        message = (
            f"`{growth.variable.name}` is copied by `+` in each round of a loop, O(n*n) in all; "
            "append or += grow it in place"
        )
        yield facts.finding(RULE, growth.step, message, _fix(facts, growth))


def _fix(facts: "Facts", growth: Growth) -> "Fix | None":
    variable = growth.variable
    if not variable.private or not is_assigned(variable) or growth.form != "append":
        return None
    start, end = growth.step.node.start_byte, growth.step.node.end_byte
    for use, role in facts.roles(variable):
        own = start <= use.node.start_byte < end
        if not own and (not _stays_alone(role) or _holds(role, start)):
            return None
    edits = _grow(facts, growth)
    if edits is None:
        return None
    lists = all(type_of(facts, part, growth.step.scope) == "list" for part in growth.parts)
    return fix_of(edits, "safe" if lists and variable.scope.kind == "function" else "unsafe")


def _stays_alone(role: "Role") -> bool:
    grown = role.kind == "method" and role.detail in ("append", "extend", "sort", "reverse", "pop")
    return grown or role.kind in ("augment", "store") or is_read(role)


def _holds(role: "Role", growth: int) -> bool:
    """The list is being iterated over while it grows: the loop would see the new items."""
    if role.kind == "argument":
        return role.detail.partition(":")[0] in _ITERATORS
    return role.kind == "iterate" and _covers(role.step, growth)


def _covers(step: "Step", position: int) -> bool:
    return step.node.start_byte <= position < step.node.end_byte


def _grow(facts: "Facts", growth: Growth) -> tuple[Edit, ...] | None:
    part = growth.parts[0]
    single = len(growth.parts) == 1 and part.type == "list" and part.named_child_count == 1
    if not single or part.named_children[0].type == "list_splat":
        return as_augmented(facts, growth)
    node = growth.step.node
    item = facts.text(part.named_children[0])
    return (Edit(node.start_byte, node.end_byte, f"{growth.variable.name}.append({item})"),)


RULE = Rule(
    id="BA106",
    name="list-concatenation-in-loop",
    kind="time",
    confidence="high",
    gain=100.0,
    bad=sources("""\
def f(items: list[int]) -> list[int]:
    doubled = []
    for item in items:
        doubled = doubled + [item * 2]
    return doubled
---
def f(n: int) -> list[int]:
    out = [0]
    for i in range(n):
        part = [i] * 2
        out = out + part + [n]  # twice, then the end
    return out
"""),
    good=sources("""\
def f(chunks):
    out = []
    for chunk in chunks:
        out += chunk
    return out
---
def f(nodes):
    for node in nodes:
        path = []
        path = path + [node]
        yield path
"""),
    workload="def make(n):\n    return (list(range(n)),)\n",
    size=5_000,
    check=check,
)
