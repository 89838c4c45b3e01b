"""Writes docs/cli.md: what `best-agent --help` and every verb's `--help` say.

    python docs/build_cli.py

A test compares the page with the live output.
"""

import os
import subprocess
import sys
from pathlib import Path

from best_agent.cli.main import VERBS

PAGE = Path(__file__).with_name("cli.md")
_SUBVERBS = {"tasks": ("list", "show")}
_COLUMNS = "100"
_HEAD = """\
# The command line

What `best-agent --help` and each verb's `--help` say, written by `docs/build_cli.py` (CPython 3.11).
The JSON that `--format json` writes is in [json.md](json.md).
"""


def page() -> str:
    """The text of docs/cli.md, from the live output."""
    parts = [_HEAD, _section("best-agent")]
    for verb in VERBS:
        parts.append(_section("best-agent", verb.name))
        parts += [_section("best-agent", verb.name, sub) for sub in _SUBVERBS.get(verb.name, ())]
    return "\n".join(parts)


def _section(*command: str) -> str:
    return f"## `{' '.join(command)}`\n\n```text\n{_help(*command[1:])}\n```\n"


def _help(*verb: str) -> str:
    """The help text; the width is fixed, so that the page is the same on every terminal."""
    environment = {**os.environ, "COLUMNS": _COLUMNS, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "best_agent", *verb, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
