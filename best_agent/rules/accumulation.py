"""Values that grow in a loop by being copied: how they grow, and how to collect the parts instead."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from best_agent.model.finding import Edit, Fix
from best_agent.rules.editing import fix_of, line_after, replace
from best_agent.rules.facts.facts import inside, statement
from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of_variable
from best_agent.rules.lists import loops_outliving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Loop, Step, Variable

_EMPTY = frozenset({'""', "''", 'b""', "b''", "()"})

Form = Literal["augment", "append", "prepend", "format"]


Candidate = tuple["Step", Form, tuple["Node", ...]]
"""An assignment, its form, and what it adds."""


class Growth(NamedTuple):
    """One place in a loop where a name gets its own value with something added."""

    step: "Step"
    """The assignment."""
    variable: "Variable"
    type: str
    form: Form
    """`s += x`, `s = s + x`, `s = x + s`, or `s = f"{s}x"`."""
    parts: "tuple[Node, ...]"
    """What is added, in the order of the source. For `format`: the string itself."""
    loop: "Loop"
    """The outermost loop in which the value keeps growing."""


def growths(facts: "Facts", *types: str) -> "Iterator[Growth]":
    """The places where a name of one of the types grows by copying in a loop whose length is not constant."""
    for step, form, parts in facts.kept("growths", lambda: _candidates(facts)):
        yield from _growth(facts, step, types, form, parts)


def _candidates(facts: "Facts") -> "tuple[Candidate, ...]":
    """Assignments in loops that add to a name."""
    found: list[Candidate] = []
    for step in facts.of_type("augmented_assignment"):
        operator, value = step.node.child_by_field_name("operator"), step.node.child_by_field_name("right")
        if step.loop is not None and operator is not None and operator.type == "+=" and value is not None:
            found.append((step, "augment", (value,)))
    for step in facts.of_type("assignment"):
        added = None if step.loop is None else _self_assignment(step.node)
        if added is not None:
            found.append((step, *added))
    return tuple(found)


def _growth(
    facts: "Facts", step: "Step", types: tuple[str, ...], form: Form, parts: "tuple[Node, ...]"
) -> "Iterator[Growth]":
    left = step.node.child_by_field_name("left")
    if left is None or left.type != "identifier" or step.loop is None:
        return
    variable = facts.variable(facts.text(left), step.scope)
    if variable is None:
        return
    kind = type_of_variable(facts, variable)
    if kind is None or kind not in types:
        return
    loops = loops_outliving(facts, step, _without(variable, left))
    if loops:
        yield Growth(step, variable, kind, form, parts, loops[-1])


def _without(variable: "Variable", left: "Node") -> "Variable":
    """The variable without the bindings that only let it grow: they do not start it anew."""
    starts = tuple(b for b in variable.bindings if b.site.node.id != left.id and not _is_growth(b.site))
    return variable._replace(bindings=starts)


def _is_growth(site: "Step") -> bool:
    up = site.up
    if up is None or up.node.type != "assignment":
        return False
    return _mentions(up.node.child_by_field_name("right"), site.node.text or b"") > 0


def _mentions(node: "Node | None", name: bytes) -> int:
    """How often an identifier stands in an expression; a large expression counts as many times."""
    if node is None:
        return 0
    if node.descendant_count > 2_000:
        return 99
    count, todo = 0, [node]
    while todo:
        at = todo.pop()
        count += at.type == "identifier" and at.text == name
        todo += at.named_children
    return count


def _self_assignment(node: "Node") -> "tuple[Form, tuple[Node, ...]] | None":
    """The form in which an assignment lets its target grow, and what is added."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "identifier":
        return None
    if right.type not in ("string", "binary_operator") or _mentions(right, left.text or b"") != 1:
        return None
    if right.type == "string":
        return ("format", (right,)) if _starts_with(right, left) else None
    if right.type != "binary_operator":
        return None
    terms = _terms(right)
    if terms is None:
        return None
    if terms[0].text == left.text:
        return "append", tuple(terms[1:])
    if len(terms) > 1 and terms[-1].text == left.text:
        inner = right.child_by_field_name("left")
        return None if inner is None else ("prepend", (inner,))
    return None


def _terms(node: "Node") -> "list[Node] | None":
    """The operands of a + b + c; None if another operator is among them at the top."""
    terms: list[Node] = []
    at: Node | None = node
    while at is not None and at.type == "binary_operator":
        operator, right = at.child_by_field_name("operator"), at.child_by_field_name("right")
        if operator is None or right is None or operator.type != "+" or len(terms) > 50:
            return None
        terms.append(right)
        at = at.child_by_field_name("left")
    if at is not None:
        terms.append(at)
    return terms[::-1]


