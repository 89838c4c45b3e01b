"""Runs a project's tests while the calls of one function are kept; a program by itself.

`python recorder.py SPEC.json` in the user's interpreter, where nothing of ours is installed. The calls go
to the file `out` (see catching.py), what became of the tests to the file `summary`, as JSON.
"""

# ruff: noqa: ANN401  (pytest is not here to be checked against)

import importlib
import importlib.util
import json
import os
import sys
import time
from typing import Any, Dict, Optional

_HERE = os.path.dirname(os.path.abspath(__file__))


def _beside(name: str) -> Any:
    """A module of this folder, under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location("_best_agent_" + name, os.path.join(_HERE, name + ".py"))
    assert spec is not None and spec.loader is not None  # noqa: PT018  (one fact: the file is there)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class PytestPlugin:
    """Counts tests, keeps the first failure, and ends the session when its time is over."""

    def __init__(self, recorder: Any, deadline: float) -> None:
        self.recorder = recorder
        self.deadline = deadline
        self.ran = self.failed = 0
        self.failure = ""
        self.stopped = False

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected is a failure like that of a test."""
        if report.failed:
            self._fail(report)

    def pytest_collection_finish(self) -> None:
        """By now all test modules and what they import are loaded."""
        self.recorder.look_at_all()

    def pytest_runtest_setup(self, item: Any) -> None:
        """Name the test, and end the session if it is time."""
        self.recorder.test = item.nodeid
        if time.monotonic() > self.deadline:
            self.stopped = True
            item.session.shouldstop = "time is over"
        elif not self.recorder.caught:
            self.recorder.look_at_all()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count what ran and what failed."""
        self.ran += report.when == "call"
        if report.failed:
            self._fail(report)

    def _fail(self, report: Any) -> None:
        self.failed += 1
        if not self.failure:
            text = str(report.longrepr).strip().splitlines() or [""]
            raised = [line[1:].strip() for line in text if line.startswith("E ")]
            self.failure = "%s: %s" % (report.nodeid, (raised or text[-1:])[0][:200])


def run_pytest(recorder: Any, spec: Dict[str, Any], deadline: float) -> Optional[Dict[str, Any]]:
    """Run the test files by pytest; None where it is not installed."""
    try:
        pytest: Any = importlib.import_module("pytest")
    except ImportError:
        return None
    # Last: in front, a package's sources would hide what was built and installed from them.
    sys.path.append(spec["tree"])
    plugin = PytestPlugin(recorder, deadline)
    arguments = ["-q", "-o", "cache_dir=" + spec["scratch"], "--rootdir", spec["tree"]]
    # Tests that run in other processes are out of our sight, and a report of coverage would be overwritten.
    arguments += ["-n", "0"] if importlib.util.find_spec("xdist") else []
    arguments += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
    sys.argv = ["pytest", *arguments, *spec["tests"]]
    code = pytest.main([*arguments, *spec["tests"]], plugins=[plugin])
    return {
        "runner": "pytest " + pytest.__version__,
        "code": int(code),
        "ran": plugin.ran,
        "failed": plugin.failed,
        "failure": plugin.failure,
        "stopped": plugin.stopped,
    }


def run_unittest(recorder: Any, spec: Dict[str, Any], deadline: float) -> Dict[str, Any]:
    """Run the test files by unittest, as `python -m unittest FILE...` does."""
    import unittest

    class Result(unittest.TextTestResult):
        """Names the test, and ends the run if it is time."""

        def startTest(self, test: Any) -> None:  # noqa: N802  (the name is unittest's)
            super().startTest(test)
            recorder.test = test.id()
            if not recorder.caught:
                recorder.look_at_all()
            if time.monotonic() > deadline:
                self.stop()

    sys.path.insert(0, spec["tree"])
    relative = [os.path.relpath(path, spec["tree"]) for path in spec["tests"]]
    sys.argv = ["unittest", *relative]
    runner: Any = unittest.TextTestRunner(resultclass=Result)  # type: ignore[arg-type]  # a class is a callable
    result: Any = unittest.main(module=None, argv=sys.argv, exit=False, testRunner=runner).result
    bad = [*result.errors, *result.failures]
    return {
        "runner": "unittest",
        "code": int(bool(bad)),
        "ran": result.testsRun,
        "failed": len(bad),
        "failure": "%s: %s" % (bad[0][0].id(), bad[0][1].strip().splitlines()[-1][:200]) if bad else "",
        "stopped": result.shouldStop,
    }


def main(path: str) -> None:
    """Run the tests that the specification names; write the calls and a summary."""
    with open(path, encoding="utf-8") as stream:
        spec = json.load(stream)
    catching = _beside("catching")
    catching.RECORDER = recorder = catching.Recorder(spec, _beside("recorded").describe)
    os.chdir(spec["tree"])
    sys.path.extend(spec["roots"])
    sys.setrecursionlimit(3 * sys.getrecursionlimit())  # a trampoline adds frames to each call
    recorder.watch_imports()
    deadline = time.monotonic() + spec["seconds"]
    summary = run_pytest(recorder, spec, deadline) or run_unittest(recorder, spec, deadline)
    for name in ("calls", "kept", "raised", "skipped", "where", "problem"):
        summary[name] = getattr(recorder, name)
    with open(spec["summary"], "w", encoding="utf-8") as stream:
        json.dump(summary, stream)


if __name__ == "__main__":
    # A program's own folder comes first on the path; the names in this one would hide those of others.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]
    main(sys.argv[1])
