"""A list is searched in every round of a loop.

## What it does
Finds `x in items` and `x not in items` inside a loop, where `items` is a list that grows with the input.

## Why is this bad
A list is searched from its start: n rounds over a list of m items take n * m comparisons. A set finds an item
in the same time whatever its size. It takes more memory than the list: about 32 to 64 bytes an item.

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

from best_agent.model.finding import Edit, Fix, Safety
from best_agent.rules.editing import (
    fix_of,
    fresh_name,
    line_after,
    line_before,
    replace,
    statement_alone,
)
from best_agent.rules.facts.facts import inside, statement
from best_agent.rules.facts.plain import Plain
from best_agent.rules.lists import (
    annotation_edit,
    as_set,
    grows_with_input,
    is_assigned,
    is_bound_before,
    is_list,
    is_read,
    loops_outliving,
)
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Binding, Loop, Step, Variable
    from best_agent.rules.facts.roles import Role

_SIMPLE = frozenset({"identifier", "integer", "string", "float", "true", "false", "none"})


def check(facts: "Facts") -> "Iterator[Finding]":
    """Membership tests on lists inside of loops."""
    for step in facts.of_type("comparison_operator"):
        container = _container(step)
        if container is None:
            continue
        variable = facts.variable(facts.text(container), step.scope)
        if variable is None or not is_list(facts, variable) or not grows_with_input(facts, variable):
            continue
        loops = loops_outliving(facts, step, variable)
        if loops:
            message = (
                f"membership test on the list `{variable.name}` in a loop: each one walks the list, "
                "O(n*m) in all; a set finds an item in O(1)"
            )
            yield facts.finding(RULE, step, message, _fix(facts, variable, loops[-1]))


def _container(step: "Step") -> "Node | None":
    children = step.node.children
    if len(children) != 3 or children[1].type not in ("in", "not in") or children[2].type != "identifier":
        return None
    return children[2]


def _fix(facts: "Facts", variable: "Variable", loop: "Loop") -> Fix | None:
    if not variable.private:
        return None
    uses = facts.roles(variable)
    safety = _safety(facts, variable, uses)
    if is_assigned(variable):
        if all(_fits_set(use) for use in uses):
            return _into_set(facts, variable, uses, safety)
        companion = _with_companion(facts, variable, uses, safety)
        if companion is not None:
            return companion
    if all(is_read(role) for _, role in uses):
        return _set_before_loop(facts, variable, loop, uses)
    return None


def _safety(facts: "Facts", variable: "Variable", uses: "tuple[tuple[Step, Role], ...]") -> Safety:
    """Safe if every item, and everything that is looked for, is proved to be hashable."""
    if variable.scope.kind != "function":
        return "unsafe"
    plain = Plain(facts)
    if not plain.elements(variable.uses[0].node, variable.uses[0].scope):
        return "unsafe"
    for _, role in uses:
        if role.kind == "member" and not Plain(facts).value(role.step.node.children[0], role.step.scope):
            return "unsafe"
    return "safe"


def _fits_set(use: "tuple[Step, Role]") -> bool:
    role = use[1]
    appended = role.kind == "method" and role.detail == "append" and _argument(role) is not None
    return role.kind in ("member", "truth") or (appended and statement_alone(role.step) is not None)


def _argument(role: "Role") -> "Node | None":
    arguments = role.step.node.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 1:
        return None
    argument = arguments.named_children[0]
    return (
        None
        if argument.type in ("list_splat", "dictionary_splat", "keyword_argument", "comment")
        else argument
    )


def _into_set(
    facts: "Facts", variable: "Variable", uses: "tuple[tuple[Step, Role], ...]", safety: Safety
) -> Fix | None:
    """Nothing but membership and growth is asked of the list: it becomes a set."""
    edits: list[Edit] = []
    for binding in variable.bindings:
        if binding.value is None:
            continue
        annotation = annotation_edit(facts, binding, "set")
        if annotation is None:
            return None
        edits += [*annotation, *as_set(facts, binding.value)]
    edits += [replace(_method_name(role), "add") for _, role in uses if role.kind == "method"]
    return fix_of(edits, safety)


def _method_name(role: "Role") -> "Node":
    function = role.step.node.child_by_field_name("function")
    name = function.child_by_field_name("attribute") if function is not None else None
    assert name is not None, "a method's call has the name of the method"
    return name


def _with_companion(
    facts: "Facts", variable: "Variable", uses: "tuple[tuple[Step, Role], ...]", safety: Safety
) -> Fix | None:
    """The list stays for those who need its order; a set grows beside it."""
    name = fresh_name(facts, f"{variable.name}_set")
    edits = [_companion_of(facts, b, variable.name, name) for b in variable.bindings if b.how != "delete"]
    grown = False
    for use, role in uses:
        if role.kind == "member":
            edits.append(replace(use.node, name))
        elif role.kind == "method" and role.detail == "append":
            edits.append(_companion_grows(facts, role, variable.name, name))
            grown = True
        elif not is_read(role) and not (role.kind == "method" and role.detail in ("sort", "reverse")):
            return None
    return fix_of(edits, safety) if grown else None


def _companion_of(facts: "Facts", binding: "Binding", variable: str, name: str) -> Edit | None:
    whole = statement(binding.site)
    if whole is None or whole.node.type != "expression_statement":
        return None
    value = binding.value
    start = f"set({variable})"
    if value is not None and value.type == "list":
        children = value.named_children
        if not children:
            start = "set()"
        elif all(child.type in _SIMPLE for child in children):
            start = "{" + ", ".join(facts.text(child) for child in children) + "}"
    return line_after(facts, whole, f"{name} = {start}")


def _companion_grows(facts: "Facts", role: "Role", variable: str, name: str) -> Edit | None:
    whole, argument = statement_alone(role.step), _argument(role)
    if whole is None or argument is None:
        return None
    item = facts.text(argument) if _is_repeatable(argument) else f"{variable}[-1]"
    return line_after(facts, whole, f"{name}.add({item})")


def _is_repeatable(node: "Node") -> bool:
    """To evaluate the expression again costs nothing and does nothing."""
    if node.type == "tuple":
        return "\n" not in (node.text or b"").decode(errors="replace") and all(
            _is_repeatable(child) for child in node.named_children
        )
    return node.type in _SIMPLE


def _set_before_loop(
    facts: "Facts", variable: "Variable", loop: "Loop", uses: "tuple[tuple[Step, Role], ...]"
) -> Fix | None:
    """The list does not change: a set is made of it once, in front of the loop.

    Unsafe: the caller's list may change through another name, and its items are not known here.
    """
    place = statement(loop.step)
    if place is None or not is_bound_before(variable, place):
        return None
    name = fresh_name(facts, f"{variable.name}_set")
    edits: list[Edit | None] = [line_before(facts, place, f"{name} = set({variable.name})")]
    edits += [
        replace(use.node, name) for use, role in uses if role.kind == "member" and inside(role.step, loop)
    ]
    return fix_of(edits, "unsafe")


RULE = Rule(
    id="BA101",
    name="membership-test-on-list-in-loop",
    kind="time",
    confidence="high",
    gain=50.0,
    bad=sources("""\
