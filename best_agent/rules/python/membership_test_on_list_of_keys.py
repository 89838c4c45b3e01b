"""A list of keys is made for one membership test.

## What it does
Finds `key in list(table.keys())` and `key in list(table)`, where `table` is a dictionary.

## Why is this bad
Each test copies all keys and walks through them. The dictionary itself answers in the same time whatever its
size.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is safe where the key is proved to be plain data: a dictionary refuses a key that is unhashable, and a
list does not.
"""

from typing import TYPE_CHECKING

from best_agent.rules.arguments import sole_argument
from best_agent.rules.editing import fix_of, replace
from best_agent.rules.facts.plain import Plain
from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step


def check(facts: "Facts") -> "Iterator[Finding]":
    """Membership tests on lists of keys."""
    for step in facts.calls("list", "tuple", "sorted"):
        table = _table(facts, step)
        if table is None or step.up is None or role_of(step, facts.source).kind != "member":
            continue
        key = step.up.node.children[0]
        safe = Plain(facts).value(key, step.scope) and type_of(facts, table, step.scope) == "dict"
        message = (
            f"all keys are copied and walked through for one test, O(n); `in {facts.text(table)}` is O(1)"
        )
        fix = fix_of((replace(step.node, facts.text(table)),), "safe" if safe else "unsafe")
        yield facts.finding(RULE, step.up, message, fix)


def _table(facts: "Facts", step: "Step") -> "Node | None":
    """The dictionary whose keys are listed."""
    given = sole_argument(facts, step.node)
    if given is None:
        return None
    if type_of(facts, given, step.scope) == "dict" and given.type == "identifier":
        return given
    function = given.child_by_field_name("function") if given.type == "call" else None
    name = None if function is None else function.child_by_field_name("attribute")
    arguments = given.child_by_field_name("arguments")
    if function is None or name is None or arguments is None or arguments.named_child_count:
        return None
    owner = function.child_by_field_name("object")
    simple = owner is not None and owner.type in ("identifier", "attribute")
    return owner if simple and facts.text(name) == "keys" else None


RULE = Rule(
    id="BA113",
    name="membership-test-on-list-of-keys",
    kind="time",
    confidence="high",
    gain=80.0,
    bad=sources("""\
def f(prices: dict[str, int], wanted: list[str]) -> int:
    known = 0
    for name in wanted:
        if name in list(prices.keys()):
            known += 1
    return known
---
def f(n: int, m: int):
    squares = {i: i * i for i in range(n)}
    return [i for i in range(m) if i not in list(squares)]
"""),
    good=sources("""\
def f(prices, wanted):
    return [name for name in wanted if name in prices]
---
def f(items, wanted):
    return wanted in list(items)
---
def f(prices: dict):
    return list(prices.keys())
"""),
    workload=("def make(n):\n    return ({f'p{i}': i for i in range(n)}, [f'p{i}' for i in range(2 * n)])\n"),
    size=500,
    check=check,
)
