"""Whether a value is proved to be plain data: a number, a text, None, or a tuple of such.

Plain values can be hashed, and equal ones hash alike. The proof is by induction over the steps that make a
value: while a name is being looked into, it may be taken for plain.
"""

from typing import TYPE_CHECKING

from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Binding, Scope, Variable

_EXACT_TYPES = frozenset({"int", "str", "bytes", "range", "line", "text"})
_EXACT_WORDS = frozenset({"int", "str", "bytes", "tuple", "Tuple"})
_INEXACT_SIGNS = frozenset({"/", "**"})
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str", "bytes", "None", "range", "line", "text"})
_PLAIN_WORDS = frozenset(
    {"int", "float", "bool", "str", "bytes", "None", "tuple", "Tuple", "Optional", "Union"}
)
_LIST_WORDS = frozenset({"list", "List", "Sequence", "Iterable", "Collection", "set", "Set", "deque"})
_READS = frozenset({"pop", "popleft"})
_GROWTH = frozenset({"append", "appendleft", "add"})
_HARMLESS = frozenset({"count", "index", "clear", "reverse", "sort", "remove", "discard", "copy"})
_READERS = frozenset(
    {
        "len",
        "sorted",
        "sum",
        "min",
        "max",
        "list",
        "set",
        "any",
        "all",
        "zip",
        "enumerate",
        "reversed",
        "tuple",
    }
)
_DEPTH = 40


