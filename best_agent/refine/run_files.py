"""Files of a run directory: texts by their hash, events by the line, everything written whole."""

import json
import os
import re
from pathlib import Path
from typing import Any

from best_agent.errors import UsageError
from best_agent.refine.archive import digest


def load_text(directory: Path, name: str) -> str:
    """The text that a log names by its hash.

    Raises:
        UsageError: it is missing or damaged, or the name is none.
    """
    path = directory / "objects" / name
    if not re.fullmatch("[0-9a-f]{64}", name):
        raise UsageError(f"{directory / 'run.jsonl'} is damaged: {name!r:.80} names no text")
    try:
        text = path.read_bytes().decode("utf-8", errors="surrogatepass")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); the run cannot go on without it") from None
    if digest(text) != name:
        raise UsageError(f"{path} is damaged: its content does not have this hash")
    return text


def parse_event(line: bytes) -> dict[str, Any] | None:
    """The event of a line, or None: the line is damaged."""
    try:
        event = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "event" in event else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no figure")


def write_whole(path: Path, text: str) -> None:
    """Write through a neighbouring file, so that a kill leaves the old one or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", errors="surrogatepass"))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
