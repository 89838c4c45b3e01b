"""One side of a comparison inside the worker: what it imports, and proof of where it came from.

A finder of an editable install (setuptools, meson-python, scikit-build-core, hatchling) maps a package
to the user's work tree whatever sys.path says. Here the side's tree is asked first for every module that
it holds, path entries inside of the work tree are moved into the side's tree, and after each call the
files of all loaded modules are looked at: trust is in the last of the three.
"""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, List, NamedTuple, Optional, Tuple

_ENVIRONMENT_PARTS = ("site-packages", "dist-packages")


class Side(NamedTuple):
    """Where the code of one side lies."""

    tree: str
    """Root that every module of the target's package must lie in."""
    work_tree: Optional[str]
    """The user's own tree that `tree` is a copy of; None where the side is measured in place."""
    roots: Tuple[str, ...]
    """Folders that imports start from, the target's own first."""
    top: str
    """Name of the target's top-level package; empty before a file in no package is loaded."""
    helpers: Tuple[str, ...]
    """Files and folders outside of the tree that both sides share on purpose: the workload's."""


def real(path: str) -> str:
    """The path without links, in the case that the file system compares by."""
    return os.path.normcase(os.path.realpath(path))


def within(path: str, folder: str) -> bool:
    """Whether a real path is the folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _in_environment(path: str) -> bool:
    """Whether a path belongs to the interpreter or to packages installed in it, even below a work tree."""
    parts = path.split(os.sep)
    if any(part in parts for part in _ENVIRONMENT_PARTS):
        return True
    return any(within(path, real(prefix)) for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix})


class SideFinder:
    """Finds the modules of one side in its tree, before any other finder is asked."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.tree = real(side.tree)
        self.work_tree = None if side.work_tree is None else real(side.work_tree)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002  (the protocol)
        """The spec of a module of this side, or None to let the others look."""
        if path is None:
            return self._top_level(fullname)
        inside = [entry for entry in path if isinstance(entry, str) and within(real(entry), self.tree)]
        return importlib.machinery.PathFinder.find_spec(fullname, inside) if inside else None

    def _top_level(self, fullname: str) -> Any:
        # A tool's queue.py at the project's root is not what the standard library's users ask for.
        if fullname in _STANDARD_NAMES and fullname != self.side.top:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, list(self.side.roots))
        # A folder without __init__ (build, docs) must not hide an installed package of its name.
        if spec is not None and spec.origin is not None:
            return spec
        return self._moved(fullname) if self.work_tree is not None else None

    def _moved(self, fullname: str) -> Any:
        """What another finder maps to the user's work tree, at the same place in the side's tree."""
        for finder in list(sys.meta_path):
            if finder is self or finder in _STANDARD or not hasattr(finder, "find_spec"):
                continue
            found = finder.find_spec(fullname, None)
            if found is None:
                continue
            moved = [place for place in map(self.move, _places(found)) if place is not None]
            return _spec_at(fullname, moved[0]) if moved else None
        return None

    def move(self, path: str) -> Optional[str]:
        """Where a path of the user's work tree lies in this side's tree; None for any other path."""
        where = real(path)
        if self.work_tree is None or within(where, self.tree) or not within(where, self.work_tree):
            return None
        if _in_environment(where):
            return None
        return os.path.join(self.tree, os.path.relpath(where, self.work_tree))


_STANDARD_NAMES = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))  # 3.9 has few
_STANDARD = (
    importlib.machinery.BuiltinImporter,
    importlib.machinery.FrozenImporter,
    importlib.machinery.PathFinder,
)


def _places(spec: Any) -> List[str]:
    """Paths by which a spec says where its package is; the last part of each is the package itself."""
    folders = [str(place) for place in spec.submodule_search_locations or ()]
    if folders:
        return folders
    return [spec.origin] if spec.origin and spec.has_location else []


def _spec_at(fullname: str, place: str) -> Any:
    """The spec of a module at a file or of a package in a folder, which may be named otherwise."""
    init = os.path.join(place, "__init__.py")
    if os.path.isfile(init):
        return importlib.util.spec_from_file_location(fullname, init, submodule_search_locations=[place])
    if os.path.isfile(place):
        return importlib.util.spec_from_file_location(fullname, place)
    return importlib.machinery.PathFinder.find_spec(fullname, [os.path.dirname(place)])


def named(finder: SideFinder, top: str) -> None:
    """Say by which name the target was loaded, where only loading it showed that."""
    finder.side = finder.side._replace(top=top)


def install(side: Side) -> SideFinder:
    """Make this process import from the side's tree."""
    finder = SideFinder(side)
    moved = [finder.move(entry) or entry for entry in sys.path if entry]
    path = [*side.roots[:1], *moved, *side.roots[1:], *filter(os.path.isdir, side.helpers)]
    sys.path[:] = list(dict.fromkeys(path))
    sys.meta_path.insert(0, finder)
    return finder


def modules_of(top: str) -> List[Tuple[str, str]]:
    """Loaded modules of a top-level package with their files, sorted by name."""
    found = []
    for name, module in list(sys.modules.items()):
        if name == top or name.startswith(top + "."):
            found += [(name, path) for path in _files(module)[:1]]
    return sorted(found)


def strangers(finder: SideFinder) -> List[Tuple[str, str]]:
    """Loaded modules that should be this side's and are not: (name, the file they were loaded from).

    These are modules of the target's package from outside of the tree, and, in a copy, any module from
    the user's work tree.
    """
    side = finder.side
    shared = [real(entry) for entry in side.helpers]
    found = []
    for name, module in list(sys.modules.items()):
        own = name == side.top or name.startswith(side.top + ".")
        for path in _files(module):
            where = real(path)
            if within(where, finder.tree) or any(within(where, entry) for entry in shared):
                continue
            if own or finder.move(path) is not None:
                found.append((name, path))
                break
    return sorted(found)


def _files(module: Any) -> List[str]:
    """Files a module says it came from: by its spec and by its own word, which may differ."""
    spec = getattr(module, "__spec__", None)
    origin = getattr(spec, "origin", None) if getattr(spec, "has_location", False) else None
    paths = [origin, getattr(module, "__file__", None)]
    return [path for path in dict.fromkeys(paths) if isinstance(path, str) and os.path.isabs(path)]
