"""The channels between supervisor and target: made anew for each run, both ends kept apart."""

import contextlib
import os
import socket
from typing import Any

from best_agent.sandbox.inside import watch


class Ends:
    """Both ends of every channel of one run."""

    def __init__(self, stack: contextlib.ExitStack, *, handshakes: bool) -> None:
        self._stack = stack
        self._given: list[int] = []
        self.stdout = self._pipe()
        self.stderr = self._pipe()
        self.event: int | None = None
        self.go: socket.socket | None = None
        self.answer: int | None = None
        stack.callback(self.close_targets)
        if handshakes:
            self.event = self._pipe()
            self.go, theirs = socket.socketpair()
            stack.callback(self.go.close)
            self._given.append(theirs.detach())
            self.answer = self._pipe()
        self.trouble = self._pipe()

    def _pipe(self) -> int:
        ours, theirs = os.pipe()
        self._stack.callback(os.close, ours)
        self._given.append(theirs)
        return ours

    def targets(self, stdin: int) -> list[int]:
        """The target's descriptors in the order of their places, the one for trouble last."""
        return [stdin, *self._given]

    def close_targets(self) -> None:
        """Let go of the target's ends, so that its end is the end of the pipes."""
        while self._given:
            os.close(self._given.pop())

    def sinks(self, order: dict[str, Any]) -> dict[str, watch.Sink]:
        """What is read of the target, with bounds."""
        bound = order["output_bytes"]
        found = {
            "stdout": watch.Sink(self.stdout, bound, "output"),
            "stderr": watch.Sink(self.stderr, order["stderr_bytes"], None),
        }
        if self.answer is not None:
            found["answer"] = watch.Sink(self.answer, bound, "answer")
        return found
