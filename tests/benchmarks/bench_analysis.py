"""How fast the analysis is beside a bare parse of the same bytes, in one run.

Run it as a program: `python tests/benchmarks/bench_analysis.py [FOLDER]`; without a folder it reads the
standard library without its tests.
"""

import sys
import sysconfig
import time
from pathlib import Path

import tree_sitter_python
from tree_sitter import Language, Parser

from best_agent.analysis import analyse

LEFT_OUT = frozenset({"test", "tests", "site-packages", "lib2to3", "idle_test"})


def sources(folder: Path) -> list[bytes]:
    """The Python files below a folder."""
    files = sorted(path for path in folder.rglob("*.py") if not LEFT_OUT & set(path.parts))
    return [path.read_bytes() for path in files]


def main(arguments: list[str]) -> int:
    """Print the figures."""
    texts = sources(Path(arguments[0] if arguments else sysconfig.get_paths()["stdlib"]))
    parser = Parser(Language(tree_sitter_python.language()))
    analyse(b"pass\n", "python")
    start = time.process_time_ns()
    for text in texts:
        parser.parse(text)
    parsed = time.process_time_ns()
    found = sum(len(analyse(text, "python")) for text in texts)
    analysed = time.process_time_ns()
    parse_s, analyse_s = (parsed - start) / 1e9, (analysed - parsed) / 1e9
    size = sum(map(len, texts)) / 1e6
    sys.stdout.write(
        f"{len(texts)} files, {size:.1f} MB, {found} findings\n"
        f"bare parse {parse_s:.2f} s of CPU, {len(texts) / parse_s:.0f} files/s\n"
        f"analysis   {analyse_s:.2f} s of CPU, {len(texts) / analyse_s:.0f} files/s, "
        f"{analyse_s / parse_s:.2f}x the bare parse\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
