"""Holds a JSON document to its contract: docs/schemas, and what docs/json.md says of every figure."""

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
_TIMES = ("time", "cpu", "wall")
_QUANTITIES = ("cpu", "wall", "peak", "retained")


def check(document: Any) -> None:
    """Fails with every breach of the contract that the document makes."""
    found = problems(document)
    assert not found, "\n".join(found)


def problems(document: Any) -> list[str]:
    """What is wrong, one line each with its place; nothing for a document that keeps the contract."""
    name = document.get("schema") if isinstance(document, dict) else None
    verb = name.split("/")[1] if isinstance(name, str) and name.count("/") == 2 else ""
    if verb not in verbs():
        return [f"$.schema: {name!r} is none of the contracts in {SCHEMAS.name}/"]
    errors = Draft202012Validator(closed(verb)).iter_errors(document)
    found = [_line(error) for error in errors]
    if found:
        return found
    memory = document["meters"]["memory"]
    found += [line for place, key, node in walk(document) for line in _figure(place, key, node, memory)]
    return [*found, *_summary(document["results"], document["summary"])]


def verbs() -> tuple[str, ...]:
    """The verbs whose JSON has a contract."""
    return tuple(sorted(path.stem for path in SCHEMAS.glob("*.json")))


@cache
def schema(verb: str) -> Any:
    """The schema as readers get it: fields that it does not name are allowed, as fields may be added."""
    return json.loads((SCHEMAS / f"{verb}.json").read_text(encoding="utf-8"))


@cache
def closed(verb: str) -> Any:
    """The schema for our own output: what it does not name is refused, so that nothing goes undocumented."""
    return _closed(schema(verb))


def walk(node: Any, place: str = "$", key: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every value with its place and the nearest field name above it."""
    yield place, key, node
    if isinstance(node, dict):
        for name, value in node.items():
            yield from walk(value, f"{place}.{name}", name)
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from walk(value, f"{place}[{number}]", key)


def _line(error: ValidationError) -> str:
    """The error in one line; of a choice between shapes what is wrong with the nearest one."""
    near = best_match([error]) or error
    said = near.message
    return f"{near.json_path}: {said if len(said) < 300 else f'{said[:150]} ... {said[-150:]}'}"


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(value) for value in node]
    if not isinstance(node, dict):
        return node
    made = {name: _closed(value) for name, value in node.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


def _figure(place: str, key: str, node: Any, memory_meter: str) -> Iterator[str]:
    if isinstance(node, float) and not math.isfinite(node):
        yield f"{place}: {node} is no result"
    if key.endswith(("_ns", "_bytes")) and isinstance(node, float | bool):
        yield f"{place}: {node} is no whole number"
    if isinstance(node, int | float) and key.endswith(("_ns", "_bytes")) and node < 0:
        yield f"{place}: {node} is negative"
    if not isinstance(node, dict):
        return
    if "ratio" in node:
        exact = node["meter"] == "exact" and key not in _TIMES
        yield from _held(f"{place}.ratio", node["ratio"], node["ratio_ci"], exact=exact)
    if "value" in node and "ci" in node:
        exact = (node["meter"] == "exact" or node["n"] < 3) and key not in _TIMES
        yield from _held(f"{place}.value", node["value"], node["ci"], exact=exact)
    if "exponent" in node:
        yield from _held(f"{place}.exponent", node["exponent"], node["ci"], exact=node["sizes"] < 3)
    yield from _named_ratios(place, node, memory_meter)
    yield from _missing(place, node)
    if key in ("score", "difference") or "difference" in node:
        yield from _estimates(place, node)


def _summary(results: Any, summary: dict[str, Any]) -> Iterator[str]:
    """The summary says the same as the results, where both speak of it."""
    first = results[0] if isinstance(results, list) and results else results
    for name in ("status", "verdict", "stop_reason"):
        if name in summary and summary[name] != first[name]:
            yield f"$.summary.{name}: {summary[name]!r}, but the results say {first[name]!r}"


def _named_ratios(place: str, node: dict[str, Any], memory_meter: str) -> Iterator[str]:
    for name in [name for name in node if name.endswith("_ratio")]:
        if f"{name}_ci" not in node:
            yield f"{place}.{name}: has no {name}_ci beside it"
            continue
        meter = node.get(f"{name}_meter", memory_meter)
        exact = name == "memory_ratio" and meter == "exact"
        yield from _held(f"{place}.{name}", node[name], node[f"{name}_ci"], exact=exact)


def _held(place: str, value: float | None, interval: list[float] | None, *, exact: bool) -> Iterator[str]:
    if value is None:
        return
    if interval is None:
        if not exact:
            yield f"{place}: {value} has no interval and is not exact"
        return
    low, high = interval
    if not low <= value <= high:
        yield f"{place}: {value} is not inside of its interval {interval}"


def _missing(place: str, node: dict[str, Any]) -> Iterator[str]:
    """What is null where a reason stands beside it needs the reason."""
    if "reason" not in node or node["reason"]:
        return
    for name in (*_QUANTITIES, "time_ratio", "memory_ratio"):
        if name in node and node[name] is None:
            yield f"{place}.{name}: is null without a reason"


def _estimates(place: str, node: dict[str, Any]) -> Iterator[str]:
    for name, value in node.items():
        if not isinstance(value, list) or len(value) != 3:
            continue
        middle, low, high = value
        if (low is None) != (high is None):
            yield f"{place}.{name}: half an interval"
        elif low is not None and not low <= middle <= high:
            yield f"{place}.{name}: {middle} is not inside of its interval {[low, high]}"
