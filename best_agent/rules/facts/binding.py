"""Which identifiers are uses of a name, and which of them give the name a value."""

from typing import TYPE_CHECKING

from best_agent.rules.facts.model import Binding, How, Scope, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

_PATTERNS = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "tuple", "list", "list_splat"}
)
_PARAMETERS = frozenset({"parameters", "lambda_parameters"})
_OPAQUE_TARGETS = _PARAMETERS | {"typed_parameter", "as_pattern_target"}
"""What binds names inside a pattern without a value that can be seen."""
_SPLATS = frozenset({"list_splat_pattern", "dictionary_splat_pattern"})


def bind(step: Step, source: bytes) -> None:
    """Note an identifier as a site of its name, as a binding if it is one; not if it is no name at all."""
    up = step.up
    assert up is not None
    name = source[step.node.start_byte : step.node.end_byte].decode(errors="replace")
    handler = _HANDLERS.get(up.node.type)
    if handler is None:
        _site(step.scope, name, step)
    else:
        handler(step, up, name)


def _site(scope: Scope, name: str, step: Step) -> None:
    scope.sites.setdefault(name, []).append(step)


def _note(  # one place where a binding is stored; its parts are what a binding has
    step: Step, name: str, how: How, value: "Node | None" = None, annotation: "Node | None" = None
) -> None:
    scope = step.scope
    _site(scope, name, step)
    scope.bindings.setdefault(name, []).append(Binding(step, how, value, annotation))


def _is(node: "Node | None", other: "Node") -> bool:
    return node is not None and node.id == other.id


def _attribute(step: Step, up: Step, name: str) -> None:
    if not _is(up.node.child_by_field_name("attribute"), step.node):
        _site(step.scope, name, step)


def _keyword_argument(step: Step, up: Step, name: str) -> None:
    if not _is(up.node.child_by_field_name("name"), step.node):
        _site(step.scope, name, step)


def _definition(step: Step, up: Step, name: str) -> None:
    """The name of a function or class belongs to the scope around it."""
    if _is(up.node.child_by_field_name("name"), step.node):
        step.scope = step.scope.outer or step.scope
        step.loop = up.loop
        _note(step, name, "other")
    else:
        _site(step.scope, name, step)


def _assignment(step: Step, up: Step, name: str) -> None:
    if not _is(up.node.child_by_field_name("left"), step.node):
        _site(step.scope, name, step)
        return
    value = up.node.child_by_field_name("right")
    annotation = up.node.child_by_field_name("type")
    chained = (value is not None and value.type == "assignment") or _in_assignment(up)
    _note(step, name, "unpack" if chained else "assign", None if chained else value, annotation)


def _in_assignment(up: Step) -> bool:
    return up.up is not None and up.up.node.type == "assignment"


def _augmented(step: Step, up: Step, name: str) -> None:
    if _is(up.node.child_by_field_name("left"), step.node):
        _note(step, name, "augment", up.node.child_by_field_name("right"))
    else:
        _site(step.scope, name, step)


def _walrus(step: Step, up: Step, name: str) -> None:
    """A walrus in a comprehension binds in the scope around it."""
    if not _is(up.node.child_by_field_name("name"), step.node):
        _site(step.scope, name, step)
        return
    while step.scope.kind == "comprehension" and step.scope.outer is not None:
        step.scope = step.scope.outer
    _note(step, name, "assign", up.node.child_by_field_name("value"))


def _pattern(step: Step, up: Step, name: str) -> None:
    """A name inside a tuple or list: a target if the outermost pattern is one."""
    inner, outer = up, up.up
    depth = 1
    while outer is not None and outer.node.type in _PATTERNS:
        inner, outer = outer, outer.up
        depth += 1
    if outer is None:
        _site(step.scope, name, step)
    elif _is(outer.node.child_by_field_name("left"), inner.node):
        _unpacked(step, name, (inner, outer), depth)
    elif outer.node.type in _OPAQUE_TARGETS:
        _note(step, name, "unpack")
    elif outer.node.type == "delete_statement":
        _note(step, name, "delete")
    else:
        _site(step.scope, name, step)


def _unpacked(step: Step, name: str, place: tuple[Step, Step], depth: int) -> None:
    pattern, outer = place
    kind = outer.node.type
    if kind not in ("assignment", "for_statement", "for_in_clause"):
        _site(step.scope, name, step)
        return
    value = outer.node.child_by_field_name("right")
    if kind == "assignment" and depth == 1 and value is not None:
        matched = _counterpart(step.node, pattern.node, value)
        if matched is not None:
            _note(step, name, "parallel", matched)
            return
    _note(step, name, "unpack", value)


