"""Whether an expression does nothing but compute a value."""

from typing import TYPE_CHECKING

from best_agent.rules.facts.values import type_of, type_of_variable

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Scope

_MOST_NODES = 500
_QUIET_FUNCTIONS = frozenset(
    {
        "abs",
        "all",
        "any",
        "bool",
        "chr",
        "divmod",
        "enumerate",
        "float",
        "hash",
        "int",
        "isinstance",
        "len",
        "list",
    }
    | {
        "max",
        "min",
        "ord",
        "pow",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
    }
    | {"type", "zip", "id", "issubclass", "frozenset", "dict", "bytes", "format", "hasattr"}
)
_QUIET_METHODS = frozenset(
    {
        "count",
        "endswith",
        "find",
        "get",
        "index",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isspace",
        "isupper",
    }
    | {
        "items",
        "join",
        "keys",
        "lower",
        "lstrip",
        "replace",
        "rfind",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
    }
    | {"startswith", "strip", "title", "upper", "values", "casefold", "encode", "format", "issubset", "group"}
)
_CHANGES = frozenset(
    {"append", "add", "extend", "update", "setdefault", "appendleft"}
    | {"pop", "popleft", "clear", "remove", "discard", "insert", "sort", "reverse"}
)
_VALUES = frozenset({"int", "float", "bool", "str", "bytes", "tuple"})
_CONTAINERS = frozenset({"list", "set", "dict", "deque"})
_FRESH = frozenset({"list", "dictionary", "set", "list_comprehension", "dictionary_comprehension"})
_OUTWARD = frozenset(
    {"delete_statement", "with_statement", "global_statement", "nonlocal_statement", "lambda"}
)
_LOUD = frozenset({"await", "yield", "named_expression"})


def is_quiet(facts: "Facts", node: "Node", scope: "Scope") -> bool:
    """Nothing in the expression calls code that may do more than compute: no unknown function or method.

    Operators, attributes and subscripts count as quiet.
    """
    if node.descendant_count > _MOST_NODES:
        return False
    todo = [node]
    while todo:
        at = todo.pop()
        if at.type in _LOUD or (at.type == "call" and not _is_quiet_call(facts, at, scope)):
            return False
        todo += at.named_children
    return True


def _is_quiet_call(facts: "Facts", call: "Node", scope: "Scope") -> bool:
    function = call.child_by_field_name("function")
    if function is None:
        return False
    if function.type == "identifier":
        name = facts.text(function)
        return name in _QUIET_FUNCTIONS and facts.is_builtin(name, scope)
    name_node = function.child_by_field_name("attribute")
    return name_node is not None and facts.text(name_node) in _QUIET_METHODS


def is_local_work(facts: "Facts", node: "Node", scope: "Scope") -> bool:
    """A statement that touches nothing but names of its own function, and containers that were made there.

    Other code cannot tell when, or how far, such a statement has run.
    """
    if node.descendant_count > _MOST_NODES * 4:
        return False
    todo = [node]
    while todo:
        at = todo.pop()
        if at.type in _LOUD or at.type in _OUTWARD:
            return False
        if at.type == "call" and not (_is_quiet_call(facts, at, scope) or _changes_own(facts, at, scope)):
            return False
        if at.type in ("assignment", "augmented_assignment") and not _stores_own(facts, at, scope):
            return False
        todo += at.named_children
    return True


def _changes_own(facts: "Facts", call: "Node", scope: "Scope") -> bool:
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return False
    name = function.child_by_field_name("attribute")
    owner = function.child_by_field_name("object")
    return name is not None and facts.text(name) in _CHANGES and _is_own(facts, owner, scope)


def _stores_own(facts: "Facts", assignment: "Node", scope: "Scope") -> bool:
    target = assignment.child_by_field_name("left")
    if target is None:
        return False
    if target.type == "identifier":
        return assignment.type == "assignment" or _is_own_value(facts, target, scope)
    if target.type == "subscript":
        return _is_own(facts, target.child_by_field_name("value"), scope)
    return target.type in ("pattern_list", "tuple_pattern") and all(
        child.type == "identifier" for child in target.named_children
    )


def _is_own_value(facts: "Facts", target: "Node", scope: "Scope") -> bool:
    """`+=` makes a new value, or changes a container that was made here."""
    variable = facts.variable(facts.text(target), scope)
    if variable is not None and type_of_variable(facts, variable) in _VALUES:
        return True
    return _is_own(facts, target, scope)


def _is_own(facts: "Facts", node: "Node | None", scope: "Scope") -> bool:
    """A name that is bound to nothing but containers made on the spot."""
    if node is None or node.type != "identifier":
        return False
    variable = facts.variable(facts.text(node), scope)
    if variable is None or not variable.private:
        return False
    return all(
        binding.how in ("assign", "parallel") and _is_made_here(facts, binding.value, scope)
        for binding in variable.bindings
    )


def _is_made_here(facts: "Facts", value: "Node | None", scope: "Scope") -> bool:
    if value is None:
        return False
    return value.type in _FRESH or (value.type == "call" and type_of(facts, value, scope) in _CONTAINERS)
