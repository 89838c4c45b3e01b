"""A sequence is counted through for each of its items.

## What it does
Finds `items.count(item)` inside a loop that does not change `items`.

## Why is this bad
Each call looks at all items: m calls over n items take n * m comparisons. `collections.Counter` counts all of
them in one pass. It takes memory for each different item.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is safe where all items are proved to be plain data (numbers, texts, tuples of such). Elsewhere an
item may be unhashable, and the fix is marked unsafe.
"""

from typing import TYPE_CHECKING

from best_agent.rules.arguments import sole_argument
from best_agent.rules.editing import fix_of, fresh_name, import_of, line_before, replace
from best_agent.rules.facts.facts import inside, statement
from best_agent.rules.facts.plain import Plain
from best_agent.rules.facts.values import type_of_variable
from best_agent.rules.lists import has_one_name, is_bound_before, unchanged_in
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Edit, Finding, Fix, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Loop, Step, Variable


def check(facts: "Facts") -> "Iterator[Finding]":
    """`count` on sequences inside of loops."""
    for step in facts.method_calls("count"):
        item, variable = sole_argument(facts, step.node), _counted(facts, step)
        if item is None or variable is None:
            continue
        loops = [loop for loop in facts.growing_loops(step) if unchanged_in(facts, variable, loop)]
        if not loops or not _is_sequence(facts, variable, loops, item):
            continue
        message = (
            f"`{variable.name}.count()` in a loop looks at all items each time, O(n*m) in all; "
            "a Counter counts them in one pass"
        )
        yield facts.finding(RULE, step, message, _fix(facts, step, variable, loops[-1]))


def _counted(facts: "Facts", step: "Step") -> "Variable | None":
    function = step.node.child_by_field_name("function")
    receiver = None if function is None else function.child_by_field_name("object")
    if receiver is None or receiver.type != "identifier":
        return None
    return facts.variable(facts.text(receiver), step.scope)


def _is_sequence(facts: "Facts", variable: "Variable", loops: "list[Loop]", item: "Node") -> bool:
    """Known to be a list or tuple; or the loop's own items are counted in what the loop iterates over."""
    known = type_of_variable(facts, variable)
    if known is not None:
        return known in ("list", "tuple")
    for loop in loops:
        header = loop.step.node.child_by_field_name("left") or _clause_target(loop)
        if loop.iterable is None or header is None or facts.text(header) != facts.text(item):
            continue
        if facts.text(loop.iterable) in (
            variable.name,
            f"set({variable.name})",
            f"sorted(set({variable.name}))",
        ):
            return True
    return False


def _clause_target(loop: "Loop") -> "Node | None":
    for child in loop.step.node.named_children:
        right = child.child_by_field_name("right") if child.type == "for_in_clause" else None
        if right is not None and loop.iterable is not None and right.id == loop.iterable.id:
            return child.child_by_field_name("left")
    return None


def _fix(facts: "Facts", step: "Step", variable: "Variable", loop: "Loop") -> "Fix | None":
    place = statement(loop.step)
    imported = import_of(facts, "collections", "Counter", step.scope)
    if place is None or imported is None or not is_bound_before(variable, place):
        return None
    counter, imports = imported
    name = fresh_name(facts, f"{variable.name}_counts")
    edits: list[Edit | None] = [*imports, line_before(facts, place, f"{name} = {counter}({variable.name})")]
    alone = variable.scope.kind == "function" and has_one_name(facts, variable)
    safety: Safety = "safe" if alone else "unsafe"
    for other in facts.method_calls("count"):
        item = sole_argument(facts, other.node)
        if item is None or _counted(facts, other) != variable or not inside(other, loop):
            continue
        edits.append(replace(other.node, f"{name}[{facts.text(item)}]"))
        if not Plain(facts).value(item, other.scope):
            safety = "unsafe"
    if not Plain(facts).elements(variable.uses[0].node, variable.uses[0].scope):
        safety = "unsafe"
    return fix_of(edits, safety)


RULE = Rule(
    id="BA110",
    name="count-in-loop",
    kind="time",
    confidence="high",
    gain=100.0,
    bad=sources("""\
def f(words: list[str]) -> dict[str, int]:
    frequencies = {}
    for word in words:
        frequencies[word] = words.count(word)
    return frequencies
---
def f(words):
    return {word: words.count(word) for word in set(words)}
---
from collections import Counter

def f(n: int, m: int):
    digits = [i * i % 10 for i in range(n)]
    most = 0
    for i in range(m):
        most = max(most, digits.count(i), digits.count(i + 1))
    return most
"""),
    good=sources("""\
def f(lines):
    return [line.count("x") for line in lines]
---
def f(words):
    return words.count("a")
---
def f(text: str, signs):
    return [text.count(sign) for sign in signs]
---
def f(n):
    items = []
    for i in range(n):
        items.append(i * i % 10)
        print(items.count(i))
"""),
    workload="def make(n):\n    return ([f'w{i % 97}' for i in range(n)],)\n",
    size=2_000,
    check=check,
)
