"""Programs from answers as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.model.refinement import Reason
from best_agent.refine.extract import extract_code

CODE = "import sys\n\ndef solve(xs):\n    return sorted(xs)\n"
CPP = (
    "#include <vector>\nclass Solution {\npublic:\n"
    "    int solve(std::vector<int>& a) { return a.size(); }\n};\n"
)


def code_of(
    answer: str, language: str = "python", entry: str | None = "solve", *, cut_off: bool = False
) -> str:
    found = extract_code(answer, language=language, entry=entry, cut_off=cut_off)
    assert found.problem is None, found
    assert found.code is not None
    return found.code


def problem_of(
    answer: str, language: str = "python", entry: str | None = "solve", *, cut_off: bool = False
) -> Reason | None:
    found = extract_code(answer, language=language, entry=entry, cut_off=cut_off)
    assert found.code is None
    assert found.detail
    return found.problem


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}```",
        f"Here it is:\n\n```python\n{CODE}```\n\nIt is O(n log n).",
        f"```py\n{CODE}```",
        f"```Python3\n{CODE}```",
        f"```python:solve.py\n{CODE}```",
        f"```{{.python}}\n{CODE}```",
        f"```\n{CODE}```",
        f"~~~python\n{CODE}~~~",
        f"````python\n{CODE}````",
        f'```python title="a.py"\n{CODE}```',
        f"1. First:\n\n   ```python\n   {CODE.rstrip().replace(chr(10), chr(10) + '   ')}\n   ```\n",
        f"```python\r\n{CODE.replace(chr(10), chr(13) + chr(10))}```\r\n",
        f"<think>Let me try ```python\ndef solve(xs): return 1\n```</think>\n```python\n{CODE}```",
        f"<thinking>hm</thinking>```python\n{CODE}```".replace(">```", ">\n```"),
        f"I was thinking\n</think>\n```python\n{CODE}```",
        f"```python\n{CODE}",
        CODE,
        f"Sure! Here is the code:\n\n{CODE}",
        f"{CODE}\nThis version sorts the list.\nHope it helps!\n",
        f"\ufeff{CODE}",
        '{"code": "import sys\\n\\ndef solve(xs):\\n    return sorted(xs)\\n"}',
    ],
)
def test_the_program_is_found_however_it_is_wrapped(answer: str) -> None:
    assert code_of(answer).strip() == CODE.strip()


def test_of_several_blocks_the_last_that_defines_the_entry_is_taken() -> None:
    answer = (
        "First idea:\n```python\ndef solve(xs):\n    return 1\n```\nBetter:\n"
        f"```python\n{CODE}```\nUse it like this:\n```python\nprint(solve([1]))\n```\n"
        "Run it:\n```bash\npython solve.py\n```"
    )
    assert code_of(answer) == CODE


def test_backticks_inside_of_the_program_do_not_end_it_where_the_fence_is_longer() -> None:
    code = 'def solve(xs):\n    """\n    ```\n    text\n    ```\n    """\n    return xs\n'
    assert code_of(f"````python\n{code}````") == code


@pytest.mark.parametrize(
    "definition", ["async def solve(xs):\n    pass\n", "solve = sorted\n", "class solve:\n    pass\n"]
)
def test_other_ways_to_define_the_entry_count(definition: str) -> None:
    assert code_of(f"```python\n{definition}```") == definition


def test_a_complete_program_whose_last_fence_is_missing_is_taken() -> None:
    assert code_of(f"Here:\n```python\n{CODE}") == CODE


def test_comments_before_the_first_statement_stay() -> None:
    assert code_of(f"# sorts\n{CODE}").startswith("# sorts\nimport sys")


def test_a_program_that_does_not_parse_is_left_to_the_judge() -> None:
    assert "return (" in code_of("```python\ndef solve(xs):\n    return (\n```")


@pytest.mark.parametrize("label", ["cpp", "c++", "C++", "cc", ""])
def test_cpp_is_found_by_its_labels(label: str) -> None:
    assert code_of(f"```{label}\n{CPP}```", "cpp") == CPP


def test_cpp_without_a_fence_is_found() -> None:
    assert code_of(f"Here you go:\n{CPP}\nIt works.", "cpp").strip() == CPP.strip()


def test_a_program_that_reads_standard_input_needs_no_entry() -> None:
    assert code_of("```python\nprint(sum(map(int, input().split())))\n```", entry=None).startswith("print")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", Reason.EMPTY_ANSWER),
        (" \n\t", Reason.EMPTY_ANSWER),
        ("I cannot help with that.", Reason.NO_CODE),
        ("```python\n```", Reason.NO_CODE),
        ("<think>never ends", Reason.TRUNCATED),
        ("<think>all of it</think>", Reason.TRUNCATED),
        ("```python\ndef solve(xs):\n    return [", Reason.TRUNCATED),
        ("```python\nx = 1\n```", Reason.NO_ENTRY),
        ("```java\nclass A {}\n```", Reason.WRONG_LANGUAGE),
        (f"```cpp\n{CPP}```", Reason.WRONG_LANGUAGE),
        ("```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n```", Reason.DIFF),
        ("```\n--- a/x.py\n+++ b/x.py\n```", Reason.DIFF),
        ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n", Reason.DIFF),
        ("```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```", Reason.DIFF),
        ("def other(xs):\n    return xs\n", Reason.NO_ENTRY),
        ('{"code": 3}', Reason.NO_CODE),
        ("[" * 100_000, Reason.NO_CODE),
        ('{"a":' * 100_000, Reason.NO_CODE),
    ],
)
def test_an_answer_without_a_program_says_why(answer: str, problem: Reason) -> None:
    assert problem_of(answer) is problem


def test_an_answer_cut_off_in_its_only_block_is_truncated_even_if_it_parses() -> None:
    assert problem_of(f"```python\n{CODE}", cut_off=True) is Reason.TRUNCATED
    assert problem_of(CODE, cut_off=True) is Reason.TRUNCATED


def test_an_answer_cut_off_after_its_block_is_whole() -> None:
    assert code_of(f"```python\n{CODE}```\nAnd this is why it", cut_off=True) == CODE


def test_python_is_not_taken_for_cpp() -> None:
    assert problem_of(f"```python\n{CODE}```", "cpp") is Reason.WRONG_LANGUAGE


def test_half_a_surrogate_pair_does_not_reach_the_program() -> None:
    code = code_of(f"```python\n{CODE}# \ud800\n```")
    code.encode()


@given(st.text(), st.sampled_from(["python", "cpp"]), st.booleans())
def test_any_answer_gives_a_program_or_a_reason(answer: str, language: str, cut_off: bool) -> None:
    found = extract_code(answer, language=language, entry="solve", cut_off=cut_off)
    assert (found.code is None) == (found.problem is not None)


@given(
    st.lists(
        st.sampled_from(["```", "```python", "~~~", "def solve(x):", "    pass", "", "<think>", "</think>"])
    )
)
def test_any_order_of_fences_gives_a_program_or_a_reason(lines: list[str]) -> None:
    found = extract_code("\n".join(lines), language="python", entry="solve")
    assert (found.code is None) == (found.problem is not None)
