"""Which programs are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.refine.archive import fingerprint

PYTHON = 'def solve(xs):\n    """Doc."""\n    # why\n    return sorted( xs )\n'
CPP = "#include <vector>\nint solve(int a) { // why\n  return a + 1; /* so */ }\n"


@pytest.mark.parametrize(
    ("first", "second", "language"),
    [
        (PYTHON, "def solve(xs):\n    return sorted(xs)\n", "python"),
        (PYTHON, PYTHON.replace("\n", "\r\n"), "python"),
        (CPP, "#include   <vector>\nint solve(int a){return a+1;}", "cpp"),
        ("x = (\n\n", "x = (  \n", "python"),
    ],
)
def test_layout_comments_and_docstrings_make_no_difference(first: str, second: str, language: str) -> None:
    assert fingerprint(first, language) == fingerprint(second, language)


@pytest.mark.parametrize(
    ("first", "second", "language"),
    [
        (PYTHON, PYTHON.replace("sorted", "list"), "python"),
        ('x = "a"\n', 'x = "b"\n', "python"),
        ("x = 1\n", "x = 1.0\n", "python"),
        ("x = True\n", "x = 1\n", "python"),
        ('auto s = "a  b";', 'auto s = "a b";', "cpp"),
        ('auto s = "// no comment";', 'auto s = "";', "cpp"),
        ('auto s = R"(a " b)";', 'auto s = R"(a " c)";', "cpp"),
        ("int a = b;", "inta = b;", "cpp"),
        ("#define A 1\nint x;", "#define A 2\nint x;", "cpp"),
    ],
)
def test_what_can_change_the_outcome_makes_a_difference(first: str, second: str, language: str) -> None:
    assert fingerprint(first, language) != fingerprint(second, language)


@given(st.text(), st.sampled_from(["python", "cpp"]))
def test_any_text_has_a_stable_fingerprint(text: str, language: str) -> None:
    assert fingerprint(text, language) == fingerprint(text, language)


def test_a_program_nested_too_deep_to_parse_has_one_too() -> None:
    assert fingerprint("(" * 100_000, "python") != fingerprint("(" * 99_999, "python")
