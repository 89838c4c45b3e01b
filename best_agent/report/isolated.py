"""The JSON of `run` without a task; docs/json.md writes it out."""

from typing import Any

from best_agent.model.run import Run


def results(run: Run) -> dict[str, Any]:
    """The `results` of the envelope; output that is not UTF-8 is shown with replacement characters."""
    return {
        "status": run.status,
        "detail": run.detail,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "cpu_ns": run.cpu_ns,
        "wall_ns": run.wall_ns,
        "peak_bytes": run.peak_bytes,
        "stdout": standard_output(run).decode("utf-8", "replace"),
        "stderr": run.stderr.decode("utf-8", "replace"),
        "flags": list(run.flags),
    }


def standard_output(run: Run) -> bytes:
    """What the program printed: the answer of program mode is its standard output."""
    return run.answer if run.answer is not None else run.stdout
