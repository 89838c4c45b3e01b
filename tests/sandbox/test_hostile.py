"""The recorded hostile programs, under every confining isolation, looked at from outside."""

import contextlib
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_programs import LIMITS, MIB, SECOND, call, hostile, run_script, script

from best_agent.model.run import Limits, Status
from best_agent.model.task import Mode
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session

BRIEF = Limits(cpu_ns=2 * SECOND, wall_ns=SECOND // 2, memory_bytes=256 * MIB, output_bytes=1 * MIB)


def as_function(name: str) -> str:
    """The program as the body of a module that also has an answer."""
    return hostile(name) + "\ndef solve():\n    return 'done'\n"


def test_a_fork_bomb_stops_at_the_limit_and_leaves_nobody(isolation, marked):
    limits = Limits(cpu_ns=4 * SECOND, wall_ns=6 * SECOND, processes=40)
    with open_session(script(hostile("01_forkbomb.py"), marked), isolation) as session:
        run = session.run(b"", limits)
    assert b"BLOCKED forks" in run.stdout
    assert int(run.stdout.split()[-1]) <= 40


def test_a_function_cannot_fork(isolation):
    run = call(as_function("01_forkbomb.py"), isolation=isolation)
    assert run.status is Status.OK
    assert b"BLOCKED forks 0" in run.stdout


def test_a_memory_bomb_meets_its_bound(isolation):
    run = run_script(hostile("02_membomb.py"), isolation)
    assert run.stdout in (b"BLOCKED at 250 MB\n", b"BLOCKED at 300 MB\n")  # 256 MiB and the interpreter's own
    run = call(as_function("02_membomb.py"), isolation=isolation)
    assert run.stdout in (b"BLOCKED at 200 MB\n", b"BLOCKED at 250 MB\n")


def test_endless_output_is_cut(isolation):
    for run in (
        run_script(hostile("03_inf_output.py"), isolation),
        call(as_function("03_inf_output.py"), isolation=isolation),
    ):
        assert run.status is Status.OUTPUT_LIMIT
        assert len(run.stdout) == LIMITS.output_bytes
        assert "output-truncated" in run.flags


def test_a_disk_filler_leaves_nothing_on_the_disk(isolation, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    free = shutil.disk_usage(tmp_path).free
    run = run_script(hostile("04_diskfill.py"), isolation)
    assert b"LEAK" not in run.stdout
    assert b"BLOCKED at" in run.stdout or run.status is Status.OUTPUT_LIMIT
    assert free - shutil.disk_usage(tmp_path).free < 64 * MIB
    run = call(as_function("04_diskfill.py"), isolation=isolation)
    assert b"BLOCKED at 0 MB" in run.stdout


@pytest.mark.parametrize("name", ["05_sleep.py", "06_sigterm.py"])
def test_who_does_not_end_is_ended(isolation, marked, name):
    with open_session(script(hostile(name), marked), isolation) as session:
        run = session.run(b"", BRIEF)
    assert run.status is Status.TIME_LIMIT
    assert "wall" in run.detail
    run = call(as_function(name), isolation=isolation, limits=BRIEF)
    assert (run.status, "wall" in run.detail) == (Status.TIME_LIMIT, True)


@pytest.fixture
def expected_output():
    """The file that a program looks for, at the place it looks."""
    folder = Path("/var/tmp/victim")
    if folder.exists():
        pytest.skip(f"{folder} is in use")
    (folder / "expected").mkdir(parents=True)
    folder.chmod(0o777)
    (folder / "expected" / "out.txt").write_text("the expected output")
    yield folder
    shutil.rmtree(folder)


def test_expected_outputs_cannot_be_read(isolation, expected_output):
    for run in (
        run_script(hostile("08_read_expected.py"), isolation),
        call(as_function("08_read_expected.py"), isolation=isolation),
    ):
        assert run.status is Status.OK
        assert run.stdout.count(b"BLOCKED") == 2


def test_nothing_is_written_outside(isolation, expected_output):
    markers = [Path("/usr/escape_marker"), Path("/var/tmp/escape_marker"), expected_output / "escape2.txt"]
    for run in (
        run_script(hostile("09_write_outside.py"), isolation),
        call(as_function("09_write_outside.py"), isolation=isolation),
    ):
        assert run.status is Status.OK
        assert run.stdout.count(b"BLOCKED") == 4
        assert not any(marker.exists() for marker in markers)


def test_neither_network_nor_abstract_sockets_can_be_reached(isolation):
    with contextlib.ExitStack() as stack:
        for family, address in ((socket.AF_INET, ("127.0.0.1", 47811)), (socket.AF_UNIX, "\0lab_abstract")):
            server = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            try:
                server.bind(address)
            except OSError:
                pytest.skip(f"{address} is in use")
            server.listen()
        for run in (
            run_script(hostile("10_net.py"), isolation),
            call(as_function("10_net.py"), isolation=isolation),
        ):
            assert run.stdout.count(b"BLOCKED") == 2
            assert b"LEAK" not in run.stdout


def test_no_other_process_can_be_signalled(isolation):
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", "lab_victim"], stdin=subprocess.PIPE
    ) as victim:
        for run in (
            run_script(hostile("11_killall.py"), isolation),
            call(as_function("11_killall.py"), isolation=isolation),
        ):
            assert b"LEAK" not in run.stdout
            assert victim.poll() is None
        victim.stdin.close()
        assert victim.wait() == 0


def test_endless_recursion_in_c_is_the_programs_own_failure(isolation, compile_c):
    binary = compile_c("stack", hostile("14_stack.c"))
    program = Program(language="c", mode=Mode.PROGRAM, argv=(str(binary),), readable=(binary,))
    with open_session(program, isolation) as session:
        run = session.run(b"", LIMITS)
    assert run.status is Status.RUNTIME_ERROR
    assert "SIGSEGV" in run.detail


def test_leaving_early_is_no_result(isolation):
    for where in (hostile("17_os_exit.py"), f"def solve():\n    {hostile('17_os_exit.py')}"):
        assert call(where, isolation=isolation).status is Status.NO_RESULT


def test_clocks_replaced_inside_do_not_matter(isolation):
    run = run_script(hostile("18_monkeypatch.py"), isolation)
    assert run.stdout.startswith(b"patched")
    assert run.cpu_ns > 0.3 * SECOND
    inside = "def solve():\n" + "".join(f"    {line}\n" for line in hostile("18_monkeypatch.py").splitlines())
    run = call(inside, isolation=isolation)
    assert run.status is Status.OK
    assert run.cpu_ns > 0.3 * SECOND


def test_the_harness_environment_is_not_visible(isolation, monkeypatch):
    monkeypatch.setenv("LAB_SECRET", "x")
    for run in (
        run_script(hostile("22_env_secret.py"), isolation),
        call(as_function("22_env_secret.py"), isolation=isolation),
    ):
        assert run.stdout.strip() == b"BLOCKED"
    snoop = """
import os
for pid in ("self", "1", os.getppid()):
    try: print("SEEN" if b"LAB_SECRET" in open(f"/proc/{pid}/environ", "rb").read() else "clean")
    except OSError as error: print("denied")
"""
    assert b"SEEN" not in run_script(snoop, isolation).stdout


def test_private_files_stay_private_even_where_the_interpreter_lies_among_them(isolation):
    snoop = """
import os
for place in ("/etc/shadow", "/etc/passwd", "/root", "/root" + "/.bashrc", "/home", "/proc/1/mem"):
    for look in (lambda: open(place, "rb").read(1), lambda: os.listdir(place)):
        try: look(); print("LEAK", place)
        except OSError: pass
"""
    for run in (
        run_script(snoop, isolation),
        call(snoop + "def solve(): return 1\n", isolation=isolation),
    ):
        assert run.status is Status.OK
        assert run.stdout == b""
