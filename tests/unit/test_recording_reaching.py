"""Which test files are run: those that name the function, then those whose imports lead to it."""

import pytest

from best_agent.workload.reaching import is_test, python_files, tiers


@pytest.fixture
def tree(tmp_path):
    """Writes files, given as `path=text`, into a tree."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def found(root, file="src/pkg/text.py", name="dedupe"):
    return [[path.relative_to(root).as_posix() for path in tier] for tier in tiers(root, root / file, name)]


def test_files_that_name_the_function_come_first_and_those_that_import_its_module_after(tree):
    root = tree(
        {
            "src/pkg/__init__.py": "",
            "src/pkg/text.py": "def dedupe(x): return x",
            "src/pkg/clean.py": "from .text import dedupe",
            "src/pkg/other.py": "import json",
            "tests/test_text.py": "from pkg.text import dedupe",
            "tests/test_clean.py": "import pkg.clean",
            "tests/test_other.py": "from pkg import other",
        }
    )
    assert found(root) == [["tests/test_text.py"], ["tests/test_clean.py"]]


@pytest.mark.parametrize(
    "text",
    [
        "import pkg.text",
        "import pkg.text as t",
        "from pkg import text",
        "from pkg.text import *",
        "def test():\n    from pkg import text",
        "import pkg",  # its __init__ imports the module
        "from src.pkg import text",
        "import importer",  # a helper beside the tests
    ],
)
def test_every_way_of_importing_is_followed(tree, text):
    root = tree(
        {
            "src/pkg/__init__.py": "from . import text",
            "src/pkg/text.py": "def dedupe(x): return x",
            "tests/importer.py": "from pkg.text import something",
            "tests/test_it.py": text,
        }
    )
    assert found(root) == [["tests/test_it.py"]]


def test_relative_imports_are_resolved_in_their_package(tree):
    root = tree(
        {
            "pkg/__init__.py": "",
            "pkg/text.py": "def dedupe(x): return x",
            "pkg/sub/__init__.py": "",
            "pkg/sub/deep.py": "from .. import text",
            "pkg/sub/tests/test_deep.py": "from ..deep import f",
            "pkg/sub/text.py": "",
            "pkg/sub/tests/test_shallow.py": "from ..text import f",
        }
    )
    assert found(root, "pkg/text.py") == [["pkg/sub/tests/test_deep.py"]]


def test_what_conftest_imports_reaches_the_tests_beside_and_below_it(tree):
    root = tree(
        {
            "pkg/__init__.py": "",
            "pkg/text.py": "def dedupe(x): return x",
            "tests/conftest.py": "import pkg.text",
            "tests/unit/test_below.py": "",
            "elsewhere/test_beside.py": "",
        }
    )
    assert found(root, "pkg/text.py") == [["tests/unit/test_below.py"]]


def test_the_nearest_comes_first(tree):
    root = tree(
        {
            "a.py": "def dedupe(x): return x",
            "b.py": "import a",
            "c.py": "import b",
            "test_a_far.py": "import c",
            "test_near.py": "import a",
        }
    )
    assert found(root, "a.py") == [["test_near.py", "test_a_far.py"]]


def test_imports_in_a_circle_come_to_an_end(tree):
    root = tree({"a.py": "import b", "b.py": "import a", "test_a.py": "import b"})
    assert found(root, "a.py") == [["test_a.py"]]


def test_a_method_is_looked_for_by_its_own_name(tree):
    root = tree({"a.py": "class Box: ...", "test_a.py": "box.fill(3)", "test_b.py": "Box(3)"})
    assert found(root, "a.py", "Box.fill") == [["test_a.py"]]


def test_a_name_within_another_word_does_not_count(tree):
    root = tree({"a.py": "", "test_a.py": "dedupe_all(); my_dedupe()"})
    assert found(root, "a.py") == []


def test_files_that_cannot_be_read_as_python_stop_nothing(tree):
    root = tree({"a.py": "", "test_bad.py": "import a\n)(", "test_null.py": "\0", "test_a.py": "import a"})
    (root / "test_latin.py").write_bytes(b"# caf\xe9\nimport a")
    (root / "test_deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    (root / "test_link.py").symlink_to(root / "gone.py")
    assert found(root, "a.py") == [["test_a.py", "test_latin.py"]]


def test_warnings_of_the_users_sources_are_not_ours_to_show(tree, recwarn):
    root = tree({"a.py": "", "test_a.py": "import a\nx = '\\d'\n"})
    assert found(root, "a.py") == [["test_a.py"]]
    assert not recwarn.list


def test_environments_caches_and_builds_are_no_sources(tree):
    root = tree(
        {
            "a.py": "",
            "env/pyvenv.cfg": "",
            "env/lib/test_x.py": "import a",
            ".tox/test_x.py": "import a",
            "node_modules/p/test_x.py": "import a",
            "build/lib/test_x.py": "import a",
            "vendored/site-packages/test_x.py": "import a",
        }
    )
    assert [path.name for path in python_files(root)] == ["a.py"]


@pytest.mark.parametrize("name", ["test_a.py", "a_test.py", "tests.py", "test.py"])
def test_names_of_test_files(tmp_path, name):
    assert is_test(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["a.py", "testing.py", "latest.py", "conftest.py", "test_a.txt", "contest.py"]
)
def test_names_of_other_files(tmp_path, name):
    assert not is_test(tmp_path / name)
