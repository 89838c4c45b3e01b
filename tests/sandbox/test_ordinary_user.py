"""The same sandbox started by an ordinary user; and bubblewrap, which only such users need."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_programs import LIMITS, call, run_script, script

from best_agent.model.run import Isolation, Status
from best_agent.sandbox import engines, probe
from best_agent.sandbox.launcher import open_session

ROOT = Path(__file__).parents[2]
USER = 1_970_000_000
"""Nobody's number."""


def interpreter_for_all() -> str:
    """A Python of our version that every user can start."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), shutil.which(name, path="/usr/bin:/usr/local/bin")):
        if found and all(parent.stat().st_mode & 1 for parent in Path(found).parents):
            return found
    pytest.skip(f"no {name} that an ordinary user can start")


def as_user(open_folder, *arguments: str) -> subprocess.CompletedProcess:
    """pytest over a part of these tests, as an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    if not all(parent.stat().st_mode & 1 for parent in Path(__file__).parents):
        pytest.skip("an ordinary user cannot read these tests")
    packages = os.path.dirname(os.path.dirname(pytest.__file__))
    own = open_folder / "own"
    own.mkdir()
    os.chown(own, USER, USER)
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT}:{packages}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(own),
        "TMPDIR": str(own),
    }
    return subprocess.run(
        [interpreter_for_all(), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=environment,
        user=USER,
        group=USER,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_walls_hold_for_an_ordinary_user(open_folder):
    chosen = "fork or disk or read or written or signalled or network or private"
    done = as_user(open_folder, "tests/sandbox/test_hostile.py", "tests/sandbox/test_tricks.py", "-k", chosen)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_the_meters_hold_for_an_ordinary_user(open_folder):
    chosen = "attributes or limits_of or page or phases or survives or empty_directory or beyond or children"
    done = as_user(
        open_folder, "tests/sandbox/test_programs.py", "tests/sandbox/test_python_functions.py", "-k", chosen
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_bubblewrap_for_an_ordinary_user(open_folder):
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    done = as_user(open_folder, f"{__file__}::test_bubblewrap_brings_strict_isolation")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout or "skipped" in done.stdout


def test_bubblewrap_brings_strict_isolation(monkeypatch, marked):
    if os.geteuid() == 0 or shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is for ordinary users, where it is installed")
    monkeypatch.setattr(engines, "candidates", lambda _: (engines.BUBBLEWRAP,))
    found = probe.probe.__wrapped__(Isolation.STRICT)
    if not found.works:
        pytest.skip(f"bubblewrap cannot do it here: {found.reason}")
    assert found.engine == engines.BUBBLEWRAP
    assert call("def solve(): return 1", isolation=Isolation.STRICT).answer == b"1"
    look = (
        f"import os\nprint(os.getppid(), os.listdir('/proc')[0] != '', os.path.exists({__file__!r}))\n"
        "for path in ('/proc/1/environ', '/proc/self/clear_refs'):\n"
        "    try: open(path, 'r+b'); print('LEAK', path)\n    except OSError: pass\n"
        "if os.fork() == 0:\n    os.setsid()\n    import time\n    time.sleep(600)\n"
    )
    with open_session(script(look, marked), Isolation.STRICT) as session:
        run = session.run(b"", LIMITS)
    assert run.status is Status.OK, run
    assert run.stdout == b"1 True False\n"
    fill = (
        "f = open('f', 'wb')\ntry:\n    for _ in range(200): f.write(bytes(1 << 20))\n"
        "except OSError: print('full')"
    )
    assert run_script(fill, Isolation.STRICT).stdout == b"full\n"
