"""The rules in words: what `rules ID`, hovers and docs/rules.md show, made from each rule's own file."""

from importlib import import_module

from best_agent.rules.engine import find
from best_agent.rules.registry import RULE_MODULES, Rule, module_of, rules_for
from best_agent.rules.rewrites import rewritten

_TITLES = {"python": "Python", "cpp": "C++"}
_HEAD = """\
# Rules

<!-- Made from the rules' own files by `python -m best_agent.rules.documentation`; do not edit. -->

Each rule looks for one pattern that costs time or memory. The gain is what the fix of the first example
brings at least, in CPU time or tracemalloc peak at the size named; `tests/benchmarks/bench_rules.py` measures
it. A rule that does not bring 1.5x on its own axis is not in the list.

A fix is *safe* where the source proves that nothing but time and memory changes, for every input that the
code takes without raising. Other fixes are *unsafe*: read them before you take them.
"""


def document(rule: Rule) -> str:
    """One rule as Markdown: name, what it does, why, example, and what to use instead."""
    text = import_module(module_of(rule)).__doc__ or ""
    title, _, rest = text.partition("\n")
    filled = rest.strip("\n").replace("{bad}", rule.bad[0].rstrip()).replace("{fixed}", fixed(rule).rstrip())
    filled = filled.replace("\n## ", "\n### ").replace("## What it does", "### What it does", 1)
    axis = "CPU time" if rule.kind == "time" else "peak memory"
    return (
        f"## {rule.id}: {rule.name}\n\n{title}\n\n"
        f"Saves {rule.kind}: {rule.gain:g}x less {axis} at n = {rule.size:,}. "
        f"Confidence: {rule.confidence}.\n\n"
        f"{filled.replace('#### ', '### ')}\n"
    )


def fixed(rule: Rule) -> str:
    """The first bad example as the rule's own fix leaves it."""
    source = rule.bad[0].encode()
    finding = next(f for f in find(source, language_of(rule)) if f.rule == rule.id and f.fix is not None)
    return rewritten(source, finding).decode()


def language_of(rule: Rule) -> str:
    """The language that a rule is for."""
    return next(language for language, modules in RULE_MODULES.items() if module_of(rule) in modules)


def document_all() -> str:
    """All rules of all languages, with a table in front."""
    parts = [_HEAD]
    for language in RULE_MODULES:
        rules = rules_for(language)
        if not rules:
            continue
        rows = [f"| [{r.id}](#{_anchor(r)}) | {r.name} | {r.kind} | {r.gain:g}x |" for r in rules]
        parts.append(f"\n# {_TITLES[language]}\n\n| rule | pattern | saves | gain |\n|---|---|---|---|\n")
        parts.append("\n".join(rows) + "\n")
        parts += [f"\n{document(rule)}" for rule in rules]
    return "".join(parts)


def _anchor(rule: Rule) -> str:
    return f"{rule.id.lower()}-{rule.name}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(document_all())
