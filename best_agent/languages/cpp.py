"""C++: functions and tasks' own main programs with the marks of the measured call, and plain programs."""

from best_agent.errors import TaskError, UsageError
from best_agent.languages import cpp_types
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.model.run import Isolation
from best_agent.model.task import Mode, Signature
from best_agent.sandbox.contract import Program

NAME = "cpp"
SUFFIXES: tuple[str, ...] = (".cpp", ".cc", ".cxx")

SOURCE_CHARACTERS = 512 << 10
"""Largest source that is looked at; what is looked at in this process takes seconds at most."""
OPTIMISATIONS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast")

# All of the heap in one piece that only grows: what is freed and used again is then one page, not two.
_TUNABLES = ":".join(
    f"glibc.malloc.{name}"
    for name in ("mmap_max=0", "mmap_threshold=4294967296", "trim_threshold=4294967296", "arena_max=1")
)
# Every name is looked up before the call, so that looking it up is no part of it.
_NORMALISED_LINKING = ("-Wl,-z,now",)
_ROUNDS = 3
"""Of the handshake: two empty ones, see resources/marks.cpp, and the measured call."""


def missing_tool() -> str | None:
    """One line saying which compiler to install, or None where one was found."""
    from best_agent.languages import cpp_toolchain

    return cpp_toolchain.missing_tool()


def build(request: BuildRequest, isolation: Isolation) -> Program | BuildFailure:
    """A compiled program from the cache, compiled inside the sandbox where it is new.

    Raises:
        UsageError: there is no compiler, or the request cannot be met.
        TaskError: the task's driver or signature is unusable.
        MeasureError: the sandbox failed.
    """
    from best_agent.languages import cpp_build, cpp_driver, cpp_toolchain

    if request.optimisation not in OPTIMISATIONS:
        raise UsageError(f"'{request.optimisation}' is no optimisation level; use {', '.join(OPTIMISATIONS)}")
    if len(request.source.text) > SOURCE_CHARACTERS:
        return BuildFailure(message=f"the source is larger than {SOURCE_CHARACTERS >> 10} KiB")
    compiler = cpp_toolchain.find_compiler()
    if compiler is None:
        raise UsageError(cpp_toolchain.MISSING)
    texts = cpp_driver.texts_for(request)
    if isinstance(texts, BuildFailure):
        return texts
    measured = request.mode is not Mode.PROGRAM
    normalised = measured and request.normalise_memory
    linking = _NORMALISED_LINKING if normalised else ()
    built = cpp_build.compile_texts(compiler, texts, request.optimisation, linking, isolation)
    if isinstance(built, BuildFailure):
        return built
    return Program(
        language=NAME,
        mode=request.mode,
        argv=(str(built),),
        readable=(built,),
        env={"GLIBC_TUNABLES": _TUNABLES} if normalised else {},
        entry=request.source.entry,
        handshakes=_ROUNDS if measured else 0,
    )


def encode_arguments(arguments: tuple[object, ...], signature: Signature | None) -> bytes:
    """The arguments in the format of the generated driver; see `cpp_types`.

    Raises:
        TaskError: there is no signature, or a value does not fit it.
    """
    if signature is None:
        raise TaskError("a C++ solution needs the task's signature: the types of its parameters and result")
    return cpp_types.encode(arguments, signature)
