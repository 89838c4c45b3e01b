"""The programs of a trial: built once, their sessions held open while they are in use, run one at a time."""

from dataclasses import replace

from best_agent.languages.contract import BuildFailure
from best_agent.model.run import Isolation, Limits, Run
from best_agent.model.task import Case, Source, Task
from best_agent.pipeline.contestant import Contestant, build, encoded_input
from best_agent.pipeline.judging import effective_status
from best_agent.pipeline.protocol import Protocol
from best_agent.units import MIB

ProgramKey = tuple[str, str, str]
_OPEN_SESSIONS = 12
"""Sessions held open at once; the one used least recently goes first."""
_TRACED_FACTOR = 20
"""A traced run is slower by up to this."""


def program_key(source: Source) -> ProgramKey:
    """Sources that differ in name only are one program."""
    return source.language, source.entry, source.text


class Roster:
    """Gives the contestant of a source and the input of a case, each made once, and runs them.

    `cpu_limit_ns` is what the sandbox stops a run at, well beyond the task's own limits.
    """

    def __init__(
        self, task: Task, language: str, protocol: Protocol, isolation: Isolation, *, cpu_limit_ns: int
    ) -> None:
        self._task = task
        self._language = language
        self._protocol = protocol
        self._isolation = isolation
        self._cpu_limit_ns = cpu_limit_ns
        self._caps: dict[str, int] = {}
        self._contestants: dict[ProgramKey, Contestant | BuildFailure] = {}
        self._inputs: dict[str, bytes] = {}

    def contestant(self, source: Source) -> Contestant | BuildFailure:
        """The source, built and ready, or why it does not build.

        Raises:
            UsageError: the language's tools are missing.
            MeasureError: the sandbox failed.
        """
        key = program_key(source)
        contestant = self._contestants.pop(key, None) or self._build(source)
        self._contestants[key] = contestant
        self._close_the_stalest()
        return contestant

    def _build(self, source: Source) -> Contestant | BuildFailure:
        program = build(self._task, source, self._protocol, self._isolation)
        if isinstance(program, BuildFailure):
            return program
        return Contestant(source, program, self._isolation)

    def input(self, case: Case) -> bytes:
        """The case encoded for the roster's language.

        Raises:
            TaskError: an argument does not fit the task's signature.
        """
        if case.id not in self._inputs:
            self._inputs[case.id] = encoded_input(self._task, case, self._language)
        return self._inputs[case.id]

    def cap(self, case: Case, cpu_ns: int) -> None:
        """Stop runs of a case earlier than the general bound: beyond it no figure is of use."""
        self._caps[case.id] = min(cpu_ns, self._cpu_limit_ns)

    def timed(self, contestant: Contestant, case: Case) -> Run:
        """One run for the clock, its status as the protocol sees it.

        Raises:
            MeasureError: the harness failed.
        """
        run = contestant.timed(self.input(case), self.limits(case, traced=False))
        status = effective_status(run, ignore_exit_status=self._protocol.ignore_exit_status)
        return replace(run, status=status)

    def limits(self, case: Case, *, traced: bool) -> Limits:
        """The sandbox's bounds for a run of a case."""
        cpu_ns = self._caps.get(case.id, self._cpu_limit_ns) * (_TRACED_FACTOR if traced else 1)
        loosest = max(self._task.limits[self._language].memory_bytes[case.scale - 1])
        return Limits(cpu_ns=cpu_ns, wall_ns=cpu_ns * 3, memory_bytes=max(512 * MIB, loosest * 4))

    def close(self) -> None:
        """End every session."""
        for contestant in self._contestants.values():
            if isinstance(contestant, Contestant):
                contestant.close()
        self._contestants.clear()

    def _close_the_stalest(self) -> None:
        held = [key for key, value in self._contestants.items() if isinstance(value, Contestant)]
        for key in held[:-_OPEN_SESSIONS]:
            stale = self._contestants.pop(key)
            assert isinstance(stale, Contestant)
            stale.close()
