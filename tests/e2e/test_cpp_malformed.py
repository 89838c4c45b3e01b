"""C++ that does not build is a failure of the candidate with a message that helps, never an error of ours."""

import dataclasses
from pathlib import Path

import pytest
from cpp_running import build_best, build_function, failure, isolation, needs_best, needs_compiler, signature

from best_agent.languages import cpp, cpp_build
from best_agent.languages.contract import BuildRequest
from best_agent.languages.cpp_build import MESSAGE_CHARACTERS
from best_agent.model.task import Mode, Source

pytestmark = needs_compiler

SHAPE = signature(["list[int]"], "int")
GOOD = "long long solve(std::vector<long long> &a) { return 1; }\n"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no function 'solve'"),
        ("long long sovle(std::vector<long long> a) { return 1; }", "no function 'solve'"),
        ("// long long solve(std::vector<long long> a)\n", "no function 'solve'"),
        ("class Solution { int other(); };", "no function 'solve'"),
        ("namespace hidden { long long solve(std::vector<long long>) { return 1; } }", "no function 'solve'"),
        (GOOD + "struct Solution { int solve(std::vector<long long>) { return 1; } };", "keep one of them"),
        (GOOD + GOOD, "redefinition of"),
        (GOOD + "long long solve(std::vector<long long> a) { return 1; }", "ambiguous"),
        ("long long solve(std::string a) { return 1; }", "calls it as: long long solve(std::vector<"),
        ("long long solve() { return 1; }", "the task calls it as: long long solve(std::vector<long long>)"),
        ("std::string solve(std::vector<long long> a) { return {}; }", "returns another type"),
        ("void solve(std::vector<long long> a) {}", "returns another type"),
        ("class Solution { long long solve(std::vector<long long> a) { return 1; } };", "private"),
        ('#error "not today"', "not today"),
        ("long long solve(std::vector<long long> a) { return b; }", "'b' was not declared"),
        (GOOD + "int x = ;", "solution.cpp:2:"),
        ("long long solve(std::vector<long long> a);", "undefined reference"),
        (GOOD + "template <int n> struct D { static const int v = D<n + 1>::v; }; int d = D<0>::v;", "depth"),
        (GOOD + '#include "/etc/hostname-that-is-not-there"', "No such file"),
        ("\0\x01\x02{{{{", ""),
        ("\udcff", ""),
        (GOOD + 'int x = "\ud800";', "solution.cpp:2:"),
        pytest.param("x" * (600 << 10), "larger than", id="large"),
    ],
)  # fmt: skip
def test_a_malformed_solution_fails_with_what_is_wrong_first(text, told):
    message = failure(build_function(text, SHAPE))
    assert told in message
    assert message
    assert len(message) <= MESSAGE_CHARACTERS + 200
    assert "function.hpp" not in message
    assert "best-agent/" not in message


def test_an_error_within_a_librarys_header_names_the_authors_line():
    text = """#include <algorithm>
struct Plain { int x; };
long long solve(std::vector<long long> &a) {
    std::vector<Plain> plain(3);
    std::sort(plain.begin(), plain.end());
    return 1;
}
"""
    assert "solution.cpp:5:" in failure(build_function(text, SHAPE))


@pytest.mark.parametrize("way", ['#include "{path}"\n', 'asm(".incbin \\"{path}\\"");\n'])
def test_files_of_the_host_cannot_be_read_by_compiling(way):
    secret = ROOT / "pyproject.toml"
    message = failure(build_function(way.format(path=secret) + GOOD, SHAPE))
    assert "hatchling" not in message


def test_compiling_ends_at_its_limit(monkeypatch):
    brief = dataclasses.replace(cpp_build.COMPILE_LIMITS, cpu_ns=1_500_000_000)
    monkeypatch.setattr(cpp_build, "COMPILE_LIMITS", brief)
    # Each step doubles the work; without a limit it would go on for years.
    text = GOOD + (
        "template <int n, class T> struct Wide { using a = typename Wide<n - 1, Wide<n, T>>::a;"
        " using b = typename Wide<n - 1, Wide<n - 1, T>>::a; };"
        " template <class T> struct Wide<0, T> { using a = T; };"
        "Wide<400, int>::b far;"
    )
    assert "compiling took longer" in failure(build_function(text, SHAPE))


def test_a_program_that_is_too_large_is_the_authors_failure():
    text = "char big[300 << 20] = {1}; int main() { return big[5]; }"
    source = Source(id="x", language="cpp", text=text)
    assert "larger than" in failure(cpp.build(BuildRequest(source=source, mode=Mode.PROGRAM), isolation()))


@needs_best
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Solution { public: int other() { return 1; } };", "solve"),
        ("class Solution { public: int solve(int n, int m) { return 1; } };", "solve"),
        ("class Solution { public: void solve(int n) {} };", "void"),
        ("#error boo", "boo"),
        ("class Solution {", ""),
    ],
)
def test_a_solution_that_does_not_fit_its_driver_fails(text, told):
    assert told in failure(build_best("22", "solve", text=text))
