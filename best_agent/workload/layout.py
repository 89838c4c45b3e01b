"""Where a file stands in its project: the folder imports start from and its dotted name."""

from dataclasses import dataclass
from pathlib import Path

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How a Python file is imported."""

    roots: tuple[Path, ...]
    """Folders that imports start from, the file's own first, then the project's."""
    module: str | None
    """Dotted name; None for a file in no package, which is loaded by its path."""
    package: Path | None
    """Folder of the top-level package; None for a file in no package."""

    @property
    def top(self) -> str | None:
        """Name of the top-level package."""
        return self.module.partition(".")[0] if self.module else None


def place(file: Path, tree: Path) -> Place:
    """Deduce how `file` (absolute, in `tree`) is imported, from `__init__` files and the project's layout.

    A folder with `__init__.py` is a package and so is its parent, as long as it has one too. Below a
    `src` folder of a project, folders without it are namespaces.
    """
    project = project_of(file, tree)
    start = _chain_root(file)
    source = project / "src"
    if file.is_relative_to(source) and start.is_relative_to(source):
        start = source
    parts = file.relative_to(start).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    packaged = len(file.relative_to(start).parts) > 1 and all(part.isidentifier() for part in parts)
    candidates = (start, *([source] if source.is_dir() else []), project)
    return Place(
        roots=tuple(dict.fromkeys(candidates)),
        module=".".join(parts) if packaged else None,
        package=start / parts[0] if packaged else None,
    )


def project_of(file: Path, tree: Path) -> Path:
    """The nearest folder above the file, within the tree, that is a project's; else the tree."""
    for folder in file.parents:
        if any((folder / name).is_file() for name in _PROJECT_FILES):
            return folder
        if folder == tree:
            break
    return tree


def _chain_root(file: Path) -> Path:
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder
