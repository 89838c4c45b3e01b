"""docs/rules.md is what the rules' own files say."""

import ast
import re
from pathlib import Path

import pytest

from best_agent.rules.documentation import document, document_all
from best_agent.rules.registry import Rule, rules_for

DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_documentation_is_up_to_date():
    assert DOCS.read_text() == document_all(), (
        "run `python -m best_agent.rules.documentation > docs/rules.md`"
    )


@pytest.mark.parametrize("rule", rules_for("python"), ids=lambda rule: rule.id)
def test_a_rules_page_shows_code_that_can_be_run(rule: Rule):
    text = document(rule)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    assert blocks[0] != blocks[1]
    for block in blocks:
        ast.parse(block)
    assert "{" + "bad}" not in text
    assert "{" + "fixed}" not in text
