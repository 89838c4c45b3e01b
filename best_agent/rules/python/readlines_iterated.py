"""All lines of a file are read to loop over them.

## What it does
Finds loops, comprehensions and reductions over `file.readlines()`.

## Why is this bad
The whole file stands in memory, line by line. A file hands out its lines one by one when it is iterated over.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

Nothing is said where the loop uses the file in another way. The fix is marked unsafe where it is not known
that the object is a file, or where code that is called in the loop may write to it.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.editing import fix_of
from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of
from best_agent.rules.laziness import consumer, is_quiet_meanwhile
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from best_agent.model.finding import Finding, Safety
    from best_agent.rules.facts.facts import Facts
    from best_agent.rules.facts.model import Step


def check(facts: "Facts") -> "Iterator[Finding]":
    """Loops over readlines()."""
    for step in facts.method_calls("readlines"):
        function, arguments = (
            step.node.child_by_field_name("function"),
            step.node.child_by_field_name("arguments"),
        )
        owner = None if function is None else function.child_by_field_name("object")
        if owner is None or arguments is None or arguments.named_child_count:
            continue
        reader = consumer(facts, step, role_of(step, facts.source))
        if reader is None or _is_used(facts, owner, step, reader):
            continue
        known = type_of(facts, owner, step.scope) == "file"
        safety: Safety = "safe" if known and is_quiet_meanwhile(facts, reader, step.scope) else "unsafe"
        fix = fix_of((Edit(owner.end_byte, step.node.end_byte, ""),), safety)
        message = (
            "the whole file is read into a list, O(n) memory; iterate over the file itself, line by line"
        )
        yield facts.finding(RULE, step, message, fix)


def _is_used(facts: "Facts", owner: "Node", step: "Step", reader: "Node") -> bool:
    """The loop does something else with the file."""
    if owner.type != "identifier":
        return owner.type != "call"
    variable = facts.variable(facts.text(owner), step.scope)
    if variable is None:
        return True
    return any(step.node.end_byte <= use.node.start_byte < reader.end_byte for use in variable.uses)


RULE = Rule(
    id="BA204",
    name="readlines-iterated",
    kind="memory",
    confidence="high",
    gain=100.0,
    bad=sources("""\
def f(path: str) -> int:
    total = 0
    with open(path) as lines:
        for line in lines.readlines():
            total += len(line)
    return total
---
def f(path):
    with open(path) as lines:
        return sum(len(line) for line in lines.readlines()), [line for line in open(path).readlines()]
"""),
    good=sources("""\
def f(path):
    with open(path) as lines:
        return sum(len(line) for line in lines)
---
def f(path):
    with open(path) as lines:
        every = lines.readlines()
    return every[0], every[-1]
---
def f(path):
    with open(path) as lines:
        for line in lines.readlines():
            print(line, lines.tell())
"""),
    workload=(
        "import pathlib\nimport tempfile\n\n\ndef make(n):\n"
        "    path = pathlib.Path(tempfile.gettempdir()) / 'best-agent-lines.txt'\n"
        "    path.write_text('a line\\n' * n)\n    return (str(path),)\n"
    ),
    size=50_000,
    check=check,
)
