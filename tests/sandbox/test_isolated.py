"""`run FILE` without a task: any program, isolated."""

import os
import shutil
import subprocess
import sys

import pytest
from sandbox_programs import LIMITS

from best_agent import languages
from best_agent.errors import UsageError
from best_agent.model.run import Status
from best_agent.pipeline.isolated import run_isolated


def isolated(path, best, stdin=b"", arguments=()):
    return run_isolated(path, stdin=stdin, isolation=best, limits=LIMITS, arguments=arguments)


def test_a_python_file_sees_its_arguments_and_input_and_no_neighbours(best, open_folder):
    program = open_folder / "prog.py"
    program.write_text(
        "import os, sys\nprint(sys.argv[1:], input(), os.listdir(os.path.dirname(sys.argv[0])))\n"
    )
    (open_folder / "secret.txt").write_text("secret")
    program.chmod(0o644)
    run = isolated(program, best, b"line\n", ("a", "b c"))
    if run.status is Status.OK:
        assert run.stdout == b"['a', 'b c'] line ['prog.py']\n"
    else:  # without namespaces the folder cannot be listed at all
        assert "Permission denied" in run.detail
    assert run.isolation is best


def test_a_binary_runs_and_a_file_that_is_no_program_is_refused(best, open_folder):
    copy = open_folder / "echo"
    shutil.copy(shutil.which("echo"), copy)
    copy.chmod(0o755)
    run = isolated(copy, best, arguments=("hello",))
    assert (run.status, run.stdout) == (Status.OK, b"hello\n")
    assert run.peak_bytes > 0
    text = open_folder / "notes.txt"
    text.write_text("hello")
    for path in (text, open_folder / "absent", open_folder):
        with pytest.raises(UsageError, match=path.name):
            isolated(path, best)


def test_a_c_plus_plus_source_is_compiled_or_its_failure_told(best, open_folder):
    missing = languages.get("cpp").missing_tool()
    good, bad = open_folder / "good.cpp", open_folder / "bad.cpp"
    good.write_text('#include <iostream>\nint main(int n, char **v) { std::cout << n << v[1] << "\\n"; }\n')
    bad.write_text("int main( {\n")
    if missing:
        with pytest.raises(UsageError):
            isolated(good, best)
        return
    run = isolated(good, best, arguments=("x",))
    assert (run.status, run.stdout) == (Status.OK, b"2x\n")
    run = isolated(bad, best)
    assert run.status is Status.COMPILE_ERROR
    assert "error" in run.stderr.decode()
    bad.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        isolated(bad, best)


def test_the_verb_reports_usage(open_folder):
    program = open_folder / "prog.py"
    program.write_text("print('out')\nraise SystemExit(3)\n")
    command = [sys.executable, "-m", "best_agent", "run", str(program), "--isolation", "auto"]
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=os.environ, check=False
    )
    assert done.returncode == 1
    assert "out" in done.stdout
    assert "exit code 3" in done.stdout
