"""What is told of C++ text: entries, first includes, and compilers' messages made short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import UsageError
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.cpp_build import MESSAGE_CHARACTERS, MESSAGE_LINES, shorten
from best_agent.languages.cpp_driver import Texts, resource, texts_for
from best_agent.languages.cpp_syntax import entry_places, parse, starts_with_all_headers
from best_agent.model.task import Mode, Signature, Source

SHAPE = Signature(parameters=(("a", "list[int]"),), returns="int")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("int solve(int a) { return a; }", (True, False)),
        ("std::vector<int> &solve(int a);", (True, False)),
        ("std::pair<int, int> *solve(int a) { return 0; }", (True, False)),
        ("template <class T> T solve(T a) { return a; }", (True, False)),
        ("#ifdef X\nint solve() { return 1; }\n#endif", (True, False)),
        ('extern "C" { int solve() { return 1; } }', (True, False)),
        ("auto solve = [](int a) { return a; };", (True, False)),
        ("class Solution { public: int solve(int a) { return a; } };", (False, True)),
        ("struct Solution { int solve(int); }; int Solution::solve(int a) { return a; }", (False, True)),
        ("struct Solution { template <class T> int solve(T a) { return 1; } };", (False, True)),
        ("class Other { int solve(); };", (False, False)),
        ("namespace n { int solve() { return 1; } }", (False, False)),
        ("int main() { solve(1); auto f = [] { int solve = 1; }; }", (False, False)),
        ("int solver() { return 1; } // int solve()", (False, False)),
        ('const char *s = "int solve() {}";', (False, False)),
        ("class Solution { class In { int solve(); }; };", (False, False)),
        ("", (False, False)),
    ],
)
def test_an_entry_is_found_where_it_can_be_called(text, places):
    assert entry_places(parse(text), "solve") == places


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("#include <bits/stdc++.h>\n", True),
        ("// first\n/* then */\n#include<bits/stdc++.h>\nint x;", True),
        ("#define _GLIBCXX_DEBUG\n#include <bits/stdc++.h>\n", False),
        ('#pragma GCC optimize("O3")\n#include <bits/stdc++.h>\n', False),
        ("#include <vector>\n#include <bits/stdc++.h>\n", False),
        ("", False),
    ],
)
def test_a_precompiled_header_is_used_only_where_it_changes_nothing(text, whether):
    assert starts_with_all_headers(text) is whether


@given(st.text())
def test_looking_at_any_text_never_fails(text):
    entry_places(parse(text), "solve")
    starts_with_all_headers(text)
    assert len(shorten(text)) <= MESSAGE_CHARACTERS


def _texts(text: str, **options) -> Texts | BuildFailure:
    source = Source(id="x", language="cpp", text=text, entry=options.pop("entry", "solve"))
    return texts_for(BuildRequest(source=source, mode=Mode.FUNCTION, signature=SHAPE, **options))


def test_the_names_of_the_marks_follow_from_the_solution_so_that_it_cannot_hold_them():
    first, second = (
        _texts("int solve(std::vector<long long>);"),
        _texts("int solve(std::vector<long long>); "),
    )
    assert isinstance(first, Texts)
    assert isinstance(second, Texts)
    assert first.files["main.cpp"] != second.files["main.cpp"]
    assert "best_agent_begin_" not in first.files["solution.cpp"]


def test_memory_is_settled_only_where_it_is_normalised():
    for normalise in (True, False):
        texts = _texts("int solve(std::vector<long long>);", normalise_memory=normalise)
        assert isinstance(texts, Texts)
        assert f"#define BEST_AGENT_SETTLE {int(normalise)}\n" in texts.files["marks.cpp"]


@pytest.mark.parametrize("entry", ["", "1a", "a b", "f(", "solve;int x", "\u00e9"])
def test_an_entry_that_is_no_name_never_reaches_the_compiler(entry):
    with pytest.raises(UsageError, match="not the name of a function"):
        _texts("int x;", entry=entry)


def test_a_request_that_lacks_what_its_mode_needs_is_refused():
    source = Source(id="x", language="cpp", text="int x;")
    with pytest.raises(UsageError, match="signature"):
        texts_for(BuildRequest(source=source, mode=Mode.FUNCTION))
    with pytest.raises(UsageError, match="main program"):
        texts_for(BuildRequest(source=source, mode=Mode.DRIVER))


def test_the_resources_are_part_of_the_package():
    for name in ("marks.cpp", "function.hpp"):
        assert "namespace" in resource(name)


def test_a_message_begins_with_the_first_error_and_leaves_our_texts_out():
    said = """In file included from main.cpp:6:
solution.cpp: In function 'int f()':
solution.cpp:3:5: error: first
    3 |     wrong
      |     ^
solution.cpp:4:5: error: second
main.cpp:7:9: error: ours
    7 | glue
      | ^
/usr/include/c++/12/vector:5:1: note: theirs
    5 | header
solution.cpp:9:1: note: said of the author's
compilation terminated due to -fmax-errors=3.
"""
    assert shorten(said).splitlines() == [
        "solution.cpp:3:5: error: first",
        "    3 |     wrong",
        "      |     ^",
        "solution.cpp:4:5: error: second",
        "solution.cpp:9:1: note: said of the author's",
    ]


def test_a_message_is_bounded_in_lines_and_characters():
    assert len(shorten("solution.cpp:1: error: x\n" * 1000).splitlines()) == MESSAGE_LINES
    assert len(shorten("solution.cpp:1: error: " + "x" * 10_000)) == MESSAGE_CHARACTERS
