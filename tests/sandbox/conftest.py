"""Fixtures of the sandbox tests."""

import shutil
import subprocess
import uuid
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory):
    """A function from C source to a binary; skips without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("binaries")
    for parent in (folder, *folder.parents):
        if parent.owner() == folder.owner() and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)

    def build(name: str, source: str) -> Path:
        text = folder / f"{name}.c"
        text.write_text(source)
        binary = folder / name
        subprocess.run([compiler, "-O1", "-o", binary, text, "-pthread"], check=True, capture_output=True)
        binary.chmod(0o755)
        return binary

    return build
