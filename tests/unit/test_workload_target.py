from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import UsageError
from best_agent.workload.target import HEAD, WORKTREE, Target, pair, parse

names = st.from_regex(r"[a-zé_][a-z0-9_]{0,8}(\.[A-Za-z_][a-z0-9]{0,5})?", fullmatch=True)
files = st.sampled_from(["a.py", "src/pkg/text.py", "../x/y z.py", "/abs/ü.py", "a@b.py"])
revisions = st.sampled_from(
    [None, "HEAD", "HEAD~1", "main", "feature/x", "HEAD@{1}", "index", "worktree", "v1.0"]
)


@given(files, names, revisions)
def test_what_is_written_out_is_read_back(file, name, revision):
    target = Target(path=Path(file), name=name, revision=revision)
    assert parse(str(target)) == target


@given(names, revisions)
def test_the_short_form_has_no_file(name, revision):
    text = name + (f"@{revision}" if revision else "")
    assert parse(text) == Target(path=None, name=name, revision=revision)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write FILE::NAME"),
        ("src/text.py", "name the function as well: src/text.py::NAME"),
        ("text.py", "name the function as well"),
        ("a.py::", "there is no function after '::'"),
        ("a.py::f g", "is not the name"),
        ("a.py::f()", "is not the name"),
        ("a.py::1f", "is not the name"),
        ("a.py::f.", "is not the name"),
        ("a.py::.f", "is not the name"),
        ("::f", "there is no file before '::'"),
        ("a.py::f@", "there is no revision after '@'"),
        ("a.py::f@--upload-pack=x", "cannot be a revision"),
        ("a.py::f@x\ny", "cannot be a revision"),
        ("a.py::f::g", "is not the name"),
    ],
)
def test_what_is_no_target_is_refused_with_what_to_write(text, says):
    with pytest.raises(UsageError) as error:
        parse(text)
    assert says in str(error.value)


def pairs(first: str, second: str | None = None) -> tuple[str, str]:
    before, after = pair(parse(first), None if second is None else parse(second))
    return str(before), str(after)


def test_one_target_is_its_work_tree_against_head():
    assert pairs("a.py::f") == (f"a.py::f@{HEAD}", f"a.py::f@{WORKTREE}")
    assert pairs("a.py::f@worktree") == (f"a.py::f@{HEAD}", f"a.py::f@{WORKTREE}")


def test_one_target_with_a_revision_is_the_work_tree_against_that_revision():
    assert pairs("a.py::f@main") == ("a.py::f@main", f"a.py::f@{WORKTREE}")
    assert pairs("a.py::f@index") == ("a.py::f@index", f"a.py::f@{WORKTREE}")


def test_of_two_targets_the_first_is_before():
    assert pairs("a.py::f", "b.py::g") == (f"a.py::f@{WORKTREE}", f"b.py::g@{WORKTREE}")
    assert pairs("a.py::f@v1", "a.py::f@v2") == ("a.py::f@v1", "a.py::f@v2")


def test_a_short_form_takes_the_file_of_the_other():
    assert pairs("a.py::f", "f@main") == (f"a.py::f@{WORKTREE}", "a.py::f@main")
    assert pairs("f@main", "a.py::f") == ("a.py::f@main", f"a.py::f@{WORKTREE}")
