"""What is looked up in C++ text: definitions, calls and includes, blind to comments and strings."""

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
SOLUTION = "Solution"

_CLASSES = frozenset({"class_specifier", "struct_specifier"})
_FUNCTION = "function_definition"
_DECLARATORS = frozenset({"identifier", "field_identifier"})


@cache
def _language() -> Language:
    return Language(tree_sitter_cpp.language())


def parse(text: str) -> Node:
    """The syntax tree of a C++ text; its offsets are bytes of the UTF-8 text."""
    return Parser(_language()).parse(text.encode("utf-8", "surrogatepass")).root_node


def text_of(node: Node | None) -> str:
    """The source of a node; empty for None."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def walk(node: Node, stop: frozenset[str] = frozenset()) -> Iterator[Node]:
    """A node and everything below it in source order, not entering kinds in `stop` below the start."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if current is node or current.type not in stop:
            pending.extend(reversed(current.children))


def declared_name(node: Node) -> str:
    """The name that a definition, declaration or member introduces, or an empty text."""
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        if inner.type in _DECLARATORS:
            return text_of(inner)
        # Reference declarators have no field for what they hold.
        inner = inner.child_by_field_name("declarator") or (
            inner.named_children[-1] if inner.type == "reference_declarator" else None
        )
    return ""


def entry_places(root: Node, entry: str) -> tuple[bool, bool]:
    """Whether the text defines a free function (or callable) of that name, and a `Solution` method."""
    free = method = False
    for node in walk(root, _CLASSES | {_FUNCTION, "namespace_definition"}):
        if node.type in _CLASSES and text_of(node.child_by_field_name("name")) == SOLUTION:
            method = method or _has_method(node, entry)
        elif node.type in (_FUNCTION, "declaration") and declared_name(node) == entry:
            free = True
    return free, method


def _has_method(solution: Node, entry: str) -> bool:
    body = solution.child_by_field_name("body")
    if body is None:
        return False
    members = walk(body, _CLASSES | {_FUNCTION})
    return any(
        node.type in (_FUNCTION, "field_declaration", "declaration") and declared_name(node) == entry
        for node in members
    )


def starts_with_all_headers(text: str) -> bool:
    """Whether the first thing said is `#include <bits/stdc++.h>`, so that a precompiled one fits."""
    for node in parse(text).children:
        if node.type != "comment":
            return node.type == "preproc_include" and text_of(node.child_by_field_name("path")) == (
                "<bits/stdc++.h>"
            )
    return False
