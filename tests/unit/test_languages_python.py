"""Python solutions: what is built of them, and what reaches them."""

import array
import collections
import marshal
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.errors import TaskError, UsageError
from best_agent.languages import python
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation, Limits, Status
from best_agent.model.task import Mode, Source
from best_agent.sandbox.contract import Program

ISOLATION = Isolation.STRICT


def build(text: str, mode: Mode = Mode.FUNCTION, **source: str) -> Program | BuildFailure:
    request = BuildRequest(source=Source(id="candidate", language="python", text=text, **source), mode=mode)
    return python.build(request, ISOLATION)


def test_a_function_becomes_a_program_that_is_metered_twice():
    text = "def answer(x):\n    return x\n"
    program = build(text, entry="answer")
    assert isinstance(program, Program)
    assert (program.python_source, program.entry) == (text, "answer")
    assert program.memory_pass
    assert program.handshakes == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def solve(:\n    pass", "line 1: SyntaxError"),
        ("x = 1\n\n  y = 2", "line 3: IndentationError"),
        ("def f():\n\tif 1:\n        pass", "line 3: "),
        ("return 1", "line 1: SyntaxError: 'return' outside function"),
        ("x = '\ud800'", "not Python source text"),
        ("x = 1\0", "null bytes"),
        pytest.param("(" * 10_000 + ")" * 10_000, "", id="parentheses"),
        pytest.param("-" * 100_000 + "1", "nested too deeply", id="signs"),
        pytest.param("x = " + "9" * 10_000, "", id="digits"),
        pytest.param("#" * (python.SOURCE_CHARACTERS + 1), "larger than", id="large"),
    ],
)
def test_text_that_is_no_python_is_the_candidates_failure(text, told):
    failed = build(text)
    assert isinstance(failed, BuildFailure)
    assert told in failed.message
    assert "\n" not in failed.message


@pytest.mark.filterwarnings("error")
def test_a_warning_of_the_parser_is_neither_shown_nor_a_failure():
    assert isinstance(build("def solve():\n    return '\\d' is 1\n"), Program)


def test_the_future_imports_of_the_tool_are_not_the_candidates():
    assert isinstance(
        build("from __future__ import annotations\ndef solve(x: Missing):\n    return x\n"), Program
    )


@pytest.mark.parametrize("entry", ["", "a b", "f()", "__import__('os')"])
def test_an_entry_that_is_no_name_is_refused(entry):
    with pytest.raises(UsageError, match="not the name of a function"):
        build("x = 1", entry=entry)


def test_a_task_with_a_driver_is_not_for_python():
    with pytest.raises(UsageError, match=r"C\+\+"):
        build("x = 1", Mode.DRIVER)


@pytest.mark.parametrize(
    ("text", "stdout", "code"),
    [
        ("print(sum(map(int, input().split())))", "42\n", 0),
        ("print(__name__, __file__, __import__('sys').argv)", "__main__ main.py ['main.py']\n", 0),
        ("print(1)\nexit(3)", "1\n", 3),
        ("quit()", "", 0),
        ("def f():\n    return g()\ndef g():\n    return 7\nprint(f())", "7\n", 0),
        ("try:\n    import pytest\nexcept ImportError:\n    print('stdlib only')", "stdlib only\n", 0),
        ("# -*- coding: utf-8 -*-\nprint('\u00e9'.encode().hex())", "c3a9\n", 0),
        ("import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)", "A\n", 0),
        ("raise ValueError('boo')", "", 1),
    ],
)
def test_a_program_runs_as_a_script_does(tmp_path, text, stdout, code):
    program = build(text, Mode.PROGRAM)
    assert isinstance(program, Program)
    for name, data in program.files.items():
        (tmp_path / name).write_bytes(data)
    done = subprocess.run(
        program.argv,
        cwd=tmp_path,
        env=dict(program.env),
        input="40 2\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (stdout, code), done.stderr
    if code == 1:
        assert 'File "main.py", line 1' in done.stderr


def test_a_program_runs_inside_the_sandbox():
    from best_agent.sandbox.launcher import open_session
    from best_agent.sandbox.probe import choose

    program = build("import json, heapq\nprint(json.dumps(input()))", Mode.PROGRAM)
    assert isinstance(program, Program)
    with open_session(program, choose("auto")) as session:
        done = session.run(b"hello\n", Limits())
    assert (done.status, done.stdout) == (Status.OK, b'"hello"\n'), done.stderr


_KEYS = st.none() | st.booleans() | st.integers() | st.text(st.characters()) | st.binary()
_VALUES = st.recursive(
    _KEYS | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner) | st.dictionaries(_KEYS, inner) | st.tuples(inner, inner) | st.frozensets(_KEYS)
    ),
)


@given(st.lists(_VALUES).map(tuple))
def test_arguments_arrive_as_they_were_given(arguments):
    assert marshal.loads(python.encode_arguments(arguments, None)) == arguments


def test_one_object_given_twice_arrives_as_one():
    shared = [1]
    first, second = marshal.loads(python.encode_arguments((shared, shared), None))
    assert first is second


class _List(list):
    pass


class _Int(int):
    pass


def _looped() -> list[object]:
    looped: list[object] = []
    looped.append(looped)
    return looped


@pytest.mark.parametrize(
    "value",
    [
        bytearray(b"x"),  # marshal would make bytes of it, and of the next two
        array.array("i", [1]),
        memoryview(b"x"),
        _List([1]),
        [[_Int(1)]],
        {"a": {1: object()}},
        {_Int(1): 2},
        collections.deque([1]),
        range(3),
        (lambda: 1).__code__,
        _looped(),
    ],
)
def test_a_value_that_would_arrive_changed_or_not_at_all_is_refused(value):
    with pytest.raises(TaskError, match="an argument"):
        python.encode_arguments((1, value), None)
