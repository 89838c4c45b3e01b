"""A source made runnable on a task: built, held in a session, and fed with the task's cases."""

from types import TracebackType
from typing import Self

from best_agent import languages
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation, Limits, Run
from best_agent.model.task import Case, Mode, Source, Task
from best_agent.pipeline.protocol import Protocol
from best_agent.sandbox.contract import Program, Session
from best_agent.sandbox.launcher import open_session


def build(task: Task, source: Source, protocol: Protocol, isolation: Isolation) -> Program | BuildFailure:
    """The program of a source for a task, or why it does not build.

    Raises:
        UsageError: the compiler is missing.
        MeasureError: the sandbox failed.
    """
    request = BuildRequest(
        source=source,
        mode=task.mode,
        signature=task.signature,
        driver=task.driver,
        optimisation=protocol.optimisation,
        normalise_memory=protocol.normalise_memory,
    )
    return languages.get(source.language).build(request, isolation)


def encoded_input(task: Task, case: Case, language: str) -> bytes:
    """The case as the language's driver reads it.

    Raises:
        TaskError: an argument does not fit the signature.
    """
    if task.mode is Mode.FUNCTION:
        assert case.arguments is not None
        return languages.get(language).encode_arguments(case.arguments, task.signature)
    assert case.stdin is not None
    return case.stdin


class Contestant:
    """A built source with an open session; each run has a fresh process."""

    def __init__(self, source: Source, program: Program, isolation: Isolation) -> None:
        self.source = source
        self.program = program
        self._session: Session = open_session(program, isolation)
        self._peaks: dict[str, Run] = {}

    @property
    def isolation(self) -> Isolation:
        """The isolation that is in force."""
        return self._session.isolation

    def timed(self, stdin: bytes, limits: Limits) -> Run:
        """Run once for the clock.

        Raises:
            MeasureError: the harness failed.
        """
        return self._session.run(stdin, limits)

    def peak(self, case: Case, stdin: bytes, limits: Limits, timed: Run) -> Run:
        """A run that tells the peak of a case.

        It is the timed one, or, where memory needs a run of its own, a traced one made once for each case.

        Raises:
            MeasureError: the harness failed.
        """
        if not self.program.memory_pass:
            return timed
        if case.id not in self._peaks:
            self._peaks[case.id] = self._session.run(stdin, limits, traced=True)
        return self._peaks[case.id]

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
