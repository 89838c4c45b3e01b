from pathlib import Path

import pytest

from best_agent.errors import UsageError
from best_agent.workload.discovery import declared, find

HEAD = "from best_agent import workload\n"


def bench(target: str, name: str = "build") -> str:
    return f"{HEAD}@workload({target!r}, sizes=(10, 100))\ndef {name}(n, seed):\n    return ([0] * n,)\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


PROJECT = {"pyproject.toml": "", "src/pkg/__init__.py": "", "src/pkg/text.py": "def dedupe(x): ..."}


def look(root: Path, name: str = "dedupe"):
    return find(root / "src/pkg/text.py", name, root)


@pytest.mark.parametrize(
    "place", ["bench_a.py", "benchmarks/bench_a.py", "bench/deep/bench_a.py", "tests/bench_a.py"]
)
def test_a_workload_is_found_where_people_keep_them(tmp_path, place):
    root = write(tmp_path, {**PROJECT, place: bench("src/pkg/text.py::dedupe")})
    found = look(root)
    assert found is not None
    assert (found.file, found.function) == (root / place, "build")


def test_a_path_may_be_relative_to_the_workload(tmp_path):
    root = write(tmp_path, {**PROJECT, "src/pkg/bench_a.py": bench("text.py::dedupe")})
    assert look(root) is not None


def test_workloads_of_other_functions_and_files_are_passed_over(tmp_path):
    root = write(
        tmp_path,
        {
            **PROJECT,
            "src/pkg/other.py": "",
            "benchmarks/bench_a.py": bench("src/pkg/text.py::other"),
            "benchmarks/bench_b.py": bench("src/pkg/other.py::dedupe"),
            "benchmarks/bench_c.py": bench("dedupe"),
            "benchmarks/bench_d.py": bench("::"),
        },
    )
    assert look(root) is None


def test_two_workloads_for_one_function_are_an_error_that_names_both(tmp_path):
    root = write(
        tmp_path,
        {
            **PROJECT,
            "benchmarks/bench_a.py": bench("src/pkg/text.py::dedupe"),
            "tests/bench_b.py": bench("src/pkg/text.py::dedupe", "other"),
        },
    )
    with pytest.raises(
        UsageError, match=r"2 workloads are for dedupe: .*bench_a\.py::build.*bench_b\.py::other"
    ):
        look(root)


def test_the_same_file_by_two_ways_is_one_workload(tmp_path):
    root = write(tmp_path, {**PROJECT, "tests/bench_a.py": bench("src/pkg/text.py::dedupe")})
    (root / "bench").symlink_to(root / "tests")
    assert look(root) is not None


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\xff\xfe\x00workload best_agent",
        b"from best_agent import workload\ndef (",
        b"from best_agent import workload\n" + b"(" * 500 + b")" * 500,
        b"import sys; sys.exit()",
        b"from best_agent import workload\nx = workload",
        b"from best_agent import workload\n@workload\ndef f(n, seed): ...",
        b"@workload('a.py::f')\ndef f(n, seed): ...",
    ],
)
def test_a_source_that_declares_nothing_is_no_trouble(source):
    assert declared(source) == ()


def test_a_target_that_is_not_a_literal_is_known_as_unknown():
    source = b"import best_agent\n@best_agent.workload(TARGET)\ndef f(n, seed): ...\n"
    assert declared(source) == (("f", None),)


def test_no_file_is_run_in_order_to_find_a_workload(tmp_path):
    text = bench("src/pkg/text.py::dedupe") + "\nraise SystemExit('it was run')\n"
    root = write(tmp_path, {**PROJECT, "bench_a.py": text})
    assert look(root) is not None