class Plain:
    """One enquiry; what it assumed on the way does not outlive it."""

    def __init__(self, facts: "Facts", *, exact: bool = False) -> None:
        """With `exact`, floats, bools and None are not plain enough: equal values must be the same."""
        self._facts = facts
        self._exact = exact
        self._types = _EXACT_TYPES if exact else _PLAIN_TYPES
        self._words = _EXACT_WORDS if exact else _PLAIN_WORDS
        self._assumed: set[tuple[int, str, str]] = set()

    def value(self, node: "Node | None", scope: "Scope", depth: int = 0) -> bool:
        """The value of an expression is plain."""
        if node is None or depth > _DEPTH:
            return False
        depth += 1
        if node.type == "identifier":
            return self._name(node, scope, depth)
        if node.type in ("tuple", "expression_list", "parenthesized_expression", "conditional_expression"):
            return all(self.value(child, scope, depth) for child in node.named_children)
        if node.type == "binary_operator":
            return self._operation(node, scope, depth)
        if node.type == "unary_operator":
            return self.value(node.child_by_field_name("argument"), scope, depth)
        if node.type == "subscript":
            inner = node.child_by_field_name("value")
            return self.value(inner, scope, depth) or self._element(node, inner, scope, depth)
        if node.type == "call":
            return self._call(node, scope, depth)
        return type_of(self._facts, node, scope) in self._types

    def _operation(self, node: "Node", scope: "Scope", depth: int) -> bool:
        sign = node.child_by_field_name("operator")
        if self._exact and (sign is None or sign.type in _INEXACT_SIGNS):
            return False
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        return all(self.value(side, scope, depth) for side in sides)

    def _element(self, node: "Node", inner: "Node | None", scope: "Scope", depth: int) -> bool:
        index = node.child_by_field_name("subscript")
        return index is not None and index.type != "slice" and self.elements(inner, scope, depth)

    def _call(self, node: "Node", scope: "Scope", depth: int) -> bool:
        if type_of(self._facts, node, scope) in self._types:
            return True
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return False
        name = self._facts.text(function)
        if name in ("min", "max", "abs", "divmod", "round") and self._facts.is_builtin(name, scope):
            return all(self.value(child, scope, depth) for child in arguments.named_children)
        if function.type != "attribute":
            return False
        method = self._facts.text(function.child_by_field_name("attribute") or function)
        return method in _READS and self.elements(function.child_by_field_name("object"), scope, depth)

    def _name(self, node: "Node", scope: "Scope", depth: int) -> bool:
        variable = self._facts.variable(self._facts.text(node), scope)
        if variable is None or variable.scope.broken or variable.scope.dynamic:
            return False
        if variable.name in variable.scope.captured and variable.scope.kind != "module":
            return False
        return self._assume(variable, "value") or all(
            self._binding(binding, depth) for binding in variable.bindings
        )

    def _assume(self, variable: "Variable", what: str) -> bool:
        key = (id(variable.scope), variable.name, what)
        if key in self._assumed:
            return True
        self._assumed.add(key)
        return False

    def _binding(self, binding: "Binding", depth: int) -> bool:
        scope = binding.site.scope
        if binding.annotation is not None:
            return self._annotated(binding.annotation, self._words)
        if binding.how in ("assign", "parallel", "augment"):
            return self.value(binding.value, scope, depth)
        if binding.how == "for":
            return self.elements(binding.value, scope, depth)
        if binding.how == "unpack" and binding.value is not None:
            return self.value(binding.value, scope, depth) or self.elements(binding.value, scope, depth)
        return binding.how == "delete"

    def _annotated(self, annotation: "Node", words: frozenset[str]) -> bool:
        text = self._facts.text(annotation)
        for sign in "[](),|.\"'":
            text = text.replace(sign, " ")
        parts = text.split()
        bare = len(parts) == 1 and parts[0] in ("tuple", "Tuple")
        return bool(parts) and not bare and all(part in words for part in parts)

    def elements(self, node: "Node | None", scope: "Scope", depth: int = 0) -> bool:
        """What comes out of iterating over an expression is plain."""
        if node is None or depth > _DEPTH:
            return False
        depth += 1
        if node.type in ("list", "set", "tuple"):
            return all(self.value(child, scope, depth) for child in node.named_children)
        if node.type == "identifier":
            return self._elements_of_name(node, scope, depth)
        if node.type == "call":
            return self._elements_of_call(node, scope, depth)
        if node.type in ("list_comprehension", "generator_expression", "set_comprehension"):
            return self.value(node.child_by_field_name("body"), self._facts.scope_of(node), depth)
        if node.type == "subscript":
            index = node.child_by_field_name("subscript")
            sliced = index is not None and index.type == "slice"
            return sliced and self.elements(node.child_by_field_name("value"), scope, depth)
        if node.type in ("parenthesized_expression", "binary_operator"):
            return self._elements_of_parts(node, scope, depth)
        return type_of(self._facts, node, scope) in ("str", "bytes", "range", "file", "line", "text")

    def _elements_of_parts(self, node: "Node", scope: "Scope", depth: int) -> bool:
        if node.type == "parenthesized_expression":
            return self.elements(node.named_children[0], scope, depth)
        operator = node.child_by_field_name("operator")
        sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        if operator is not None and operator.type == "*":
            return any(self.elements(side, scope, depth) for side in sides)
        return all(self.elements(side, scope, depth) for side in sides)

    def _elements_of_call(self, node: "Node", scope: "Scope", depth: int) -> bool:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return False
        name = self._facts.text(function)
        children = arguments.named_children
        if name in ("range", "list", "set", "tuple", "sorted", "reversed", "enumerate", "deque", "zip"):
            if name == "range" or not children:
                return True
            positional = [child for child in children if child.type != "keyword_argument"]
            return all(self.elements(child, scope, depth) for child in positional)
        method = name.rpartition(".")[2]
        return function.type == "attribute" and method in ("split", "splitlines", "rsplit", "readlines")

    def _elements_of_name(self, node: "Node", scope: "Scope", depth: int) -> bool:
        variable = self._facts.variable(self._facts.text(node), scope)
        if variable is None or not variable.private:
            return variable is not None and self._is_literal(variable, depth)
        if self._assume(variable, "elements"):
            return True
        bound = all(self._elements_of_binding(binding, depth) for binding in variable.bindings)
        return bound and all(self._harmless(use, depth) for use in variable.uses)

    def _is_literal(self, variable: "Variable", depth: int) -> bool:
        """A name that others see, but that is bound once and to a tuple, which nobody can change."""
        if len(variable.bindings) != 1 or variable.name in self._facts.declared:
            return False
        value = variable.bindings[0].value
        known = value is not None and variable.bindings[0].how == "assign"
        return (
            known and value is not None and value.type == "tuple" and self.value(value, variable.scope, depth)
        )

    def _elements_of_binding(self, binding: "Binding", depth: int) -> bool:
        scope = binding.site.scope
        if binding.annotation is not None and self._annotated(binding.annotation, self._words | _LIST_WORDS):
            text = self._facts.text(binding.annotation)
            return "[" in text and text.count("[") - text.lower().count("tuple[") == 1
        if binding.how in ("assign", "parallel", "augment"):
            return self.elements(binding.value, scope, depth)
        if binding.how in ("for", "unpack"):
            return self.value(binding.value, scope, depth)
        return binding.how == "delete"

    def _harmless(self, use: "Step", depth: int) -> bool:
        """The use adds nothing to the container that is not plain."""
        role = role_of(use, self._facts.source)
        arguments = role.step.node.child_by_field_name("arguments")
        if role.kind == "method" and arguments is not None:
            if role.detail in _GROWTH:
                return all(self.value(child, role.step.scope, depth) for child in arguments.named_children)
            if role.detail == "extend":
                return all(self.elements(child, role.step.scope, depth) for child in arguments.named_children)
            if role.detail == "insert":
                return all(self.value(child, role.step.scope, depth) for child in arguments.named_children)
            return role.detail in _READS | _HARMLESS
        if role.kind == "argument":
            return role.detail.partition(":")[0] in _READERS
        return role.kind in ("index", "slice", "member", "iterate", "truth", "return", "augment", "compare")


if TYPE_CHECKING:
    from best_agent.rules.facts.model import Step
