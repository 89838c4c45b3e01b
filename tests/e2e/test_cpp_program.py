"""Plain C++ programs, and the cache of what was compiled."""

import stat

import pytest
from cpp_running import built, isolation, needs_compiler, run

from best_agent.errors import UsageError
from best_agent.languages import build_cache, cpp
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Status
from best_agent.model.task import Mode, Source

pytestmark = needs_compiler

ADDER = "#include <iostream>\nint main() { long long a, b; std::cin >> a >> b; std::cout << a + b << '\\n'; }"


def build(text: str, **options):
    source = Source(id="program", language="cpp", text=text)
    return cpp.build(BuildRequest(source=source, mode=Mode.PROGRAM, **options), isolation())


def test_a_program_reads_standard_input_and_prints():
    program = built(build(ADDER))
    assert program.handshakes == 0
    assert program.env == {}
    done = run(program, b"40 2\n")
    assert (done.status, done.stdout) == (Status.OK, b"42\n")


def test_headers_that_were_not_asked_for_make_no_name_ambiguous():
    # With <bits/stdc++.h> in front, these would clash with std::stack and std::gcd.
    text = "#include <iostream>\nusing namespace std;\nint stack = 1, gcd = 2;\n"
    text += "int main() { cout << stack + gcd; }"
    assert run(built(build(text)), b"").stdout == b"3"


def test_the_same_text_is_compiled_once(monkeypatch):
    first = built(build(ADDER))
    monkeypatch.setattr("best_agent.languages.cpp_build._compile", None)  # would fail if it was called
    assert built(build(ADDER)) == first


@pytest.mark.parametrize("options", [{"optimisation": "-O1"}])
def test_another_flag_is_another_program(options):
    assert built(build(ADDER, **options)).argv != built(build(ADDER)).argv


def test_an_unknown_optimisation_is_refused_before_anything_runs():
    with pytest.raises(UsageError, match="-O2"):
        build(ADDER, optimisation="-fplugin=evil.so")


def test_what_is_kept_can_be_run_by_the_sandbox_and_written_by_its_owner_alone():
    program = built(build(ADDER))
    kept = program.readable[0]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o755
    assert stat.S_IMODE(build_cache.builds_folder().stat().st_mode) == 0o700
    assert str(kept) == program.argv[0]


def test_a_damaged_precompiled_header_is_done_without():
    text = "#include <bits/stdc++.h>\nint main() { std::cout << 1; }"
    built(build(text))
    whole = [
        path.rename(path.with_suffix(".whole")) for path in build_cache.preludes_folder().glob("*/*.gch")
    ]
    assert whole
    for path in whole:
        path.with_suffix(".gch").write_bytes(path.read_bytes()[:5000])
    assert run(built(build(text + "// again")), b"").stdout == b"1"
    for path in whole:
        path.rename(path.with_suffix(".gch"))


def test_a_missing_compiler_is_one_line_that_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    message = cpp.missing_tool()
    assert message is not None
    assert "apt install g++" in message
    assert "\n" not in message
    with pytest.raises(UsageError, match="install g\\+\\+"):
        build(ADDER)


def test_a_compiler_named_in_the_environment_that_does_not_run_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O9")
    assert "no-such-compiler" in (cpp.missing_tool() or "")


def test_a_compiler_in_a_home_opens_no_more_of_it_than_its_own_folders(monkeypatch, tmp_path):
    for name in ("bin", "lib", "documents"):
        (tmp_path / name).mkdir()
    secret = tmp_path / "documents" / "secret.h"
    secret.write_text("#error the secret was read\n")
    wrapper = tmp_path / "bin" / "my-g++"
    wrapper.write_text('#!/bin/sh\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    assert run(built(build(ADDER)), b"40 2").stdout == b"42\n"
    stolen = build(f'#include "{secret}"\n{ADDER}')
    assert isinstance(stolen, BuildFailure)
    assert "the secret was read" not in stolen.message
