"""The two states of a file that are measured: laid out as trees, each with import roots of its own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from best_agent.errors import UsageError
from best_agent.workload.gitrepo import Repository
from best_agent.workload.layout import Place, place, project_of
from best_agent.workload.scratch import scratch
from best_agent.workload.target import HEAD, INDEX, WORKTREE, Target

_COMPILED = (".so", ".pyd", ".dylib")
_GENERATED = (".py", *_COMPILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One state of a target, ready to be imported."""

    label: str
    """For people: `HEAD (1a2b3c4)`, `index`, `work tree`."""
    target: Target
    tree: Path
    """What every module of the target's package must lie in."""
    file: Path | None
    """None where the file does not exist in this state."""
    place: Place | None
    work_tree: Path | None
    """The user's tree that `tree` is a copy of; None where the side is measured in place."""
    shared: tuple[str, ...] = ()
    """Files that git does not hold, taken over from the work tree: generated sources, compiled modules."""
    notes: tuple[str, ...] = ()


class Trees:
    """Lays out states of files in a temporary folder; made by `trees`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[tuple[Path, str], Path] = {}

    def side(self, target: Target) -> Side:
        """The side of a target with a path.

        Raises:
            UsageError: the file, the repository or the revision does not exist.
        """
        assert target.path is not None
        file = Path(os.path.abspath(target.path))
        _check_file(file, target)
        repository = Repository.holding(_existing_parent(file))
        if target.in_work_tree:
            return _in_place(target, file, repository)
        if repository is None:
            raise UsageError(
                f"{target.path} is in no git repository, so there is no other state to compare it with; "
                "name two files: best-agent compare OLD.py::NAME NEW.py::NAME"
            )
        return self._copied(target, _inside(file, repository), repository)

    def _copied(self, target: Target, relative: PurePosixPath, repository: Repository) -> Side:
        state, label = _state(target, repository)
        if state is None:  # a repository without a commit: nothing was there before
            return _absent(target, label, self.folder, repository)
        key = (repository.root, state)
        if key not in self._made:
            # The folder keeps the repository's name: where the root is a package, it is imported by it.
            tree = self.folder / f"side{len(self._made)}" / repository.root.name
            repository.lay_out(state, tree)
            self._made[key] = tree
        tree = self._made[key]
        file = tree / relative
        if not repository.holds(state, str(relative)) or not file.is_file():
            return _absent(target, label, tree, repository)
        side = Side(
            label=label,
            target=target,
            tree=tree,
            file=file,
            place=place(file, tree),
            work_tree=repository.root,
        )
        return _with_ignored_files(side, repository, state)


@contextmanager
def trees() -> Iterator[Trees]:
    """A temporary folder for trees, removed at the end."""
    with scratch("best-agent-trees-") as folder:
        yield Trees(folder)


def completed(target: Target) -> Target:
    """A target whose file is known: the short form is looked up in the current repository.

    Raises:
        UsageError: no file, or several, define the name.
    """
    if target.path is not None:
        return target
    repository = Repository.holding(Path.cwd())
    if repository is None:
        raise UsageError(f"'{target}' names no file and this is no git repository; write FILE::{target.name}")
    found = repository.files_defining(target.name.partition(".")[0])
    if not found:
        raise UsageError(f"no Python file of {repository.root} defines '{target.name}'; write FILE::NAME")
    if len(found) > 1:
        shown = ", ".join(f"{name}::{target.name}" for name in found[:5])
        raise UsageError(f"'{target.name}' is defined in {len(found)} files; say which: {shown}")
    return replace(target, path=Path(os.path.relpath(repository.root / found[0])))


def _check_file(file: Path, target: Target) -> None:
    if file.is_dir():
        raise UsageError(f"{target.path} is a folder; name the file that holds '{target.name}'")
    if file.suffix not in (".py", ".pyw"):
        raise UsageError(f"{target.path} is not a Python file (.py)")
    if target.in_work_tree and not file.exists():
        raise UsageError(f"{target.path} does not exist")


def _existing_parent(file: Path) -> Path:
    return next(folder for folder in file.parents if folder.is_dir())


def _inside(file: Path, repository: Repository) -> PurePosixPath:
    """The file's path from the repository's root. Its folder is resolved: the root git names is real."""
    where = Path(os.path.realpath(_existing_parent(file))) / file.relative_to(_existing_parent(file))
    return PurePosixPath(where.relative_to(os.path.realpath(repository.root)).as_posix())


def _in_place(target: Target, file: Path, repository: Repository | None) -> Side:
    tree = repository.root if repository else project_of(file, Path(file.anchor))
    if tree == Path(file.anchor):
        tree = place(file, file.parent).roots[0]
    file = Path(os.path.realpath(file.parent)) / file.name
    tree = Path(os.path.realpath(tree))
    return Side(
        label="work tree" if repository else "as it is",
        target=target,
        tree=tree,
        file=file,
        place=place(file, tree),
        work_tree=None,
    )


def _state(target: Target, repository: Repository) -> tuple[str | None, str]:
    """(what git calls the state, what people do)."""
    revision = target.revision or HEAD
    if revision == INDEX:
        return INDEX, "index"
    commit = repository.commit(revision)
    if commit is not None:
        return commit, f"{revision} ({commit[:8]})"
    if revision == HEAD and not repository.has_commits():
        return None, "HEAD (no commit yet)"
    known = ", ".join(repository.branches()[:8])
    hint = f"; branches and tags: {known}" if known else ""
    raise UsageError(f"'{revision}' is not a revision of {repository.root}{hint}")


def _absent(target: Target, label: str, tree: Path, repository: Repository) -> Side:
    return Side(label=label, target=target, tree=tree, file=None, place=None, work_tree=repository.root)


def _with_ignored_files(side: Side, repository: Repository, state: str) -> Side:
    """Take over what git does not hold and the package cannot be imported without.

    Sources that a build writes (a version file) come from the work tree. Compiled modules only where no
    file but Python sources differs between the two states: otherwise they are of other code.
    """
    package = side.place.package if side.place else None
    if package is None:
        return side
    folder = package.relative_to(side.tree).as_posix() if package.is_relative_to(side.tree) else "."
    found = [name for name in repository.ignored(folder) if name.endswith(_GENERATED)]
    if not found:
        return side
    foreign = [name for name in repository.changed((state,)) if not name.endswith(".py")]
    taken = []
    for name in found:
        wanted = side.tree / name
        if wanted.exists() or (foreign and name.endswith(_COMPILED)):
            continue
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(repository.root / name, wanted)
        taken.append(name)
    return replace(side, shared=tuple(taken))


def same_state(before: Side, after: Side) -> bool:
    """Whether the user named one file at one state twice: two functions of it, or one with itself."""
    return before.file == after.file and (before.target.revision or WORKTREE) == (
        after.target.revision or WORKTREE
    )
