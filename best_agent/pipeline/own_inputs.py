"""Which inputs a function of the user's own is measured on, and which are only compared."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.workload import recording, scaling, sources
from best_agent.workload.interpreter import Interpreter
from best_agent.workload.layout import place, project_of
from best_agent.workload.process import RequestRefusedError, WorkerDiedError, WorkerTimeoutError
from best_agent.workload.sides import Side
from best_agent.workload.subject import InputSource, Recorded, Subject

DEFAULT_SIZES = (1_000, 10_000, 100_000)
_TRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user asked for."""

    workload: str | None = None
    """`FILE[::FUNCTION]`."""
    call: str | None = None
    from_tests: bool = False
    tests: tuple[Path, ...] = ()
    """Tests that are run; none: those that reach the function."""
    sizes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is measured, and what is compared beside it."""

    source: InputSource
    sizes: tuple[int, ...]
    compared: tuple[InputSource, ...] = ()
    """Inputs as recorded, whose results are compared and which are not measured."""
    notes: tuple[str, ...] = ()


def named(wanted: Wanted, side: Side, names: tuple[str, ...]) -> InputSource | None:
    """The source that can be told before anything is loaded; None where tests are to be recorded.

    Raises:
        UsageError: ways are mixed, or there is no workload for the function.
    """
    if wanted.from_tests or wanted.tests:
        if wanted.workload or wanted.call:
            raise UsageError("--from-tests records inputs; it cannot be mixed with --workload or --call")
        return None
    return sources.choose(side, workload=wanted.workload, call=wanted.call, names=names)


def settled(wanted: Wanted, source: InputSource, sizes: tuple[int, ...] | None) -> Inputs:
    """Inputs from a workload or a call; sizes by the command line, the workload, or our own choice."""
    if wanted.sizes is not None:
        chosen = wanted.sizes
    elif sizes is not None:
        chosen = sizes
    elif source.call is not None and "{n}" not in source.call:
        chosen = (1,)
    else:
        chosen = DEFAULT_SIZES
    return Inputs(source=source, sizes=chosen)


def record(
    wanted: Wanted, side: Side, python: Interpreter, folder: Path, progress: Callable[[str], None]
) -> recording.Recording:
    """Run the user's tests in their own tree and keep the arguments of the function's calls.

    Raises:
        UsageError: no test reaches the function, or the tests cannot be run.
    """
    assert side.file is not None
    tree = side.work_tree or side.tree
    file = tree / side.file.relative_to(side.tree)
    if not file.is_file():
        raise UsageError(f"--from-tests runs the tests of the work tree, which has no {file.name}")
    progress("recording inputs from the tests")
    where = place(file, tree)
    request = recording.Request(
        python=python.path,
        tree=project_of(file, tree),
        file=file,
        module=where.module or "",
        name=side.target.name,
        roots=where.roots,
    )
    return recording.record(request, folder, tuple(path.absolute() for path in wanted.tests))


def chosen(wanted: Wanted, recorded: recording.Recording, baseline: Subject, seed: int) -> Inputs:
    """Try recorded calls on the baseline and choose what is measured.

    Raises:
        UsageError: none of them runs outside of its test.
    """

    def source(index: int, mode: str, label: str = "recorded") -> InputSource:
        return InputSource(label=label, recorded=Recorded(file=recorded.path, index=index, mode=mode))

    def attempt(index: int, mode: str, size: int) -> scaling.Attempt:
        try:
            baseline.use(source(index, mode))
            seen = baseline.observe(size, seed, seconds=_TRY_SECONDS)
        except (WorkerDiedError, WorkerTimeoutError) as error:
            baseline.revive()
            return scaling.Attempt(raised=str(error))
        except RequestRefusedError as error:
            return scaling.Attempt(raised=str(error))
        return scaling.Attempt(raised=seen["shown"] if seen["raised"] else None, cpu_ns=seen["cpu_ns"])

    choice = scaling.choose(recorded.calls, attempt, wanted.sizes or ())
    files = ", ".join(path.name for path in recorded.tests[:3])
    label = f"{choice.measured.label} from {files}"
    left_out = [f"a recorded call was left out: {reason}" for _, reason in choice.left_out[:2]]
    return Inputs(
        source=source(choice.measured.index, choice.measured.mode, label),
        sizes=choice.measured.sizes,
        compared=tuple(source(index, "recorded") for index in choice.compared),
        notes=(*recorded.notes, *left_out),
    )
