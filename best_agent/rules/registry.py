"""The list of rules, by hand; modules are imported only when a source of their language is looked at."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from best_agent.model.finding import Finding, Kind
    from best_agent.rules.facts.facts import Facts


class Rule(NamedTuple):
    """A pattern that costs time or memory. The docstring of its module is its documentation."""

    id: str
    name: str
    """States the bad pattern."""
    kind: "Kind"
    confidence: Literal["high", "medium", "low"]
    gain: float
    """How many times less the rewritten first example takes of `kind`, as measured on its workload."""
    bad: tuple[str, ...]
    """Sources with the pattern, each a function `f`. The first one is shown in the documentation."""
    good: tuple[str, ...]
    """Sources that look alike and must stay silent."""
    workload: str
    """Source of `make(n)`, which returns the positional arguments for the first bad example."""
    size: int
    """The n at which `gain` was measured."""
    check: "Callable[[Facts], Iterator[Finding]]"


def sources(text: str) -> tuple[str, ...]:
    """Examples that stand one below the other, parted by lines of `---`."""
    return tuple(part.strip("\n") + "\n" for part in text.split("\n---\n"))


PYTHON = (
    "membership_test_on_list",
    "pop_first_of_list",
    "insert_at_front_of_list",
    "bytes_concatenation",
    "str_built_by_copies",
    "list_concatenation",
    "tuple_concatenation",
    "sorted_for_one_end",
    "sum_of_lists",
    "count_in_loop",
    "invariant_call_in_loop",
    "list_into_any_or_all",
    "membership_test_on_list_of_keys",
    "list_into_reduction",
    "list_bound_and_read_once",
    "list_call_iterated",
    "readlines_iterated",
    "len_of_list_comprehension",
)
"""Modules of `best_agent.rules.python`, in the order of their ids."""

RULE_MODULES: dict[str, tuple[str, ...]] = {
    "python": tuple(f"best_agent.rules.python.{name}" for name in PYTHON),
    "cpp": (),
}
"""Language -> rule modules. Each module provides `RULE`."""


@cache
def rules_for(language: str) -> tuple[Rule, ...]:
    """The rules of a language in the order of their ids; none for a language without rules."""
    return tuple(import_module(module).RULE for module in RULE_MODULES.get(language, ()))


def module_of(rule: Rule) -> str:
    """The name of the module that defines a rule."""
    return rule.check.__module__
