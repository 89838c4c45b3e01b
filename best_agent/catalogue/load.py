"""Loading a task of our own format, strictly: what is wrong is named by file and key."""

import re
from itertools import pairwise
from pathlib import Path

from best_agent.catalogue.files import file_inside, read_text
from best_agent.catalogue.tables import Table, read_table, suggestion
from best_agent.errors import TaskError
from best_agent.model.task import LanguageLimits, Mode, Signature, Source, Task
from best_agent.model.value_types import parse_type
from best_agent.units import KIB, format_bytes

TASK_FILE = "task.toml"
STATEMENT_FILE = "statement.md"
GENERATOR_FILE = "generate.py"
CHECKER_FILE = "check.py"
LANGUAGES = {".py": "python", ".cpp": "cpp"}
DIFFICULTIES = ("easy", "medium", "hard")
_PLACEHOLDERS = ("{memory_limit}", "{size}")
_BRACED_WORD = re.compile(r"\{[A-Za-z_]+\}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LANGUAGE_TITLES = {"python": "Python", "cpp": "C++"}


def load_task(folder: Path, set_name: str) -> Task:
    """The task in a folder of our own format.

    Raises:
        TaskError: something is missing, unknown or wrong; the message names the file and the key.
    """
    path = file_inside(folder, TASK_FILE, str(folder))
    table = read_table(path, read_text(path))
    entry = _entry(table)
    sizes = _sizes(table)
    space_levels = table.whole("space_levels")
    limits = _limits(table, len(sizes), space_levels)
    references = _references(table, folder, entry)
    _same_languages(path, limits, references)
    statement_path = file_inside(folder, STATEMENT_FILE, str(folder))
    file_inside(folder, GENERATOR_FILE, str(folder))
    task = Task(
        id=folder.name,
        title=table.text("title"),
        set_name=set_name,
        mode=_mode(table),
        statements=_statements(statement_path, limits, sizes[-1], space_levels),
        sizes=sizes,
        space_levels=space_levels,
        cases_per_scale=table.whole("cases_per_scale", 3),
        limits=limits,
        references=references,
        naive=_naive(table, folder, entry),
        signature=_signature(table),
        checker=_checker(folder),
        tau=table.number("tau", 1.2),
        sigma=table.number("sigma", 1.2),
        difficulty=_difficulty(table),
        categories=table.texts("categories", ()),
        origin=folder,
    )
    table.finish()
    return task


def _entry(table: Table) -> str:
    entry = table.text("entry")
    if _IDENTIFIER.fullmatch(entry) is None:
        table.refuse("entry", f"'{entry}' is not the name of a function")
    return entry


def _mode(table: Table) -> Mode:
    mode = table.text("mode")
    if mode != Mode.FUNCTION:
        table.refuse("mode", f"own tasks have the mode 'function', not '{mode}'")
    return Mode.FUNCTION


def _difficulty(table: Table) -> str:
    difficulty = table.text("difficulty")
    if difficulty not in DIFFICULTIES:
        near = suggestion(difficulty, DIFFICULTIES)
        table.refuse("difficulty", f"must be one of {', '.join(DIFFICULTIES)}, not '{difficulty}'{near}")
    return difficulty


def _sizes(table: Table) -> tuple[int, ...]:
    sizes = table.numbers("sizes")
    if any(size != int(size) for size in sizes):
        table.refuse("sizes", f"must be whole numbers, not {list(sizes)}")
    if any(after <= before for before, after in pairwise(sizes)):
        table.refuse("sizes", f"must grow from scale to scale, not {list(sizes)}")
    return tuple(int(size) for size in sizes)


def _signature(table: Table) -> Signature:
    inner = table.table("signature")
    parameters = inner.pairs("parameters")
    returns = inner.text("returns")
    for key, type_text in (*(("parameters", text) for _, text in parameters), ("returns", returns)):
        try:
            parse_type(type_text)
        except TaskError as error:
            inner.refuse(key, str(error))
    names = [name for name, _ in parameters]
    for name in names:
        if _IDENTIFIER.fullmatch(name) is None:
            inner.refuse("parameters", f"'{name}' is not the name of a parameter")
        if names.count(name) > 1:
            inner.refuse("parameters", f"'{name}' stands there twice")
    inner.finish()
    return Signature(parameters=parameters, returns=returns)


def _limits(table: Table, scales: int, space_levels: int) -> dict[str, LanguageLimits]:
    inner = table.table("limits")
    known = tuple(LANGUAGES.values())
    found: dict[str, LanguageLimits] = {}
    for name, limits in inner.subtables().items():
        if name not in known:
            inner.refuse(
                name, f"unknown language{suggestion(name, known)}; the languages are: {', '.join(known)}"
            )
        found[name] = _language_limits(limits, scales, space_levels)
    if not found:
        table.refuse("limits", "must have a table for at least one language, as [limits.python]")
    return found


def _language_limits(table: Table, scales: int, space_levels: int) -> LanguageLimits:
    rows = table.rows("memory_kb")
    if len(rows) != scales or any(len(row) != space_levels for row in rows):
        shape = f"{len(rows)} rows of {sorted({len(row) for row in rows})}"
        table.refuse(
            "memory_kb", f"must have {scales} rows (scales) of {space_levels} (space levels), not {shape}"
        )
    for row in rows:
        if any(right > left for left, right in pairwise(row)):
            table.refuse(
                "memory_kb", f"must not grow to the right, as {list(row)} does: level 1 is the loosest"
            )
        if any(limit * KIB < 1 for limit in row):
            table.refuse("memory_kb", f"must be at least a byte, but holds {list(row)}")
    time_factor = table.optional_number("time_factor")
    time_ms = table.optional_numbers("time_ms")
    if (time_factor is None) == (time_ms is None):
        table.refuse("time_factor", "give either time_factor or time_ms, one of the two")
    if time_factor is not None and time_factor < 1:
        table.refuse(
            "time_factor", f"{time_factor} would fail the fastest reference itself; it must be at least 1"
        )
    if time_ms is not None and len(time_ms) != scales:
        table.refuse("time_ms", f"must have {scales} numbers, one for each scale, not {len(time_ms)}")
    table.finish()
    return LanguageLimits(
        memory_bytes=tuple(tuple(int(limit * KIB) for limit in row) for row in rows),
        time_factor=time_factor,
        time_ns=None if time_ms is None else tuple(max(1, round(limit * 1e6)) for limit in time_ms),
    )


def _source(table: Table, key: str, name: str, folder: Path, entry: str) -> tuple[Path, str, str]:
    """Path, language and text of a program named in a table."""
    path = file_inside(folder, name, f"{folder / TASK_FILE}: {key}")
    language = LANGUAGES.get(path.suffix)
    if language is None:
        table.refuse("file", f"'{name}' is in no known language; the suffixes are: {', '.join(LANGUAGES)}")
    text = read_text(path)
    if re.search(rf"\b{entry}\b", text) is None:
        raise TaskError(f"{path}: does not define '{entry}', the entry of the task")
    return path, language, text


def _references(table: Table, folder: Path, entry: str) -> tuple[Source, ...]:
    found: list[Source] = []
    for number, inner in enumerate(table.tables("reference"), 1):
        name = inner.text("file")
        path, language, text = _source(inner, f"reference[{number}].file", name, folder, entry)
        source = Source(
            id=path.stem.removeprefix("reference_"),
            language=language,
            text=text,
            entry=entry,
            path=path,
            claimed_time=inner.text("claimed_time"),
            claimed_space=inner.text("claimed_space"),
        )
        inner.finish()
        if any((other.id, other.language) == (source.id, language) for other in found):
            inner.refuse("file", f"a reference '{source.id}' in {language} stands there already")
        found.append(source)
    return tuple(found)


def _naive(table: Table, folder: Path, entry: str) -> tuple[Source, ...]:
    inner = table.table("naive")
    found: list[Source] = []
    for name in inner.texts("files"):
        path, language, text = _source(inner, "naive.files", name, folder, entry)
        if any(other.language == language for other in found):
            inner.refuse("files", f"there are two naive solutions in {language}")
        found.append(Source(id="naive", language=language, text=text, entry=entry, path=path))
    if not found:
        inner.refuse("files", "must name at least one file")
    inner.finish()
    return tuple(found)


def _same_languages(path: Path, limits: dict[str, LanguageLimits], references: tuple[Source, ...]) -> None:
    written = {source.language for source in references}
    for language in limits:
        if language not in written:
            raise TaskError(f"{path}: limits.{language}: there is no reference in {language}")
    for source in references:
        if source.language not in limits:
            raise TaskError(f"{path}: limits.{source.language}: missing, but {source.path} is written in it")


def _statements(
    path: Path, limits: dict[str, LanguageLimits], largest: int, space_levels: int
) -> tuple[str, ...]:
    text = read_text(path)
    if not text.strip():
        raise TaskError(f"{path}: empty")
    for word in _BRACED_WORD.findall(text):
        if word not in _PLACEHOLDERS and (near := suggestion(word, _PLACEHOLDERS)):
            raise TaskError(f"{path}: unknown placeholder {word}{near}")
    if "{memory_limit}" not in text:
        return (text.replace("{size}", f"{largest:,}"),)
    return tuple(
        text.replace("{size}", f"{largest:,}").replace("{memory_limit}", _memory_words(limits, level))
        for level in range(space_levels)
    )


def _memory_words(limits: dict[str, LanguageLimits], level: int) -> str:
    return ", ".join(
        f"{format_bytes(entry.memory_bytes[-1][level])} in {_LANGUAGE_TITLES[language]}"
        for language, entry in limits.items()
    )


def _checker(folder: Path) -> Path | None:
    path = folder / CHECKER_FILE
    return file_inside(folder, CHECKER_FILE, str(folder)) if path.exists() or path.is_symlink() else None
