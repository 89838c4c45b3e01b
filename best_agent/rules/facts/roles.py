"""What is done with a value where it stands: called upon, indexed, iterated over, tested, handed on."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from best_agent.rules.facts.model import Step

if TYPE_CHECKING:
    from tree_sitter import Node

RoleKind = Literal[
    "augment",
    "method",
    "attribute",
    "index",
    "slice",
    "store",
    "member",
    "iterate",
    "truth",
    "argument",
    "return",
    "compare",
    "other",
]


class Role(NamedTuple):
    """What a value is used for."""

    kind: RoleKind
    step: Step
    """The construct that uses it: the call, the subscript, the loop, the statement."""
    detail: str = ""
    """The method's or function's name; the position of an argument follows after a colon."""


_PARTS: dict[str, tuple[RoleKind, str]] = {
    "for_statement": ("iterate", "right"),
    "for_in_clause": ("iterate", "right"),
    "augmented_assignment": ("augment", "left"),
    "return_statement": ("return", ""),
}
"""Construct -> the role of its part that stands in the field (of any part without one)."""


def role_of(step: Step, source: bytes) -> Role:
    """What the construct around a value does with it."""
    while step.up is not None and step.up.node.type == "parenthesized_expression":
        step = step.up
    up = step.up
    if up is None:
        return Role("other", step)
    kind, node = up.node.type, step.node
    if kind == "attribute":
        return _attribute_role(up, source)
    if kind == "subscript":
        return _subscript_role(up, node)
    if kind == "argument_list":
        return _argument_role(up, node, source)
    if kind == "comparison_operator":
        return _comparison_role(up, node)
    part = _PARTS.get(kind)
    if part is not None and (not part[1] or _field_is(up, part[1], node)):
        return Role(part[0], up)
    if kind in ("expression_list", "tuple") and _is_returned(up):
        return Role("return", up)
    return Role("truth" if _is_tested(step) else "other", up)


def _is_returned(step: Step) -> bool:
    """The tuple is what the function returns."""
    up = step.up
    while up is not None and up.node.type in ("expression_list", "tuple", "parenthesized_expression"):
        up = up.up
    return up is not None and up.node.type == "return_statement"


def _field_is(step: Step, field: str, node: "Node") -> bool:
    child = step.node.child_by_field_name(field)
    return child is not None and child.id == node.id


def _attribute_role(up: Step, source: bytes) -> Role:
    name = up.node.child_by_field_name("attribute")
    text = "" if name is None else source[name.start_byte : name.end_byte].decode(errors="replace")
    call = up.up
    if call is not None and call.node.type == "call" and _field_is(call, "function", up.node):
        return Role("method", call, text)
    return Role("attribute", up, text)


def _subscript_role(up: Step, node: "Node") -> Role:
    if not _field_is(up, "value", node):
        return Role("other", up)
    outer = up.up
    if outer is not None:
        kind = outer.node.type
        stored = kind in ("assignment", "augmented_assignment") and _field_is(outer, "left", up.node)
        if stored or kind in ("delete_statement", "pattern_list", "as_pattern_target"):
            return Role("store", up)
    index = up.node.child_by_field_name("subscript")
    if index is not None and index.type == "slice":
        return Role("slice", up)
    return Role("index", up)


def _argument_role(up: Step, node: "Node", source: bytes) -> Role:
    call = up.up
    if call is None or call.node.type != "call":
        return Role("other", up)
    function = call.node.child_by_field_name("function")
    if function is None:
        return Role("other", up)
    name = source[function.start_byte : function.end_byte].decode(errors="replace")
    position = next((i for i, child in enumerate(up.node.named_children) if child.id == node.id), -1)
    return Role("argument", call, f"{name}:{position}")


def _comparison_role(up: Step, node: "Node") -> Role:
    children = up.node.children
    if len(children) == 3 and children[2].id == node.id and children[1].type in ("in", "not in"):
        return Role("member", up)
    return Role("compare", up)


def _is_tested(step: Step) -> bool:
    """Only the truth of the value matters: `if x`, `while x and y`, `not x`."""
    up = step.up
    while up is not None and up.node.type in ("boolean_operator", "parenthesized_expression"):
        step, up = up, up.up
    if up is None:
        return False
    if up.node.type in ("while_statement", "if_statement", "elif_clause"):
        return _field_is(up, "condition", step.node)
    if up.node.type == "conditional_expression":
        return up.node.named_children[1].id == step.node.id
    return up.node.type in ("not_operator", "if_clause")
