"""What a language must offer. A module satisfies the protocol; `languages.LANGUAGES` lists them."""

from dataclasses import dataclass
from typing import Protocol

from best_agent.model.run import Isolation
from best_agent.model.task import Mode, Signature, Source
from best_agent.sandbox.contract import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is to be made runnable."""

    source: Source
    mode: Mode
    signature: Signature | None = None
    """Needed in function mode by statically typed languages."""
    driver: str | None = None
    """Driver mode: the task's main program."""
    optimisation: str = "-O2"
    """Compiler level, where there is a compiler."""
    normalise_memory: bool = True
    """False: leave allocator and stack as the public harness does (protocol best-2026)."""
    memory_bytes: int = 1 << 30
    """What a run may use: runtimes with a collector are told how far their heap may grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailure:
    """The candidate does not build: its compiler's message, bounded, or a syntax error."""

    message: str


class Language(Protocol):
    """A language module."""

    NAME: str
    SUFFIXES: tuple[str, ...]

    def missing_tool(self) -> str | None:
        """One clear line naming the tool that is missing and how to get it, or None."""
        ...

    def build(self, request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
        """A runnable program, or why the source does not become one.

        Compiling untrusted code happens inside the sandbox; results are cached by content hash.

        Raises:
            UsageError: the compiler is missing or the request cannot be met in this language.
            MeasureError: the sandbox failed.
        """
        ...

    def encode_arguments(self, arguments: tuple[object, ...], signature: Signature | None) -> bytes:
        """The input of a function-mode run, as this language's driver reads it.

        Raises:
            TaskError: a value does not fit the signature.
        """
        ...
