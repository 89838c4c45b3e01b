"""Whole programs in every language: the same four in each, built and run isolated."""

import os
from typing import NamedTuple

import pytest

from best_agent import languages
from best_agent.errors import IsolationError, UsageError
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation, Limits, Meter, Status
from best_agent.model.task import Mode, Source
from best_agent.pipeline.isolated import run_isolated
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session
from best_agent.sandbox.layout import interpreter
from best_agent.sandbox.probe import choose

LIMITS = Limits(cpu_ns=1_500_000_000, wall_ns=20_000_000_000, memory_bytes=512 << 20)
BRIEF = Limits(cpu_ns=500_000_000, memory_bytes=LIMITS.memory_bytes)
NUMBERS = b"40 2\n-7 1000000000000\n"
SUM = b"1000000000035\n"


class Texts(NamedTuple):
    """A language's programs; each does by its first argument what it is asked to."""

    suffix: str
    program: str
    broken: str
    error: str
    """What the first line of the failure holds."""


PROGRAMS = {
    "python": Texts(
        ".py",
        """\
import sys
what = sys.argv[1]
if what == "sum":
    print(sum(map(int, sys.stdin.read().split())))
while what == "loop":
    pass
if what == "grow":
    held = []
    while len(held) < 2048:
        held.append(b"1" * (1 << 20))
    print(len(held))
""",
        "",
        "",
    ),
    "cpp": Texts(
        ".cpp",
        """\
#include <iostream>
#include <string>
#include <vector>
int main(int, char** argv) {
    std::string what = argv[1];
    if (what == "sum") {
        long long next, sum = 0;
        while (std::cin >> next) sum += next;
        std::cout << sum << "\\n";
    }
    volatile int go = 1;
    while (what == "loop" && go) {}
    if (what == "grow") {
        std::vector<std::vector<char>> held;
        for (int i = 0; i < 2048; i++) held.emplace_back(1 << 20, 'x');
        std::cout << held.size();
    }
}
""",
        "int main() { return nothing; }\n",
        "nothing",
    ),
    "c": Texts(
        ".c",
        """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
    char* what = argv[1];
    if (!strcmp(what, "sum")) {
        long long next, sum = 0;
        while (scanf("%lld", &next) == 1) sum += next;
        printf("%lld\\n", sum);
    }
    volatile int go = 1;
    while (!strcmp(what, "loop") && go) {}
    for (int i = 0; !strcmp(what, "grow") && i < 2048; i++) {
        char* held = malloc(1 << 20);
        if (!held) { fprintf(stderr, "out of memory\\n"); exit(1); }
        memset(held, 'x', 1 << 20);
    }
}
""",
        "int main(void) { return nothing; }\n",
        "nothing",
    ),
    "javascript": Texts(
        ".js",
        """\
const what = process.argv[2];
if (what === "sum") {
    const words = require("fs").readFileSync(0, "utf8").split(/\\s+/).filter(Boolean);
    console.log(words.map(Number).reduce((a, b) => a + b, 0));
}
while (what === "loop") {}
if (what === "grow") {
    const held = [];
    while (held.length < 2048) held.push(Buffer.alloc(1 << 20, 1));
    console.log(held.length);
}
""",
        "let fine = 1;\nlet = nothing here;\n",
        "line 2: SyntaxError",
    ),
    "java": Texts(
        ".java",
        """\
import java.util.*;
class Helper {
    static long sum(Scanner in) { long s = 0; while (in.hasNextLong()) s += in.nextLong(); return s; }
}
public class Chosen {
    public static void main(String[] arguments) {
        String what = arguments[0];
        if (what.equals("sum")) System.out.println(Helper.sum(new Scanner(System.in)));
        while (what.equals("loop")) {}
        List<byte[]> held = new ArrayList<>();
        while (what.equals("grow") && held.size() < 2048) held.add(new byte[1 << 20]);
        Runnable left = () -> System.out.print("");
        left.run();
    }
}
""",
        "class Main {\n    int broken() { return nothing; }\n}\n",
        "Main.java:2: error: cannot find symbol",
    ),
    "rust": Texts(
        ".rs",
        """\
use std::io::Read;
fn main() {
    let what = std::env::args().nth(1).unwrap();
    if what == "sum" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).unwrap();
        println!("{}", text.split_whitespace().map(|w| w.parse::<i64>().unwrap()).sum::<i64>());
    }
    while what == "loop" { std::hint::black_box(&what); }
    let mut held = Vec::new();
    while what == "grow" && held.len() < 2048 { held.push(vec![1u8; 1 << 20]); }
    std::hint::black_box(&held);
}
""",
        "fn main() { nothing(); }\n",
        "error[E0425]: cannot find function `nothing`",
    ),
    "go": Texts(
        ".go",
        """\
package main

import "fmt"
import "os"

func main() {
	what := os.Args[1]
	if what == "sum" {
		sum, next := int64(0), int64(0)
		for n, _ := fmt.Scan(&next); n == 1; n, _ = fmt.Scan(&next) {
			sum += next
		}
		fmt.Println(sum)
	}
	for what == "loop" {
	}
	held := [][]byte{}
	for what == "grow" && len(held) < 2048 {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		held = append(held, block)
	}
}
""",
        "package main\n\nfunc main() { nothing() }\n",
        "program.go:3:15: undefined: nothing",
    ),
}
COMPILED = [name for name, texts in PROGRAMS.items() if texts.broken]
PROGRAM_ONLY = [name for name in PROGRAMS if name not in ("python", "cpp")]
COLLECTED = ["javascript", "java", "go"]


