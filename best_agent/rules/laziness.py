"""Lists that are made to be looked through once: who looks through them, and what happens meanwhile."""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.arguments import arguments_of
from best_agent.rules.facts.facts import statement
from best_agent.rules.facts.model import Loop
from best_agent.rules.facts.roles import role_of
from best_agent.rules.lists import has_one_name, leaves_alone
from best_agent.rules.purity import is_local_work

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Scope, Step, Variable
    from best_agent.rules.facts.roles import Role

REDUCTIONS = frozenset({"sum", "min", "max"})
"""Builtins that look through all of their one argument and keep none of it."""
_COMPREHENSIONS = frozenset({"list_comprehension", "generator_expression", "set_comprehension"})
_EAGER = frozenset({"list_comprehension", "set_comprehension", "dictionary_comprehension"})


def is_asynchronous(facts: "Facts", node: "Node") -> bool:
    """A comprehension with `async for` or `await`: as a generator it would be an asynchronous one."""
    text = facts.text(node)
    return "async" in text or "await" in text


def without_brackets(facts: "Facts", call: "Node", comprehension: "Node") -> tuple[Edit, ...]:
    """The edits that make a generator of a list comprehension in a call."""
    given = call.child_by_field_name("arguments")
    first, last = comprehension.start_byte, comprehension.end_byte
    alone = given is not None and given.named_child_count == 1
    if given is not None and alone and b"," not in facts.source[last : given.end_byte]:
        return Edit(first, first + 1, ""), Edit(last - 1, last, "")
    return Edit(first, first + 1, "("), Edit(last - 1, last, ")")


def is_short(facts: "Facts", made: "Node", around: "Step") -> bool:
    """The number of items of a comprehension is written in the source."""
    clauses = [child for child in made.named_children if child.type == "for_in_clause"]
    loops = [Loop(around, None, clause.child_by_field_name("right")) for clause in clauses]
    return all(facts.is_constant_loop(loop) for loop in loops)


def sole_iterable(facts: "Facts", call: "Node") -> "Node | None":
    """What a reduction looks through, if it is given one iterable."""
    given = arguments_of(facts, call)
    if given is None or not given.positional:
        return None
    function = call.child_by_field_name("function")
    many = function is not None and facts.text(function) in ("min", "max") and len(given.positional) > 1
    return None if many else given.positional[0]


def consumer(facts: "Facts", step: "Step", role: "Role") -> "Node | None":
    """The statement during which a value is looked through once, from start to end; None if it is not.

    That is a loop over it, a comprehension that is not lazy itself, or a reduction of it.
    """
    if role.kind == "argument":
        name, _, place = role.detail.partition(":")
        taken = name in REDUCTIONS | {"any", "all"} and place == "0" and facts.is_builtin(name, step.scope)
        if not taken or sole_iterable(facts, role.step.node) is None:
            return None
        return _statement_node(role.step)
    if role.kind != "iterate":
        return None
    if role.step.node.type == "for_statement":
        return role.step.node
    comprehension = role.step.up
    if comprehension is None or not _is_first_clause(comprehension.node, role.step.node):
        return None
    if comprehension.node.type in _EAGER:
        return _statement_node(comprehension)
    return consumer(facts, comprehension, role_of(comprehension, facts.source))


def _is_first_clause(comprehension: "Node", clause: "Node") -> bool:
    first = next((c for c in comprehension.named_children if c.type == "for_in_clause"), None)
    return first is not None and first.id == clause.id


def _statement_node(step: "Step") -> "Node | None":
    whole = statement(step)
    return None if whole is None else whole.node


def free_variables(facts: "Facts", node: "Node", scope: "Scope") -> "tuple[Variable, ...] | None":
    """The variables that an expression reads, and those that are read by comprehensions bound to them.

    None if there are too many to tell.
    """
    found: dict[tuple[int, str], Variable] = {}
    todo: list[tuple[Node, Scope]] = [(node, scope)]
    for _ in range(2_000):
        if not todo:
            return tuple(found.values())
        at, around = todo.pop()
        if at.type == "identifier":
            variable = facts.variable(facts.text(at), around)
            if variable is not None and (id(variable.scope), variable.name) not in found:
                found[id(variable.scope), variable.name] = variable
                todo += [
                    (binding.value, variable.scope)
                    for binding in variable.bindings
                    if binding.value is not None and binding.value.type in _COMPREHENSIONS
                ]
        inner = facts.scope_of(at) if at.type in _COMPREHENSIONS else around
        todo += [(child, inner) for child in at.named_children]
    return None


def unchanged_between(
    facts: "Facts", variables: "tuple[Variable, ...]", span: tuple[int, int], own: "Scope"
) -> bool:
    """In the span of bytes none of the variables is bound, changed or handed to code that may change it."""
    start, end = span
    for variable in variables:
        if variable.scope.kind == "comprehension" and variable.scope is not own:
            continue
        if any(start <= binding.site.node.start_byte < end for binding in variable.bindings):
            return False
        for use, role in facts.roles(variable):
            if start <= use.node.start_byte < end and not leaves_alone(facts, role):
                return False
    return True


def have_one_name(facts: "Facts", variables: "tuple[Variable, ...]") -> bool:
    """None of the variables can be changed by another name; functions and items of comprehensions apart."""
    return all(
        variable.scope.kind == "comprehension"
        or all(binding.how == "other" for binding in variable.bindings)
        or has_one_name(facts, variable)
        for variable in variables
    )


def reads_outside(facts: "Facts", node: "Node", scope: "Scope") -> bool:
    """The expression reads what other code may change at any time: an attribute, a name of another scope."""
    todo = [(node, scope)]
    for _ in range(2_000):
        if not todo:
            return False
        at, around = todo.pop()
        if at.type == "identifier":
            variable = facts.variable(facts.text(at), around)
            if variable is not None and not variable.private:
                return True
        children = at.named_children
        if at.type == "call":
            function = at.child_by_field_name("function")
            owner = None if function is None else function.child_by_field_name("object")
            children = [child for child in children if function is None or child.id != function.id]
            children += [] if owner is None else [owner]
        elif at.type == "attribute":
            return True
        inner = facts.scope_of(at) if at.type in _COMPREHENSIONS else around
        todo += [(child, inner) for child in children]
    return True


def is_quiet_meanwhile(facts: "Facts", loop: "Node", scope: "Scope") -> bool:
    """What happens while a list is looked through is the function's own affair."""
    if loop.type == "for_statement":
        body = loop.child_by_field_name("body")
        return body is not None and is_local_work(facts, body, scope)
    return is_local_work(facts, loop, scope)
