"""The run directory: an append-only log, every text by its hash, and the results so far.

`run.jsonl` gets one line an event, on disk before the next step is taken. A run that was killed at any
moment goes on from it: no answer is asked for twice, no candidate is judged twice.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from best_agent.errors import UsageError
from best_agent.model.refinement import CandidateResult, RoundResult
from best_agent.refine.archive import digest
from best_agent.refine.codec import dump_proposal, dump_result, load_proposal, load_result
from best_agent.refine.proposals.base import Proposal
from best_agent.refine.redact import Redactor
from best_agent.refine.run_files import load_text, parse_event, write_whole

SCHEMA = "best-agent/refine-run/1"
LOG = "run.jsonl"
_MEANING = {
    "schema": "written by another version of the tool's run format",
    "task": "of another task",
    "language": "of another language",
    "start": "of another start",
    "objective": "with another objective",
    "seed": "with another seed",
    "source": "with another source of proposals",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a log says of a run so far."""

    rounds: tuple[RoundResult, ...] = ()
    """Whole rounds."""
    pending_parent: str | None = None
    """Parent of the round that was begun and not ended, if there is one."""
    pending: tuple[tuple[Proposal, CandidateResult | None], ...] = ()
    """Its answers so far, each with its result if it was judged."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """Program text by digest."""


class Journal:
    """The log of one run. Only one process can hold it."""

    def __init__(
        self,
        directory: Path,
        *,
        suffix: str,
        identity: Mapping[str, Any],
        start: str,
        redact: Redactor | None = None,
    ) -> None:
        """Prepare a log; nothing is written before `begin`.

        Args:
            directory: the run directory.
            suffix: of the final program's file.
            identity: what makes the run this one: task, language, objective, seed, source; and `options`.
            start: text of the start.
            redact: keeps secrets out of the log.
        """
        self.directory = directory
        self.past = Past()
        self._suffix = suffix
        self._identity = {"schema": SCHEMA, **identity, "start": digest(start)}
        self._start = start
        self._redact = redact or Redactor()
        self._file: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def check_free(self) -> None:
        """Refuse a directory that holds a run, before anything is measured.

        Raises:
            UsageError: there is one.
        """
        if (self.directory / LOG).exists():
            raise UsageError(
                f"{self.directory} holds a run already; go on with --resume {self.directory}, or name "
                "another --run-dir"
            )

    def begin(self) -> None:
        """Start the log with what identifies the run; nothing to do where it was resumed.

        Raises:
            UsageError: there is a run already, or the directory cannot be written.
        """
        if self._file is not None:
            return
        self.check_free()
        try:
            (self.directory / "objects").mkdir(parents=True, exist_ok=True)
            self._store(self._start)
            self._open(os.O_CREAT | os.O_EXCL)
        except OSError as error:
            raise UsageError(f"--run-dir {self.directory}: {error.strerror}") from None
        self._append({"event": "start", **self._identity})

    def resume(self) -> None:
        """Read an existing log into `past` and go on behind it. A last line cut off by a kill is dropped.

        Raises:
            UsageError: there is no run, it is another run's, it is damaged, or a process still writes it.
        """
        try:
            self._open(0)
        except OSError as error:
            raise UsageError(f"--resume {self.directory}: {LOG}: {error.strerror}") from None
        events = self._read()
        self._check_identity(events)
        try:
            self.past = self._replay(events[1:])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise UsageError(f"{self.directory / LOG} is damaged: {type(error).__name__}: {error}") from None
        self._append({"event": "resumed"})

    def round_begun(self, number: int, parent: str) -> None:
        """A round starts from a parent."""
        self._append({"event": "round", "round": number, "parent": parent})

    def answered(self, number: int, slot: int, proposal: Proposal) -> None:
        """An answer came. Its texts are stored before the line that names them."""
        for text in (proposal.code, proposal.raw):
            if text:
                self._store(text)
        self._append({"event": "answer", "round": number, "slot": slot, **dump_proposal(proposal)})

    def judged(self, number: int, slot: int, result: CandidateResult) -> None:
        """A candidate was judged."""
        self._append({"event": "judged", "round": number, "slot": slot, "result": dump_result(result)})

    def round_ended(self, result: RoundResult) -> None:
        """A round is over."""
        self._append({"event": "round-end", "round": result.round, "best": result.best})

    def stopped(self, reason: str, detail: str) -> None:
        """The loop ended. A resumed run goes on behind it if its bounds allow."""
        self._append({"event": "stop", "reason": reason, "detail": detail})

    def write_final(self, code: str, patch: str) -> None:
        """The best program so far and its patch: `final.py` (or `.cpp`) and `patch.diff`."""
        self.write(f"final{self._suffix}", code)
        self.write("patch.diff", patch)

    def write(self, name: str, text: str) -> None:
        """Write a file of the run directory whole or not at all."""
        write_whole(self.directory / name, text)

    def _open(self, flags: int) -> None:
        self._file = os.open(self.directory / LOG, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process is at work in {self.directory}") from None

    def _append(self, event: Mapping[str, Any]) -> None:
        assert self._file is not None, "begin or resume comes first"
        line = json.dumps(self._redact.values(event), ensure_ascii=False, allow_nan=False)
        data = (line + "\n").encode("utf-8", errors="replace")
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def _read(self) -> list[dict[str, Any]]:
        path = self.directory / LOG
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        events: list[dict[str, Any]] = []
        position = 0
        for number, line in enumerate(content[:whole].splitlines(keepends=True), start=1):
            event = parse_event(line)
            if event is None:
                if position + len(line) < whole:
                    raise UsageError(f"{path}: line {number} is damaged; the run cannot go on")
                break
            events.append(event)
            position += len(line)
        if position < len(content):
            assert self._file is not None
            os.ftruncate(self._file, position)
        return events

    def _check_identity(self, events: list[dict[str, Any]]) -> None:
        if not events or events[0]["event"] != "start":
            raise UsageError(f"{self.directory / LOG} does not begin with the start of a run")
        for key, meaning in _MEANING.items():
            there, here = events[0].get(key), self._identity.get(key)
            if there != here:
                raise UsageError(
                    f"--resume {self.directory}: that run is {meaning} ({there!s:.60}, now {here!s:.60}); "
                    "start a new one with --run-dir"
                )

    def _replay(self, events: list[dict[str, Any]]) -> Past:
        rounds: list[RoundResult] = []
        parent: str | None = None
        answers: list[tuple[Proposal, CandidateResult | None]] = []
        codes: dict[str, str] = {}
        for event in events:
            match event["event"]:
                case "round":
                    if parent is None:
                        answers = []
                    parent = str(event["parent"])
                case "answer":
                    code = None if event["code"] is None else load_text(self.directory, event["code"])
                    if code is not None:
                        codes[event["code"]] = code
                    answers.append((load_proposal(event, code), None))
                case "judged":
                    slot = range(len(answers))[event["slot"]]
                    answers[slot] = (answers[slot][0], load_result(event["result"]))
                case "round-end":
                    results = tuple(result for _, result in answers if result is not None)
                    if parent is None or len(results) != len(answers):
                        raise ValueError("a round ends that was not begun, or before all was judged")
                    rounds.append(
                        RoundResult(
                            round=event["round"], parent=parent, candidates=results, best=event["best"]
                        )
                    )
                    parent, answers = None, []
        return Past(rounds=tuple(rounds), pending_parent=parent, pending=tuple(answers), codes=codes)

    def _store(self, text: str) -> None:
        path = self.directory / "objects" / digest(text)
        if not path.exists():
            write_whole(path, text)


def read_header(directory: Path) -> tuple[dict[str, Any], str]:
    """What a run says of itself at its start, and the text of its start.

    Raises:
        UsageError: there is no run, or its beginning is damaged.
    """
    path = directory / LOG
    try:
        with path.open("rb") as file:
            header = parse_event(file.readline())
    except OSError as error:
        raise UsageError(f"--resume {directory}: {LOG}: {error.strerror}") from None
    if header is None or header["event"] != "start" or not isinstance(header.get("start"), str):
        raise UsageError(f"{path} does not begin with the start of a run")
    if header.get("schema") != SCHEMA:
        raise UsageError(
            f"--resume {directory}: that run is {_MEANING['schema']} ({header.get('schema')!s:.60})"
        )
    return header, load_text(directory, header["start"])
