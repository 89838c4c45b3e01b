"""What a value is: its builtin type, and whether it is plain data, as far as the source proves it."""

from typing import TYPE_CHECKING

from best_agent.rules.facts.model import Binding, Scope, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts

_DEPTH = 24
_MOST_BINDINGS = 50
"""A name that is bound more often is not worth the time: each question looks at all of them."""
_LITERALS = {
    "list": "list",
    "list_comprehension": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
    "tuple": "tuple",
    "expression_list": "tuple",
    "generator_expression": "generator",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "None",
    "comparison_operator": "bool",
    "not_operator": "bool",
}
_CALLS = {
    **{name: name for name in ("list", "set", "frozenset", "dict", "str", "bytes", "bytearray", "tuple")},
    **{name: name for name in ("int", "float", "range", "bool")},
    "sorted": "list",
    "len": "int",
    "ord": "int",
    "id": "int",
    "hash": "int",
    "chr": "str",
    "repr": "str",
    "input": "str",
    "hex": "str",
    "bin": "str",
    "format": "str",
    "open": "file",
}
_ANNOTATIONS = {
    **{name: name for name in ("list", "set", "frozenset", "dict", "str", "bytes", "bytearray", "tuple")},
    **{name: name for name in ("int", "float", "bool")},
    "List": "list",
    "Set": "set",
    "Dict": "dict",
    "Tuple": "tuple",
    "deque": "deque",
}
_STR_METHODS = {
    **dict.fromkeys(("split", "rsplit", "splitlines"), "list"),
    **dict.fromkeys(
        ("join", "strip", "lstrip", "rstrip", "lower", "upper", "replace", "format", "title", "zfill"), "same"
    ),
    **dict.fromkeys(("ljust", "rjust", "center", "removeprefix", "removesuffix"), "same"),
    **dict.fromkeys(("find", "rfind", "index", "count"), "int"),
    "encode": "bytes",
    "decode": "str",
}
_SEQUENCES = frozenset({"list", "str", "bytes", "tuple"})
_SAME = "same"
"""Stands for the type of the name that is being looked into."""
_ARITHMETIC = frozenset({"+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"})


class _Inquiry:
    """One question: which names are being looked into, and how much more may be looked at."""

    __slots__ = ("busy", "depth", "left")

    def __init__(self) -> None:
        self.busy: set[tuple[int, str]] = set()
        self.depth = 0
        self.left = 500


def type_of(facts: "Facts", node: "Node | None", scope: Scope) -> str | None:
    """The builtin type of an expression's value, or None where the source does not tell."""
    found = _type_of(facts, node, scope, _Inquiry())
    return None if found == _SAME else found


def type_of_variable(facts: "Facts", variable: Variable) -> str | None:
    """The type that all bindings of a name agree on."""
    found = _type_of_variable(facts, variable, _Inquiry())
    return None if found == _SAME else found


def _type_of(facts: "Facts", node: "Node | None", scope: Scope, ask: _Inquiry) -> str | None:
    if node is None or ask.depth > _DEPTH or ask.left <= 0:
        return None
    literal = _LITERALS.get(node.type)
    if literal is not None:
        return literal
    handler = _TYPES.get(node.type)
    if handler is None:
        return None
    ask.left -= 1
    ask.depth += 1
    found = handler(facts, node, scope, ask)
    ask.depth -= 1
    return found


def _type_of_variable(facts: "Facts", variable: Variable, ask: _Inquiry) -> str | None:
    """A name that is being looked into is taken to keep its type: `s = s + x` says nothing new."""
    key = (id(variable.scope), variable.name)
    if len(variable.bindings) > _MOST_BINDINGS:
        return None
    if key in ask.busy:
        return _SAME
    ask.busy.add(key)
    kinds = {
        _type_of_binding(facts, binding, ask)
        for binding in variable.bindings
        if binding.how not in ("augment", "delete")
    }
    ask.busy.discard(key)
    kept = _SAME in kinds
    if kinds == {_SAME}:
        return _SAME
    kinds.discard(_SAME)
    found = kinds.pop() if len(kinds) == 1 else None
    return found if not kept or found in _SEQUENCES else None


