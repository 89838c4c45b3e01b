"""What was tried before: programs that differ only in layout or comments are the same and never run twice."""

import ast
import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from best_agent.model.refinement import CandidateResult
from best_agent.model.task import Source

_CPP_TOKENS = re.compile(
    r"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<directive>^[ \t]*\#[^\n]*)
    | (?P<space>\s+)
    | (?P<word>\w+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def digest(text: str) -> str:
    """SHA-256 of a program's text."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def fingerprint(code: str, language: str) -> str:
    """A key that two programs share if they differ only in layout, comments or docstrings.

    Python that does not parse is compared by its text without blank lines and trailing spaces.
    """
    if language == "python":
        tree = _normalised_tree(code)
        if tree is not None:
            return digest(f"python-ast:{tree}")
        return digest("text:" + "\n".join(line.rstrip() for line in code.splitlines() if line.strip()))
    return digest("tokens:" + "\x00".join(_cpp_tokens(code)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A program that was looked at, with what came of it. The start has no result."""

    source: Source
    result: CandidateResult | None = None


@dataclass(slots=True)
class Archive:
    """All programs of a run by fingerprint, in the order they came."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def known(self, code: str, language: str) -> Entry | None:
        """The program this one repeats, or None."""
        return self.entries.get(fingerprint(code, language))

    def add(self, entry: Entry) -> None:
        """Remember a program; a later one with the same fingerprint does not replace it."""
        self.entries.setdefault(fingerprint(entry.source.text, entry.source.language), entry)

    def accepted(self) -> tuple[Entry, ...]:
        """Candidates that were accepted, the latest first."""
        found = [entry for entry in self.entries.values() if entry.result and entry.result.accepted]
        return tuple(reversed(found))


def _normalised_tree(code: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        for node in ast.walk(tree):
            _drop_docstring(node)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _drop_docstring(node: ast.AST) -> None:
    if not isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    first = node.body[0] if node.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        node.body = node.body[1:]


def _cpp_tokens(code: str) -> Iterator[str]:
    for match in _CPP_TOKENS.finditer(code):
        if match.lastgroup in ("comment", "space"):
            continue
        token = match[0]
        yield " ".join(token.split()) if match.lastgroup == "directive" else token