def _counterpart(target: "Node", pattern: "Node", value: "Node") -> "Node | None":
    """The part of `x, y` in `a, b = x, y` that a target receives."""
    if value.type not in ("expression_list", "tuple"):
        return None
    targets, values = pattern.named_children, value.named_children
    starred = any(node.type in ("list_splat_pattern", "list_splat") for node in (*targets, *values))
    if starred or len(targets) != len(values):
        return None
    return next((v for t, v in zip(targets, values, strict=True) if t.id == target.id), None)


def _for(step: Step, up: Step, name: str) -> None:
    if _is(up.node.child_by_field_name("left"), step.node):
        _note(step, name, "for", up.node.child_by_field_name("right"))
    else:
        _site(step.scope, name, step)


def _alias(step: Step, up: Step, name: str) -> None:
    """`with value as name` and `except value as name`."""
    pattern = up.up
    value = pattern.node.named_children[0] if pattern is not None and pattern.node.named_children else None
    in_with = pattern is not None and pattern.up is not None and pattern.up.node.type == "with_item"
    _note(step, name, "with" if in_with else "other", value if in_with else None)


def _as_pattern(step: Step, up: Step, name: str) -> None:
    """In `case pattern as name` the name is a bare identifier behind the pattern."""
    if _is(up.node.named_children[-1], step.node) and up.node.named_child_count > 1:
        _note(step, name, "other")
    else:
        _site(step.scope, name, step)


def _parameter(step: Step, _up: Step, name: str) -> None:
    _note(step, name, "parameter")


def _typed_parameter(step: Step, up: Step, name: str) -> None:
    _note(step, name, "parameter", annotation=up.node.child_by_field_name("type"))


def _default_parameter(step: Step, up: Step, name: str) -> None:
    if not _is(up.node.child_by_field_name("name"), step.node):
        _site(step.scope, name, step)
        return
    _note(
        step,
        name,
        "parameter",
        up.node.child_by_field_name("value"),
        up.node.child_by_field_name("type"),
    )


def _dotted(step: Step, up: Step, name: str) -> None:
    """Part of a dotted name: an import, a decorator, a capture or a class in a `case`."""
    first = _is(up.node.named_children[0], step.node)
    outer = up.up.node.type if up.up is not None else ""
    if outer == "aliased_import" or not first:
        return
    if outer in ("import_statement", "import_from_statement", "future_import_statement"):
        if up.up is None or not _is(up.up.node.child_by_field_name("module_name"), up.node):
            _note(step, name, "other")
    elif outer in ("case_pattern", "keyword_pattern") and up.node.named_child_count == 1:
        _note(step, name, "other")
    else:
        _site(step.scope, name, step)


def _aliased_import(step: Step, _up: Step, name: str) -> None:
    _note(step, name, "other")


def _declared(step: Step, _up: Step, name: str) -> None:
    step.scope.foreign.add(name)
    _site(step.scope, name, step)


def _deleted(step: Step, _up: Step, name: str) -> None:
    _note(step, name, "delete")


def _keyword_pattern(_step: Step, _up: Step, _name: str) -> None:
    """The keyword of `case Point(x=0)` is no name of the scope."""


def _splat(step: Step, up: Step, name: str) -> None:
    if up.up is not None and (up.up.node.type in _PARAMETERS or up.up.node.type == "typed_parameter"):
        _note(step, name, "unpack")
    else:
        _pattern(step, up, name)


def _splat_pattern(step: Step, _up: Step, name: str) -> None:
    _note(step, name, "other")


def _expression_list(step: Step, up: Step, name: str) -> None:
    if up.up is not None and up.up.node.type == "delete_statement":
        _note(step, name, "delete")
    else:
        _site(step.scope, name, step)


_HANDLERS: "dict[str, Callable[[Step, Step, str], None]]" = {
    "attribute": _attribute,
    "keyword_argument": _keyword_argument,
    "function_definition": _definition,
    "class_definition": _definition,
    "assignment": _assignment,
    "augmented_assignment": _augmented,
    "named_expression": _walrus,
    "for_statement": _for,
    "for_in_clause": _for,
    "as_pattern_target": _alias,
    "as_pattern": _as_pattern,
    "typed_parameter": _typed_parameter,
    "default_parameter": _default_parameter,
    "typed_default_parameter": _default_parameter,
    "dotted_name": _dotted,
    "aliased_import": _aliased_import,
    "global_statement": _declared,
    "nonlocal_statement": _declared,
    "delete_statement": _deleted,
    "keyword_pattern": _keyword_pattern,
    "splat_pattern": _splat_pattern,
    "expression_list": _expression_list,
    **dict.fromkeys(_PATTERNS, _pattern),
    **dict.fromkeys(_SPLATS, _splat),
    **dict.fromkeys(_PARAMETERS, _parameter),
}
