"""Which inputs a comparison takes: what the user named, else the workload that is for the target."""

import os
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.workload import discovery
from best_agent.workload.sides import Side
from best_agent.workload.subject import InputSource


def choose(side: Side, *, workload: str | None, call: str | None, names: tuple[str, ...] = ()) -> InputSource:
    """The source of inputs for the function of a side.

    Args:
        side: the side whose target's path in the user's tree decides which workload is for it.
        workload: `FILE` or `FILE::FUNCTION` as the user wrote it.
        call: a call written out.
        names: what the function is called on the two sides.

    Raises:
        UsageError: both are given; the file is missing or has no fitting workload; or none is found.
    """
    if workload is not None and call is not None:
        raise UsageError("--workload and --call both give inputs; use one of them")
    if call is not None:
        return InputSource(label=f'--call "{call}"', call=call, names=names)
    if workload is not None:
        return _named(workload, side)
    assert side.file is not None
    tree = side.work_tree or side.tree
    found = discovery.find(tree / side.file.relative_to(side.tree), side.target.name, tree)
    if found is None:
        raise UsageError(_nothing(side))
    return _source(found.file, found.function)


def _named(workload: str, side: Side) -> InputSource:
    name, _, function = workload.partition("::")
    file = Path(os.path.abspath(name))
    if not file.is_file():
        raise UsageError(f"--workload {name}: there is no such file")
    try:
        declared = discovery.declared(file.read_bytes())
    except OSError as error:
        raise UsageError(f"--workload {name}: {error.strerror}") from None
    if function:
        if function not in [one for one, _ in declared]:
            raise UsageError(f"--workload: {name} has no function '{function}' decorated with @workload(...)")
        return _source(file, function)
    assert side.file is not None
    tree = side.work_tree or side.tree
    target = tree / side.file.relative_to(side.tree)
    fitting = [
        one
        for one, wanted in declared
        if wanted is None or discovery.is_for(wanted, file, target, side.target.name, tree)
    ]
    if len(fitting) == 1 or len(declared) == 1:
        return _source(file, (fitting or [declared[0][0]])[0])
    if not declared:
        raise UsageError(
            f"--workload {name}: no function in it is decorated with @workload(...) from best_agent"
        )
    names = ", ".join(f"{name}::{one}" for one, _ in declared[:5])
    raise UsageError(f"--workload {name} holds several workloads; choose one: {names}")


def _source(file: Path, function: str) -> InputSource:
    shown = os.path.relpath(file)
    label = shown if not shown.startswith("..") else str(file)
    return InputSource(label=f"workload {label}::{function}", file=file, function=function)


def _nothing(side: Side) -> str:
    name = side.target.name
    short = name.rpartition(".")[2]
    return (
        f'no inputs for {name}: give a call, --call "{short}(list(range({{n}})))", or write bench_{short}.py '
        f'with @workload("{side.target.path}::{name}", sizes=(1_000, 10_000, 100_000)) over a function '
        "(n, seed) that returns the arguments as a tuple"
    )
