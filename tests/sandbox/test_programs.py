"""Programs run anew for each input: output, files, trees of processes, limits, and the handshake in C."""

import os
import shutil
import stat
import textwrap

import pytest
from sandbox_programs import LIMITS, MIB, SECOND, run_script, script

from best_agent.model.run import Isolation, Limits, Meter, Status
from best_agent.model.task import Mode
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session


def shell(command: str, **settings) -> Program:
    return Program(language="sh", mode=Mode.PROGRAM, argv=("sh", "-c", command), **settings)


def run(program: Program, isolation: Isolation, stdin: bytes = b"", limits: Limits = LIMITS):
    with open_session(program, isolation) as session:
        return session.run(stdin, limits)


def test_input_output_and_exit_code_are_the_programs(isolation):
    found = run(shell("cat; echo oops >&2; exit 3"), isolation, b"in\n")
    assert (found.stdout, found.stderr, found.exit_code) == (b"in\n", b"oops\n", 3)
    assert (found.status, found.detail) == (Status.RUNTIME_ERROR, "oops")
    found = run(shell("cat"), isolation, b"x" * 300_000)
    assert (found.status, found.answer) == (Status.OK, b"x" * 300_000)


def test_the_environment_is_the_programs_own_and_little_else(isolation, monkeypatch):
    monkeypatch.setenv("LAB_SECRET", "x")
    found = run(shell("env", env={"MINE": "1"}), isolation)
    names = {line.partition(b"=")[0] for line in found.stdout.splitlines()}
    assert names <= {b"MINE", b"PATH", b"LANG", b"HOME", b"TMPDIR", b"PWD", b"SHLVL", b"_", b"OLDPWD"}


def test_no_descriptor_of_ours_is_open_in_a_program(isolation):
    look = textwrap.dedent("""
        import os
        found = []
        for fd in range(3, 300):
            try: found.append(os.fstat(fd) and fd)
            except OSError: pass
        print(found)
    """)
    assert run_script(look, isolation).stdout == b"[]\n"


def test_files_are_laid_in_and_only_regular_ones_come_back(isolation):
    command = (
        "cat in/a.txt; echo made > out; ln -s /etc/passwd link; ln -s . inside; mkfifo pipe; mkdir dir; "
        "mkdir sub; echo deep > sub/f"
    )
    collect = ("out", "link", "inside/out", "pipe", "dir", "absent", "sub/f", "../out", "/etc/passwd")
    found = run(shell(command, files={"in/a.txt": b"text"}, collect=collect), isolation)
    assert found.stdout == b"text"
    assert dict(found.collected) == {"out": b"made\n", "sub/f": b"deep\n"}


def test_each_run_finds_an_empty_directory_however_the_last_one_left_it(isolation):
    mess = textwrap.dedent("""
        import os
        print(sorted(os.listdir('.')))
        for i in range(300):
            os.mkdir('d'); os.chdir('d')
        os.close(os.open('f', os.O_CREAT, 0))
        os.mkdir('g', 0)
    """)
    lock = "import os\nos.mkdir('e', 0)\n"
    with open_session(script(lock + mess), isolation) as session:
        for _ in range(3):
            assert session.run(b"", LIMITS).stdout == b"['e', 'prog.py']\n"


def test_nothing_survives_a_normal_end(isolation, marked):
    daemon = textwrap.dedent("""
        import os, signal, sys, time
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
                if os.fork() == 0:
                    time.sleep(600)
                os._exit(0)
        print('done')
    """)
    found = run(script(daemon, marked), isolation)
    assert (found.status, found.stdout) == (Status.OK, b"done\n")


def test_processor_time_of_the_whole_tree_counts(isolation):
    tree = (
        "import os\nfor _ in range(2):\n    if os.fork() == 0:\n"
        "        for i in range(4_000_000): pass\n        os._exit(0)\n"
    )
    waited = run_script(tree + "for _ in range(2): os.wait()\n", isolation)
    alone = run_script("for i in range(4_000_000): pass\n", isolation)
    assert waited.cpu_ns > 1.4 * alone.cpu_ns


