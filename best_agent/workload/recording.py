"""Inputs recorded from the user's own tests: runs those that reach a function and keeps its arguments.

The tests run in the user's interpreter, in the user's tree, as `pytest` would run them; see
worker/recorder.py. What comes back is a file that only that interpreter's worker reads; here only its
index is read.

The way through: `record` the calls; let `scaling.choose` try them on the baseline's worker, which builds
arguments by `worker.recorded.builder(path, index, mode)`; measure what was chosen at its sizes, and compare
the results of the other calls as recorded. Own code: the recording is trusted as far as the tests are.
"""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from best_agent.errors import UsageError
from best_agent.units import MIB
from best_agent.workload import reaching

MOST_CALLS = 64
MOST_BYTES = 32 * MIB
_KEEPING_SECONDS = 20.0
"""Time that pickling arguments may take in all."""
_GRACE_SECONDS = 10.0
_OTHER_WAYS = "name the tests with --tests PATH, or give the input with --call or a workload file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The function whose calls are recorded, and what its tests are run by."""

    python: Path
    tree: Path
    """Root of the user's project: the tests are looked for here and run from here."""
    file: Path
    module: str
    """Dotted name of the file as an import says it; empty where it is in no package."""
    name: str
    """`function` or `Class.method`."""
    roots: tuple[Path, ...] = ()
    """Folders that imports start from, for projects that are not installed; asked last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call with arguments unlike those of every other."""

    index: int
    test: str
    """The test that made it."""
    size: int | None
    """Length of what can grow in its arguments; None where nothing can."""
    text: bool = False
    """What can grow is a text, not a list or another collection."""
    pickled_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What the tests gave."""

    path: Path
    """For the worker: `recorded.builder(path, index, mode)`."""
    calls: tuple[RecordedCall, ...]
    tests: tuple[Path, ...]
    """The files that were run."""
    runner: str
    ran: int
    failed: int
    made: int
    """Calls seen, kept or not."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Why calls were not kept, with their number."""
    notes: tuple[str, ...] = ()
    """What a reader should know, one line each."""


def record(
    request: Request, folder: Path, tests: tuple[Path, ...] = (), *, seconds: float = 120.0
) -> Recording:
    """Run the tests that reach the function and keep the arguments of its calls in `folder`.

    Without `tests`, the files that name the function are run; where they make no call of it, those that
    import its module.

    Raises:
        UsageError: no test reaches the function, a path is missing, the tests cannot be run or fail
            before they reach it, its calls cannot be caught or kept. The message says which, and what
            else can be done.
    """
    missing = [path for path in tests if not path.exists()]
    if missing:
        raise UsageError(f"--tests {missing[0]}: there is no such file or folder")
    tiers = (_files(tests),) if tests else reaching.tiers(request.tree, request.file, request.name)
    if not tiers:
        raise UsageError(
            f"no test in {request.tree} names {request.name} or imports {request.file.name}; {_OTHER_WAYS}"
        )
    deadline_seconds = seconds / len(tiers)
    for tier in tiers[:-1]:
        summary = _run(request, folder, tier, deadline_seconds)
        if summary["kept"]:
            return _recording(request, folder, tier, summary)
    summary = _run(request, folder, tiers[-1], deadline_seconds)
    if not summary["kept"]:
        raise UsageError(_nothing_kept(request, summary, sum(map(len, tiers))))
    return _recording(request, folder, tiers[-1], summary)


def _files(tests: tuple[Path, ...]) -> tuple[Path, ...]:
    """The test files that paths stand for; a file is taken whatever its name is."""
    files: list[Path] = []
    for path in tests:
        inside = [found for found in reaching.python_files(path) if reaching.is_test(found)]
        if path.is_dir() and not inside:
            raise UsageError(f"--tests {path}: there is no test file in it")
        files += inside if path.is_dir() else [path]
    return tuple(dict.fromkeys(files))


