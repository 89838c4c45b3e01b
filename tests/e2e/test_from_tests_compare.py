"""`compare --from-tests`: inputs come from the user's own tests, and grow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from editable_projects import git, write

QUADRATIC = """
def dedupe(items):
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def shout(text, mark):
    out = ""
    for word in text.split():
        out = out + word.upper() + mark
    return out


class Basket:
    def __init__(self):
        self.items = []

    def fill(self, items):
        for item in items:
            if item not in self.items:
                self.items.insert(0, item)
        return len(self.items)


def point(place):
    x, y = place
    return (x * x + y * y) ** 0.5
"""
LINEAR = (
    QUADRATIC[QUADRATIC.index("\n\ndef shout") :]
    + """

def dedupe(items):
    return list(dict.fromkeys(items))
"""
)
TESTS = """
from shop.text import Basket, dedupe, point, shout


def test_dedupe():
    assert dedupe([3, 1, 3]) == [3, 1]
    assert dedupe("abca") == ["a", "b", "c"]
    assert dedupe([]) == []


def test_shout():
    assert shout("two words", "!") == "TWO!WORDS!"


def test_basket():
    assert Basket().fill(["pear", "fig", "pear"]) == 2


def test_point():
    assert point((3, 4)) == 5


class Local:
    pass


def test_with_a_class_of_the_tests():
    thing = Local()
    assert dedupe([thing, thing, thing, thing, thing]) == [thing]
"""


@pytest.fixture
def root(tmp_path):
    """A repository whose HEAD is quadratic and whose work tree is linear."""
    write(
        tmp_path, {"shop/__init__.py": "", "shop/text.py": "{code}", "tests/test_text.py": TESTS}, QUADRATIC
    )
    write(tmp_path, {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n"}, "")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "quadratic")
    (tmp_path / "shop" / "text.py").write_text(LINEAR)
    return tmp_path


def best_agent(root: Path, *arguments: str) -> tuple[int, dict, str]:
    command = [sys.executable, "-m", "best_agent", *arguments, "--python", sys.executable, "--format", "json"]
    done = subprocess.run([*command, "--quiet"], cwd=root, capture_output=True, text=True, timeout=280)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_calls_of_the_tests_are_grown_and_show_what_the_edit_does(root):
    code, document, said = best_agent(root, "compare", "shop/text.py::dedupe", "--from-tests")
    assert document, said
    (result,) = document["results"]
    assert result["inputs"] == "recorded, scaled from test_text.py"
    sizes = [row["n"] for row in result["sizes"]]
    assert len(sizes) == 3
    assert sizes[1:] == [10 * sizes[0], 100 * sizes[0]]
    assert result["sizes"][-1]["cpu"]["ratio"] < 0.5
    assert result["same_results"]["equal"] == result["same_results"]["of"]
    assert result["same_results"]["of"] > len(sizes), "the calls as recorded are compared as well"
    assert code in (0, 1)  # the linear one takes more memory: that is a verdict of its own
    assert any("left out" in note for note in result["conditions"]["notes"]), "the class of the tests is said"
    assert git(root, "status", "--porcelain").split() == ["M", "shop/text.py"], "nothing is left in the tree"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param("shout", "recorded, scaled", marks=pytest.mark.slow),
        pytest.param("Basket.fill", "recorded, scaled", marks=pytest.mark.slow),
        ("point", "recorded"),
    ],
)
def test_texts_and_methods_grow_and_records_do_not(root, name, label):
    code, document, said = best_agent(root, "measure", f"shop/text.py::{name}", "--from-tests")
    assert code == 0, said
    (result,) = document["results"]
    assert result["inputs"] == f"{label} from test_text.py"
    assert (len(result["sizes"]) == 1) == (label == "recorded")


def test_tests_that_do_not_reach_the_function_are_one_clear_line(root):
    (root / "tests" / "test_text.py").write_text("# dedupe\ndef test(): pass\n")
    code, document, said = best_agent(root, "compare", "shop/text.py::dedupe", "--from-tests")
    assert code == 2
    assert not document
    assert said.startswith("best-agent: no test reaches dedupe: 1 tests of 1 files ran and none called it")
    assert len(said.strip().splitlines()) == 1
