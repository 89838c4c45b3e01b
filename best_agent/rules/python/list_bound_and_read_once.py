"""A list is made, given a name, and looked through once.

## What it does
Finds a list comprehension whose name is used once: a loop, a comprehension or a reduction looks through it.

## Why is this bad
All items are kept until the last one is made, though each is looked at once: memory grows with the input. A
generator expression, in parentheses instead of brackets, keeps one item.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

Nothing is said where the list would not come out the same if it were made later. The fix is marked unsafe
where code that may do more than compute would run in another order.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.editing import fix_of
from best_agent.rules.facts.facts import statement
from best_agent.rules.laziness import (
    consumer,
    free_variables,
    have_one_name,
    is_asynchronous,
    is_quiet_meanwhile,
    is_short,
    reads_outside,
    unchanged_between,
)
from best_agent.rules.purity import is_quiet
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step


def check(facts: "Facts") -> "Iterator[Finding]":
    """Named list comprehensions that are looked through once."""
    for step in facts.of_type("list_comprehension"):
        read = _read_once(facts, step)
        if read is None or is_asynchronous(facts, step.node) or is_short(facts, step.node, step):
            continue
        name, reader = read
        safety = _safety(facts, step, name, reader)
        if safety is None:
            continue
        first, last = step.node.start_byte, step.node.end_byte
        fix = fix_of((Edit(first, first + 1, "("), Edit(last - 1, last, ")")), safety)
        message = (
            f"the list `{name}` is kept whole, O(n) memory, though it is looked through once; "
            "a generator keeps one item"
        )
        yield facts.finding(RULE, step, message, fix)


def _read_once(facts: "Facts", step: "Step") -> "tuple[str, Node] | None":
    """The name of the list, and the statement of the same block during which it is looked through."""
    up, whole = step.up, statement(step)
    if up is None or up.node.type != "assignment" or whole is None or whole.up is None:
        return None
    left = up.node.child_by_field_name("left")
    if left is None or left.type != "identifier" or up.node.child_by_field_name("type") is not None:
        return None
    variable = facts.variable(facts.text(left), step.scope)
    if variable is None or not variable.private or len(variable.bindings) != 1:
        return None
    if variable.bindings[0].how != "assign" or variable.scope.kind != "function" or len(variable.uses) != 1:
        return None
    use, role = facts.roles(variable)[0]
    reader = consumer(facts, use, role)
    later = statement(use)
    same_block = later is not None and later.up is whole.up and use.loop is step.loop
    if reader is None or not same_block or reader.start_byte < whole.node.end_byte:
        return None
    stops_early = role.kind == "argument" and role.detail.partition(":")[0] in ("any", "all")
    if stops_early and not is_quiet(facts, step.node, facts.scope_of(step.node)):
        return None  # who makes all items first may mean to
    return variable.name, reader


def _safety(facts: "Facts", step: "Step", name: str, reader: "Node") -> "Safety | None":
    """None where the list would not come out the same."""
    made = facts.scope_of(step.node)
    variables = free_variables(facts, step.node, step.scope)
    if variables is None or any(variable.name == name for variable in variables):
        return None
    if not unchanged_between(facts, variables, (step.node.end_byte, reader.end_byte), made):
        return None
    between = is_quiet_meanwhile(facts, reader, step.scope)
    quiet = is_quiet(facts, step.node, made)
    if not between and (not quiet or reads_outside(facts, step.node, step.scope)):
        return None
    return "safe" if quiet and between and have_one_name(facts, variables) else "unsafe"


RULE = Rule(
    id="BA202",
    name="list-comprehension-read-once",
    kind="memory",
    confidence="high",
    gain=5000.0,
    bad=sources("""\
def f(numbers: list[int]) -> int:
    doubled = [number * 2 for number in numbers]
    return sum(doubled)
---
def f(n: int):
    squares = [i * i for i in range(n)]
    odd = [square for square in squares if square % 2]
    total = 0
    for square in odd:
        if square > 1000:
            break
        total += square
    return total
---
def f(lines: list[str]):
    words = [line.split() for line in lines]  # of each line
    return [len(word) for word in words]
"""),
    good=sources("""\
def f(xs):
    doubled = [x * 2 for x in xs]
    return sum(doubled), len(doubled)
---
def f(xs):
    doubled = [x * 2 for x in xs]
    return doubled
---
def f(xs, rounds):
    doubled = [x * 2 for x in xs]
    for _ in range(rounds):
        print(sum(doubled))
---
def f(xs):
    xs = list(xs)
    doubled = [x * 2 for x in xs]
    for x in doubled:
        xs.append(x)
    return xs
---
def f(path):
    with open(path) as lines:
        rows = [line.split() for line in lines]
    return sum(len(row) for row in rows)
---
def f(xs, k):
    scaled = [x * k for x in xs]
    k = 0
    return sum(scaled) + k
---
def f(xs):
    doubled = [x * 2 for x in xs]
    return (x for x in doubled)
---
import os

def f():
    names = [name for name in os.environ if name.startswith("A")]
    for name in names:
        del os.environ[name]
---
def f(items, convert):
    results = [convert(item) for item in items]
    return all(results)
---
class Box:
    def f(self):
        names = [item.name for item in self.items]
        for name in names:
            self.drop(name)
"""),
    workload="def make(n):\n    return (list(range(n)),)\n",
    size=100_000,
    check=check,
)
