"""What rules about lists have in common: how a list comes about, grows and is used."""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.editing import replace
from best_agent.rules.facts.facts import inside, statement
from best_agent.rules.facts.roles import Role, role_of
from best_agent.rules.facts.values import type_of, type_of_variable

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Binding, Loop, Step, Variable

READING_CALLS = frozenset(
    {"len", "sorted", "sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "enumerate"}
    | {"zip", "reversed", "print", "str", "repr", "bool"}
)
"""Builtins that only read a list which they are given."""
READING_METHODS = frozenset({"index", "count", "copy"})
_CHANGING = frozenset({"list", "dict", "set", "bytearray", "deque", "generator"})
_MAKING = frozenset(
    {"list", "list_comprehension", "binary_operator", "call", "subscript", "dictionary", "set"}
    | {"dictionary_comprehension", "set_comprehension", "generator_expression"}
)
_GROWING = frozenset({"append", "extend", "insert"})


def is_list(facts: "Facts", variable: "Variable") -> bool:
    """Every binding of the variable is a list."""
    return type_of_variable(facts, variable) == "list"


def is_read(role: Role) -> bool:
    """The use neither changes the list nor hands it to somebody who may."""
    if role.kind == "method":
        return role.detail in READING_METHODS
    if role.kind == "argument":
        name = role.detail.partition(":")[0]
        return name in READING_CALLS or name.endswith(".join")
    return role.kind in ("index", "slice", "member", "iterate", "truth", "compare", "return")


def grows_with_input(facts: "Facts", variable: "Variable") -> bool:
    """The list has no size that is written in the source."""
    for binding in variable.bindings:
        if binding.how == "augment":
            if binding.site.loop is not None:
                return True
        elif binding.how != "delete" and (binding.value is None or not _is_short(facts, binding.value)):
            return True
    for _, role in facts.roles(variable):
        if role.kind == "method" and role.detail in _GROWING and role.step.loop is not None:
            return True
    return False


def _is_short(facts: "Facts", value: "Node") -> bool:
    if value.type == "list":
        return all(child.type != "list_splat" for child in value.named_children)
    return value.type == "call" and facts.text(value) == "list()"


def loops_outliving(facts: "Facts", step: "Step", variable: "Variable") -> "tuple[Loop, ...]":
    """The growing loops around a step that use one and the same list in every round, from the inside out."""
    places = [b.site for b in variable.bindings if b.how not in ("augment", "delete")]
    return tuple(
        loop
        for loop in facts.growing_loops(step)
        if loop.step.scope is step.scope or loop.step.scope.kind != "class"
        if not any(inside(place, loop) for place in places)
    )


def is_bound_before(variable: "Variable", place: "Step") -> bool:
    """Whatever way leads to the place, the variable has its value there."""
    if len(variable.bindings) != 1:
        return False
    binding = variable.bindings[0]
    if binding.how == "parameter":
        return True
    whole = statement(binding.site)
    if whole is None or whole.up is None or whole.node.end_byte > place.node.start_byte:
        return False
    at: Step | None = place
    while at is not None and at.up is not None:
        if at.up is whole.up:
            return True
        at = at.up
    return False


def unchanged_in(facts: "Facts", variable: "Variable", loop: "Loop") -> bool:
    """No round of the loop binds the variable, changes what it holds, or hands it to code that may."""
    if any(inside(binding.site, loop) for binding in variable.bindings):
        return False
    if not variable.private:
        return False
    return all(leaves_alone(facts, role) for use, role in facts.roles(variable) if inside(use, loop))


def leaves_alone(facts: "Facts", role: Role) -> bool:
    """The use changes neither the container nor, as far as can be seen, one of its items."""
    if role.kind in ("index", "slice"):
        return role_of(role.step, facts.source).kind not in ("method", "store", "attribute", "augment")
    return is_read(role)


def has_one_name(facts: "Facts", variable: "Variable") -> bool:
    """What the variable holds has no other name in this source by which it could be changed."""
    if any(role.kind == "other" for _, role in facts.roles(variable)):
        return False
    for binding in variable.bindings:
        if binding.how in ("parameter", "delete"):
            continue
        if binding.how not in ("assign", "parallel", "augment") or binding.value is None:
            return False
        kind = type_of(facts, binding.value, binding.site.scope)
        if binding.how != "augment" and (
            kind is None or (kind in _CHANGING and not _is_fresh(binding.value))
        ):
            return False
    return True


def is_assigned(variable: "Variable") -> bool:
    """The variable gets its values by plain assignments of new lists only."""
    return all(
        b.how == "delete" or (b.how in ("assign", "parallel") and b.value is not None and _is_fresh(b.value))
        for b in variable.bindings
    )


def _is_fresh(value: "Node") -> bool:
    """An expression known to be a list makes a new one, which has no other name."""
    if value.type in ("parenthesized_expression", "conditional_expression"):
        children = value.named_children
        return all(_is_fresh(child) for child in (children[0], children[-1]))
    return value.type in _MAKING


def annotation_edit(facts: "Facts", binding: "Binding", wanted: str) -> tuple[Edit, ...] | None:
    """Make `list[...]` in an annotation say another type; None if it says something else."""
    if binding.annotation is None:
        return ()
    text = facts.text(binding.annotation)
    for word in ("list", "List", "typing.List"):
        if text == word or text.startswith(f"{word}["):
            return (Edit(binding.annotation.start_byte, binding.annotation.start_byte + len(word), wanted),)
    return None


def as_set(facts: "Facts", value: "Node") -> tuple[Edit, ...]:
    """The edits that make a set of an expression that makes a list."""
    if value.type == "list" and value.named_child_count == 0:
        return (replace(value, "set()"),)
    if value.type in ("list", "list_comprehension"):
        return (
            Edit(value.start_byte, value.start_byte + 1, "{"),
            Edit(value.end_byte - 1, value.end_byte, "}"),
        )
    return wrapped(facts, value, "set")


def wrapped(facts: "Facts", value: "Node", constructor: str) -> tuple[Edit, ...]:
    """The edits that hand an expression to a constructor: in the place of `list(...)`, or around it."""
    if value.type == "list" and value.named_child_count == 0 and facts.text(value).strip("[] \t") == "":
        return (replace(value, f"{constructor}()"),)
    if value.type == "call":
        function = value.child_by_field_name("function")
        if function is not None and facts.text(function) == "list":
            return (replace(function, constructor),)
    return (
        Edit(value.start_byte, value.start_byte, f"{constructor}("),
        Edit(value.end_byte, value.end_byte, ")"),
    )
