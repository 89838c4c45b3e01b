"""An iterator is made into a list to loop over it.

## What it does
Finds loops, comprehensions and reductions over `list(...)` of `range`, `zip`, `enumerate`, `map`, `filter`,
`reversed`, of a function of `itertools`, or of a dictionary's `keys()`, `values()` or `items()`.

## Why is this bad
All items are kept until the loop ends, though each is looked at once: memory grows with the input.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

A list protects a loop that changes what it iterates over: nothing is said where the loop does. The fix is
marked unsafe where code that is called in the loop may do so.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.arguments import sole_argument
from best_agent.rules.editing import fix_of
from best_agent.rules.facts.model import Loop
from best_agent.rules.facts.roles import role_of
from best_agent.rules.laziness import (
    consumer,
    free_variables,
    have_one_name,
    is_quiet_meanwhile,
    reads_outside,
    unchanged_between,
)
from best_agent.rules.purity import is_quiet
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step, Variable

_BUILTINS = frozenset({"range", "zip", "enumerate", "map", "filter", "reversed"})
_ITERTOOLS = frozenset(
    {
        "permutations",
        "combinations",
        "combinations_with_replacement",
        "product",
        "chain",
        "islice",
        "accumulate",
    }
    | {"pairwise", "starmap", "takewhile", "dropwhile", "zip_longest", "compress", "from_iterable"}
)
_VIEWS = frozenset({"keys", "values", "items"})
_CALLING = frozenset({"map", "filter", "accumulate", "starmap", "takewhile", "dropwhile"})
"""Functions that call what they are given, each time an item is taken."""


def check(facts: "Facts") -> "Iterator[Finding]":
    """Lists of iterators that are looked through once."""
    for step in facts.calls("list", "tuple"):
        inner = sole_argument(facts, step.node)
        if inner is None or inner.type != "call":
            continue
        name = _iterator(facts, inner, step)
        reader = consumer(facts, step, role_of(step, facts.source))
        if name is None or reader is None or facts.is_constant_loop(Loop(step, None, inner)):
            continue
        safety = _safety(facts, step, inner, name, reader)
        if safety is None:
            continue
        node = step.node
        edits = (Edit(node.start_byte, inner.start_byte, ""), Edit(inner.end_byte, node.end_byte, ""))
        message = f"{name}() is made into a list, O(n) memory, though it is looked through once"
        yield facts.finding(RULE, step, message, fix_of(edits, safety))


def _iterator(facts: "Facts", inner: "Node", step: "Step") -> str | None:
    """The name of the function, if what it returns can be looked through as it is."""
    function = inner.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        name = facts.text(function)
        builtin = name in _BUILTINS and facts.is_builtin(name, step.scope)
        return name if builtin or _is_imported(facts, name, step) else None
    attribute, owner = function.child_by_field_name("attribute"), function.child_by_field_name("object")
    if attribute is None or owner is None:
        return None
    name, arguments = facts.text(attribute), inner.child_by_field_name("arguments")
    if facts.text(owner) in ("itertools", "chain", "itertools.chain"):
        return name if name in _ITERTOOLS else None
    bare = arguments is not None and not arguments.named_child_count
    return name if name in _VIEWS and bare and owner.type == "identifier" else None


def _is_imported(facts: "Facts", name: str, step: "Step") -> bool:
    if name not in _ITERTOOLS:
        return False
    variable = facts.variable(name, step.scope)
    if variable is None or len(variable.bindings) != 1:
        return False
    up = variable.bindings[0].site.up
    origin = None if up is None or up.up is None else up.up.node.child_by_field_name("module_name")
    return origin is not None and facts.text(origin) == "itertools"


def _safety(facts: "Facts", step: "Step", inner: "Node", name: str, reader: "Node") -> "Safety | None":
    """None where the loop changes what it iterates over, or runs against calls of its own."""
    if name == "range":
        return "safe"
    variables = free_variables(facts, inner, step.scope)
    span = (step.node.end_byte, reader.end_byte)
    if variables is None or not unchanged_between(facts, _containers(variables), span, step.scope):
        return None
    between = is_quiet_meanwhile(facts, reader, step.scope)
    calls = name in _CALLING and not _is_quiet_first(facts, inner, step)
    if not between and (calls or name in _VIEWS or reads_outside(facts, inner, step.scope)):
        return None
    private = all(variable.private for variable in variables if variable.scope.kind != "module")
    alone = private and have_one_name(facts, variables)
    return "safe" if between and alone and not calls else "unsafe"


def _containers(variables: "tuple[Variable, ...]") -> "tuple[Variable, ...]":
    """Not the names of functions and imports."""
    return tuple(v for v in variables if any(binding.how != "other" for binding in v.bindings))


def _is_quiet_first(facts: "Facts", inner: "Node", step: "Step") -> bool:
    """The function that is called for each item is a lambda that only computes, or one of the builtins."""
    arguments = inner.child_by_field_name("arguments")
    if arguments is None or not arguments.named_children:
        return True
    first = arguments.named_children[0]
    if first.type == "identifier":
        quiet = facts.text(first) in (
            "int",
            "str",
            "float",
            "len",
            "abs",
            "ord",
            "chr",
            "bool",
            "repr",
            "sum",
        )
        return quiet and facts.is_builtin(facts.text(first), step.scope)
    return first.type == "lambda" and is_quiet(facts, first, facts.scope_of(first))


RULE = Rule(
    id="BA203",
    name="list-of-iterator-looked-through-once",
    kind="memory",
    confidence="high",
    gain=10000.0,
    bad=sources("""\
def f(a: list[int], b: list[int]) -> int:
    total = 0
    for x, y in list(zip(a, b)):
        total += x * y
    return total
---
def f(prices: dict):
    total = 0
    for price in list(prices.values()):
        total += price
    return [key for key in list(prices.keys())], sum(list(prices.values())), total
---
from itertools import permutations

def f(n: int):
    best = 0
    for i in list(range(n)):
        best = max(best, i)
    for order in tuple(permutations(range(n % 6))):
        best = max(best, *order, 0)
    return best + sum(list(map(int, "123")))
"""),
    good=sources("""\
def f(prices: dict):
    for name in list(prices.keys()):
        if not prices[name]:
            del prices[name]
    return prices
---
def f(items):
    for i, item in list(enumerate(items)):
        if item is None:
            items.pop(i)
    return items
---
TABLE = {}

def f(prefix):
    for key, value in list(TABLE.items()):
        if value == prefix:
            del TABLE[key]
---
def f(table, drop):
    for key in list(table.keys()):
        drop(key)
---
def f(items):
    for item in list(items):
        items.remove(item)
---
def f(a, b):
    pairs = list(zip(a, b))
    return pairs, len(list(zip(a, b))), sorted(list(map(str, a)))
---
def f(items, log):
    for i in list(range(3)):
        log(i)
    for item in list(map(log, items)):
        log(item)
"""),
    workload="def make(n):\n    return (list(range(n)), list(range(n)))\n",
    size=100_000,
    check=check,
)
