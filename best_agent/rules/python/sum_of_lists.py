"""Lists are joined by `sum`.

## What it does
Finds `sum(lists, [])` and `sum(tuples, ())`.

## Why is this bad
`sum` makes a new list for each one that it adds, and copies all that was there before: n lists cost n * n / 2
copies. `itertools.chain.from_iterable` hands the items on one by one.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is safe where the parts are proved to be lists: other types may give `+` another meaning.
"""

from typing import TYPE_CHECKING

from best_agent.rules.arguments import arguments_of, value_of
from best_agent.rules.editing import fix_of, import_of, replace
from best_agent.rules.facts.values import type_of
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Fix
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step

_COMPREHENSIONS = frozenset({"list_comprehension", "generator_expression"})


def check(facts: "Facts") -> "Iterator[Finding]":
    """`sum` that starts from an empty list or tuple."""
    for step in facts.calls("sum"):
        given = arguments_of(facts, step.node)
        if given is None or not given.positional:
            continue
        keyword = given.keywords.get("start")
        start = given.positional[1] if len(given.positional) == 2 else keyword and value_of(keyword)
        if start is None or start.type not in ("list", "tuple") or start.named_child_count:
            continue
        message = (
            f"sum() of {start.type}s copies all that was there before with each one, O(n*n) in all; "
            "chain.from_iterable() copies each item once"
        )
        yield facts.finding(RULE, step, message, _fix(facts, step, given.positional[0], start.type))


def _fix(facts: "Facts", step: "Step", parts: "Node", kind: str) -> "Fix | None":
    imported = import_of(facts, "itertools", "chain", step.scope)
    if imported is None or not facts.is_builtin(kind, step.scope):
        return None
    chain, edits = imported
    text = f"{kind}({chain}.from_iterable({facts.text(parts)}))"
    known = _parts_type(facts, parts, step) == kind
    return fix_of((*edits, replace(step.node, text)), "safe" if known else "unsafe")


def _parts_type(facts: "Facts", parts: "Node", step: "Step") -> str | None:
    """The type of each part, where it can be told."""
    if parts.type in _COMPREHENSIONS:
        body = parts.child_by_field_name("body")
        return type_of(facts, body, facts.scope_of(parts)) if body is not None else None
    if parts.type == "identifier":
        variable = facts.variable(facts.text(parts), step.scope)
        if variable is not None and len(variable.bindings) == 1:
            annotation = variable.bindings[0].annotation
            text = "" if annotation is None else facts.text(annotation)
            return next((kind for kind in ("list", "tuple") if text.startswith(f"list[{kind}")), None)
    return None


RULE = Rule(
    id="BA109",
    name="sum-of-lists",
    kind="time",
    confidence="high",
    gain=80.0,
    bad=sources("""\
def f(parts: list[list[int]]) -> list[int]:
    return sum(parts, [])
---
import itertools
import sys

def f(n: int):
    return sum(([i] * 3 for i in range(n)), start=[]), sum([(i, i) for i in range(n)], ())
"""),
    good=sources("""\
def f(numbers):
    return sum(numbers), sum(numbers, 1)
---
def f(parts):
    return sum(parts, [0])
"""),
    workload="def make(n):\n    return ([[i, i] for i in range(n)],)\n",
    size=4_000,
    check=check,
)
