"""Turning a list that is used at both ends into a deque."""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit, Fix
from best_agent.rules.editing import fix_of, import_of, replace
from best_agent.rules.facts.facts import ancestors
from best_agent.rules.lists import annotation_edit, is_assigned, wrapped

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step, Variable
    from best_agent.rules.facts.roles import Role

_SAME_METHODS = frozenset({"append", "extend", "clear", "count", "remove", "reverse", "index"})
_MUTATING = frozenset({"append", "extend", "clear", "remove", "pop", "insert"})
_SAME_CALLS = frozenset(
    {"len", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "frozenset", "bool"}
)


def into_deque(facts: "Facts", variable: "Variable") -> Fix | None:
    """The fix that makes a deque of a list; None where no deque can replace it, or where others see it."""
    if not variable.private or not is_assigned(variable):
        return None
    imported = import_of(facts, "collections", "deque", variable.scope)
    if imported is None:
        return None
    deque, edits = imported
    uses = facts.roles(variable)
    changes: list[Edit | None] = list(edits)
    for binding in variable.bindings:
        annotation = annotation_edit(facts, binding, deque)
        if annotation is None:
            return None
        changes += annotation
        if binding.value is not None:
            changes += wrapped(facts, binding.value, deque)
    for use, role in uses:
        change = _change(facts, use, role, uses)
        if change is None:
            return None
        changes += change
    return fix_of(changes, "safe" if variable.scope.kind == "function" else "unsafe")


def _change(
    facts: "Facts", use: "Step", role: "Role", uses: "tuple[tuple[Step, Role], ...]"
) -> "tuple[Edit, ...] | None":
    """What a use needs so that a deque serves it; None if no deque does."""
    if role.kind == "method":
        return _method(facts, role)
    if role.kind in ("truth", "member", "augment"):
        return ()
    if role.kind == "return":
        if any(above.node.type == "try_statement" for above in ancestors(use)):
            return None  # `finally` may change a list that is on its way out
        return (replace(use.node, f"list({facts.text(use.node)})"),)
    if role.kind in ("index", "store"):
        index = role.step.node.child_by_field_name("subscript")
        return () if index is not None and facts.text(index) in ("0", "-1") else None
    if role.kind == "argument" and role.detail.partition(":")[0] in _SAME_CALLS:
        return ()
    if role.kind == "iterate" and not _changes_within(role, uses):
        return ()
    return None


def _changes_within(role: "Role", uses: "tuple[tuple[Step, Role], ...]") -> bool:
    """The loop over the list changes it: a deque would raise RuntimeError."""
    whole = role.step.up if role.step.node.type == "for_in_clause" and role.step.up is not None else role.step
    start, end = whole.node.start_byte, whole.node.end_byte
    return any(
        start <= use.node.start_byte < end
        for use, other in uses
        if other.kind in ("store", "augment") or (other.kind == "method" and other.detail in _MUTATING)
    )


def _method(facts: "Facts", role: "Role") -> "tuple[Edit, ...] | None":
    call = role.step.node
    arguments = call.child_by_field_name("arguments")
    function = call.child_by_field_name("function")
    name = function.child_by_field_name("attribute") if function is not None else None
    if arguments is None or name is None or arguments.type != "argument_list":
        return None
    given = arguments.named_children
    if role.detail in _SAME_METHODS:
        return ()
    if role.detail == "pop" and not given:
        return ()
    if is_first(facts, given, 1) and role.detail == "pop":
        return (replace(name, "popleft"), _drop(arguments, given[0], None))
    if is_first(facts, given, 2) and role.detail == "insert":
        return (replace(name, "appendleft"), _drop(arguments, given[0], given[1]))
    return None


def is_first(facts: "Facts", given: "list[Node]", count: int) -> bool:
    """The arguments are so many, and the first is a literal 0."""
    return len(given) == count and given[0].type == "integer" and facts.text(given[0]) == "0"


def _drop(arguments: "Node", first: "Node", following: "Node | None") -> Edit:
    """Drop the first argument, and what parts it from the next one or from the closing parenthesis."""
    end = arguments.end_byte - 1 if following is None else following.start_byte
    return Edit(first.start_byte, end, "")


def calls_at_front(facts: "Facts", method: str, count: int) -> "list[tuple[Step, Variable]]":
    """Calls `name.method(0, ...)` on names."""
    found: list[tuple[Step, Variable]] = []
    for step in facts.method_calls(method):
        function = step.node.child_by_field_name("function")
        arguments = step.node.child_by_field_name("arguments")
        receiver = function.child_by_field_name("object") if function is not None else None
        if receiver is None or arguments is None or receiver.type != "identifier":
            continue
        variable = facts.variable(facts.text(receiver), step.scope)
        if variable is not None and is_first(facts, arguments.named_children, count):
            found.append((step, variable))
    return found
