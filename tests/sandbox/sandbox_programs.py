"""Programs, limits and eyes on the host, for the tests of the sandbox."""

import marshal
from pathlib import Path

import pytest

from best_agent.model.run import Isolation, Limits, Run
from best_agent.model.task import Mode
from best_agent.sandbox import layout, probe
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session

HOSTILE = Path(__file__).parents[3] / "shared" / "data" / "hostile"
SECOND = 1_000_000_000
MIB = 1 << 20
LIMITS = Limits(cpu_ns=4 * SECOND, wall_ns=8 * SECOND, memory_bytes=256 * MIB, output_bytes=1 * MIB)


def available(level: Isolation) -> Isolation:
    found = probe.probe(level)
    if not found.works:
        pytest.skip(f"{level.value}: {found.reason}")
    return level


def hostile(name: str) -> str:
    path = HOSTILE / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path.read_text()


def script(source: str, *arguments: str, **settings) -> Program:
    """A Python file run anew, as in program mode."""
    return Program(
        language="python",
        mode=Mode.PROGRAM,
        argv=(layout.interpreter(), "-S", "prog.py", *arguments),
        files={"prog.py": source.encode()},
        **settings,
    )


def function(source: str, entry: str = "solve") -> Program:
    return Program(
        language="python",
        mode=Mode.FUNCTION,
        python_source=source,
        entry=entry,
        handshakes=2,
        memory_pass=True,
    )


def call(
    source: str,
    *arguments: object,
    isolation: Isolation,
    limits: Limits = LIMITS,
    traced: bool = False,
    entry: str = "solve",
) -> Run:
    with open_session(function(source, entry), isolation) as session:
        return session.run(marshal.dumps(arguments, 4), limits, traced=traced)


def run_script(source: str, isolation: Isolation, limits: Limits = LIMITS, **settings) -> Run:
    with open_session(script(source, **settings), isolation) as session:
        return session.run(b"", limits)


def alive_with(word: str) -> list[int]:
    """Processes of the host that have a word on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
