"""The pure parts of building plain programs: names in Java, messages, heaps, words of a full memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.languages.build_steps import MESSAGE_CHARACTERS, MESSAGE_LINES, heap_bytes, shorten
from best_agent.languages.contract import BuildRequest
from best_agent.languages.java_names import names_in
from best_agent.languages.javascript import _in_one_line
from best_agent.model.run import Isolation, Limits, Status
from best_agent.model.task import Mode, Source
from best_agent.sandbox.outcome import run_of, sight

MAIN = "public static void main(String[] a) {}"


@pytest.mark.parametrize(
    ("text", "file", "main"),
    [
        (f"public class Fast {{ {MAIN} }}", "Fast.java", "Fast"),
        (f"class A {{ }} class B {{ {MAIN} }}", "Main.java", "B"),
        (f"class A {{ {MAIN} }} public class B {{ }}", "B.java", "A"),
        (f"class A {{ {MAIN} }} public final class B {{ {MAIN} }}", "B.java", "B"),
        (f"package a.b ; @Deprecated(forRemoval=true) public enum E {{ X; {MAIN} }}", "E.java", "a.b.E"),
        (f"// public class No {{\n/* class C {{ */ class D {{ {MAIN} }}", "Main.java", "D"),
        (f'class A {{ String s = "}} public class B {{"; {MAIN} }}', "Main.java", "A"),
        (f"class A {{ char c = '{{', d = '\\''; }} class B {{ {MAIN} }}", "Main.java", "B"),
        (f'class A {{ String s = """\n }} " class B {{\n"""; {MAIN} }}', "Main.java", "A"),
        (f"class A {{ static class Inner {{ {MAIN} }} }} record R(int x) {{ {MAIN} }}", "Main.java", "R"),
        (f"@Uses(Other.class) public class P<T> {{ {MAIN} }}", "P.java", "P"),
        ("public interface Only { }", "Only.java", "Only"),
        ("", "Main.java", "Main"),
        ("}}}} {{{ class", "Main.java", "Main"),
        (f"public class {'L' * 500} {{}}", "Main.java", "L" * 500),
    ],
)
def test_a_java_source_tells_its_file_and_the_class_that_is_started(text, file, main):
    names = names_in(text)
    assert (names.file, names.main) == (file, main)


PIECES = ("/", "*", '"', "'", "\\", "{", "}", ";", "\n", "\0", "é", "A", "class ", "public ", "void main(")


@given(st.lists(st.sampled_from(PIECES)))
def test_no_text_gives_a_file_name_that_is_a_path(pieces):
    names = names_in("".join(pieces))
    assert names.file.endswith(".java")
    assert not set(names.file) & set("/\0")


@pytest.mark.parametrize(
    "piece", ['"""', "/*", '"', "'", "\\", "public ", "class ", "void ", "{", "void main("]
)
@pytest.mark.timeout(20)
def test_a_java_source_of_one_thing_over_and_over_is_read_in_one_go(piece):
    assert names_in(piece * ((512 << 10) // len(piece))).file


def test_a_message_begins_where_it_says_something_and_is_bounded():
    said = "program.c: In function 'main':\n./program.c:1:5: error: no\n" + "x" * 3000 + "\n" + "y\n" * 50
    text = shorten(said, r"\berror:")
    assert text.startswith("program.c:1:5: error: no\n")
    assert len(text) <= MESSAGE_CHARACTERS
    assert shorten("a\n" * 50, "never").count("\n") == MESSAGE_LINES - 1


def test_a_syntax_error_of_node_is_one_line():
    said = "/scratch/program.mjs:7\nlet = x;\n    ^\n\nSyntaxError: Unexpected token '='\n    at internal"
    assert _in_one_line(said) == "line 7: SyntaxError: Unexpected token '='"
    assert _in_one_line("something else") == "something else"


@pytest.mark.parametrize(("limit_mib", "heap_mib"), [(1024, 960), (100, 50), (1, 8)])
def test_a_heap_leaves_room_for_its_runtime(limit_mib, heap_mib):
    source = Source(id="p", language="java", text="")
    request = BuildRequest(source=source, mode=Mode.PROGRAM, memory_bytes=limit_mib << 20)
    assert heap_bytes(request) == heap_mib << 20


@pytest.mark.parametrize(
    ("stderr", "status"),
    [
        (
            b'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Main.main',
            Status.MEMORY_LIMIT,
        ),
        (
            b"<--- Last few GCs\nFATAL ERROR: Reached heap limit - JavaScript heap out of memory\n 1: 0xb9",
            Status.MEMORY_LIMIT,
        ),
        (b"fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.main()", Status.MEMORY_LIMIT),
        (b"memory allocation of 2147483648 bytes failed\nnote: more\n", Status.MEMORY_LIMIT),
        (b"I will never say FATAL ERROR: heap out of memory\nlast line", Status.RUNTIME_ERROR),
        (
            b'Exception in thread "main" java.lang.IllegalStateException: java.lang.OutOfMemoryError\n\tat x',
            Status.RUNTIME_ERROR,
        ),
    ],
)
def test_a_runtime_that_ran_out_of_memory_says_so_before_its_last_line(stderr, status):
    header = {
        "steps": [],
        "expected": 0,
        "stopped": None,
        "exit_code": 1,
        "signal": None,
        "cpu_ns": 1,
        "minor_faults": 1,
        "wall_ns": 1,
        "peak_bytes": 1,
        "resident": [],
        "trouble": "",
        "memory_ran_out": False,
        "cut": [],
        "collected": [],
    }
    seen = sight(header, [b"", b"", stderr])
    run = run_of(
        seen, mode=Mode.PROGRAM, python=False, limits=Limits(), traced=False, isolation=Isolation.STRICT
    )
    assert run.status is status
