"""Rewritten sources: one for each finding that has a fix, and one with all fixes that go together."""

import ast
import warnings
from typing import TYPE_CHECKING, NamedTuple

from best_agent.model.finding import Finding, apply_edits
from best_agent.rules.engine import find
from best_agent.rules.registry import Rule, rules_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from best_agent.model.finding import Edit, Kind, Safety

COMBINED = "all"
"""The rule id of the rewrite that makes every fix at once."""
_LANGUAGE = "python"


class Rewrite(NamedTuple):
    """A source as it would be with a fix made."""

    rule: str
    """`BA101`, or `all` for the combination."""
    name: str
    """The rule's name: it states the bad pattern."""
    message: str
    """One line: what is wrong and what is better."""
    kind: "Kind"
    """What the rewrite is meant to save."""
    safety: "Safety"
    line: int
    source: bytes


def rewritten(source: bytes, finding: Finding) -> bytes:
    """The source with a finding's fix made; the source itself if the finding has none.

    Raises:
        ValueError: the fix was made for another source.
    """
    return source if finding.fix is None else apply_edits(source, finding.fix.edits)


def rewrites(source: bytes) -> tuple[Rewrite, ...]:
    """One rewrite of a Python source for each fix, the greatest expected gain first; then all fixes at once.

    Each one parses and differs from the source and from the others. A source that cannot be parsed has none.
    """
    if not _parses(source):
        return ()
    rules = {rule.id: rule for rule in rules_for(_LANGUAGE)}
    findings = [finding for finding in find(source, _LANGUAGE) if finding.fix is not None]
    findings.sort(key=lambda finding: (-rules[finding.rule].gain, finding.line, finding.column, finding.rule))
    single = [_rewrite(source, finding, rules[finding.rule]) for finding in findings]
    return _unique([*single, _combination(source, findings)], source)


def _rewrite(source: bytes, finding: Finding, rule: Rule) -> Rewrite | None:
    changed = rewritten(source, finding)
    if finding.fix is None or not _parses(changed):
        return None
    return Rewrite(
        finding.rule, rule.name, finding.message, rule.kind, finding.fix.safety, finding.line, changed
    )


def _combination(source: bytes, findings: "list[Finding]") -> Rewrite | None:
    """Fixes are taken in the order of their gain; one that would touch an earlier one is left out."""
    taken: list[Finding] = []
    edits: set[Edit] = set()
    for finding in findings:
        if finding.fix is None or not _goes_with(finding.fix.edits, edits):
            continue
        if not _parses(apply_edits(source, tuple(edits | set(finding.fix.edits)))):
            continue
        edits |= set(finding.fix.edits)
        taken.append(finding)
    if len(taken) < 2:
        return None
    ids = tuple(dict.fromkeys(finding.rule for finding in taken))
    unsafe = any(finding.fix is not None and finding.fix.safety == "unsafe" for finding in taken)
    return Rewrite(
        COMBINED,
        "all-fixes-at-once",
        f"{len(taken)} fixes at once: {', '.join(ids)}",
        taken[0].kind,
        "unsafe" if unsafe else "safe",
        min(finding.line for finding in taken),
        apply_edits(source, tuple(edits)),
    )


def _goes_with(edits: "tuple[Edit, ...]", others: "Iterable[Edit]") -> bool:
    """No edit touches another one, save that imports may stand one below the other."""
    return all(
        edit.end < other.start or other.end < edit.start or (_is_import(edit) and _is_import(other))
        for edit in edits
        for other in others
    )


def _is_import(edit: "Edit") -> bool:
    return edit.text.strip().startswith(("from ", "import ")) and edit.start == edit.end


def _unique(found: "list[Rewrite | None]", source: bytes) -> tuple[Rewrite, ...]:
    seen = {source}
    kept: list[Rewrite] = []
    for rewrite in found:
        if rewrite is not None and rewrite.source not in seen:
            seen.add(rewrite.source)
            kept.append(rewrite)
    return tuple(kept)


def _parses(source: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
