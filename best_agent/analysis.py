"""Static analysis: the one entry for `check`, the hook, the language server and the built-in proposals."""

from typing import TYPE_CHECKING

from best_agent.rules.engine import find

if TYPE_CHECKING:
    from best_agent.model.finding import Finding

LANGUAGES = ("python", "cpp")
"""Languages whose sources `analyse` reads."""


def analyse(source: bytes, language: str) -> "tuple[Finding, ...]":
    """What costs time or memory in a source, in the order of the places.

    Any bytes will do: nothing is found in the midst of a syntax error, and a source that is not UTF-8 gets
    findings without fixes. A language that is not among `LANGUAGES`, or has no rules yet, has no findings.
    """
    return find(source, language)
