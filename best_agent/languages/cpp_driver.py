"""The texts that are compiled with a solution, for each mode; pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from best_agent.errors import UsageError
from best_agent.languages.contract import BuildFailure, BuildRequest
from best_agent.languages.cpp_best import Marks, instrument
from best_agent.languages.cpp_syntax import (
    IDENTIFIER,
    SOLUTION,
    entry_places,
    parse,
    starts_with_all_headers,
)
from best_agent.languages.cpp_types import parameter_types, result_type
from best_agent.model.task import Mode

SOLUTION_FILE = "solution.cpp"
MAIN_FILE = "main.cpp"
MARKS_FILE = "marks.cpp"
PRELUDE_FILE = "prelude.hpp"
PRELUDE = "#include <bits/stdc++.h>\n"
"""The text that is worth precompiling. It is the whole of PRELUDE_FILE."""

# What the glue after the solution is written with; a solution may have made macros of them.
_GLUE_WORDS = ("int", "main", "return", "static", "auto", "decltype", SOLUTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What goes to the compiler."""

    files: Mapping[str, str]
    """By name, in one folder."""
    units: tuple[str, ...]
    """The files that are compiled; the others are included."""
    prelude: bool
    """Whether the first thing included is PRELUDE_FILE, which then must be there too."""
    expected: str = ""
    """How the solution must be callable, for a message."""


@cache
def resource(name: str) -> str:
    """A text that lies beside this module."""
    return files("best_agent.languages").joinpath("resources", name).read_text(encoding="utf-8")


def texts_for(request: BuildRequest) -> Texts | BuildFailure:
    """The texts to compile, or why the solution cannot be what the task asks for.

    Raises:
        UsageError: the request lacks what its mode needs.
        TaskError: the task's signature or driver is unusable.
    """
    if not IDENTIFIER.fullmatch(request.source.entry):
        raise UsageError(f"{request.source.id}: '{request.source.entry}' is not the name of a function")
    if request.mode is Mode.FUNCTION:
        return _function(request)
    if request.mode is Mode.DRIVER:
        return _driver(request)
    text = request.source.text
    return Texts(files={SOLUTION_FILE: text}, units=(SOLUTION_FILE,), prelude=starts_with_all_headers(text))


def _marks(request: BuildRequest) -> tuple[Marks, str]:
    """Mark names that a solution cannot know when it is written, and the unit that defines them."""
    digest = hashlib.sha256()
    for part in (request.source.text, request.source.entry, request.driver or ""):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    suffix = digest.hexdigest()[:20]
    marks = Marks(begin=f"best_agent_begin_{suffix}", end=f"best_agent_end_{suffix}")
    head = (
        f"#define BEST_AGENT_BEGIN {marks.begin}\n#define BEST_AGENT_END {marks.end}\n"
        f'#define BEST_AGENT_SETTLE {int(request.normalise_memory)}\n#line 1 "{MARKS_FILE}"\n'
    )
    return marks, head + resource(MARKS_FILE)


def _declared(marks: Marks) -> str:
    return f'extern "C" void {marks.begin}(); extern "C" void {marks.end}();\n'


def _driver(request: BuildRequest) -> Texts:
    if request.driver is None:
        raise UsageError(f"{request.source.id}: driver mode needs the task's main program")
    marks, marks_text = _marks(request)
    driver = instrument(request.driver, request.source.entry, marks, SOLUTION_FILE, request.source.id)
    prelude = starts_with_all_headers(request.driver)
    head = f'#include "{PRELUDE_FILE}"\n' if prelude else ""
    return Texts(
        files={
            MAIN_FILE: f'{head}{_declared(marks)}#line 1 "driver.cpp"\n{driver}\n',
            # The public harness lets solutions leave the headers and the namespace out.
            SOLUTION_FILE: (
                f'{PRELUDE}using namespace std;\n#line 1 "{SOLUTION_FILE}"\n{request.source.text}\n'
            ),
            MARKS_FILE: marks_text,
        },
        units=(MAIN_FILE, MARKS_FILE),
        prelude=prelude,
    )


def _function(request: BuildRequest) -> Texts | BuildFailure:
    signature, entry = request.signature, request.source.entry
    if signature is None:
        raise UsageError(f"{request.source.id}: a function in C++ needs the task's signature")
    result, parameters = result_type(signature), parameter_types(signature)
    place = _place_of(entry, request.source.text)
    if isinstance(place, BuildFailure):
        return place
    marks, marks_text = _marks(request)
    run = f"best_agent_run_{marks.begin.rpartition('_')[2]}"
    types = ", ".join([result, *parameters])
    main = [
        f'#include "{PRELUDE_FILE}"',
        '#include "function.hpp"',
        _declared(marks)
        + f"template <class Call> int {run}(Call call) {{"
        + f" return best_agent_driver::run<{types}>({marks.begin}, {marks.end}, call); }}",
        # A main program that its author tried the solution with is left uncalled.
        f"#define main {run}_unused",
        f'#include "{SOLUTION_FILE}"',
        *(f"#undef {word}" for word in _GLUE_WORDS),
        f"int main() {{ return {run}([](auto &...given) -> decltype(auto) {{ {place} }}); }}",
    ]
    return Texts(
        files={
            MAIN_FILE: "\n".join(main) + "\n",
            "function.hpp": resource("function.hpp"),
            SOLUTION_FILE: request.source.text + "\n",
            MARKS_FILE: marks_text,
        },
        units=(MAIN_FILE, MARKS_FILE),
        prelude=True,
        expected=f"{result} {entry}({', '.join(parameters)})",
    )


def _place_of(entry: str, text: str) -> str | BuildFailure:
    """The statement that calls the solution with `given...`."""
    free_call = f"return {entry}(given...);"
    # It outlives the call, so that a result may refer to its members.
    method_call = f"static {SOLUTION} solution; return solution.{entry}(given...);"
    root = parse(text)
    free, method = entry_places(root, entry)
    if free and method:
        return BuildFailure(
            message=f"there are both a function '{entry}' and a method {SOLUTION}::{entry}; keep one of them"
        )
    if not free and not method:
        if not root.has_error:
            return BuildFailure(
                message=f"there is no function '{entry}' and no class {SOLUTION} with a method '{entry}'"
            )
        # Macros can hide it from a parser; then the compiler has the last word.
        method = SOLUTION in text
    return method_call if method else free_call
