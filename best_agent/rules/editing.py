"""Edits that keep what they do not mean: indentation, comments, line ends."""

from itertools import pairwise
from typing import TYPE_CHECKING

from best_agent.model.finding import Edit, Fix
from best_agent.rules.facts.facts import statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from best_agent.model.finding import Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Scope, Step

_BOM = b"\xef\xbb\xbf"


def replace(node: "Node", text: str) -> Edit:
    """Put a text in the place of a node."""
    return Edit(node.start_byte, node.end_byte, text)


def before(node: "Node", text: str) -> Edit:
    """Put a text in front of a node."""
    return Edit(node.start_byte, node.start_byte, text)


def after(node: "Node", text: str) -> Edit:
    """Put a text behind a node."""
    return Edit(node.end_byte, node.end_byte, text)


def fix_of(edits: "Iterable[Edit | None]", safety: "Safety") -> Fix | None:
    """A fix of the edits in order; None if one of them is missing, or if two overlap."""
    ordered: list[Edit] = []
    for edit in edits:
        if edit is None:
            return None
        ordered.append(edit)
    ordered = sorted(set(ordered))
    for first, second in pairwise(ordered):
        if second.start < first.end:
            return None
    return Fix(tuple(ordered), safety) if ordered else None


def line_before(facts: "Facts", step: "Step", text: str) -> Edit | None:
    """A new line in front of a statement; None if the statement shares its line with another one."""
    node = step.node
    start = _line_start(facts.source, node.start_byte)
    indent = facts.source[start : node.start_byte].removeprefix(_BOM)
    if indent.strip(b" \t\f"):
        return None
    return Edit(node.start_byte, node.start_byte, f"{text}{facts.newline}{indent.decode()}")


def line_after(facts: "Facts", step: "Step", text: str) -> Edit | None:
    """A new line behind a statement and its comment; None if the line holds another statement as well."""
    node, source = step.node, facts.source
    start = _line_start(source, node.start_byte)
    indent = source[start : node.start_byte].removeprefix(_BOM)
    last = node.end_byte
    while last > node.start_byte and source[last - 1 : last] in (b"\n", b"\r", b" ", b"\t", b"\f"):
        last -= 1  # some statements take the line end with them
    end = _line_end(source, last)
    rest = source[last:end].strip()
    if indent.strip(b" \t\f") or (rest and not rest.startswith(b"#")):
        return None
    return Edit(end, end, f"{facts.newline}{indent.decode()}{text}")


def _line_start(source: bytes, position: int) -> int:
    return max(source.rfind(b"\n", 0, position), source.rfind(b"\r", 0, position)) + 1


def _line_end(source: bytes, position: int) -> int:
    ends = [at for at in (source.find(b"\n", position), source.find(b"\r", position)) if at >= 0]
    return min(ends, default=len(source))


def statement_alone(step: "Step") -> "Step | None":
    """The expression statement that consists of this expression alone."""
    whole = statement(step)
    if whole is None or whole.node.type != "expression_statement" or whole.node.named_child_count != 1:
        return None
    return whole if whole.node.named_children[0].id == step.node.id else None


def fresh_name(facts: "Facts", wanted: str) -> str:
    """A name that the source does not use."""
    taken = facts.names
    if wanted not in taken:
        return wanted
    return next(name for i in range(2, len(taken) + 3) if (name := f"{wanted}_{i}") not in taken)


def import_of(facts: "Facts", module: str, name: str, scope: "Scope") -> tuple[str, tuple[Edit, ...]] | None:
    """How to write `module.name` in a scope, and the edits that make it known.

    None where the name means something else there, or where no place for an import is found.
    """
    known = _imported_as(facts, module, name)
    if known is not None:
        bound = facts.variable(known.partition(".")[0], scope)
        return (known, ()) if bound is not None and bound.scope is facts.module else None
    if name in facts.names:
        return None
    edit = _import_edit(facts, f"from {module} import {name}")
    return None if edit is None else (name, (edit,))


def _imported_as(facts: "Facts", module: str, name: str) -> str | None:
    """`name` or `module.name`, if a statement of the module itself imports it."""
    for node in facts.root.named_children:
        if node.type == "import_from_statement":
            origin = node.child_by_field_name("module_name")
            names = [facts.text(child) for child in node.children_by_field_name("name")]
            if origin is not None and facts.text(origin) == module and name in names:
                return name
        elif node.type == "import_statement":
            names = [facts.text(child) for child in node.children_by_field_name("name")]
            if module in names:
                return f"{module}.{name}"
    return None


def _import_edit(facts: "Facts", line: str) -> Edit | None:
    """A new import behind the imports at the head of the file, or else in front of its first statement."""
    last: Node | None = None
    first: Node | None = None
    for node in facts.root.named_children:
        if node.type == "comment" or _is_docstring(node, first or last):
            continue
        if node.type not in ("import_statement", "import_from_statement", "future_import_statement"):
            first = node
            break
        last = node
    if last is not None:
        end = _line_end(facts.source, last.end_byte)
        rest = facts.source[last.end_byte : end].strip()
        if rest and not rest.startswith(b"#"):
            return None
        return Edit(end, end, f"{facts.newline}{line}")
    if first is None or first.start_point.column not in (0, 3):
        return None
    gap = facts.newline * (3 if first.type.endswith("definition") else 2)
    return Edit(first.start_byte, first.start_byte, f"{line}{gap}")


def _is_docstring(node: "Node", earlier: "Node | None") -> bool:
    if earlier is not None or node.type != "expression_statement" or node.named_child_count != 1:
        return False
    return node.named_children[0].type == "string"
