"""A user's git repository, read without touching it: revisions, trees laid out elsewhere, ignored files."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from best_agent.errors import UsageError
from best_agent.workload.target import INDEX

_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A work tree of git."""

    root: Path

    @classmethod
    def holding(cls, path: Path) -> "Repository | None":
        """The repository that a file or folder lies in, or None.

        Raises:
            UsageError: git is missing, or refuses the repository (its reason is in the message).
        """
        folder = path if path.is_dir() else path.parent
        code, out, err = _git(("rev-parse", "--show-toplevel"), folder)
        if code == 0 and out.strip():
            return cls(root=Path(os.fsdecode(out).rstrip("\n")))
        if code == 0 or b"not a git repository" in err or b"must be run in a work tree" in err:
            return None
        raise UsageError(f"git cannot read the repository of {folder}: {_line(err)}")

    def commit(self, revision: str) -> str | None:
        """The full name of the commit that a revision means, or None where there is no such."""
        code, out, _ = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
        )
        return out.decode().strip() if code == 0 else None

    def has_commits(self) -> bool:
        """Whether there is a commit on the current branch."""
        return self.commit("HEAD") is not None

    def branches(self) -> tuple[str, ...]:
        """Names of branches and tags, for a hint."""
        _, out, _ = self._git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
        return tuple(os.fsdecode(out).split())

    def lay_out(self, state: str, folder: Path) -> None:
        """Write the files of a commit (its full name) or of the `index` below an empty folder.

        An index of its own is used for a commit, so that attributes meant for releases
        (`export-ignore`) leave nothing out and the user's index is not touched.

        Raises:
            UsageError: git failed; an unmerged index, for example.
        """
        folder.mkdir(parents=True, exist_ok=True)
        extra = {}
        if state != INDEX:
            extra = {"GIT_INDEX_FILE": str(folder.parent / f"{folder.name}.index")}
            self._must(("read-tree", state), extra)
        self._must(("checkout-index", "--all", "--force", "--quiet", f"--prefix={folder}{os.sep}"), extra)

    def holds(self, state: str, path: str) -> bool:
        """Whether a file (its path from the root, with `/`) is in a commit or in the index."""
        spec = f":{path}" if state == INDEX else f"{state}:{path}"
        return self._git("cat-file", "-e", spec)[0] == 0

    def changed(self, states: tuple[str, ...]) -> tuple[str, ...]:
        """Files that differ between two states, or between one and the work tree; untracked ones with it."""
        spec = ["--cached"] if INDEX in states else []
        names = [state for state in states if state != INDEX]
        _, out, _ = self._git(
            "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", *spec, *names, "--"
        )
        found = out
        if len(states) == 1:
            found += self._git("ls-files", "-z", "--others", "--exclude-standard")[1]
        return tuple(os.fsdecode(name) for name in found.split(b"\0") if name)

    def ignored(self, folder: str) -> tuple[str, ...]:
        """Files below a folder (from the root) that git is told to ignore: what a build left there."""
        _, out, _ = self._git(
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", folder or "."
        )
        return tuple(os.fsdecode(name) for name in out.split(b"\0") if name)

    def files_defining(self, name: str) -> tuple[str, ...]:
        """Python files of the work tree, tracked or not, that define a function or class of this name."""
        pattern = rf"^[[:space:]]*(async[[:space:]]+def|def|class)[[:space:]]+{name}\b"
        _, out, _ = self._git("grep", "-z", "-l", "--untracked", "-E", pattern, "--", "*.py")
        return tuple(os.fsdecode(found) for found in out.split(b"\0") if found)

    def _git(self, *arguments: str, extra: Mapping[str, str] | None = None) -> tuple[int, bytes, bytes]:
        return _git(arguments, self.root, extra)

    def _must(self, arguments: tuple[str, ...], extra: Mapping[str, str]) -> None:
        code, _, err = self._git(*arguments, extra=extra)
        if code:
            raise UsageError(f"git {arguments[0]} failed in {self.root}: {_line(err)}")


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without git's variables: inside a hook they point at another index and tree."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    # Large files of git-lfs stay pointers: no network, and no gigabytes for a comparison of functions.
    return {**kept, "GIT_LFS_SKIP_SMUDGE": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **(extra or {})}


def _git(
    arguments: tuple[str, ...], folder: Path, extra: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=clean_environment(extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("git is not installed; compare needs it to read another state of a file") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {arguments[0]} did not end within {_SECONDS:.0f} s in {folder}") from None
    return done.returncode, done.stdout, done.stderr


def _line(err: bytes) -> str:
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    return lines[0][:300] if lines else "no reason was given"
