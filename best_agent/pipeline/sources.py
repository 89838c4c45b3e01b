"""Candidates from files."""

from pathlib import Path

from best_agent import languages
from best_agent.errors import UsageError
from best_agent.model.task import Source


def load_source(path: Path, language: str | None, *, entry: str = "solve") -> Source:
    """A candidate from a file, its language by its suffix unless given.

    Raises:
        UsageError: the file cannot be read, is not text, or has no known suffix.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    found = languages.by_suffix(path)
    if language is not None and found is not None and language != found.NAME:
        raise UsageError(f"{path} is {found.NAME}, but the language asked for is {language}")
    if language is None and found is None:
        raise UsageError(f"{path}: no known language has the suffix '{path.suffix}'; use --language")
    name = language or (found.NAME if found else "")
    return Source(id=path.name, language=name, text=text, entry=entry, path=path)
