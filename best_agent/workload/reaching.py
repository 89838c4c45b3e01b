"""Which test files of a tree reach a function: those that name it, then those that import its module."""

import ast
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = {"node_modules", "build", "dist", "site-packages", "__pycache__"}
_MOST_FILES = 20_000
_LARGEST_BYTES = 2 << 20
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")


def tiers(tree: Path, file: Path, name: str) -> tuple[tuple[Path, ...], ...]:
    """Test files to run, best first.

    The first tier has the files whose text has the function's name, the second the others that import its
    module, directly or through other modules of the tree, the nearest first.
    Empty tiers are left out. Files that cannot be read are passed over: whoever runs them will say why.
    """
    sources = {path: _text(path) for path in python_files(tree)}
    tests = [path for path in sources if is_test(path) and path != file]
    word = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    naming = tuple(path for path in tests if word.search(sources[path]))
    distance = _distances(tree, sources, file)
    reaching = [path for path in tests if path in distance and path not in naming]
    importing = tuple(sorted(reaching, key=lambda path: (distance[path], path)))
    return tuple(tier for tier in (naming, importing) if tier)


def is_test(path: Path) -> bool:
    """Whether a file is named as test files are."""
    return _TEST_FILE.fullmatch(path.name) is not None


def python_files(tree: Path) -> Iterator[Path]:
    """The Python files of a tree, sorted, without environments, caches and what was built."""
    count = 0
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if _is_source(Path(folder) / name))
        for name in sorted(files):
            if name.endswith(".py"):
                count += 1
                if count > _MOST_FILES:
                    return
                yield Path(folder) / name


def _is_source(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.name in _SKIPPED:
        return False
    return not (folder / "pyvenv.cfg").exists()


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _distances(tree: Path, sources: dict[Path, str], file: Path) -> dict[Path, int]:
    """How many imports lie between each file and the target's; files that do not reach it are absent."""
    by_name: dict[str, list[Path]] = {}
    for path in sources:
        for name in _names(tree, path):
            by_name.setdefault(name, []).append(path)
    importers: dict[Path, set[Path]] = {}
    for path, text in sources.items():
        for imported in _imported(tree, path, text):
            for found in by_name.get(imported, ()):
                importers.setdefault(found, set()).add(path)
        for conftest in _conftests(tree, path, sources):
            importers.setdefault(conftest, set()).add(path)
    distance = {file: 0}
    edge = [file]
    while edge:
        edge = sorted({by for path in edge for by in importers.get(path, ()) if by not in distance})
        step = max(distance.values()) + 1
        distance.update(dict.fromkeys(edge, step))
    return distance


def _names(tree: Path, path: Path) -> list[str]:
    """Dotted names a file may be imported by: from the tree's root and from each folder below it."""
    parts = list(path.relative_to(tree).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return [".".join(parts[start:]) for start in range(len(parts))]


def _imported(tree: Path, path: Path, text: str) -> set[str]:
    """Every dotted name that a file's imports may stand for, packages on the way included."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's code, about escapes in strings and the like
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    package = list(path.relative_to(tree).parent.parts)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return {
        ".".join(parts[: end + 1])
        for parts in (name.split(".") for name in names)
        for end in range(len(parts))
    }


def _conftests(tree: Path, path: Path, sources: dict[Path, str]) -> Iterator[Path]:
    """The conftest.py files that pytest loads before a test file."""
    if not is_test(path):
        return
    for folder in path.parents:
        if folder / "conftest.py" in sources:
            yield folder / "conftest.py"
        if folder == tree:
            return