def _run(request: Request, folder: Path, tests: tuple[Path, ...], seconds: float) -> dict[str, Any]:
    """The recorder's summary; one made of what it left where it was ended."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = {
        "file": str(request.file),
        "module": request.module,
        "qualname": request.name,
        "tree": str(request.tree),
        "roots": [str(root) for root in request.roots],
        "tests": [str(path.absolute()) for path in tests],
        "out": str(folder / "calls"),
        "summary": str(folder / "summary.json"),
        "scratch": str(folder / "cache"),
        "seconds": seconds,
        "max_calls": MOST_CALLS,
        "max_bytes": MOST_BYTES,
        "max_keeping_seconds": _KEEPING_SECONDS,
    }
    (folder / "summary.json").unlink(missing_ok=True)
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    ended, output = _in_time(request, folder / "spec.json", seconds + _GRACE_SECONDS)
    try:
        summary: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = len(_index(folder / "calls"))
        nothing: dict[str, Any] = {"ran": 0, "failed": 0, "failure": "", "skipped": {}, "problem": None}
        summary = {**nothing, "runner": "", "code": None, "calls": kept, "kept": kept, "where": None}
        summary["stopped"] = not ended
    summary["output"] = output
    return summary


def _in_time(request: Request, spec: Path, seconds: float) -> tuple[bool, str]:
    """Whether the recorder came to its end in time, and the end of what it and the tests printed."""
    program = Path(__file__).parents[1] / "worker" / "recorder.py"
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [str(request.python), str(program), str(spec)],
            cwd=request.tree,
            env=_environ(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        finally:
            _end(process)
        printed.seek(max(0, printed.seek(0, os.SEEK_END) - 4096))
        return ended, printed.read().decode(errors="replace").strip()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the recorder and, where the system has groups of processes, what its tests have left behind."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's environment without what would make the tests write into the tree or act on git."""
    dropped = ("GIT_", "COVERAGE_", "COV_CORE_", "PYTEST_CURRENT_TEST", "PYTEST_XDIST")
    kept = {key: value for key, value in environ.items() if not key.startswith(dropped)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _index(path: Path) -> tuple[RecordedCall, ...]:
    """The calls of a recording; one that was cut short at its end loses its last call."""
    found: list[RecordedCall] = []
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            stream.readline()
            while line := stream.readline():
                entry = json.loads(line)
                if stream.seek(entry["length"], os.SEEK_CUR) > size:
                    break
                found.append(
                    RecordedCall(
                        index=len(found),
                        test=entry["test"],
                        size=entry["size"],
                        text=entry["text"],
                        pickled_bytes=entry["length"],
                    )
                )
    except (OSError, ValueError):
        pass
    return tuple(found)


def _recording(
    request: Request, folder: Path, tests: tuple[Path, ...], summary: Mapping[str, Any]
) -> Recording:
    notes = []
    if summary["stopped"]:
        notes.append("the tests were stopped when their time was over; the calls up to then were kept")
    if summary["failed"]:
        notes.append(f"{summary['failed']} tests failed, the first: {summary['failure']}")
    where = summary["where"]
    if where is not None and os.path.realpath(where) != os.path.realpath(request.file):
        notes.append(f"the tests call the function of {where}, not of {request.file}; only inputs are taken")
    path = folder / "calls"
    return Recording(
        path=path,
        calls=_index(path),
        tests=tests,
        runner=summary["runner"],
        ran=summary["ran"],
        failed=summary["failed"],
        made=summary["calls"],
        skipped=summary["skipped"],
        notes=tuple(notes),
    )


def _nothing_kept(request: Request, summary: Mapping[str, Any], files: int) -> str:
    """Why the tests gave no call, the cause that the user can do something about first."""
    name = request.name
    if summary["code"] is None and summary["stopped"]:
        return f"the tests did not call {name} before their time was over; {_OTHER_WAYS}"
    if summary["code"] is None:
        return f"the tests could not be run by {request.python}: {_telling(summary['output'])}"
    if summary["problem"]:
        return f"calls cannot be recorded: {summary['problem']}; {_OTHER_WAYS}"
    if summary["calls"]:
        reasons = {**summary["skipped"], **({"it raised": summary["raised"]} if summary["raised"] else {})}
        most = max(reasons, key=lambda reason: reasons[reason], default="")
        return f"{summary['calls']} calls of {name} were seen and none could be kept ({most}); {_OTHER_WAYS}"
    if summary["failed"]:
        return f"the tests fail before they reach {name}: {summary['failure']}"
    if summary["ran"] == 0:
        return _nothing_ran(request, summary, files)
    done = f"{summary['ran']} tests of {files} files ran"
    return f"no test reaches {name}: {done} and none called it; {_OTHER_WAYS}"


def _nothing_ran(request: Request, summary: Mapping[str, Any], files: int) -> str:
    if summary["runner"] == "unittest":
        have = f"pytest is not installed for {request.python} and unittest finds no test in the {files} files"
        return f"{have} that may reach {request.name}; install pytest there, or {_OTHER_WAYS}"
    why = _telling(summary["output"])
    return f"{summary['runner']} ran none of the {files} files that may reach {request.name}: {why}"


def _telling(output: str) -> str:
    """The line of an output that says what went wrong: the last that speaks of an error, or the last."""
    lines = output.splitlines() or ["it printed nothing"]
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1]).strip()[:200]
