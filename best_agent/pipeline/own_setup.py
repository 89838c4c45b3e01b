"""What `measure` and `compare` share: the request, the interpreter, the inputs, and proved workers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.model.run import Meter
from best_agent.pipeline import own_inputs
from best_agent.pipeline.own_inputs import Inputs, Wanted
from best_agent.workload import interpreter, paired, rounds, sides
from best_agent.workload.figures import Conditions, SideReport
from best_agent.workload.layout import project_of
from best_agent.workload.process import RequestRefusedError
from best_agent.workload.recording import Recording
from best_agent.workload.sides import Side
from best_agent.workload.subject import InputSource, Origin, Subject


def _quiet(_: str) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for, beside the targets."""

    inputs: Wanted = field(default_factory=Wanted)
    python: Path | None = None
    seed: int = 1
    time_limit: float = 60.0
    """Seconds that one call may take."""
    budget: rounds.Budget = field(default_factory=rounds.Budget)
    progress: Callable[[str], None] = _quiet


class AbsentError(Exception):
    """The file before has no such function."""


class UnprovedError(Exception):
    """A side was not imported from where it should be; the text says from where."""

    def __init__(self, why: str, origins: Sequence[Origin]) -> None:
        super().__init__(why)
        self.origins = tuple(origins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What both sides share."""

    after: Side
    request: Request
    python: interpreter.Interpreter
    source: InputSource | None
    """None: calls recorded from tests, of which one is chosen later."""
    recording: Recording | None

    @classmethod
    def of(cls, after: Side, request: Request, folder: Path, names: tuple[str, ...] = ()) -> "Setup":
        """The set-up for a side; `folder` is for recordings, `names` are of the two sides' functions.

        Raises:
            UsageError: no interpreter or no inputs can be had.
        """
        assert after.file is not None
        tree = after.work_tree or after.tree
        project = project_of(tree / after.file.relative_to(after.tree), tree)
        python = interpreter.find(project if project.is_dir() else tree, request.python)
        source = own_inputs.named(request.inputs, after, names)
        recording = None
        if source is None:
            recording = own_inputs.record(request.inputs, after, python, folder, request.progress)
        return cls(after=after, request=request, python=python, source=source, recording=recording)

    @property
    def label(self) -> str:
        """The inputs in words, as far as they are known."""
        return self.source.label if self.source else "recorded from tests"

    def subject(self, side: Side) -> Subject:
        """A side under measurement, not yet started."""
        return Subject(side, self.python, self.request.time_limit)

    def inputs(self, baseline: Subject) -> Inputs:
        """What is measured; `baseline` is open."""
        if self.source is not None:
            return own_inputs.settled(self.request.inputs, self.source, baseline.use(self.source))
        assert self.recording is not None
        return own_inputs.chosen(self.request.inputs, self.recording, baseline, self.request.seed)

    def opening(
        self, both: Sequence[tuple[Side, str | None]], inputs: Inputs, core: int | None
    ) -> rounds.Opening:
        """Fresh workers for a round, each proved when it is opened and when its work is done.

        Given are the sides and the kinds of their functions.
        """
        sides_only = [side for side, _ in both]

        @contextmanager
        def workers() -> Iterator[tuple[Subject, ...]]:
            with ExitStack() as stack:
                subjects = tuple(stack.enter_context(self.subject(side)) for side in sides_only)
                for subject in subjects:
                    subject.start()
                prove([subject.open(inputs.source) for subject in subjects], sides_only)
                for subject, (_, kind) in zip(subjects, both, strict=True):
                    subject.use(inputs.source, kind)
                    if core is not None:
                        subject.pin(core)
                yield subjects
                prove([subject.origin() for subject in subjects], sides_only)

        return workers

    def conditions(self, origins: Sequence[Origin], label: str, notes: Sequence[str] = ()) -> Conditions:
        """How it was measured, for the reader."""
        unseen = sorted({name for origin in origins for name in origin.unseen})
        said = [f"{name} allocates where tracemalloc does not look: memory is estimated" for name in unseen]
        return Conditions(
            inputs=label,
            python=".".join(map(str, self.python.version)),
            interpreter=str(self.python.path),
            found_by=self.python.found_by,
            notes=(*notes, *said),
            memory_meter=memory_meter(origins),
        )


def opened(subject: Subject, source: InputSource | None, name: str, *, may_lack: bool = False) -> Origin:
    """Import the target of a side.

    Raises:
        UsageError: it does not load, or has no such function.
        AbsentError: it has no such function, and `may_lack`.
    """
    try:
        return subject.open(source)
    except RequestRefusedError as refused:
        if may_lack and refused.kind == "absent":
            raise AbsentError(f"{subject.side.label} has no '{subject.side.target.name}'") from None
        raise UsageError(f"{name} ({subject.side.label}): {refused}") from None


def prove(origins: Sequence[Origin], both: Sequence[Side]) -> None:
    """That every side is the code the user meant, and that two sides are not one file."""
    for origin, side in zip(origins, both, strict=True):
        if origin.strangers:
            raise UnprovedError(_stranger(side, origin), origins)
    if len(both) > 1 and origins[0].file == origins[1].file and not sides.same_state(both[0], both[1]):
        raise UnprovedError(f"not measured: both sides are the file {origins[0].file}", origins)


def _stranger(side: Side, origin: Origin) -> str:
    name, path = origin.strangers[0]
    more = f" (and {len(origin.strangers) - 1} more)" if len(origin.strangers) > 1 else ""
    where = f"{name} was imported from {path}{more}"
    return f"not measured: for {side.label}, {where}, outside of its tree {side.tree}"


def core_for(*, parallel: bool) -> tuple[int | None, list[str]]:
    """The core both workers share, unless the function uses several; what a reader should know of it."""
    if parallel:
        return None, ["the function uses several cores: not kept on one, CPU time is the sum over them"]
    return paired.a_core(), []


def memory_meter(origins: Sequence[Origin]) -> Meter:
    """Estimated where a loaded package allocates out of tracemalloc's sight."""
    return Meter.ESTIMATED if any(origin.unseen for origin in origins) else Meter.EXACT


def side_report(side: Side, origin: Origin) -> SideReport:
    """Where a side's code came from, for the reader."""
    return SideReport(
        label=side.label,
        target=str(side.target),
        file=origin.file,
        modules=origin.modules,
        shared=side.shared,
    )
