"""The arguments of a call."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

    from best_agent.rules.facts.facts import Facts

_SPLATS = frozenset({"list_splat", "dictionary_splat"})


class Arguments(NamedTuple):
    """Positional arguments in order, and the others by name with their whole `name=value` node."""

    positional: "tuple[Node, ...]"
    keywords: "dict[str, Node]"


def arguments_of(facts: "Facts", call: "Node") -> Arguments | None:
    """What a call is given; None where some of it is splatted. `f(x for x in y)` has one argument."""
    given = call.child_by_field_name("arguments")
    if given is None:
        return None
    if given.type == "generator_expression":
        return Arguments((given,), {})
    positional: list[Node] = []
    keywords: dict[str, Node] = {}
    for child in given.named_children:
        if child.type in _SPLATS:
            return None
        if child.type == "keyword_argument":
            name = child.child_by_field_name("name")
            keywords["" if name is None else facts.text(name)] = child
        elif child.type != "comment":
            positional.append(child)
    return Arguments(tuple(positional), keywords)


def sole_argument(facts: "Facts", call: "Node") -> "Node | None":
    """The one positional argument of a call that has no other."""
    given = arguments_of(facts, call)
    if given is None or len(given.positional) != 1 or given.keywords:
        return None
    return given.positional[0]


def value_of(keyword: "Node") -> "Node | None":
    """The value of a `name=value` node."""
    return keyword.child_by_field_name("value")
