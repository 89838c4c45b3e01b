"""Fixtures of the sandbox tests."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_programs import alive_with, available

from best_agent.errors import IsolationError
from best_agent.model.run import Isolation
from best_agent.sandbox import probe


@pytest.fixture(params=[Isolation.STRICT, Isolation.RESTRICTED], ids=lambda level: level.value)
def isolation(request) -> Isolation:
    """Each confining isolation in turn; skipped where this machine cannot have it."""
    return available(request.param)


@pytest.fixture
def best() -> Isolation:
    """The best isolation that this machine has."""
    try:
        return probe.choose("auto")
    except IsolationError as error:
        pytest.skip(str(error))


@pytest.fixture
def marked() -> Iterator[str]:
    """A word to put on a command line; after the test no process may carry it."""
    word = f"marked-{uuid.uuid4().hex}"
    yield word
    assert not alive_with(word)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="best-agent-test-", ignore_cleanup_errors=True) as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture(scope="session")
def compile_c() -> Iterator[Callable[[str, str], Path]]:
    """A function from C source to a binary that every user can run; skips without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    with tempfile.TemporaryDirectory(prefix="best-agent-test-") as name:
        os.chmod(name, 0o755)

        def build(program: str, source: str) -> Path:
            text, binary = Path(name, f"{program}.c"), Path(name, program)
            text.write_text(source)
            subprocess.run([compiler, "-O1", "-o", binary, text, "-pthread"], check=True, capture_output=True)
            binary.chmod(0o755)
            return binary

        yield build
