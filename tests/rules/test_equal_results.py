"""Each rule's bad examples, before and after their fixes, give equal results on random inputs."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from best_agent.analysis import analyse
from best_agent.rules.registry import rules_for
from best_agent.rules.rewrites import rewritten

INTS = st.lists(st.integers(-5, 5), max_size=8)
WORDS = st.lists(st.text("ab,", max_size=3), max_size=8)
SMALL = st.integers(0, 12)
TABLE = st.dictionaries(st.text("ab", max_size=2), st.integers(-5, 5), max_size=5)
GRID = st.integers(1, 5).flatmap(lambda n: st.just((["." * n] * n,)))
EDGES = st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=4, max_size=4)
ROWS = st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=4)

INPUTS: dict[tuple[str, int], st.SearchStrategy[tuple[Any, ...]]] = {
    ("BA101", 0): GRID,
    ("BA101", 1): st.tuples(WORDS),
    ("BA101", 2): st.tuples(SMALL, SMALL),
    ("BA101", 3): st.tuples(INTS, INTS),
    ("BA102", 0): st.tuples(SMALL),
    ("BA102", 1): st.tuples(EDGES, st.integers(0, 3)),
    ("BA103", 0): st.tuples(INTS),
    ("BA103", 1): st.tuples(st.integers(0, 10**9)),
    ("BA104", 0): st.tuples(st.lists(st.binary(max_size=3), max_size=6)),
    ("BA104", 1): st.tuples(st.sampled_from([0, 1, 2, 999, 1_002])),
    ("BA105", 0): st.tuples(WORDS),
    ("BA105", 1): st.tuples(st.integers(0, 10**9)),
    ("BA105", 2): st.tuples(WORDS),
    ("BA106", 0): st.tuples(INTS),
    ("BA106", 1): st.tuples(SMALL),
    ("BA107", 0): st.tuples(SMALL),
    ("BA107", 1): st.tuples(SMALL),
    ("BA108", 0): st.tuples(INTS),
    ("BA108", 1): st.tuples(INTS),
    ("BA108", 2): st.tuples(WORDS),
    ("BA108", 3): st.tuples(INTS),
    ("BA108", 4): st.tuples(INTS),
    ("BA109", 0): st.tuples(ROWS),
    ("BA109", 1): st.tuples(SMALL),
    ("BA110", 0): st.tuples(WORDS),
    ("BA110", 1): st.tuples(WORDS),
    ("BA110", 2): st.tuples(SMALL, SMALL),
    ("BA111", 0): st.tuples(INTS, INTS),
    ("BA111", 1): st.tuples(INTS, INTS),
    ("BA111", 2): st.tuples(SMALL, SMALL),
    ("BA112", 0): st.tuples(st.lists(st.integers(5, 15), max_size=6)),
    ("BA112", 1): st.tuples(ROWS),
    ("BA113", 0): st.tuples(TABLE, WORDS),
    ("BA113", 1): st.tuples(SMALL, SMALL),
    ("BA201", 0): st.tuples(SMALL),
    ("BA201", 1): st.tuples(WORDS),
    ("BA201", 2): st.tuples(ROWS),
    ("BA202", 0): st.tuples(INTS),
    ("BA202", 1): st.tuples(st.integers(0, 60)),
    ("BA202", 2): st.tuples(WORDS),
    ("BA203", 0): st.tuples(INTS, INTS),
    ("BA203", 1): st.tuples(TABLE),
    ("BA203", 2): st.tuples(SMALL),
    ("BA205", 0): st.tuples(INTS),
    ("BA205", 1): st.tuples(WORDS),
}
OTHERWISE_TESTED = {("BA112", 2), ("BA204", 0), ("BA204", 1)}
"""Examples that need objects or files."""


def call(source: str, arguments: tuple[Any, ...]) -> Any:
    """What the example returns and leaves behind; the exception if it raises one."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<example>", "exec"), namespace)
    given_arguments = copy.deepcopy(arguments)
    try:
        return repr((namespace["f"](*given_arguments), given_arguments))
    except (LookupError, ValueError) as error:
        return error


def fixes(rule_id: str, source: str) -> list[str]:
    text = source.encode()
    found = [f for f in analyse(text, "python") if f.rule == rule_id and f.fix is not None]
    return [rewritten(text, finding).decode() for finding in found]


def examples():
    return {(rule.id, i): source for rule in rules_for("python") for i, source in enumerate(rule.bad)}


def test_every_bad_example_has_inputs():
    assert examples().keys() == INPUTS.keys() | OTHERWISE_TESTED


@pytest.mark.parametrize("place", INPUTS.keys(), ids=lambda place: f"{place[0]}-{place[1]}")
def test_fixed_examples_give_equal_results(place: tuple[str, int]):
    source = examples()[place]
    changed = fixes(place[0], source)
    assert changed

    @settings(max_examples=40, deadline=None)
    @given(INPUTS[place])
    def holds(arguments: tuple[Any, ...]):
        expected = call(source, arguments)
        if isinstance(expected, str):
            for fixed in changed:
                assert call(fixed, arguments) == expected

    holds()


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("text", ["", "a\n", "a\n\nbb", "a\r\nb\n"])
def test_lines_read_one_by_one_are_the_lines_of_the_file(tmp_path: Path, number: int, text: str):
    source = examples()["BA204", number]
    path = tmp_path / "lines.txt"
    path.write_bytes(text.encode())
    changed = fixes("BA204", source)
    assert changed
    assert {call(fixed, (str(path),)) for fixed in changed} == {call(source, (str(path),))}


def test_any_of_a_generator_asks_no_further_than_it_must():
    class Item:
        asked = 0

        def check(self):
            Item.asked += 1
            return True

    (fixed,) = fixes("BA112", examples()["BA112", 2])
    namespace: dict[str, Any] = {}
    exec(compile(fixed, "<example>", "exec"), namespace)
    assert namespace["f"]([Item(), Item(), Item()]) is True
    assert Item.asked == 1
