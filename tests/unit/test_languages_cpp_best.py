"""Marks in main programs that others wrote: found by syntax, refused clearly where they cannot be."""

import pytest

from best_agent.errors import TaskError
from best_agent.languages.cpp_best import Marks, instrument

MARKS = Marks(begin="BEGIN", end="END")


def marked(body: str, entry: str = "solve", outside: str = "") -> str:
    head = f'#include <bits/stdc++.h>\n#include "std.h"\n{outside}using namespace std;\n'
    return instrument(f"{head}int main() {{\n{body}\n}}\n", entry, MARKS, "solution.cpp", "task-7")


def measured(body: str, entry: str = "solve", outside: str = "") -> str:
    """What stands between the marks."""
    text = marked(body, entry, outside)
    assert text.count("BEGIN();") == text.count("END();") == 1
    return text.partition("BEGIN(); ")[2].partition("END();")[0].partition("asm volatile")[0].rstrip()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int n; cin >> n;\nSolution solution;\nauto r = solution.solve(n);\ncout << r;",
         "Solution solution;\nauto r = solution.solve(n);"),
        ("Solution sol; string r; sol.solve(r); cout << r;", "Solution sol; string r; sol.solve(r);"),
        ("auto r = Solution().solve(1); cout << r;", "auto r = Solution().solve(1);"),
        ("auto r = Solution{}.solve(1); cout << r;", "auto r = Solution{}.solve(1);"),
        ("auto *s = new Solution(); auto r = s->solve(1); cout << r;",
         "auto *s = new Solution(); auto r = s->solve(1);"),
        ("auto s = make_unique<Solution>(); auto r = s->solve(1);",
         "auto s = make_unique<Solution>(); auto r = s->solve(1);"),
        ("Solution s;\nauto r = s.solve(\n  1, // one\n  2);\ncout << r;",
         "Solution s;\nauto r = s.solve(\n  1, // one\n  2);"),
        ("Solution s; cout << s.solve(1) << endl; return 0;", "Solution s; cout << s.solve(1) << endl;"),
        ("Solution s; int a = s.solve(1); int b = s.solve(2); cout << a + b;",
         "Solution s; int a = s.solve(1); int b = s.solve(2);"),
        ("int t; cin >> t; while (t--) { Solution s; cout << s.solve(t); } return 0;",
         "while (t--) { Solution s; cout << s.solve(t); }"),
        ("Solution s; for (int i = 0; i < 3; i++) s.solve(i); return 0;",
         "Solution s; for (int i = 0; i < 3; i++) s.solve(i);"),
        ("{ int n; cin >> n; { Solution s; s.solve(n); } cout << n; }", "Solution s; s.solve(n);"),
        ("int n; cin >> n; if (n) { Solution s; s.solve(n); }", "Solution s; s.solve(n);"),
        ("// Solution s; s.solve(0);\n/* s.solve(2) */ Solution s; s.solve(3); // s.solve(4);",
         "Solution s; s.solve(3);"),
        ("puts(\"Solution s; s.solve(1);\"); Solution s; s.solve(3);",
         "Solution s; s.solve(3);"),
        ('auto raw = R"(Solution s; s.solve(1);)"; Solution s; s.solve(2);', "Solution s; s.solve(2);"),
    ],
)  # fmt: skip
def test_the_measured_call_is_from_the_solution_to_its_last_call(body, expected):
    assert measured(body) == expected


def test_a_solution_outside_of_main_is_measured_from_its_call():
    assert measured("int n; cin >> n; int r = s.solve(n);", outside="Solution s;\n") == "int r = s.solve(n);"


def test_the_function_that_calls_may_be_another_than_main():
    driver = '#include "std.h"\nint work() { Solution s; return 1 + 0 * (s.solve(1), 0); }\n'
    driver += "int main() { return work(); }"
    with pytest.raises(TaskError, match="leaves the function"):
        instrument(driver, "solve", MARKS, "x.cpp", "task-7")
    driver = driver.replace("return 1 + 0 * (s.solve(1), 0);", "s.solve(1); return 1;")
    assert "{ BEGIN(); Solution s; s.solve(1); END(); return 1; }" in instrument(
        driver, "solve", MARKS, "x", "t"
    )


def test_the_entry_that_was_named_is_called_and_nothing_else_is_renamed():
    text = marked("int solve = 1; Solution s; auto r = s.solve(solve); cout << r; // solve", "solve3")
    assert "auto r = s.solve3(solve);" in text
    assert "int solve = 1;" in text
    assert text.count("solve3") == 1


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("Solution s; auto r = s.solve(1);", "r"),
        ("Solution s; vector<int> &&r = s.solve(1);", "r"),
        ("Solution s; int r; r = s.solve(1);", "r"),
        ("Solution s; s.solve(1);", None),
        ("Solution s; auto [a, b] = s.solve(1);", None),
        ("Solution s; int v[2]; v[0] = s.solve(1);", None),
    ],
)
def test_a_result_with_a_name_is_made_before_the_end_mark(body, kept):
    text = marked(body)
    if kept is None:
        assert "asm" not in text
    else:
        assert f"__builtin_addressof({kept}))" in text.partition("END();")[0]


def test_only_the_marks_the_entry_and_the_include_change():
    driver = '#include <map>\r\n#include "../x/std.h" // here\r\nint main(){\r\n'
    driver += "\tSolution s; // \u00e9\r\n\ts.solve();\r\n}\r\n"
    text = instrument(driver, "solve2", MARKS, "solution.cpp", "t")
    assert text == (
        '#include <map>\r\n#include "solution.cpp" // here\r\nint main(){\r\n'
        "\tBEGIN(); Solution s; // \u00e9\r\n\ts.solve2(); END();\r\n}\r\n"
    )


@pytest.mark.parametrize(
    ("driver", "told"),
    [
        ("", "calls no"),
        ('#include "std.h"\nint main() { return 0; }', "calls no"),
        ('#include "std.h"\nint main() { solve(1); }', "calls no"),
        ("int main() { Solution s; s.solve(1); }", "#include"),
        ('#include "std.h"\n#include "std2.h"\nint main() { Solution s; s.solve(1); }', "it has 2"),
        ('#include "std.h"\nint main() { Solution s; return s.solve(1); }', "leaves the function"),
        ('#include "std.h"\nint main() { Solution s; if (s.solve(1)) return 1; }', "leaves the function"),
        (
            '#include "std.h"\nvoid f() { Solution s; s.solve(1); }\nint main() { Solution s; s.solve(2); }',
            "several places",
        ),
        ('#include "std.h"\nint x = Solution().solve(1);\nint main() {}', "must be one function"),
        ('#include "std.h"\nint main() { Solution s; s.solve(1; }', "task-7"),
        ('#include "std.h"\nint main() { Solution s; s.solve(1);', "task-7"),
        ("\0\udcff{{{", "calls no"),
    ],
)
def test_a_driver_whose_call_cannot_be_told_is_an_error_of_the_task(driver, told):
    with pytest.raises(TaskError, match="task-7") as caught:
        instrument(driver, "solve", MARKS, "solution.cpp", "task-7")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