def test_a_tree_cannot_use_more_processor_time_than_allowed(isolation):
    spin = "import os\nfor _ in range(3): os.fork()\nwhile True: pass\n"
    found = run_script(spin, isolation, Limits(cpu_ns=SECOND // 2, wall_ns=20 * SECOND))
    assert found.status is Status.TIME_LIMIT
    assert "CPU" in found.detail
    assert found.wall_ns < 10 * SECOND


def test_memory_is_bounded_over_the_whole_tree(isolation):
    bomb = (
        "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n"
        "        x = bytearray(b'1') * (60 << 20)\n        time.sleep(60)\ntime.sleep(60)\n"
    )
    found = run_script(
        bomb, isolation, Limits(cpu_ns=8 * SECOND, wall_ns=20 * SECOND, memory_bytes=256 * MIB)
    )
    assert found.status is Status.MEMORY_LIMIT
    assert "together" in found.detail


@pytest.mark.parametrize("size_mib", [8, 64])
def test_the_peak_of_a_program_is_estimated_from_its_own_memory(isolation, size_mib):
    small = run_script("x = 1", isolation)
    large = run_script(f"x = bytearray(b'1') * ({size_mib} << 20)\nx = None", isolation)
    assert small.memory_meter is large.memory_meter is Meter.ESTIMATED
    assert size_mib * MIB - MIB < large.peak_bytes - small.peak_bytes < size_mib * MIB + MIB


def test_the_peak_counts_children(isolation):
    found = run_script(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', "
        "\"x = bytearray(b'1') * (40 << 20)\"])",
        isolation,
    )
    assert found.peak_bytes > 40 * MIB


def test_unlinked_files_do_not_fill_the_disk(isolation):
    fill = textwrap.dedent("""
        import os
        block, files = b'x' * (1 << 20), []
        for n in range(40):
            files.append(open(f'f{n}', 'wb', buffering=0))
            os.unlink(f'f{n}')
            for _ in range(12): files[-1].write(block)
        print('LEAK', len(files))
    """)
    found = run_script(fill, isolation, Limits(cpu_ns=4 * SECOND, scratch_bytes=16 * MIB))
    assert b"LEAK" not in found.stdout
    assert found.status is not Status.OK


def test_a_program_that_is_not_there_is_its_own_failure(isolation):
    found = run(Program(language="x", mode=Mode.PROGRAM, argv=("/usr/bin/no-such-program",)), isolation)
    assert found.status is Status.RUNTIME_ERROR
    assert "cannot be started" in found.detail
    found = run(Program(language="x", mode=Mode.PROGRAM, argv=("/etc/hostname",)), isolation)
    assert found.status is Status.RUNTIME_ERROR


def test_only_what_is_named_can_be_read(isolation, open_folder):
    shown, hidden = open_folder / "shown.txt", open_folder / "hidden.txt"
    shown.write_text("shown")
    hidden.write_text("hidden")
    found = run(shell(f"cat {shown} {hidden}", readable=(shown,)), isolation)
    assert found.stdout == b"shown"
    assert b"hidden.txt" in found.stderr


def test_set_user_id_programs_gain_nothing(isolation):
    su = shutil.which("su")
    if su is None or not os.stat(su).st_mode & stat.S_ISUID:
        pytest.skip("no set-user-id program here")
    found = run(shell("su -c id; grep -h NoNewPrivs /proc/self/status || echo 'NoNewPrivs: 1'"), isolation)
    assert b"uid=0(" not in found.stdout
    assert found.stdout.split()[-1] == b"1"


def test_attributes_of_files_outside_stay_as_they_are(isolation, open_folder):
    files = [open_folder / name for name in ("own.txt", "shown.txt")]
    for file in files:
        file.write_text("text")
        file.chmod(0o644)
        os.utime(file, (1, 1))
    attack = textwrap.dedent(f"""
        import os
        for path in {[str(file) for file in files]!r}:
            for harm in (
                lambda: os.chmod(path, 0o777), lambda: os.utime(path), lambda: os.truncate(path, 0),
                lambda: os.setxattr(path, "user.x", b"1"), lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
                lambda: os.chown(path, -1, os.getgid()), lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o777),
            ):
                try: harm(); print("LEAK", path)
                except OSError: pass
    """)
    assert run_script(attack, isolation, readable=(files[1],)).stdout == b""
    for file in files:
        facts = file.stat()
        assert (facts.st_mode & 0o777, facts.st_mtime, facts.st_size) == (0o644, 1, 4)
        assert os.listxattr(file) == []


def test_limits_of_others_cannot_be_set(isolation):
    attack = textwrap.dedent(f"""
        import os, resource
        for pid in ({os.getpid()}, os.getppid(), 1):
            try: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)); print("LEAK", pid)
            except (OSError, ValueError): pass
        for whose in (os.PRIO_USER, os.PRIO_PROCESS):
            try: os.setpriority(whose, 0, 5); print("LEAK nice")
            except OSError: pass
        resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))
    """)
    run = run_script(attack, isolation)
    assert (run.status, run.stdout) == (Status.OK, b"")


def test_a_flood_of_empty_files_is_bounded(isolation):
    flood = "n = 0\nwhile True:\n    open(str(n), 'w').close()\n    n += 1\n"
    limits = Limits(cpu_ns=20 * SECOND, wall_ns=30 * SECOND, scratch_bytes=4 * MIB)
    with open_session(script(flood), isolation) as session:
        run = session.run(b"", limits)
        assert run.status in {Status.OUTPUT_LIMIT, Status.RUNTIME_ERROR}
        assert session.run(b"", limits).status is run.status


HANDSHAKE = """
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
static void meet(char byte) { char go; if (write(3, &byte, 1) != 1 || read(4, &go, 1) != 1) _exit(9); }
int main(void) {
  char text[64] = {0};
  long pages = read(0, text, 63) > 0 ? atol(text) : 0;
  BEFORE
  meet('R'); EMPTY meet('D');
  meet('R');
  char *block = malloc(pages * 4096 + 1);
  for (long i = 0; i < pages; i++) block[i * 4096] = 1;
  DURING
  meet('D');
  if (write(5, "1", 1) != 1) return 8;
  return 0;
}
"""


def c_function(compile_c, name: str, before: str = "", empty: str = "", during: str = "") -> Program:
    source = HANDSHAKE.replace("BEFORE", before).replace("EMPTY", empty).replace("DURING", during)
    binary = compile_c(name, source)
    return Program(language="c", mode=Mode.FUNCTION, argv=(str(binary),), readable=(binary,), handshakes=2)


@pytest.mark.parametrize("pages", [16, 1600])
def test_faults_of_the_measured_call_are_counted_to_the_page(isolation, compile_c, pages):
    with open_session(c_function(compile_c, "touch"), isolation) as session:
        found = [session.run(b"%d" % pages, LIMITS) for _ in range(3)]
    assert {each.status for each in found} == {Status.OK}
    assert {each.answer for each in found} == {b"1"}
    assert all(pages * 4096 <= each.peak_bytes <= (pages + 4) * 4096 for each in found)
    assert found[0].memory_meter is Meter.EXACT


def test_a_baseline_that_was_blown_up_is_not_believed(isolation, compile_c):
    empty = "volatile char *waste = malloc(4 << 20); for (long i = 0; i < 1024; i++) waste[i * 4096] = 1;"
    with open_session(c_function(compile_c, "blown", empty=empty), isolation) as session:
        found = session.run(b"1600", LIMITS)
    assert "suspect" in found.flags
    assert found.peak_bytes > 1500 * 4096


@pytest.mark.parametrize(
    ("during", "status"),
    [
        ("_exit(0);", Status.NO_RESULT),
        ("_exit(4);", Status.RUNTIME_ERROR),
        ("abort();", Status.RUNTIME_ERROR),
        ('write(3, "Q", 1);', Status.NO_RESULT),
        ('write(5, "2", 1); _exit(0);', Status.NO_RESULT),
        ("if (fork() == -1) _exit(77); _exit(0);", Status.RUNTIME_ERROR),
        ("for (;;);", Status.TIME_LIMIT),
        ("for (;;) write(1, text, 64);", Status.OUTPUT_LIMIT),
    ],
)
def test_every_break_of_the_handshake_is_told_apart(compile_c, best, during, status):
    name = "break" + str(abs(hash(during)))
    limits = Limits(cpu_ns=SECOND // 2, wall_ns=4 * SECOND, output_bytes=MIB)
    with open_session(c_function(compile_c, name, during=during), best) as session:
        found = session.run(b"1", limits)
    assert (found.status, found.answer) == (status, None)


def test_memory_beyond_the_bound_cannot_be_had(isolation, compile_c):
    during = "char *big = malloc(300L << 20); if (!big) _exit(5);"
    with open_session(c_function(compile_c, "greedy", during=during), isolation) as session:
        found = session.run(b"1", LIMITS)
    assert found.exit_code == 5


def test_a_program_that_kills_itself_has_not_run_out_of_memory(isolation):
    run = run_script("import os\nos.kill(os.getpid(), 9)\n", isolation)
    assert run.status is Status.RUNTIME_ERROR
    assert "SIGKILL" in run.detail