def f(grid: list[str]) -> int:
    visited = [(0, 0)]
    pending = [(0, 0)]
    while pending:
        row, column = pending.pop()
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            cell = (row + down, column + right)
            if 0 <= cell[0] < len(grid) and 0 <= cell[1] < len(grid) and cell not in visited:
                visited.append(cell)
                pending.append(cell)
    return len(visited)
---
def f(words):
    seen = []  # in order
    for word in words:
        if word not in seen:
            seen.append(word)
    return seen
---
def f(n: int, m: int):
    '''Only membership is asked of the list.'''
    odd: list[int] = [i for i in range(n) if i % 2]
    hits = 0
    for i in range(m):
        if i in odd:
            hits += 1
    return hits
---
def f(users, blocked: list):
    return [user for user in users if user not in blocked]
"""),
    good=sources("""\
def f(tokens):
    return [token for token in tokens if token in ("+", "-")]
---
def f(tokens):
    signs = ["+", "-"]
    return [token for token in tokens if token in signs]
---
def f(rows):
    n = 0
    for row in rows:
        cells = row.split()
        n += "x" in cells
    return n
---
def f(words):
    seen = set()
    for word in words:
        if word not in seen:
            seen.add(word)
    return seen
---
def f(words, word):
    known = [w.lower() for w in words]
    return word in known
"""),
    workload="def make(n):\n    return (['.' * n] * n,)\n",
    size=40,
    check=check,
)
