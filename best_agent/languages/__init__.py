"""The languages that programs can be written in, each loaded when it is first asked for."""

from collections.abc import Callable
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.languages.contract import Language


def _python() -> Language:
    from best_agent.languages import python

    return python


def _cpp() -> Language:
    from best_agent.languages import cpp

    return cpp


def _c() -> Language:
    from best_agent.languages import c

    return c


def _javascript() -> Language:
    from best_agent.languages import javascript

    return javascript


def _java() -> Language:
    from best_agent.languages import java

    return java


def _rust() -> Language:
    from best_agent.languages import rust

    return rust


def _go() -> Language:
    from best_agent.languages import go

    return go


LANGUAGES: dict[str, Callable[[], Language]] = {
    "python": _python,
    "cpp": _cpp,
    "c": _c,
    "javascript": _javascript,
    "java": _java,
    "rust": _rust,
    "go": _go,
}
"""Every language by name; calling the entry imports its module."""


def get(name: str) -> Language:
    """The language of that name.

    Raises:
        UsageError: there is none.
    """
    load = LANGUAGES.get(name)
    if load is None:
        raise UsageError(f"there is no language '{name}'; the languages are: {', '.join(LANGUAGES)}")
    return load()


def by_suffix(path: Path) -> Language:
    """The language that files of this name are written in.

    Raises:
        UsageError: no language has the suffix.
    """
    known: list[str] = []
    for load in LANGUAGES.values():
        language = load()
        if path.suffix.lower() in language.SUFFIXES:
            return language
        known += language.SUFFIXES
    raise UsageError(f"{path}: cannot tell the language from the name; known endings are {', '.join(known)}")
