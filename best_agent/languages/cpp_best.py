"""Puts the marks of the measured call into a task's own main program, without touching its files.

The begin mark goes before the statement that makes the `Solution`, the end mark after the statement
with the (last) call of its method, both in the block that holds the two. So the measured call is what
the task's authors measured.
"""

from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from best_agent.errors import TaskError
from best_agent.languages.cpp_syntax import SOLUTION, declared_name, parse, text_of, walk

METHOD = "solve"
"""The method that a driver calls, as its authors wrote it."""

_JUMPS = frozenset({"return_statement", "co_return_statement", "throw_statement"})
_NO_STATEMENTS = frozenset({"comment", "{", "}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Names of the two mark functions."""

    begin: str
    end: str


def instrument(driver: str, entry: str, marks: Marks, include: str, task: str) -> str:
    """The driver with the marks set, `entry` called, and its own include replaced by `include`.

    Lines keep their numbers.

    Raises:
        TaskError: the measured call cannot be told; names `task`'s driver.
    """
    root = parse(driver)
    calls = [node for node in walk(root) if _is_call(node)]
    if not calls:
        raise TaskError(f"{task}: its driver calls no '.{METHOD}(...)', so there is nothing to measure")
    begin, end = _region(calls, task)
    edits = [(begin.start_byte, begin.start_byte, f"{marks.begin}(); ")]
    edits += [(*_method_span(call), entry) for call in calls if entry != METHOD]
    edits.append((end.end_byte, end.end_byte, f" {_kept(end)}{marks.end}();"))
    edits.append((*_include_span(root, task), f'"{include}"'))
    return _apply(driver, sorted(edits), task)


def _is_call(node: Node) -> bool:
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    return (
        called is not None
        and called.type == "field_expression"
        and text_of(called.child_by_field_name("field")) == METHOD
    )


def _method_span(call: Node) -> tuple[int, int]:
    called = call.child_by_field_name("function")
    field = called.child_by_field_name("field") if called is not None else None
    assert field is not None  # as _is_call has seen
    return field.start_byte, field.end_byte


def _region(calls: list[Node], task: str) -> tuple[Node, Node]:
    """The first and the last statement of the measured call, both children of one block."""
    function = _ancestor(calls[0], "function_definition")
    if function is None or any(_ancestor(call, "function_definition") != function for call in calls):
        raise TaskError(f"{task}: its driver calls '{METHOD}' from several places; it must be one function")
    body = function.child_by_field_name("body")
    if body is None or body.type != "compound_statement" or body.has_error:
        raise TaskError(f"{task}: the function of its driver that calls '{METHOD}' cannot be parsed")
    made = [node for node in walk(body) if node.type == "type_identifier" and text_of(node) == SOLUTION]
    made += [node for node in walk(body) if _is_made_by_call(node)]
    first = min([*made, *calls], key=lambda node: node.start_byte)
    last = max(calls, key=lambda node: node.end_byte)
    begin, end = _in_common_block(first, last, body)
    if any(node.type in _JUMPS for node in walk(end, frozenset({"lambda_expression"}))):
        raise TaskError(
            f"{task}: its driver leaves the function in the statement that calls '{METHOD}', "
            "so its end cannot be seen; keep the result in a variable first"
        )
    return begin, end


def _is_made_by_call(node: Node) -> bool:
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    return called is not None and called.type == "identifier" and text_of(called) == SOLUTION


def _ancestor(node: Node, kind: str) -> Node | None:
    current = node.parent
    while current is not None and current.type != kind:
        current = current.parent
    return current


def _chain(node: Node, top: Node) -> list[Node]:
    """From `top` down to `node`, both included."""
    path = [node]
    while path[-1] != top:
        parent = path[-1].parent
        if parent is None:
            break
        path.append(parent)
    return path[::-1]


def _in_common_block(first: Node, last: Node, body: Node) -> tuple[Node, Node]:
    """The statements holding `first` and `last` in the innermost block around both that runs once."""
    begin, end = _chain(first, body)[1], _chain(last, body)[1]
    for (outer, inner), (other, other_inner) in zip(
        pairwise(_chain(first, body)), pairwise(_chain(last, body)), strict=False
    ):
        # A loop would come to the marks again and again: it is measured as a whole.
        if outer != other or outer.type in (
            "for_statement",
            "while_statement",
            "do_statement",
            "for_range_loop",
        ):
            break
        if outer.type == "compound_statement":
            begin, end = inner, other_inner
    return begin, end


def _kept(end: Node) -> str:
    """Code that makes the compiler have the result before the end mark, where it has a name."""
    target: Node | None = None
    if end.type == "declaration":
        target = end.child_by_field_name("declarator")
        name = declared_name(end) if target is not None and target.type == "init_declarator" else ""
    elif end.type == "expression_statement" and end.named_child_count == 1:
        expression = end.named_children[0]
        target = (
            expression.child_by_field_name("left") if expression.type == "assignment_expression" else None
        )
        name = text_of(target) if target is not None and target.type == "identifier" else ""
    else:
        name = ""
    return f'asm volatile("" : : "r"(__builtin_addressof({name})) : "memory"); ' if name else ""


def _include_span(root: Node, task: str) -> tuple[int, int]:
    """Where the driver names the file that the solution takes the place of."""
    paths = [
        path
        for node in walk(root)
        if node.type == "preproc_include"
        and (path := node.child_by_field_name("path")) is not None
        and path.type == "string_literal"
    ]
    if len(paths) != 1:
        raise TaskError(
            f'{task}: its driver must name the solution once, as in #include "std.h"; '
            f"it has {len(paths)} such lines"
        )
    return paths[0].start_byte, paths[0].end_byte


def _apply(text: str, edits: list[tuple[int, int, str]], task: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    position = 0
    for start, stop, new in edits:
        if start < position:
            raise TaskError(f"{task}: the measured call of its driver cannot be told from its text")
        parts += [data[position:start], new.encode()]
        position = stop
    return b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass")
