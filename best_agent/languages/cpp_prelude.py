"""A precompiled <bits/stdc++.h> for each compiler and set of flags: compiling takes a third of the time.

It is made from our own text alone, so it is made outside of the sandbox. It is never needed: where it
cannot be had, or another process is just making it, the header is read as it is.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from best_agent.languages.build_cache import PRELUDES_KEPT, YOUNG_SECONDS, preludes_folder, sole_maker
from best_agent.languages.cpp_driver import PRELUDE, PRELUDE_FILE
from best_agent.languages.cpp_toolchain import Compiler

_SECONDS = 120
_FORMAT = 1


def precompiled(compiler: Compiler, flags: tuple[str, ...]) -> Path | None:
    """A folder holding PRELUDE_FILE precompiled for these flags, to be searched for headers; or None."""
    if not compiler.is_gcc:
        return None
    text = "\0".join((str(_FORMAT), compiler.identity, *flags, PRELUDE))
    key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    folder = preludes_folder()
    ready = folder / key
    if not ready.is_dir():
        with sole_maker(folder, key) as alone:
            if alone and not ready.is_dir():
                _make(compiler, flags, ready)
        _prune(folder)
    try:
        os.utime(ready)
    except OSError:
        return None
    return ready


def _make(compiler: Compiler, flags: tuple[str, ...], ready: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix=".new-", dir=ready.parent))
    try:
        (work / PRELUDE_FILE).write_text(PRELUDE, encoding="utf-8")
        done = subprocess.run(
            [*compiler.command, *flags, "-x", "c++-header", PRELUDE_FILE, "-o", f"{PRELUDE_FILE}.gch"],
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            # The header alone is kept, so that what fails is not tried again at each compile.
            (work / f"{PRELUDE_FILE}.gch").unlink(missing_ok=True)
        # Readable for the sandbox's user; the folder above keeps others out.
        for path in work.iterdir():
            path.chmod(0o644)
        work.chmod(0o755)
        work.rename(ready)
    except (OSError, subprocess.TimeoutExpired):
        return
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prune(folder: Path) -> None:
    found: list[tuple[float, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.is_dir():
                found.append((path.stat().st_mtime, path))
    for used, path in sorted(found, reverse=True)[PRELUDES_KEPT:]:
        if used < time.time() - YOUNG_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
