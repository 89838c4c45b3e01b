"""The measured snippets: what only looks like a pattern stays silent; what is one is found with its kind."""

import json
from pathlib import Path

import pytest

from best_agent.analysis import analyse

CORPUS = Path(__file__).parents[2] / ".." / "shared" / "data" / "rules" / "python_snippets.jsonl"
COVERED = frozenset(
    {"m01", "m02", "m04", "m07", "m16", "m17", "m23", "m27", "m28", "t01", "t06", "t07", "t08", "t14", "t24"}
    | {"t25", "t26", "t27", "t32"}
)
"""Inefficient snippets that a rule is there for."""


def snippets():
    if not CORPUS.is_file():
        pytest.skip(f"the corpus of snippets is not at {CORPUS}")
    return [json.loads(line) for line in CORPUS.read_text().splitlines()]


def test_benign_snippets_stay_silent():
    flagged = {s["id"]: analyse(s["code"].encode(), "python") for s in snippets() if s["benign"]}
    assert {name: found for name, found in flagged.items() if found} == {}


def test_inefficient_snippets_that_a_rule_is_there_for_are_found_at_their_line_and_kind():
    found = set()
    for snippet in snippets():
        places = {(f.line, f.kind) for f in analyse(snippet["code"].encode(), "python")}
        if any((expected["line"], expected["kind"]) in places for expected in snippet["expect"]):
            found.add(snippet["id"])
    assert found >= COVERED