def _starts_with(string: "Node", left: "Node") -> bool:
    """A formatted string begins with the bare value of the name."""
    children = string.named_children
    if len(children) < 3 or children[0].type != "string_start" or children[1].type != "interpolation":
        return False
    inner = children[1].named_children
    return len(inner) == 1 and inner[0].text == left.text and b"=" not in (children[1].text or b"")


def collect(
    facts: "Facts",
    growth: Growth,
    *,
    start: "Callable[[Node, str], str]",
    grow: "Callable[[Growth], tuple[Edit, ...] | None]",
    finish: "Callable[[str], str]",
) -> Fix | None:
    """Let a name hold a growing container during the loop, and the value again behind it.

    `start` turns the first value, a node and its text (nothing for an empty one), into the container.
    None unless the name is set once in front of the loop, in the loop does nothing but grow (or be returned),
    and is used behind the loop in the same block only: no other code may meet the container.
    """
    variable, whole = growth.variable, statement(growth.loop.step)
    first = next((b for b in variable.bindings if b.how == "assign"), None)
    if first is None or first.value is None or first.annotation is not None or not variable.private:
        return None
    if (
        whole is None
        or not _in_front(statement(first.site), whole)
        or whole.node.id != growth.loop.step.node.id
    ):
        return None
    value = facts.text(first.value)
    edits: list[Edit | None] = [replace(first.value, start(first.value, "" if value in _EMPTY else value))]
    later: list[Step] = []
    grown: set[int] = set()
    for other in growths(facts, growth.type):
        if other.variable.scope is variable.scope and other.variable.name == variable.name:
            change = grow(other)
            if other.loop is not growth.loop or change is None:
                return None
            edits += change
            grown.add(other.step.node.id)
    for site in variable.scope.sites[variable.name]:
        if site.node.id == first.site.node.id or _within(site, grown):
            continue
        if not _allowed(facts, site, growth.loop, whole, later):
            return None
        if inside(site, growth.loop):
            edits.append(replace(site.node, finish(variable.name)))
    edits.append(_finished(facts, variable, whole, later, finish))
    return fix_of(edits, "safe" if variable.scope.kind == "function" else "unsafe")


def _in_front(first: "Step | None", whole: "Step") -> bool:
    return (
        first is not None
        and first.up is whole.up
        and first.node.end_byte <= whole.node.start_byte
        and first.node.type == "expression_statement"
    )


def _within(site: "Step", grown: set[int]) -> bool:
    """The site belongs to a statement that lets the name grow."""
    at: Step | None = site
    while at is not None:
        if at.node.id in grown:
            return True
        at = at.up
    return False


def _allowed(facts: "Facts", site: "Step", loop: "Loop", whole: "Step", later: "list[Step]") -> bool:
    if inside(site, loop):
        return role_of(site, facts.source).kind == "return"
    block = whole.up.node if whole.up is not None else whole.node
    if whole.node.end_byte <= site.node.start_byte < block.end_byte:
        later.append(site)
        return True
    return False


def _finished(
    facts: "Facts",
    variable: "Variable",
    whole: "Step",
    later: "list[Step]",
    finish: "Callable[[str], str]",
) -> Edit | None:
    """Where the name gets its value back: in the one `return` of it, or on a line behind the loop."""
    name = variable.name
    if len(later) == 1 and statement(later[0]) is not None and later[0].loop is whole.loop:
        last = statement(later[0])
        if last is not None and last.up is whole.up and role_of(later[0], facts.source).kind == "return":
            return replace(later[0].node, finish(name))
    return line_after(facts, whole, f"{name} = {finish(name)}")


def as_augmented(facts: "Facts", growth: Growth) -> tuple[Edit, ...] | None:
    """`s = s + a + b` as `s += a` and `s += b`; nothing for what is written so already."""
    if growth.form == "augment":
        return ()
    whole = statement(growth.step)
    node = growth.step.node
    if (
        growth.form not in ("append", "format")
        or whole is None
        or node.child_by_field_name("type") is not None
    ):
        return None
    left = node.child_by_field_name("left")
    if left is None:
        return None
    if growth.form == "format":
        opening, value = growth.parts[0].named_children[:2]
        return (Edit(left.end_byte, value.end_byte, f" += {facts.text(opening)}"),)
    name = facts.text(left)
    first, *others = [f"{name} += {facts.text(part)}" for part in growth.parts]
    edits: list[Edit] = [replace(node, first)]
    text = facts.text(node)
    if others:
        below = line_after(facts, whole, "\0")
        if below is None or "\n" in text or whole.node.named_child_count != 1:
            return None
        start, _, _ = below.text.partition("\0")
        edits.append(Edit(node.end_byte, node.end_byte, "".join(start + line for line in others)))
    return tuple(edits)