def isolation(wanted: str) -> Isolation:
    try:
        return choose(wanted)
    except IsolationError as error:
        pytest.skip(str(error))


def need(name: str) -> None:
    missing = languages.get(name).missing_tool()
    if missing:
        pytest.skip(missing)


@pytest.fixture
def run(tmp_path):
    def in_language(name, *arguments, wanted="auto", text=None, limits=LIMITS):
        need(name)
        texts = PROGRAMS[name]
        path = tmp_path / f"prog{texts.suffix}"
        path.write_text(texts.program if text is None else text)
        return run_isolated(
            path, stdin=NUMBERS, isolation=isolation(wanted), limits=limits, arguments=arguments
        )

    return in_language


def test_every_language_of_the_registry_is_tried_here():
    assert set(PROGRAMS) == set(languages.LANGUAGES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_reads_its_input_and_its_usage_is_told(run, name):
    done = run(name, "sum")
    assert (done.status, done.stdout) == (Status.OK, SUM), (done.detail, done.stderr)
    assert done.cpu_ns > 0
    assert done.peak_bytes > 0
    assert done.memory_meter is Meter.ESTIMATED


@pytest.mark.parametrize("name", COMPILED)
def test_a_program_that_does_not_compile_says_where_in_its_first_line(run, name):
    done = run(name, "sum", text=PROGRAMS[name].broken)
    assert done.status is Status.COMPILE_ERROR
    assert PROGRAMS[name].error in done.detail


@pytest.mark.parametrize("name", PROGRAM_ONLY)
def test_a_program_that_never_ends_is_stopped(run, name):
    assert run(name, "loop", limits=BRIEF).status is Status.TIME_LIMIT


@pytest.mark.parametrize("name", PROGRAM_ONLY)
def test_a_program_that_takes_two_gibibytes_is_stopped_for_its_memory(run, name):
    done = run(name, "grow")
    assert done.status is Status.MEMORY_LIMIT, (done.status, done.detail, done.stderr)


@pytest.mark.parametrize("wanted", ["strict", "restricted"])
@pytest.mark.parametrize("name", COLLECTED)
def test_runtimes_with_a_collector_run_under_each_isolation(run, name, wanted):
    done = run(name, "sum", wanted=wanted)
    assert (done.status, done.stdout) == (Status.OK, SUM), (done.detail, done.stderr)
    assert done.isolation == wanted
    assert run(name, "grow", wanted=wanted).status is Status.MEMORY_LIMIT


def test_without_a_bound_on_addresses_one_process_alone_is_bounded_by_what_it_holds():
    reserve = "import mmap; far = mmap.mmap(-1, 4 << 30); print(len(far))"
    grow = "held = []\nwhile len(held) < 2048: held.append(b'1' * (1 << 20))"
    for code, status in ((reserve, Status.OK), (grow, Status.MEMORY_LIMIT)):
        program = Program(
            language="binary", mode=Mode.PROGRAM, argv=(interpreter(), "-c", code), address_space=False
        )
        with open_session(program, isolation("auto")) as session:
            assert session.run(b"", LIMITS).status is status


@pytest.mark.parametrize("name", PROGRAM_ONLY)
def test_functions_are_refused_where_only_programs_are_offered(name):
    source = Source(id="solution", language=name, text=PROGRAMS[name].program)
    language = languages.get(name)
    with pytest.raises(UsageError, match="whole programs only"):
        language.build(BuildRequest(source=source, mode=Mode.FUNCTION), Isolation.STRICT)
    with pytest.raises(UsageError, match="whole programs only"):
        language.encode_arguments((1,), None)


@pytest.mark.parametrize("name", PROGRAM_ONLY)
def test_the_same_text_is_built_once(monkeypatch, name):
    need(name)
    source = Source(id="program", language=name, text=PROGRAMS[name].program)
    request = BuildRequest(source=source, mode=Mode.PROGRAM)
    first = languages.get(name).build(request, isolation("auto"))
    assert not isinstance(first, BuildFailure), first.message
    monkeypatch.setattr("best_agent.languages.build_steps._run", None)  # would fail if it was called
    assert languages.get(name).build(request, isolation("auto")) == first


def test_a_source_beyond_all_bounds_is_refused_before_any_tool_reads_it(run):
    for name in PROGRAM_ONLY:
        if languages.get(name).missing_tool() is None:
            done = run(name, "sum", text="x" * (1 << 20))
            assert (done.status, "larger than" in done.detail) == (Status.COMPILE_ERROR, True)


@pytest.mark.parametrize("name", PROGRAM_ONLY)
def test_a_tool_that_is_not_there_is_named_with_how_to_get_it(monkeypatch, name):
    for variable in ("JAVA_HOME", "CC"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", os.devnull)
    language = languages.get(name)
    found = next(value for key, value in vars(language).items() if hasattr(value, "cache_clear"))
    found.cache_clear()
    try:
        missing = language.missing_tool()
    finally:
        found.cache_clear()
    assert "install" in missing
    assert "\n" not in missing
