"""The JSON envelope that every verb's result is written in; see docs/json.md."""

import json
import platform
import sys
from collections.abc import Mapping
from typing import Any

from best_agent import __version__
from best_agent.model.run import Meter


def environment() -> dict[str, Any]:
    """What a reader needs to know of the machine before comparing figures."""
    return {
        "tool": f"best-agent {__version__}",
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": cpu_model(),
    }


def cpu_model() -> str | None:
    """The processor's name as the kernel gives it, or None."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        return None
    return platform.processor() or None


def envelope(
    verb: str,
    *,
    results: Any,  # noqa: ANN401  (each verb's own contract, written out in docs/json.md)
    summary: Mapping[str, Any],
    isolation: str | None,
    meters: Mapping[str, str],
) -> dict[str, Any]:
    """The document `best-agent/<verb>/1`; a quantity that `meters` leaves out was not measured."""
    return {
        "schema": f"best-agent/{verb}/1",
        "environment": environment(),
        "isolation": isolation,
        "meters": {"time": Meter.UNAVAILABLE, "memory": Meter.UNAVAILABLE, **meters},
        "results": results,
        "summary": dict(summary),
    }


def to_json(payload: Mapping[str, Any]) -> str:
    """JSON text of an envelope; NaN and infinities are refused, they are never a result."""
    return json.dumps(payload, indent=2, allow_nan=False, ensure_ascii=False)
