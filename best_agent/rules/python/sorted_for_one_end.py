"""Everything is sorted to take the first or the last item.

## What it does
Finds `sorted(items)[0]` and `sorted(items)[-1]`, and a sorted list of which nothing but its ends is used.

## Why is this bad
Sorting takes n * log(n) comparisons and a copy of all items. `min` and `max` look at each item once.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

Among equal items `sorted(...)[-1]` is the last one and `max` the first one, and an empty input raises another
exception: the fix is marked safe only where neither can be seen.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.arguments import arguments_of, value_of
from best_agent.rules.editing import fix_of, replace
from best_agent.rules.facts.facts import ancestors
from best_agent.rules.facts.plain import Plain
from best_agent.rules.facts.roles import Role, role_of
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Fix, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Binding, Step, Variable

_MESSAGE = "all is sorted to take one end, O(n log n) and a copy; {name}() would do, O(n)"


def check(facts: "Facts") -> "Iterator[Finding]":
    """Sorted copies of which only an end is used."""
    for step in facts.calls("sorted"):
        reverse = _reverse(facts, step.node)
        if reverse is None:
            continue
        end = _end(facts, role_of(step, facts.source), reverse=reverse)
        if end is not None and step.up is not None:
            yield facts.finding(RULE, step.up, _MESSAGE.format(name=end), _direct(facts, step, end))
        else:
            yield from _named(facts, step, reverse=reverse)


def _reverse(facts: "Facts", call: "Node") -> bool | None:
    """Whether the order is reversed; None where the call does not tell."""
    given = arguments_of(facts, call)
    if given is None or len(given.positional) != 1 or given.keywords.keys() - {"key", "reverse"}:
        return None
    keyword = given.keywords.get("reverse")
    value = None if keyword is None else value_of(keyword)
    if value is None:
        return False
    return {"true": True, "false": False}.get(value.type)


def _end(facts: "Facts", role: Role, *, reverse: bool) -> str | None:
    """`min` or `max`, if one end of a sorted list is taken."""
    if role.kind != "index":
        return None
    index = role.step.node.child_by_field_name("subscript")
    place = "" if index is None else facts.text(index)
    if place not in ("0", "-1"):
        return None
    return "max" if (place == "-1") is not reverse else "min"


def _direct(facts: "Facts", step: "Step", end: str) -> "Fix | None":
    return _safe_fix(facts, step, (*_renamed(facts, step.node, end), _without_index(step)))


def _without_index(step: "Step") -> Edit:
    assert step.up is not None, "the call stands in a subscript"
    return Edit(step.node.end_byte, step.up.node.end_byte, "")


def _renamed(facts: "Facts", call: "Node", name: str) -> tuple[Edit, ...]:
    """Call `name` instead of `sorted`, without `reverse`."""
    function, given = call.child_by_field_name("function"), arguments_of(facts, call)
    assert function is not None, "a call calls something"
    edits = [replace(function, name)]
    keyword = None if given is None else given.keywords.get("reverse")
    if keyword is not None:
        comma = facts.source.rfind(b",", call.start_byte, keyword.start_byte)
        edits.append(Edit(comma, keyword.end_byte, ""))
    return tuple(edits)


def _safe_fix(facts: "Facts", step: "Step", edits: "tuple[Edit, ...]") -> "Fix | None":
    given = arguments_of(facts, step.node)
    exact = given is not None and not given.keywords.keys() - {"reverse"}
    if exact and given is not None:
        exact = Plain(facts, exact=True).elements(given.positional[0], step.scope)
    caught = any(above.node.type == "try_statement" for above in ancestors(step))
    safety: Safety = "safe" if exact and not caught else "unsafe"
    return fix_of(edits, safety)


def _named(facts: "Facts", step: "Step", *, reverse: bool) -> "Iterator[Finding]":
    """`items = sorted(...)`, and then nothing but `items[0]` and `items[-1]`."""
    binding = _binding_of(facts, step)
    if binding is None:
        return
    variable, site = binding
    ends = [(use, _end(facts, role, reverse=reverse)) for use, role in facts.roles(variable)]
    names = sorted({end for _, end in ends if end is not None})
    if not names or any(end is None for _, end in ends) or len(ends) > 2:
        return
    if any(use.loop is not site.site.loop or use.scope is not site.site.scope for use, _ in ends):
        return
    message = _MESSAGE.format(name="() and ".join(names))
    yield facts.finding(
        RULE, step, message, _named_fix(facts, step, [(u, e) for u, e in ends if e is not None])
    )


def _binding_of(facts: "Facts", step: "Step") -> "tuple[Variable, Binding] | None":
    up = step.up
    if up is None or up.node.type != "assignment":
        return None
    left = up.node.child_by_field_name("left")
    variable = None if left is None else facts.variable(facts.text(left), step.scope)
    if variable is None or not variable.private or variable.scope.kind != "function":
        return None
    binding = variable.bindings[0]
    known = binding.value is not None and binding.value.id == step.node.id and binding.annotation is None
    return (variable, binding) if len(variable.bindings) == 1 and known else None


def _named_fix(facts: "Facts", step: "Step", ends: "list[tuple[Step, str]]") -> "Fix | None":
    if len(ends) == 1:
        use, end = ends[0]
        if use.up is None:
            return None
        shorter = Edit(use.node.end_byte, use.up.node.end_byte, "")
        return _safe_fix(facts, step, (*_renamed(facts, step.node, end), shorter))
    given = arguments_of(facts, step.node)
    if given is None or given.keywords.keys() - {"reverse"}:
        return None
    source = given.positional[0]
    text = facts.text(source) if _is_slice(source) else f"list({facts.text(source)})"
    edits = [replace(step.node, text)]
    for use, end in ends:
        if use.up is not None:
            edits.append(replace(use.up.node, f"{end}({facts.text(use.node)})"))
    return _safe_fix(facts, step, tuple(edits))


def _is_slice(node: "Node") -> bool:
    index = node.child_by_field_name("subscript") if node.type == "subscript" else None
    return index is not None and index.type == "slice"


RULE = Rule(
    id="BA108",
    name="sorted-to-take-one-end",
    kind="time",
    confidence="high",
    gain=5.0,
    bad=sources("""\
def f(items: list[int]) -> int:
    return sorted(items)[0]
---
def f(items: list[int]):
    return sorted(items, reverse=True)[-1], sorted(items, reverse=False)[-1], sorted(items, reverse=True)[0]
---
def f(items: list[str]) -> str:
    return sorted((item for item in items), key=len)[0]
---
def f(values: list[int]) -> int:
    part = sorted(values[1:])  # a copy
    return part[-1] - part[0]
---
def f(values: list[int]) -> int:
    ordered = sorted(values)
    least = ordered[0]
    return least
"""),
    good=sources("""\
def f(items):
    ordered = sorted(items)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]
---
def f(items):
    return sorted(items)[1], sorted(items)[:3]
---
def f(items):
    ordered = sorted(items)
    for item in items:
        print(ordered[0], item)
"""),
    workload=(
        "import random\n\n\ndef make(n):\n    numbers = list(range(n))\n"
        "    random.Random(1).shuffle(numbers)\n    return (numbers,)\n"
    ),
    size=50_000,
    check=check,
)
