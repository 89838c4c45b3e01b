"""Temporary folders: gone at the end, and where their process was killed, at the next start."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from best_agent.workload.scratch import scratch

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks that end with a process are of POSIX")

_KILLED = """
import os, signal
from best_agent.workload.scratch import scratch
with scratch("kept-") as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_is_gone_at_the_end_whatever_happened(shared):
    def interrupted() -> None:
        with scratch("kept-") as folder:
            (folder / "sub").mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(shared.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next_start(shared):
    done = subprocess.run(
        [sys.executable, "-c", _KILLED], capture_output=True, text=True, timeout=60, check=False
    )
    left = Path(done.stdout.strip())
    assert left.is_dir()
    with scratch("kept-"):
        assert not left.exists()


def test_a_folder_in_use_is_left_alone(shared):
    with scratch("kept-") as first, scratch("kept-") as second:
        assert first.is_dir()
        assert second.is_dir()


def test_what_is_not_surely_left_behind_stays(shared):
    outside = shared / "precious"
    outside.mkdir()
    (outside / "in-use").write_text("")
    (shared / "kept-link").symlink_to(outside)
    (shared / "kept-file").write_text("")
    (shared / "kept-new").mkdir()
    (shared / "kept-sly").mkdir()
    (shared / "kept-sly" / "in-use").symlink_to(outside / "in-use")
    with scratch("kept-"):
        pass
    assert (outside / "in-use").exists()
    assert {found.name for found in shared.iterdir()} == {
        "precious",
        "kept-link",
        "kept-file",
        "kept-new",
        "kept-sly",
    }
