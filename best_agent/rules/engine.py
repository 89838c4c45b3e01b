"""From bytes to findings: parse, gather facts in one pass, ask every rule."""

import gc
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from best_agent.rules.facts.facts import Facts
from best_agent.rules.facts.gather import gather
from best_agent.rules.registry import RULE_MODULES, rules_for

if TYPE_CHECKING:
    from tree_sitter import Language

    from best_agent.model.finding import Finding

_GRAMMARS = {"python": "tree_sitter_python", "cpp": "tree_sitter_cpp"}


@cache
def _language(name: str) -> "Language":
    from tree_sitter import Language

    return Language(import_module(_GRAMMARS[name]).language())


def find(source: bytes, language: str) -> "tuple[Finding, ...]":
    """The findings in a source, in the order of their places; none for a language without rules."""
    if not RULE_MODULES.get(language):
        return ()
    collecting = gc.isenabled()
    gc.disable()  # facts are many small objects that live to the end: garbage is sought among them in vain
    try:
        return _find(source, language)
    finally:
        if collecting:
            gc.enable()


def _find(source: bytes, language: str) -> "tuple[Finding, ...]":
    from tree_sitter import Parser

    grammar = _language(language)
    tree = Parser(grammar).parse(source)
    facts = Facts(source, tree.root_node, gather(grammar, tree, source), fixable=_is_utf8(source))
    found = [finding for rule in rules_for(language) for finding in rule.check(facts)]
    return tuple(sorted(set(found), key=lambda finding: (finding.line, finding.column, finding.rule)))


def _is_utf8(source: bytes) -> bool:
    """Edits are UTF-8: they may not be mixed into a source in another encoding."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in source
