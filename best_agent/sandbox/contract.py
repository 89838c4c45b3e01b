"""What the sandbox takes and gives. Languages build `Program`s; everybody runs them in a `Session`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from best_agent.model.run import Isolation, Limits, Run
from best_agent.model.task import Mode

FD_EVENT = 3
"""Target to supervisor: one byte at a time, `R` ready, `D` done."""
FD_GO = 4
"""Supervisor to target: one byte lets it go on."""
FD_ANSWER = 5
"""Target to supervisor: the encoded result, in function mode; standard output carries it elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Something that can be run, made by a language's build step.

    `python_source` given: function mode in a process cloned from a warmed Python; `argv` is unused.
    Otherwise `argv` is executed anew for each case.
    """

    language: str
    mode: Mode
    argv: tuple[str, ...] = ()
    """Command as seen inside. Files of `readable` keep their host paths there."""
    readable: tuple[Path, ...] = ()
    """Host files and folders the target may read and execute, beside the system's own."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Whole environment of the target beside PATH, LANG and HOME that the sandbox sets."""
    python_source: str | None = None
    entry: str = "solve"
    handshakes: int = 0
    """Ready/go/done rounds the target makes: 0 in program mode; 1: the measured call; 2: an empty
    round first, whose faults and CPU are the baseline that is subtracted from the second."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files laid into the scratch directory, the working directory of the target, before it starts."""
    collect: tuple[str, ...] = ()
    """Names of regular files in the scratch directory to hand back as `Run.collected` (compilers)."""
    address_space: bool = True
    """False, in program mode: the runtime reserves far more addresses than it uses, so that only the
    resident memory of the process tree is bounded."""
    memory_pass: bool = False
    """True: peak memory needs a run of its own (`traced=True`), whose time does not count."""


class Session(Protocol):
    """A program held ready in one sandbox. Each run gets a fresh process and fresh channels."""

    @property
    def isolation(self) -> Isolation:
        """The isolation that is in force."""
        ...

    def run(self, stdin: bytes, limits: Limits, *, traced: bool = False) -> Run:
        """Run once. `stdin` is the encoded input: standard input, or the arguments in function mode.

        A program's failure is a `Run` with its status.

        Raises:
            MeasureError: the harness failed; says nothing about the program.
        """
        ...

    def close(self) -> None:
        """End whatever lives in the sandbox. Can be called twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
