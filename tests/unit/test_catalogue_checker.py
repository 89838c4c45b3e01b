import pytest
from task_folders import write_task

from best_agent.catalogue.checker import load_checker
from best_agent.catalogue.load import load_task
from best_agent.errors import TaskError


def checker(tmp_path, text):
    folder = write_task(tmp_path)
    (folder / "check.py").write_text(text)
    return load_checker(load_task(folder, "own"))


def test_a_task_without_a_checker_has_none(tmp_path):
    assert load_checker(load_task(write_task(tmp_path), "own")) is None


def test_a_checker_sees_arguments_and_answer_and_may_give_a_reason(tmp_path):
    check = checker(
        tmp_path, "def check(arguments, answer):\n    return answer == sum(arguments[0]) or 'not the sum'\n"
    )
    assert check(([1, 2],), 3) is True
    assert check(([1, 2],), 4) == "not the sum"


def test_an_answer_of_another_type_never_reaches_the_task_s_code(tmp_path):
    check = checker(tmp_path, "def check(arguments, answer):\n    raise AssertionError\n")
    for answer in ("3", None, [3], 3.0, True, {"a": 1}):
        assert str(check(([1],), answer)).startswith("the answer is ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def check(arguments, answer):\n    return 1 / 0\n", "check() failed: ZeroDivisionError"),
        ("def check(arguments, answer):\n    return 1\n", "must return True, False or a reason, not 1"),
        ("def check(arguments, answer):\n    pass\n", "must return True, False or a reason, not None"),
        ("def check(arguments, answer):\n    return ''\n", "must return True, False or a reason, not ''"),
        ("def check(answer):\n    return True\n", "check() failed: TypeError"),
        ("def check(arguments, answer):\n    raise SystemExit\n", "check() failed: SystemExit"),
    ],
)
def test_trouble_of_the_checker_is_never_the_candidate_s(tmp_path, text, expected):
    check = checker(tmp_path, text)
    with pytest.raises(TaskError) as caught:
        check(([1],), 1)
    assert "check.py" in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize("text", ["", "check = 1\n", "def check(:\n", "raise ValueError\n"])
def test_a_checker_that_cannot_be_loaded_is_named(tmp_path, text):
    with pytest.raises(TaskError, match=r"check\.py"):
        checker(tmp_path, text)
