"""Proposals from the user's own program: the prompt as JSON on its standard input, code on its output."""

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from best_agent.errors import UsageError
from best_agent.model.refinement import Reason, Spend
from best_agent.refine.extract import extract_code
from best_agent.refine.proposals.base import Estimate, Prompt, Proposal, Request, SourceError
from best_agent.units import printable

SCHEMA = "best-agent/proposal/1"
MAX_STDOUT = 1 << 20
MAX_STDERR = 16 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    stdout: bytes
    stderr: bytes
    exit_code: int | None
    """None: it was ended because it took too long."""
    overflow: bool = False


class CommandSource:
    """Runs a command once a round. It is the user's own, so it gets the user's environment."""

    kind = "command"
    exhausted = "the command has no more to say"
    first_wins = False
    reads_prompt = True

    def __init__(self, command: str, language: str, *, timeout_s: float = 300.0) -> None:
        self._command = command
        self._language = language
        self._timeout_s = timeout_s

    @property
    def note(self) -> str:
        """Which command."""
        return f"the command {self._command}"

    @property
    def departure(self) -> str:
        """The command decides."""
        return (
            f"the prompt and the code go to the command `{self._command}`; where it sends them is its affair"
        )

    def per_round(self) -> int:
        """One."""
        return 1

    def expected(self, rounds: int) -> int:
        """One a round."""
        return rounds

    def check(self) -> None:
        """Refuse a command that does not exist.

        Raises:
            UsageError: it cannot be split into words, or its program is not found.
        """
        program = self._words()[0]
        if shutil.which(program) is None:
            raise UsageError(f"--command: there is no program '{program}' (looked for on PATH)")

    def estimate(self, prompt: Prompt) -> Estimate | None:  # noqa: ARG002  (the protocol's signature)
        """What the command costs is not known here, and not counted."""
        return None

    def propose(self, request: Request) -> Iterator[Proposal]:
        """What the command prints, if anything. Nothing printed and exit code 0: it has no more to say.

        Raises:
            SourceError: the command failed, took too long, or printed more than 1 MiB.
        """
        if request.skip:
            return
        ended = _run(self._words(), _message(request, self._language), self._timeout_s)
        answer = ended.stdout.decode("utf-8", errors="replace")
        if ended.exit_code != 0:
            raise SourceError(self._failure(ended))
        if ended.overflow:
            raise SourceError(f"--command printed more than {MAX_STDOUT >> 20} MiB: `{self._command}`")
        if not answer.strip():
            return
        found = extract_code(answer, language=self._language, entry=request.entry)
        code = found.code
        if found.problem is Reason.NO_CODE and "```" not in answer:
            # Whatever a program prints is meant as code; the judge will say what is wrong with it.
            code = answer
        yield Proposal(
            origin="command",
            code=code,
            problem=None if code is not None else found.problem,
            detail=found.detail if code is None else "",
            raw=answer,
            spend=Spend(calls=1, usd=None, counted=False),
        )

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self._command)
        except ValueError as error:
            raise UsageError(f"--command '{self._command}' cannot be read: {error}") from None
        if not words:
            raise UsageError("--command needs a command, as in --command 'my-model --fast'")
        return words

    def _failure(self, ended: _Ended) -> str:
        said = ended.stderr.decode("utf-8", errors="replace").strip().splitlines()
        tail = (
            f"; it said: {printable(' | '.join(said[-3:]))[:500]}"
            if said
            else "; it said nothing on standard error"
        )
        if ended.exit_code is None:
            return f"--command took longer than {self._timeout_s:g} s and was ended: `{self._command}`{tail}"
        if ended.exit_code < 0:
            name = signal.Signals(-ended.exit_code).name
            return f"--command was ended by {name}: `{self._command}`{tail}"
        return f"--command ended with exit code {ended.exit_code}: `{self._command}`{tail}"


def _message(request: Request, language: str) -> bytes:
    document = {
        "schema": SCHEMA,
        "round": request.round,
        "language": language,
        "entry": request.entry,
        "system": request.prompt.system,
        "prompt": request.prompt.user,
        "code": request.parent.text,
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"


def _run(words: Sequence[str], message: bytes, timeout_s: float) -> _Ended:
    """Run with bounded output, in a process group of its own, none of which is left behind."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(message)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise SourceError(f"--command cannot be started: {words[0]}: {error.strerror}") from None
    try:
        return _collect(process, time.monotonic() + timeout_s)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _collect(process: subprocess.Popen[bytes], deadline: float) -> _Ended:
    assert process.stdout is not None
    assert process.stderr is not None
    out, err, overflow = bytearray(), bytearray(), False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map() and not overflow:
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return _Ended(stdout=bytes(out), stderr=bytes(err), exit_code=None)
            for key, _ in ready:
                stream: IO[bytes] = key.fileobj  # type: ignore[assignment]  # registered above as such
                chunk = os.read(stream.fileno(), 65536)
                if not chunk:
                    selector.unregister(stream)
                elif stream is process.stdout:
                    out += chunk
                    overflow = len(out) > MAX_STDOUT
                else:
                    err = (err + chunk)[-MAX_STDERR:]
    if overflow:
        return _Ended(stdout=bytes(out), stderr=bytes(err), exit_code=0, overflow=True)
    try:
        exit_code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return _Ended(stdout=bytes(out), stderr=bytes(err), exit_code=None)
    return _Ended(stdout=bytes(out), stderr=bytes(err), exit_code=exit_code)
