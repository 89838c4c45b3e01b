"""The reference solutions of a BEST task: one method each of a single C++ class."""

import re
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from best_agent.model.task import Source

_SOLVE = re.compile(r"solve(\d*)", re.ASCII)


def references(text: str, language: str) -> tuple[Source, ...]:
    """One source for each of solve1, solve2, ..., else one for solve; empty where none is defined."""
    names = {name for name in _defined(text) if _SOLVE.fullmatch(name)}
    numbered = sorted(int(name[5:]) for name in names if name != "solve")
    if not numbered:
        return (Source(id="std", language=language, text=text),) if names else ()
    return tuple(
        Source(id=f"std_{number}", language=language, text=text, entry=f"solve{number}")
        for number in numbered
    )


def _defined(text: str) -> Iterator[str]:
    """Names of the functions and methods that a C++ source defines."""
    tree = Parser(Language(tree_sitter_cpp.language())).parse(text.encode())
    pending = [tree.root_node]
    while pending:
        node = pending.pop()
        if node.type == "function_declarator" and _has_body(node):
            name = node.child_by_field_name("declarator")
            if name is not None and name.text is not None:
                yield name.text.decode().rpartition("::")[2]
        pending.extend(node.children)


def _has_body(declarator: Node) -> bool:
    node: Node | None = declarator
    while node is not None and node.type.endswith("_declarator"):
        node = node.parent  # a function that returns a pointer or a reference is wrapped once more
    return node is not None and node.type == "function_definition"
