"""A string is built in a loop in a way that copies it each time.

## What it does
Finds strings that grow inside a loop by `s = s + a + b`, `s = x + s`, `s = f"{s}x"`, and by `+=` where the
name is not a local one. A local `s += x` is fine: CPython extends the string in place.

## Why is this bad
Each round copies all that was there before, so n parts cost n * n / 2 copies.

## Example
```python
{bad}
```

## Use instead
```python
{fixed}
```

The fix is left out where the value is used in the loop for anything but growing.
"""

from typing import TYPE_CHECKING

from best_agent.model.finding import Edit
from best_agent.rules.accumulation import Growth, as_augmented, collect, growths
from best_agent.rules.editing import fix_of
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding, Fix
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """Strings that are copied to grow, inside of loops."""
    for growth in growths(facts, "str"):
        if _grows_in_place(growth):
            continue
        message = (
            f"the string `{growth.variable.name}` is copied in each round of a loop, O(n*n) in all; "
            + ("join the parts behind the loop" if growth.form == "prepend" else "let it grow in place")
        )
        yield facts.finding(RULE, growth.step, message, _fix(facts, growth))


def _grows_in_place(growth: Growth) -> bool:
    """CPython extends a local string that nobody else holds."""
    scope = growth.variable.scope
    local = scope.kind == "function" and growth.variable.name not in scope.captured | scope.foreign
    return local and (growth.form == "augment" or (growth.form == "append" and len(growth.parts) == 1))


def _fix(facts: "Facts", growth: Growth) -> "Fix | None":
    scope = growth.variable.scope
    if growth.form != "prepend" and scope.kind == "function" and growth.variable.private:
        edits = as_augmented(facts, growth)
        return None if edits is None else fix_of(edits, "safe")
    backwards = growth.form == "prepend"
    return collect(
        facts,
        growth,
        start=lambda _, text: f"[{text}]",
        grow=lambda other: _append(facts, other, backwards=backwards),
        finish=lambda name: f'"".join(reversed({name}))' if backwards else f'"".join({name})',
    )


def _append(facts: "Facts", growth: Growth, *, backwards: bool) -> tuple[Edit, ...] | None:
    if growth.form == "format" or (growth.form == "prepend") is not backwards:
        return None
    node, name = growth.step.node, growth.variable.name
    parts = [facts.text(part) for part in growth.parts]
    text = f"append({parts[0]})" if len(parts) == 1 else f"extend(({', '.join(parts)}))"
    return (Edit(node.start_byte, node.end_byte, f"{name}.{text}"),)


RULE = Rule(
    id="BA105",
    name="str-built-by-copies-in-loop",
    kind="time",
    confidence="high",
    gain=20.0,
    bad=sources("""\
def f(words: list[str]) -> str:
    line = ""
    for word in words:
        line = line + word + " "
    return line
---
def f(n: int) -> str:
    digits = "."
    while n:
        n, digit = divmod(n, 2)
        digits = str(digit) + digits
    return digits
---
def f(words: list[str]):
    line = ""
    for word in words:
        line = f"{line}{word}, "
    return line, len(line)
"""),
    good=sources("""\
def f(words):
    line = ""
    for word in words:
        line += word
    return line
---
def f(words):
    line = ""
    for word in words:
        line = line + word
    return line
---
def f(xs):
    total = 0
    for x in xs:
        total = x + total + 1
    return total
"""),
    workload="def make(n):\n    return (['ab'] * n,)\n",
    size=40_000,
    check=check,
)