def _type_of_binding(facts: "Facts", binding: Binding, ask: _Inquiry) -> str | None:
    scope = binding.site.scope
    if binding.annotation is not None:
        return _type_of_annotation(facts, binding.annotation)
    if binding.how in ("assign", "parallel"):
        return _type_of(facts, binding.value, scope, ask)
    if binding.how == "with" and _type_of(facts, binding.value, scope, ask) == "file":
        return "file"
    if binding.how == "for" and binding.value is not None:
        kind = _type_of(facts, binding.value, scope, ask)
        return {"range": "int", "str": "str", "bytes": "int", "file": "line"}.get(kind or "")
    return None


def _type_of_annotation(facts: "Facts", annotation: "Node") -> str | None:
    text = facts.text(annotation).strip().strip("\"'")
    return _ANNOTATIONS.get(text.partition("[")[0].strip().removeprefix("typing."))


def _string(facts: "Facts", node: "Node", _scope: Scope, _ask: _Inquiry) -> str | None:
    quote = facts.source.find(b'"', node.start_byte, node.end_byte)
    single = facts.source.find(b"'", node.start_byte, node.end_byte)
    first = min(at for at in (quote, single, node.end_byte) if at >= 0)
    prefix = facts.source[node.start_byte : first].lower()
    return "bytes" if b"b" in prefix else "str"


def _named(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    variable = facts.variable(facts.text(node), scope)
    return None if variable is None else _type_of_variable(facts, variable, ask)


def _inner(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    return _type_of(facts, node.named_children[0], scope, ask) if node.named_child_count == 1 else None


def _value(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    return _type_of(facts, node.child_by_field_name("value"), scope, ask)


def _unary(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    kind = _type_of(facts, node.child_by_field_name("argument"), scope, ask)
    return kind if kind in ("int", "float") else None


def _either(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    children = node.named_children
    if node.type == "conditional_expression" and len(children) == 3:
        children = [children[0], children[2]]
    kinds = {_type_of(facts, child, scope, ask) for child in children}
    return kinds.pop() if len(kinds) == 1 else None


def _binary(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    operator = node.child_by_field_name("operator")
    left = _type_of(facts, node.child_by_field_name("left"), scope, ask)
    right = _type_of(facts, node.child_by_field_name("right"), scope, ask)
    return _type_of_operation(operator.type if operator is not None else "", left, right)


def _type_of_operation(sign: str, left: str | None, right: str | None) -> str | None:
    if sign == "%" and left in ("str", "bytes"):
        return left
    if sign in ("+", "*"):
        sequence = next((kind for kind in (left, right) if kind in _SEQUENCES), None)
        if sequence is not None:
            return sequence
        if sign == "+" and _SAME in (left, right) and "int" not in (left, right):
            return _SAME
    numbers = ({left, right} <= {"int", _SAME} and left != right) or left == right == "int"
    return "int" if numbers and sign in _ARITHMETIC else None


def _call(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    function = node.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        name = facts.text(function)
        return _CALLS.get(name) if facts.is_builtin(name, scope) else _imported(name)
    if function.type != "attribute":
        return None
    name = facts.text(function.child_by_field_name("attribute") or function)
    receiver = _type_of(facts, function.child_by_field_name("object"), scope, ask)
    if name == "copy" and receiver in ("list", "set", "dict", "deque"):
        return receiver
    if receiver == "file":
        return {"readlines": "list", "read": "text", "readline": "line"}.get(name)
    if receiver in ("str", "bytes", "line", "text"):
        kind = _STR_METHODS.get(name)
        return receiver if kind == "same" else kind
    return "list" if name in ("split", "splitlines", "rsplit") else None


def _imported(name: str) -> str | None:
    return {"deque": "deque", "defaultdict": "dict", "Counter": "dict", "OrderedDict": "dict"}.get(name)


def _subscript(facts: "Facts", node: "Node", scope: Scope, ask: _Inquiry) -> str | None:
    index = node.child_by_field_name("subscript")
    kind = _type_of(facts, node.child_by_field_name("value"), scope, ask)
    if kind == "str":
        return "str"
    if index is not None and index.type == "slice" and kind in ("list", "tuple", "bytes", _SAME):
        return kind
    return "int" if kind == "bytes" else None


_TYPES: "dict[str, Callable[[Facts, Node, Scope, _Inquiry], str | None]]" = {
    "string": _string,
    "concatenated_string": _string,
    "identifier": _named,
    "parenthesized_expression": _inner,
    "named_expression": _value,
    "unary_operator": _unary,
    "conditional_expression": _either,
    "boolean_operator": _either,
    "binary_operator": _binary,
    "call": _call,
    "subscript": _subscript,
}
