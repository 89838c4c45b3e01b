"""What one pass learns: scopes, bindings, types, plain values, roles, loops."""

import tree_sitter_python
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Language, Parser

from best_agent.rules.editing import fresh_name, import_of
from best_agent.rules.facts.facts import Facts
from best_agent.rules.facts.gather import gather
from best_agent.rules.facts.model import Variable
from best_agent.rules.facts.plain import Plain
from best_agent.rules.facts.roles import role_of
from best_agent.rules.facts.values import type_of_variable

LANGUAGE = Language(tree_sitter_python.language())


def facts_of(source: str) -> Facts:
    text = source.encode()
    tree = Parser(LANGUAGE).parse(text)
    facts = Facts(text, tree.root_node, gather(LANGUAGE, tree, text), fixable=True)
    facts.tree = tree  # nodes are valid as long as their tree
    return facts


def scope_named(facts: Facts, name: str):
    for scope in facts._gathered.scopes:
        title = scope.node.child_by_field_name("name")
        if title is not None and facts.text(title) == name:
            return scope
    return facts.module


def variable(source: str, name: str, scope: str = "f") -> Variable:
    facts = facts_of(source)
    found = facts.variable(name, scope_named(facts, scope))
    assert found is not None
    return found


def type_in(body: str, name: str = "x", head: str = "def f(p):") -> str | None:
    facts = facts_of(f"{head}\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    found = facts.variable(name, scope_named(facts, "f"))
    return None if found is None else type_of_variable(facts, found)


def test_each_way_to_bind_a_name_is_seen():
    source = """
import a.b, c as d
from e import g, h as i
def f(j, k=1, *l, m: int = 2, **n):
    o = p, q = 1, 2
    r: int = 3
    s, (t, *u) = v
    for w, x in y: pass
    with z as aa, bb as (cc, dd): pass
    try: pass
    except E as ee: pass
    if (ff := 1): pass
    [gg for hh in ii if (jj := hh)]
    def kk(): pass
    class ll: pass
    match v:
        case [mm, P(nn=oo)] as pp: pass
        case {"k": qq, **rr}: pass
    del ss
    tt += 1
    lambda uu, *vv: uu
"""
    facts = facts_of(source)
    function = scope_named(facts, "f")
    assert set(facts.module.bindings) == {"a", "d", "g", "i", "f"}
    expected = "j k l m n o p q r s t u w x aa cc dd ee ff jj kk ll mm oo pp qq rr ss tt"
    assert set(function.bindings) == set(expected.split())


def test_names_that_are_no_variables_are_not_taken_for_uses():
    facts = facts_of("def f(a):\n    a.b.c(d=1)\n    return a.d\n")
    assert set(scope_named(facts, "f").sites) == {"a"}


def test_a_name_used_by_an_inner_function_is_not_private():
    assert variable("def f():\n    x = []\n    return [x for y in z]\n", "x").private
    assert not variable("def f():\n    x = []\n    return lambda: x\n", "x").private
    assert not variable("def f():\n    x = []\n    def g():\n        nonlocal x\n", "x").private
    assert not variable("def f():\n    x = []\n    class C:\n        y = x\n", "x").private
    assert variable("def f():\n    x = []\n    def g(x):\n        return x\n", "x").private


def test_a_function_that_asks_for_its_names_keeps_none_private():
    assert not variable("def f():\n    x = []\n    return locals()\n", "x").private
    assert not variable("def f():\n    x = []\n    return [eval('x') for _ in y]\n", "x").private


def test_a_class_is_no_scope_for_its_methods():
    facts = facts_of("x = 1\nclass C:\n    x = []\n    def f(self):\n        return x\n")
    found = facts.variable("x", scope_named(facts, "f"))
    assert found is not None
    assert found.scope is facts.module


def test_global_and_nonlocal_names_belong_to_the_scope_that_binds_them():
    facts = facts_of("x = []\ndef f():\n    global x\n    x = 1\n")
    found = facts.variable("x", scope_named(facts, "f"))
    assert found is not None
    assert found.scope is facts.module
    assert "x" in facts.declared


def test_types_of_literals_calls_and_operations():
    cases = {
        "x = []": "list",
        "x = [y for y in p]": "list",
        "x = sorted(p)": "list",
        "x = p.split()": "list",
        "x = [0] * 3 + p": "list",
        "x = {}": "dict",
        "x = {1}": "set",
        "x = ()": "tuple",
        "x = 'a' f'{p}'": "str",
        "x = b'a'": "bytes",
        "x = rb'a' + p": "bytes",
        "x = ','.join(p)": "str",
        "x = 'a %s' % p": "str",
        "x = len(p) + 1": "int",
        "x = [] if p else [1]": "list",
        "x = []\nx = x + [p]": "list",
        "x = ''\nx = p + x": "str",
        "x = [1]\ny = x\nx = y[1:]": "list",
        "x: list[int] = p": "list",
        "x, y = [], {}": "list",
        "x = []\nx += p": "list",
    }
    assert {body: type_in(body) for body in cases} == cases


def test_what_is_not_proved_has_no_type():
    for body in (
        "x = p",
        "x = []\nx = p",
        "x = y = []",
        "x = p()",
        "x = list\nx = x(p)",
        "x = x",
        "for x in p: pass",
    ):
        assert type_in(body) is None, body
    assert type_in("x = list(p)", head="def f(p, list):") is None


def test_parameters_have_the_type_of_their_annotation():
    assert type_in("pass", head="def f(x: list):") == "list"
    assert type_in("pass", head="def f(x: 'list[int]' = None):") == "list"
    assert type_in("pass", head="def f(x=[]):") is None


def plain(source: str, name: str = "x") -> bool:
    facts = facts_of(source)
    found = facts.variable(name, scope_named(facts, "f"))
    assert found is not None
    return Plain(facts).elements(found.uses[0].node, found.uses[0].scope)


def test_items_are_plain_only_if_all_that_comes_in_is():
    assert plain(
        "def f():\n    x = [(0, 0)]\n    while x:\n        r, c = x.pop()\n        x.append((r + 1, c))\n"
    )
    assert plain("def f(x: list[tuple[int, int]]):\n    return len(x)\n")
    assert not plain("def f(p):\n    x = [p]\n    return len(x)\n")
    assert not plain("def f(p):\n    x = [1]\n    p.append(x)\n")
    assert not plain("def f(x: list[list[int]]):\n    return len(x)\n")
    assert not plain("def f(p):\n    x = [1]\n    x.extend(p)\n")
    assert not plain("def f(p):\n    x = [1]\n    x[0] = p\n")
    assert not plain("def f():\n    x = [1]\n    return len(x), lambda: x.append([])\n")


def test_roles_say_what_is_done_with_a_value():
    source = """def f(x):
    x.append(1); x[0]; x[1:]; x[0] = 1; del x[0]; len(x); g(x)
    1 in x; x in y; x += y; x == y
    for e in x: pass
    if x: pass
    while x and y: pass
    y = not x
    y = 1 if x else 2
    y = x
    return (x, y)
"""
    facts = facts_of(source)
    found = facts.variable("x", scope_named(facts, "f"))
    assert found is not None
    kinds = [role_of(use, facts.source).kind for use in found.uses]
    expected = "method index slice store store argument argument member compare augment compare iterate"
    assert kinds == f"{expected} truth truth truth truth other return".split()


def test_a_loop_over_a_literal_is_constant_and_one_over_a_name_is_not():
    source = """
AXES = ((0, 1), (1, 0))
NAMES = ["a"]
NAMES.append("b")
def f(n):
    for a in AXES: b(a)
    for a in NAMES: b(a)
    for a in range(10): b(a)
    for a in range(n): b(a)
    for a in "xyz": b(a)
    for a in enumerate([1, 2]): b(a)
    while True: b(n)
"""
    facts = facts_of(source)
    steps = sorted(facts.calls("b"), key=lambda step: step.node.start_byte)
    assert [bool(list(facts.growing_loops(step))) for step in steps] == [
        *(False, True, False, True, False, False, True)
    ]


def test_imports_are_added_behind_others_and_never_twice():
    def added(source: str) -> str | None:
        facts = facts_of(source)
        found = import_of(facts, "collections", "deque", facts.module)
        if found is None:
            return None
        name, edits = found
        return name + "".join(f"@{source[: edit.start].count(chr(10))}" for edit in edits)

    assert added("from collections import deque\n") == "deque"
    assert added("from collections import Counter, deque\n") == "deque"
    assert added("import collections\n") == "collections.deque"
    assert added("import os\nx = 1\n") == "deque@0"
    assert added('"""Doc."""\n# c\nfrom __future__ import annotations\nx = 1\n') == "deque@2"
    assert added("#!/usr/bin/env python\n\ndef f(): pass\n") == "deque@2"
    assert added("import os; x = 1\n") is None
    assert added("deque = 1\n") is None
    assert added("") is None


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["x_set", "x_set_2", "x_set_3", "y"]), unique=True))
def test_a_fresh_name_is_not_in_the_source(names: list[str]):
    assert fresh_name(facts_of("".join(f"{name} = 1\n" for name in names)), "x_set") not in names
