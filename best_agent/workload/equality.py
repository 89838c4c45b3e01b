"""Whether two observations of calls on equal inputs say the same."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

REL_TOLERANCE = 1e-9
ABS_TOLERANCE = 1e-12

Observation = Mapping[str, Any]
"""The worker's answer to `observe`."""


def same(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """How two digests compare: `equal`, `close` (floats differ in the last digits) or `different`.

    None where the values were too large to compare.
    """
    if before["exact"] is None or after["exact"] is None:
        return None
    if before["exact"] == after["exact"]:
        return "equal"
    if before["shape"] != after["shape"]:
        return "different"
    if before["floats"] is None or after["floats"] is None:
        return None
    return "close" if _close(before["floats"], after["floats"]) else "different"


def _close(before: Sequence[Any], after: Sequence[Any]) -> bool:
    return len(before) == len(after) and all(
        _one_close(float(a), float(b)) for a, b in zip(before, after, strict=True)
    )


def _one_close(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or math.isclose(a, b, rel_tol=REL_TOLERANCE, abs_tol=ABS_TOLERANCE)


def difference(before: Observation, after: Observation) -> str | None:
    """What is different between two calls in a few words for people, or None."""
    if bool(before["raised"]) != bool(after["raised"]):
        return f"before: {before['shown']}; after: {after['shown']}"
    if same(before["result"], after["result"]) == "different":
        if before["raised"]:
            return f"another exception: {before['shown']} before, {after['shown']} after"
        if before["type"] != after["type"]:
            return f"another type: {before['type']} before, {after['type']} after"
        return f"another value: {_cut(before['shown'])} before, {_cut(after['shown'])} after"
    if before["kind"] != after["kind"]:
        return f"another kind of function: {before['kind']} before, {after['kind']} after"
    if same(before["arguments"], after["arguments"]) == "different":
        return "the arguments are changed in another way"
    return None


def tolerated(before: Observation, after: Observation) -> bool:
    """Whether equality needed the tolerance for floats."""
    return "close" in (
        same(before["result"], after["result"]),
        same(before["arguments"], after["arguments"]),
    )


def too_large(before: Observation, after: Observation) -> bool:
    """Whether results or arguments were too large to be compared."""
    return None in (
        same(before["result"], after["result"]),
        same(before["arguments"], after["arguments"]),
    )


def opaque(*observations: Observation) -> tuple[str, ...]:
    """Types in results or arguments that were compared by type only."""
    names: dict[str, None] = {}
    for observation in observations:
        for part in ("result", "arguments"):
            names.update(dict.fromkeys(observation[part]["opaque"]))
    return tuple(names)


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
