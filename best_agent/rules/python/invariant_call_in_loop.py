"""The same thing is computed anew in each round of a loop.

## What it does
Finds `max(items)`, `min(items)`, `sum(items)`, `sorted(items)` and `x in set(items)` inside a loop that
neither binds nor changes `items`.

## Why is this bad
Each call looks at all items: m rounds over n items take n * m steps, where n + m would do.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

With `default=None` an empty input raises nothing where the loop never asks. The fix is marked unsafe where
the call could raise and the loop might not have run at all, or where code that is called in the loop may
change the items.
"""

from typing import TYPE_CHECKING

from best_agent.rules.arguments import sole_argument
from best_agent.rules.editing import fix_of, fresh_name, line_before, replace
from best_agent.rules.facts.facts import inside, statement
from best_agent.rules.facts.plain import Plain
from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of_variable
from best_agent.rules.lists import has_one_name, is_bound_before, unchanged_in
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Edit, Finding, Fix, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Loop, Step, Variable

_RESULTS = {"max": "max", "min": "min", "sum": "sum", "sorted": "sorted", "set": "set", "frozenset": "set"}
"""Function -> what its result is called."""
_NUMBERS = frozenset({"max", "min", "sum"})
_COLLECTIONS = frozenset({"list", "tuple", "set", "dict", "frozenset", "str", None})


def check(facts: "Facts") -> "Iterator[Finding]":
    """Calls that give the same in each round of a loop."""
    for step in facts.calls(*_RESULTS):
        argument = sole_argument(facts, step.node)
        if argument is None or argument.type != "identifier":
            continue
        variable = facts.variable(facts.text(argument), step.scope)
        name = _name(facts, step)
        if variable is None or type_of_variable(facts, variable) not in _COLLECTIONS:
            continue
        if name not in _NUMBERS and role_of(step, facts.source).kind not in ("member", "index"):
            continue
        loops = [loop for loop in facts.growing_loops(step) if unchanged_in(facts, variable, loop)]
        if loops:
            message = (
                f"`{name}({variable.name})` gives the same in each round of the loop and looks at all items "
                "each time, O(n*m) in all; once in front of the loop will do"
            )
            yield facts.finding(RULE, step, message, _fix(facts, step, variable, loops[-1]))


def _name(facts: "Facts", step: "Step") -> str:
    function = step.node.child_by_field_name("function")
    return "" if function is None else facts.text(function)


def _fix(facts: "Facts", step: "Step", variable: "Variable", loop: "Loop") -> "Fix | None":
    place, text, called = statement(loop.step), facts.text(step.node), _name(facts, step)
    if place is None or not is_bound_before(variable, place):
        return None
    name = fresh_name(facts, f"{variable.name}_{_RESULTS[called]}")
    once = f"{called}({variable.name}, default=None)" if called in ("max", "min") else text
    edits: list[Edit | None] = [line_before(facts, place, f"{name} = {once}")]
    edits += [
        replace(other.node, name)
        for other in facts.calls(called)
        if inside(other, loop)
        and facts.text(other.node) == text
        and facts.variable(variable.name, other.scope) == variable
        and (called in _NUMBERS or role_of(other, facts.source).kind in ("member", "index"))
    ]
    return fix_of(edits, _safety(facts, variable, called))


def _safety(facts: "Facts", variable: "Variable", called: str) -> "Safety":
    private = variable.private and variable.scope.kind == "function"
    if called in ("max", "min") or not private or type_of_variable(facts, variable) is None:
        return "unsafe"
    first = variable.uses[0]
    plain = Plain(facts, exact=called != "set").elements(first.node, first.scope)
    own = all(b.how == "assign" for b in variable.bindings) and has_one_name(facts, variable)
    return "safe" if plain and own and called in ("set", "frozenset") else "unsafe"


RULE = Rule(
    id="BA111",
    name="invariant-call-in-loop",
    kind="time",
    confidence="high",
    gain=100.0,
    bad=sources("""\
def f(items: list[int], limits: list[int]) -> int:
    high = 0
    for item in items:
        if item > max(limits):
            high += 1
    return high
---
def f(items: list[int], known: list[int]) -> int:
    return sum(1 for item in items if item in set(known))
---
def f(n: int, m: int):
    known = [i * 2 for i in range(n)]
    hits = 0
    for i in range(m):
        if i in set(known):
            hits += sum(known)
    return hits
"""),
    good=sources("""\
def f(items, limits):
    high = max(limits)
    return [item for item in items if item > high]
---
def f(rows):
    return [max(row) for row in rows]
---
def f(rows):
    for row in rows:
        print(max(row))
---
def f(items):
    while items:
        items.remove(max(items))
---
def f(rounds, items):
    for _ in range(rounds):
        change(items)
        print(max(items))
---
def f(rows, n):
    for row in rows:
        row[0] = sum(row)
    sizes = [0] * n
    for i in range(n):
        sizes[i] = max(sizes)
"""),
    workload="def make(n):\n    return (list(range(n)), list(range(n)))\n",
    size=500,
    check=check,
)
