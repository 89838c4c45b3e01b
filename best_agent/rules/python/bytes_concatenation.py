"""Bytes are built in a loop by concatenation.

## What it does
Finds `data += chunk` (and `data = data + chunk`) inside a loop, where `data` is a `bytes` object.

## Why is this bad
`bytes` cannot change: each concatenation copies all that was there before, so n chunks cost n * n / 2 copies.
A `bytearray` grows in place.

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

from best_agent.rules.accumulation import Growth, as_augmented, collect, growths
from best_agent.rules.registry import Rule, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from best_agent.model.finding import Finding, Fix
    from best_agent.rules.facts.facts import Facts


def check(facts: "Facts") -> "Iterator[Finding]":
    """Growing bytes inside of loops."""
    for growth in growths(facts, "bytes"):
        name = growth.variable.name
        message = (
            f"`{name}` is bytes and grows in a loop: each concatenation copies all of it, O(n*n) in all; "
            "a bytearray grows in place"
        )
        yield facts.finding(RULE, growth.step, message, _fix(facts, growth))


def _fix(facts: "Facts", growth: Growth) -> "Fix | None":
    return collect(
        facts,
        growth,
        start=lambda _, text: f"bytearray({text})",
        grow=lambda other: as_augmented(facts, other),
        finish=lambda name: f"bytes({name})",
    )


RULE = Rule(
    id="BA104",
    name="bytes-concatenation-in-loop",
    kind="time",
    confidence="high",
    gain=20.0,
    bad=sources("""\
def f(chunks: list[bytes]) -> bytes:
    data = b""
    for chunk in chunks:
        data += chunk
    return data
---
def f(n: int):
    out = b"<"
    for i in range(n):
        if i == 1000:
            return out
        out = out + b"%d" % i + b","
    # the end
    print(len(out))
    return out + b">", len(out)
"""),
    good=sources("""\
def f(chunks):
    data = bytearray()
    for chunk in chunks:
        data += chunk
    return bytes(data)
---
def f(chunks):
    total = 0
    for chunk in chunks:
        total += chunk
    return total
---
def f(rows):
    for row in rows:
        line = b""
        line += row
        yield line
"""),
    workload="def make(n):\n    return ([b'ab'] * n,)\n",
    size=40_000,
    check=check,
)
