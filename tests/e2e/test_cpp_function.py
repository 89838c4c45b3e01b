"""C++ functions: values of every type reach them whole, and their results come back as they are."""

import math

import pytest
from cpp_running import build_function, built, call, needs_compiler, run, signature

from best_agent.languages import cpp
from best_agent.model.run import Status

pytestmark = needs_compiler

# One function for each type: what it is given comes back.
SAMPLES = {
    "int": ("long long", [0, -1, 2**53, -(2**53), 2**63 - 1, -(2**63)]),
    "float": ("double", [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, math.inf, -math.inf]),
    "bool": ("bool", [True, False]),
    "str": ("std::string", ["", "plain", 'q"\\\n\x00\x1f', "h\u00e9\u20ac\U0001f600", "x" * 70_000]),
    "list[int]": ("std::vector<long long>", [[], [1], list(range(-9000, 9000))]),
    "list[float]": ("std::vector<double>", [[], [1.5, -2.0]]),
    "list[bool]": ("std::vector<bool>", [[], [True, False, True]]),
    "list[str]": ("std::vector<std::string>", [[], ["", "a", "\u00e9"]]),
    "tuple[int, str]": ("std::pair<long long, std::string>", [(1, "a")]),
    "tuple[int, float, bool]": ("std::tuple<long long, double, bool>", [(1, 2.0, True)]),
    "tuple[str]": ("std::tuple<std::string>", [("a",)]),
    "list[list[tuple[int, list[bool]]]]": (
        "std::vector<std::vector<std::pair<long long, std::vector<bool>>>>",
        [[], [[], [(1, [True])]]],
    ),
}


@pytest.fixture(scope="module")
def echo():
    """One program that takes a value of every sample type and returns all of them."""
    types = [cpp_type for cpp_type, _ in SAMPLES.values()]
    parameters = ", ".join(f"const {kind} &p{i}" for i, kind in enumerate(types))
    result = f"std::tuple<{', '.join(types)}>"
    text = f"{result} solve({parameters}) {{ return {{{', '.join(f'p{i}' for i in range(len(types)))}}}; }}"
    shape = signature(SAMPLES, f"tuple[{', '.join(SAMPLES)}]")
    return built(build_function(text, shape)), shape


@pytest.mark.parametrize("position", range(6))
def test_values_of_every_type_come_back_unchanged(echo, position):
    from best_agent.judge.answers import decode

    program, shape = echo
    values = tuple(samples[position % len(samples)] for _, samples in SAMPLES.values())
    done = run(program, cpp.encode_arguments(values, shape))
    assert done.status is Status.OK, done.stderr
    answer = decode(done.answer)
    assert answer == values
    assert [type(part) for part in answer] == [type(part) for part in values]
    assert math.copysign(1, answer[1]) == math.copysign(1, values[1])


def test_not_a_number_comes_back_as_one():
    assert math.isnan(call("double solve(double x) { return x; }", signature(["float"], "float"), math.nan))


@pytest.mark.parametrize(
    "parameter", ["std::vector<long long> a", "const std::vector<long long> &a", "std::vector<long long> &a"]
)
def test_a_parameter_may_be_a_value_or_a_reference(parameter):
    text = f"long long solve({parameter}) {{ return a.size() + a[0]; }}"
    assert call(text, signature(["list[int]"], "int"), [40, 1]) == 42


def test_a_method_of_solution_is_called_with_macros_and_a_main_of_its_own_around_it():
    text = """#include <vector>
using namespace std;
#define int long long
#define auto bad
#define return bad2
#undef return
// solve( in a comment, and in a text:
const char *words = "long long solve(int)";
class Solution {
    int seen = 0;
public:
    int solve(vector<int> values, int k) { for (int v : values) seen += v; return seen * k; }
};
signed main() { return 1; }
"""
    assert call(text, signature(["list[int]", "int"], "int"), [1, 2, 3], 7) == 42


def test_another_entry_is_called_where_the_source_names_one():
    text = "long long solve1(long long n) { return 1; } long long solve2(long long n) { return n; }"
    assert call(text, signature(["int"], "int"), 5, entry="solve2") == 5


def test_a_callable_object_is_an_entry_too():
    assert call("auto solve = [](long long n) { return n + 1; };", signature(["int"], "int"), 5) == 6


def test_a_result_given_by_reference_to_a_member_is_read_while_it_lives():
    text = "struct Solution { std::string kept; const std::string &solve(long long n)"
    text += " { kept = std::string(n, 'x'); return kept; } };"
    assert call(text, signature(["int"], "str"), 100) == "x" * 100


def test_a_function_without_result_answers_none():
    assert call("void solve(std::vector<long long> &) {}", signature(["list[int]"], "None"), [1]) is None


def test_text_that_is_no_utf8_never_equals_a_right_answer():
    answer = call('std::string solve() { return "a\\xff\\xc0\\x80"; }', signature([], "str"))
    assert isinstance(answer, str)
    assert answer.startswith("a\udcff")


def test_an_exception_is_the_solutions_failure_with_its_text():
    text = 'long long solve(long long n) { throw std::runtime_error("no luck"); }'
    shape = signature(["int"], "int")
    done = run(built(build_function(text, shape)), cpp.encode_arguments((1,), shape))
    assert done.status is Status.RUNTIME_ERROR
    assert b"no luck" in done.stderr
    assert not done.answer


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data + b"\0", lambda data: b"", lambda data: b"\xff" * len(data)],
)
def test_an_input_that_does_not_fit_is_refused_whole(damage):
    shape = signature(["list[int]", "bool"], "int")
    program = built(build_function("long long solve(std::vector<long long> &a, bool) { return 1; }", shape))
    done = run(program, damage(cpp.encode_arguments(([1, 2], True), shape)))
    assert done.status is not Status.OK
    assert b"best-agent:" in done.stderr


def test_the_memory_of_a_call_is_what_it_touches():
    text = """long long solve(long long bytes) {
        std::vector<char> made(bytes, 1); return made[bytes / 2]; }"""
    shape = signature(["int"], "int")
    program = built(build_function(text, shape))
    for size in (64 << 10, 1 << 20):
        peak = run(program, cpp.encode_arguments((size,), shape)).peak_bytes
        assert peak == pytest.approx(size, abs=8 << 10)


def test_arguments_are_no_part_of_the_memory_of_a_call():
    shape = signature(["list[int]"], "int")
    program = built(build_function("long long solve(std::vector<long long> &a) { return a[5]; }", shape))
    done = run(program, cpp.encode_arguments((list(range(200_000)),), shape))
    assert done.peak_bytes is not None
    assert done.peak_bytes <= 8 << 10
