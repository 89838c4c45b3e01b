"""Whether an expression does nothing but compute a value."""

from typing import TYPE_CHECKING

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
