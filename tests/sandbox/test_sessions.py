"""What becomes of a session when something outside of the program goes wrong."""

import json
import marshal
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from sandbox_programs import LIMITS, alive_with, function, script

from best_agent.errors import IsolationError, MeasureError
from best_agent.model.run import Isolation, Limits, Status
from best_agent.model.task import Mode
from best_agent.sandbox import engines, layout, probe
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session

ROOT = Path(__file__).parents[2]
ONE = marshal.dumps((1,), 4)


def until(condition, seconds=20.0):
    """Wait for something that happens elsewhere; whether it did."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_nothing_is_left_of_a_closed_session(isolation, tmp_path, monkeypatch, marked):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with open_session(script("print(1)", marked), isolation) as session:
        session.run(b"", LIMITS)
        process = session._supervisor._process.pid
    assert list(tmp_path.iterdir()) == []
    assert not Path(f"/proc/{process}").exists()


def test_a_supervisor_that_dies_is_the_harness_s_trouble_and_can_be_replaced(isolation, marked):
    with open_session(script("print(1)", marked), isolation) as session:
        session.run(b"", LIMITS)
        os.killpg(session._supervisor._process.pid, signal.SIGKILL)
        with pytest.raises(MeasureError):
            session.run(b"", LIMITS)
        assert session.run(b"", LIMITS).status is Status.OK


def test_a_dead_harness_takes_everything_with_it(isolation, marked, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    source = f"import time, os\nos.fork()\ntime.sleep(600)\n# {marked}"
    harness = textwrap.dedent(f"""
        import sys
        sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]
        from sandbox_programs import LIMITS, script
        from best_agent.model.run import Isolation, Limits
        from best_agent.sandbox.launcher import open_session
        session = open_session(script({source!r}, {marked!r} + "-target"), Isolation({isolation.value!r}))
        session.run(b"", Limits(wall_ns=600 * 10**9, cpu_ns=600 * 10**9))
    """)
    with subprocess.Popen([sys.executable, "-c", harness]) as process:
        assert until(lambda: len(alive_with(f"{marked}-target")) >= 2)
        process.kill()
        process.wait()
        assert until(lambda: not alive_with(marked))
        assert until(lambda: not list(tmp_path.iterdir()))


def test_an_interrupted_run_ends_its_program(isolation, marked):
    source = f"import time\ntime.sleep(600)\n# {marked}"
    harness = textwrap.dedent(f"""
        import sys
        sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]
        from sandbox_programs import script
        from best_agent.model.run import Isolation, Limits
        from best_agent.sandbox.launcher import open_session
        try:
            program = script({source!r}, {marked!r} + "-target")
            with open_session(program, Isolation({isolation.value!r})) as session:
                session.run(b"", Limits(wall_ns=600 * 10**9, cpu_ns=600 * 10**9))
        except KeyboardInterrupt:
            print("interrupted")
    """)
    with subprocess.Popen([sys.executable, "-c", harness], stdout=subprocess.PIPE) as process:
        assert until(lambda: alive_with(f"{marked}-target"))
        process.send_signal(signal.SIGINT)
        assert process.communicate()[0] == b"interrupted\n"
    assert until(lambda: not alive_with(marked))


def test_another_scratch_size_makes_another_sandbox(best):
    fill = (
        "f = open('f', 'wb', buffering=0)\nn = 0\ntry:\n"
        "    while n < 99: n += f.write(bytes(1 << 20)) >> 20\nexcept OSError: pass\nprint(n)\n"
    )
    with open_session(script(fill), best) as session:
        sizes = [session.run(b"", Limits(scratch_bytes=n << 20)).stdout.strip() for n in (4, 8)]
    assert [int(size) for size in sizes if size] in ([3, 7], [4, 8], [])


def test_no_isolation_runs_with_the_same_meters():
    with open_session(function("def solve(x): return x"), Isolation.NONE) as session:
        run = session.run(ONE, LIMITS)
    assert (run.status, run.answer, run.isolation) == (Status.OK, b"1", Isolation.NONE)
    assert run.load.cpu_ns > 0


def test_auto_never_chooses_no_isolation(monkeypatch):
    broken = probe.Probe(isolation=Isolation.STRICT, works=False, reason="walls are missing")
    monkeypatch.setattr(probe, "probe", lambda _: broken)
    with pytest.raises(IsolationError, match=r"walls are missing.*--isolation none"):
        probe.choose("auto")
    with pytest.raises(IsolationError, match=r"--isolation strict cannot be had.*walls are missing"):
        probe.choose("strict")
    assert probe.choose("none") is Isolation.NONE


def test_a_wall_with_a_hole_is_not_taken_for_one(isolation, monkeypatch):
    real = layout.readable
    monkeypatch.setattr(layout, "readable", lambda program: (*real(program), "/tmp", "/var/tmp", "/work"))
    found = probe.probe.__wrapped__(isolation)
    assert not found.works
    assert "read" in found.reason


def test_a_missing_engine_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(engines, "candidates", lambda _: ("plain",))
    monkeypatch.setattr(layout, "interpreter", lambda: "/bin/true")
    with (
        pytest.raises(IsolationError, match="othing was run"),
        open_session(function("def solve(x): return x"), Isolation.RESTRICTED) as session,
    ):
        session.run(ONE, LIMITS)


def test_the_probe_says_what_was_found(isolation):
    found = probe.probe(isolation)
    assert (found.works, found.time_works, found.memory_works, found.reason) == (True, True, True, "")
    assert found.engine in {engines.NAMESPACES, engines.BUBBLEWRAP, engines.PLAIN}


def doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "best_agent", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_doctor_says_what_there_is_and_what_is_missing_costs(tmp_path):
    done = doctor("--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == "best-agent/doctor/1"
    rows = {row["name"]: row for row in document["results"]}
    assert {"isolation: strict", "isolation: restricted", "time", "memory", "cores", "git"} <= rows.keys()
    assert all(row["state"] in {"ready", "limited", "missing"} for row in rows.values())
    assert sum(document["summary"].values()) == len(rows)
    assert document["isolation"] in {"strict", "restricted", None}
    bare = doctor(PATH=str(tmp_path), CXX="")
    assert bare.returncode == 0
    assert "git" in bare.stdout
    assert "install" in bare.stdout
    text = doctor().stdout
    assert "ready" in text
    assert "\x1b" not in text


def test_doctor_inside_a_sandbox_finds_that_sandboxes_do_not_nest(isolation):
    if not all(parent.stat().st_mode & 1 for parent in ROOT.parents):
        pytest.skip("the repository cannot be shown to another user")
    program = Program(
        language="python",
        mode=Mode.PROGRAM,
        argv=(sys.executable, "-m", "best_agent", "doctor", "--format", "json"),
        readable=(ROOT, Path(sys.prefix)),
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    with open_session(program, isolation) as session:
        run = session.run(b"", Limits())
    assert run.status is Status.OK, run
    rows = {row["name"]: row for row in json.loads(run.stdout)["results"]}
    assert rows["isolation: strict"]["state"] == "missing"
    assert "permitted" in rows["isolation: strict"]["finding"]
