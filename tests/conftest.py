"""What holds for all tests."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """A shell's background jobs ignore SIGINT, and so would all that tests start: Ctrl-C would be lost."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
