"""The registry of languages: complete, lazy, and clear about what it does not know."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import best_agent.languages
from best_agent import languages
from best_agent.errors import UsageError


def test_every_language_is_found_by_its_name_and_offers_what_the_contract_asks():
    for name in languages.LANGUAGES:
        language = languages.get(name)
        assert name == language.NAME
        assert language.SUFFIXES
        for offered in (language.build, language.encode_arguments, language.missing_tool):
            assert callable(offered)


def test_no_module_that_builds_is_left_out_of_the_registry():
    modules = [module.name for module in pkgutil.iter_modules(best_agent.languages.__path__)]
    named = [name for name in modules if name != "contract" and "_" not in name]
    assert set(named) == set(languages.LANGUAGES)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "python"),
        ("a/b.CPP", "cpp"),
        ("x.cc", "cpp"),
        ("x.c", "c"),
        ("a.rs", "rust"),
        ("a.mjs", "javascript"),
    ],
)
def test_a_file_name_tells_the_language(path, name):
    assert name == languages.by_suffix(Path(path)).NAME


@pytest.mark.parametrize("path", ["a.zig", "Makefile", ".py", ""])
def test_a_file_name_that_tells_nothing_is_refused_with_the_known_endings(path):
    with pytest.raises(UsageError, match=r"\.py, \.cpp"):
        languages.by_suffix(Path(path))


def test_an_unknown_language_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="python, cpp"):
        languages.get("cobol")


def test_no_language_is_loaded_before_it_is_asked_for():
    code = "import sys; import best_agent.languages; print([n for n in sys.modules if 'languages.' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['best_agent.languages.contract']"
