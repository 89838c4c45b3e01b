"""`analyse` takes any bytes, and what it says of them can be shown and applied."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from best_agent.analysis import LANGUAGES, analyse
from best_agent.model.finding import apply_edits
from best_agent.rules.registry import rules_for
from best_agent.rules.rewrites import rewrites

DEPTH = 10_000
LOOP = b"def f(xs):\n    seen = []\n    for x in xs:\n        if x in seen:\n            seen.append(x)\n"
SOURCES = tuple(source for rule in rules_for("python") for source in (*rule.bad, *rule.good))

HOSTILE = {
    "nothing": b"",
    "blank": b" \n\t\n\r\n\f",
    "a byte": b"\xff",
    "nul": b"x = '\0'\n" + LOOP,
    "nuls": b"\0" * 1000,
    "latin-1": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n" + LOOP,
    "utf-16": LOOP.decode().encode("utf-16"),
    "bom": b"\xef\xbb\xbf" + LOOP,
    "lone surrogate": b"x = '\xed\xa0\x80'\n" + LOOP,
    "carriage returns": LOOP.replace(b"\n", b"\r"),
    "tabs": LOOP.replace(b"    ", b"\t"),
    "mixed line ends": LOOP + LOOP.replace(b"\n", b"\r\n"),
    "a line of 1 MB": b"x = '" + b"a" * 1_000_000 + b"'\n" + LOOP,
    "a long list": b"x = [" + b"1, " * 60_000 + b"]\n" + LOOP,
    "a long sum": b"def f():\n    x = ''\n    for i in y:\n        x = x" + b" + a" * 60_000 + b"\n",
    "a long chain": b"x = y" + b".a()" * 60_000 + b"\n" + LOOP,
    "open parentheses": b"(" * DEPTH,
    "parentheses": b"x = " + b"(" * DEPTH + b"1" + b")" * DEPTH + b"\n" + LOOP,
    "lists": b"for x in y:\n    x = " + b"[" * DEPTH + b"]" * DEPTH + b"\n" + LOOP,
    "calls": b"sorted(" * DEPTH + b"x" + b")[0]" * DEPTH,
    "sums": b"sum([" * DEPTH + b"x" + b" for x in y])" * DEPTH,
    "lambdas": b"lambda x: " * DEPTH + b"x",
    "nots": b"not " * DEPTH + b"x in y",
    "blocks": b"".join(b" " * i + b"for x in y:\n" for i in range(1_500)) + b" " * 1_500 + b"y.pop(0)\n",
    "functions": b"".join(b" " * i + b"def f():\n" for i in range(1_500)) + b" " * 1_500 + b"x in y\n",
    "names": b"def f(a):\n" + b"".join(b"    a%d = a%d + [1]\n" % (i + 1, i) for i in range(5_000)) + LOOP,
    "one name": b"def f(y):\n    x = []\n    for i in y:\n" + b"        x = x + [i]\n" * 3_000,
    "bindings": b"def f(y):\n" + b"    x = y\n    y = x\n" * 3_000 + b"    for i in y:\n        x in y\n",
    "syntax errors": b"def f(:\n  for x in = y\n    if x in [\n" * 500,
    "half a function": LOOP[:-20],
    "python 2": b"print 'x' % y, z\nexec 'x'\nraise E, 'v'\n" + LOOP,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_sources_are_read_to_the_end(source: bytes):
    lines = source.count(b"\n") + source.count(b"\r") + 1
    for finding in analyse(source, "python"):
        assert 1 <= finding.line <= finding.end_line <= lines
        assert finding.message.encode()
        if finding.fix is not None:
            assert apply_edits(source, finding.fix.edits) != source
    assert rewrites(source) is not None


@pytest.mark.parametrize("language", [*LANGUAGES, "rust", ""])
def test_a_language_without_rules_has_no_findings(language: str):
    if language != "python":
        assert analyse(LOOP, language) == ()


@pytest.mark.parametrize("name", ["nul", "latin-1", "lone surrogate"])
def test_a_source_that_is_not_utf8_text_gets_findings_without_fixes(name: str):
    assert all(finding.fix is None for finding in analyse(HOSTILE[name], "python"))
    assert rewrites(HOSTILE[name]) == ()


def test_findings_are_made_around_a_syntax_error_but_not_in_it():
    source = b"def g(xs):\n    seen = []\n    for x in xs\n        if x in seen seen.append(x)\n\n\n" + LOOP
    found = analyse(source, "python")
    assert {finding.line for finding in found if finding.rule == "BA101"} <= {10, 11}
    assert analyse(LOOP + b"\n\nx = = 1\n", "python")


def test_a_function_with_a_syntax_error_gets_no_fix():
    source = LOOP + b"        x = (\n"
    assert all(finding.fix is None for finding in analyse(source, "python"))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_analysed(source: bytes):
    analyse(source, "python")
    rewrites(source)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SOURCES), st.data())
def test_damaged_sources_are_analysed(source: str, data: st.DataObject):
    text = source.encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    damaged = text[:start] + data.draw(st.binary(max_size=6)) + text[end:]
    for finding in analyse(damaged, "python"):
        if finding.fix is not None:
            apply_edits(damaged, finding.fix.edits)
    for rewrite in rewrites(damaged):
        compile(rewrite.source, "<rewritten>", "exec", dont_inherit=True)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4))
def test_the_same_source_gives_the_same_findings_in_order_of_place(parts: list[str]):
    source = "\n\n".join(parts).encode()
    found = analyse(source, "python")
    assert found == analyse(source, "python")
    assert [(f.line, f.column) for f in found] == sorted((f.line, f.column) for f in found)
    assert rewrites(source) == rewrites(source)


def test_analysis_loads_nothing_heavy():
    code = (
        "import sys; from best_agent.analysis import analyse; analyse(b'x = 1', 'python');"
        "print(*sorted(m for m in sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"rich", "litellm", "psutil", "pygls", "dataclasses", "inspect", "asyncio", "ast"}
    assert not heavy & set(out)
    assert not [name for name in out if name.startswith(("best_agent.sandbox", "best_agent.refine"))]


def test_importing_the_analysis_loads_no_rule():
    code = "import sys, best_agent.analysis; print(*(m for m in sys.modules if '.rules.python' in m))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == []
