"""Every rule fires on its bad examples, stays silent on the good ones, and is documented."""

import ast
import pkgutil

import pytest

from best_agent.analysis import analyse
from best_agent.model.finding import apply_edits
from best_agent.rules import python as python_rules
from best_agent.rules.registry import PYTHON, RULE_MODULES, Rule, module_of, rules_for
from best_agent.rules.rewrites import rewritten

RULES = rules_for("python")
BAD = [pytest.param(rule, source, id=f"{rule.id}-{i}") for rule in RULES for i, source in enumerate(rule.bad)]
GOOD = [
    pytest.param(rule, source, id=f"{rule.id}-{i}") for rule in RULES for i, source in enumerate(rule.good)
]
HEADINGS = ("## What it does", "## Why is this bad", "## Example", "## Use instead")


def test_every_module_of_the_package_is_registered():
    assert {module.name for module in pkgutil.iter_modules(python_rules.__path__)} == set(PYTHON)
    assert len(RULE_MODULES["python"]) == len(RULES)


def test_ids_and_names_are_unique_and_ids_ascend():
    ids = [rule.id for rule in RULES]
    assert ids == sorted(set(ids))
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_documentation_examples_and_a_measured_gain(rule: Rule):
    text = __import__(module_of(rule), fromlist=["RULE"]).__doc__
    assert text is not None
    assert all(heading in text for heading in HEADINGS)
    assert "{bad}" in text
    assert "{fixed}" in text
    assert rule.bad
    assert rule.good
    assert rule.gain >= 1.5
    for source in (*rule.bad, *rule.good, rule.workload):
        ast.parse(source)


@pytest.mark.parametrize(("rule", "source"), BAD)
def test_a_rule_fires_on_its_bad_examples(rule: Rule, source: str):
    found = [finding for finding in analyse(source.encode(), "python") if finding.rule == rule.id]
    assert found
    assert all(finding.kind == rule.kind for finding in found)


@pytest.mark.parametrize(("rule", "source"), GOOD)
def test_a_rule_stays_silent_on_its_good_examples(rule: Rule, source: str):
    assert rule.id not in {finding.rule for finding in analyse(source.encode(), "python")}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_first_bad_example_has_a_fix(rule: Rule):
    found = [f for f in analyse(rule.bad[0].encode(), "python") if f.rule == rule.id]
    assert found[0].fix is not None


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize(("rule", "source"), BAD)
def test_a_fix_parses_mends_the_finding_and_keeps_the_line_ends(rule: Rule, source: str, ending: str):
    text = source.replace("\n", ending).encode()
    for finding in analyse(text, "python"):
        if finding.rule != rule.id or finding.fix is None:
            continue
        fixed = rewritten(text, finding)
        ast.parse(fixed)
        assert fixed.count(b"\r\n") == (fixed.count(b"\n") if ending == "\r\n" else 0)
        assert apply_edits(text, finding.fix.edits) == fixed
        left = [f for f in analyse(fixed, "python") if f.rule == rule.id]
        assert len(left) < len([f for f in analyse(text, "python") if f.rule == rule.id])


@pytest.mark.parametrize(("rule", "source"), BAD)
def test_fixing_until_nothing_changes_ends(rule: Rule, source: str):
    text = source.encode()
    for _ in range(10):
        fixes = [f for f in analyse(text, "python") if f.fix is not None]
        if not fixes:
            return
        text = rewritten(text, fixes[0])
        ast.parse(text)
    pytest.fail(f"still fixing after 10 rounds:\n{text.decode()}")
