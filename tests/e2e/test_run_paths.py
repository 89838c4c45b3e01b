"""`run FILE`: however the path is written, the program is found inside of the sandbox as well."""

import subprocess
import sys
from pathlib import Path

import pytest

from best_agent.errors import BestAgentError
from best_agent.sandbox.probe import choose


@pytest.mark.parametrize(
    "written",
    ["p.py", "./p.py", "../here/p.py", "beside/../p.py", "link.py", "linked/p.py", "grüße dir/p.py"],
)
def test_a_path_may_be_written_as_the_user_likes(tmp_path: Path, written: str) -> None:
    try:
        choose("auto")
    except BestAgentError as error:
        pytest.skip(f"no isolation works on this machine: {error}")
    here = tmp_path / "here"
    for folder in (here, here / "beside", here / "grüße dir", tmp_path / "elsewhere"):
        folder.mkdir()
    for folder in (here, here / "grüße dir", tmp_path / "elsewhere"):
        (folder / "p.py").write_text("print('found')\n")
    (here / "link.py").symlink_to("p.py")
    (here / "linked").symlink_to(tmp_path / "elsewhere")
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", "run", written],
        cwd=here,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("found\n")
