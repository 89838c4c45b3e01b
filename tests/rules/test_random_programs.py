"""Safe fixes keep the behaviour of programs that are put together at random from what the rules look at."""

import copy
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from best_agent.analysis import analyse
from best_agent.rules.rewrites import COMBINED, rewrites, rewritten

LISTS = st.sampled_from(["xs", "ys", "p"])
VALUES = st.sampled_from(["v", "i", "1", "len(xs)", "(v, i)"])
TEXTS = ('""', '"a"')
ENDS = (
    "return out, s, d, t, v",
    "return xs, ys, out, s, d, t",
    "return xs, s",
    "return d",
    "return t, p",
    "return out, len(xs)",
    "return out",
    "return out, ys",
    "return out, s, v, sum(xs)",
)
STEPS = 500
"""Lines after which a program is given up: each of them may copy all that is there."""

PLAIN = (
    "{a} = []",
    "{a} = [1, 2]",
    "{a} = list(p)",
    "{a} = [e for e in {b} if e]",
    "{a} = {b}",
    "{a} = {b} + [{v}]",
    "{a} = {a} + [{v}]",
    "{a} = [{v}] + {a}",
    "{a} += [{v}]",
    "{a}.append({v})",
    "{a}.append({v})",
    "{a}.insert(0, {v})",
    "{a}.reverse()",
    "{a}.extend({b}[:2])",
    "v = {a}.pop(0) if {a} else 0",
    "v = {a}.pop() if {a} else 0",
    "out.append({a})",
    "out.append({v} in {a})",
    "out.append({v} not in {a})",
    "out.append(len({a}))",
    "out.append({a}[-1] if {a} else 0)",
    "out.append({a}[1:])",
    "out.append(list({a}))",
    "out.append({a}.count({v}))",
    "out.append(sorted(p)[0] if p else 0)",
    "out.append(sorted({a})[-1] if {a} else 0)",
    "out.append(sum([e for e in p]))",
    "out.append(len([e for e in {a} if e]))",
    "out.append(any([e == {v} for e in {a}]))",
    "out.append({v} in set({a}))",
    "out.append(sum(p))",
    "zs = [e for e in {a}]",
    "zs = [(e, 1) for e in {a}]",
    "out.append([e for e in zs])",
    "s = s + str({v}) + ','",
    "s = str({v}) + s",
    "s = f'{{s}}{{i}};'",
    "s += 'x'",
    "out.append(s)",
    "d += b'x'",
    "d = d + b'y' + b'z'",
    "out.append(d)",
    "t += ({v},)",
    "t = t + ({v}, i)",
    "out.append(len(t))",
    "if i == 2: return {a}, s, d, t",
    "if i == 3: break",
    "{a} = sorted({b}, key=str)",
    "out.append({a}[0] if {a} else None)",
    "f = lambda: {a}",
    "out.append({a} == {b})",
)
HEADS = (
    "for v in {a}:",
    "for v in list({a}):",
    "for i, v in list(enumerate({a})):",
    "for v in {a}[:]:",
    "for i in range(n):",
    "for i in list(range(n)):",
    "for v in zs:",
    "while {a}:",
    "while len({a}) > 1:",
    "if {v} in {a}:",
    "if not {a}:",
    "if i % 2:",
    "try:",
    "for _ in (1, 2):",
)


@st.composite
def block(draw: Any, depth: int, kinds: tuple[str, ...], in_loop: bool) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        names = {"a": draw(LISTS), "b": draw(LISTS), "v": draw(VALUES)}
        if depth and draw(st.integers(0, 2)) == 0:
            head = draw(st.sampled_from(HEADS)).format(**names)
            loops = head.startswith(("for", "while"))
            lines.append(head)
            lines += ["    " + line for line in draw(block(depth - 1, kinds, in_loop or loops))]
            if head == "try:":
                lines += ["except IndexError:", "    s += '!'"]
        else:
            line = draw(st.sampled_from(kinds)).format(**names)
            lines.append("pass" if "break" in line and not in_loop else line)
    return lines


@st.composite
def program(draw: Any) -> str:
    start = [
        "def f(p: list[int], n: int):",
        f"    xs = {draw(st.sampled_from(['[]', '[0]', 'list(range(n))', '[(0, 0)]', 'p']))}",
        f"    ys = {draw(st.sampled_from(['[]', '[1, 2]', '[e for e in p]', 'xs']))}",
        "    zs, out = [], []",
        f"    s = {draw(st.sampled_from(TEXTS))}",
        f"    d = b{draw(st.sampled_from(TEXTS))}",
        f"    t = {draw(st.sampled_from(['()', '(1,)']))}",
        "    v, i = 0, 0",
    ]
    kinds = tuple(draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=7)))
    body = ["    " + line for line in draw(block(3, kinds, in_loop=False))]
    end = draw(st.sampled_from(ENDS))
    return "\n".join([*start, *body, f"    {end}"]) + "\n"


class OutOfStepsError(Exception):
    pass


def outcome(source: str, p: list[int], n: int, *, most: int = STEPS) -> Any:
    """What a program returns, with the types of all parts; None if it raises or takes more steps."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<program>", "exec"), namespace)
    steps = 0

    def count(frame: Any, event: str, arg: Any) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != "<program>":
            return None
        steps += 1
        if steps > most:
            raise OutOfStepsError
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        given = copy.copy(p)
        return repr((namespace["f"](given, n), given))
    except (OutOfStepsError, LookupError, TypeError, ValueError, RuntimeError, AttributeError, NameError):
        return None
    finally:
        sys.settrace(before)


def assert_same(source: str, changed: str, p: list[int], n: int) -> None:
    expected = outcome(source, p, n)
    if expected is not None:
        # A rewrite may take more traced steps: a generator is entered once for each element.
        assert outcome(changed, p, n, most=20 * STEPS) == expected, (
            f"{source}\n-- became --\n{changed}\np={p} n={n}"
        )


CALLS = st.tuples(st.lists(st.integers(0, 3), max_size=4), st.integers(0, 4))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=program(), calls=st.lists(CALLS, min_size=2, max_size=3))
def test_safe_fixes_keep_the_behaviour_of_random_programs(source: str, calls: list[tuple[list[int], int]]):
    text = source.encode()
    changed = [rewritten(text, f) for f in analyse(text, "python") if f.fix and f.fix.safety == "safe"]
    changed += [r.source for r in rewrites(text) if r.safety == "safe" and r.rule == COMBINED]
    for fixed in changed:
        for p, n in calls:
            assert_same(source, fixed.decode(), p, n)


@pytest.mark.slow
@settings(max_examples=1_500, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=program(), calls=st.lists(CALLS, min_size=2, max_size=3))
def test_safe_fixes_keep_the_behaviour_of_many_random_programs(
    source: str, calls: list[tuple[list[int], int]]
):
    text = source.encode()
    for finding in analyse(text, "python"):
        if finding.fix is not None and finding.fix.safety == "safe":
            for p, n in calls:
                assert_same(source, rewritten(text, finding).decode(), p, n)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=program())
def test_fixing_random_programs_until_nothing_changes_ends(source: str):
    text = source.encode()
    for _ in range(60):
        fixes = [f for f in analyse(text, "python") if f.fix is not None]
        if not fixes:
            return
        text = rewritten(text, fixes[0])
        compile(text, "<fixed>", "exec")
    pytest.fail(f"still fixing:\n{source}\n-- became --\n{text.decode()}")
