"""`compare` in packages installed editable: right, or not measured; never the same code twice.

The finders of editable installs map a package to the user's work tree whatever the path says: without
care, both sides import the work tree and a change of a hundredfold reads as none at all.
"""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from editable_projects import LINEAR, Project, clone, compare, git, imported_from, install, pip, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the environments are laid out as on POSIX")
NEEDED = ("setuptools>=70.1", "hatchling", "editables", "meson-python", "meson", "ninja", "pytest")
CALL = ("--call", "sums(list(range({n})))", "--sizes", "2000")

SETUPTOOLS = "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
HATCHLING = "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"
MESON = "[build-system]\nrequires = ['meson-python']\nbuild-backend = 'mesonpy'\n"


def named(name: str) -> str:
    return f"[project]\nname = '{name}'\nversion = '1.0'\n"


def meson_build(name: str, sources: str, extension: str = "") -> str:
    return (
        f"project('{name}'{', ' + repr('c') if extension else ''}, version: '1.0')\n"
        f"py = import('python').find_installation(pure: {'false' if extension else 'true'})\n"
        f"py.install_sources([{sources}], subdir: '{name}')\n{extension}"
    )


PROJECTS = {
    "setuptools, src layout": Project(
        name="shop-a",
        module="shop_a.text",
        target="src/shop_a/text.py",
        files={
            "pyproject.toml": SETUPTOOLS + named("shop-a"),
            "src/shop_a/__init__.py": "from .text import sums\n",
            "src/shop_a/text.py": "{code}",
        },
    ),
    "setuptools, a folder named otherwise": Project(
        name="shop-b",
        module="shop_b.text",
        target="code/lib/text.py",
        files={
            "pyproject.toml": SETUPTOOLS
            + named("shop-b")
            + "[tool.setuptools]\npackages = ['shop_b']\npackage-dir = {shop_b = 'code/lib'}\n",
            "code/lib/__init__.py": "",
            "code/lib/text.py": "from shop_b import helper\n{code}",
            "code/lib/helper.py": "",
        },
    ),
    "setuptools, finder": Project(
        name="shop-c",
        module="shop_c.deep.text",
        target="shop_c/deep/text.py",
        files={
            "pyproject.toml": SETUPTOOLS
            + named("shop-c")
            + "[tool.setuptools]\npackages = ['shop_c', 'shop_c.deep']\n",
            "shop_c/__init__.py": "",
            "shop_c/deep/__init__.py": "from shop_c.deep.text import sums\n",
            "shop_c/deep/text.py": "{code}",
            "docs/conf.py": "",
            "other/__init__.py": "",
        },
    ),
    "setuptools, strict": Project(
        name="shop-d",
        module="shop_d.text",
        target="src/shop_d/text.py",
        files={
            "pyproject.toml": SETUPTOOLS + named("shop-d"),
            "src/shop_d/__init__.py": "from .text import sums\n",
            "src/shop_d/text.py": "{code}",
        },
        config=("editable_mode=strict",),
    ),
    "hatchling, a package named otherwise": Project(
        name="shop-e-project",
        module="wares.text",
        target="src/wares/text.py",
        files={
            "pyproject.toml": HATCHLING
            + named("shop-e-project")
            + "[tool.hatch.build.targets.wheel]\npackages = ['src/wares']\n",
            "src/wares/__init__.py": "",
            "src/wares/text.py": "from . import __name__ as package\n{code}",
        },
    ),
    "hatchling, exact": Project(
        name="shop-f",
        module="shop_f.text",
        target="shop_f/text.py",
        files={
            "pyproject.toml": HATCHLING + named("shop-f") + "[tool.hatch.build]\ndev-mode-exact = true\n",
            "shop_f/__init__.py": "",
            "shop_f/text.py": "import shop_f\n{code}",
        },
    ),
    "hatchling, namespace": Project(
        name="acme-text",
        module="acme_space.text.core",
        target="src/acme_space/text/core.py",
        files={
            "pyproject.toml": HATCHLING
            + named("acme-text")
            + "[tool.hatch.build.targets.wheel]\npackages = ['src/acme_space']\n",
            "src/acme_space/text/__init__.py": "",
            "src/acme_space/text/core.py": "from acme_space.text import more\n{code}",
            "src/acme_space/text/more.py": "",
        },
    ),
    "setuptools, namespace": Project(
        name="acme-list",
        module="acme_lists.core",
        target="src/acme_lists/core.py",
        files={
            "pyproject.toml": SETUPTOOLS
            + named("acme-list")
            + "[tool.setuptools.packages.find]\nwhere = ['src']\nnamespaces = true\n",
            "src/acme_lists/core.py": "import acme_lists.more\n{code}",
            "src/acme_lists/more.py": "",
        },
    ),
    "meson-python": Project(
        name="shop_g",
        module="shop_g.text",
        target="shop_g/text.py",
        files={
            "pyproject.toml": MESON + named("shop_g"),
            "meson.build": meson_build("shop_g", "'shop_g/__init__.py', 'shop_g/text.py'"),
            "shop_g/__init__.py": "from shop_g.text import sums\n",
            "shop_g/text.py": "{code}",
        },
    ),
}
RARE = ("setuptools, strict", "setuptools, a folder named otherwise", "setuptools, namespace")
EXTENSION = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(NUMBER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", "", -1, methods};
PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""
COMPILED = Project(
    name="shop_h",
    module="shop_h.text",
    target="shop_h/text.py",
    files={
        "pyproject.toml": MESON + named("shop_h"),
        "meson.build": meson_build(
            "shop_h",
            "'shop_h/__init__.py', 'shop_h/text.py'",
            "py.extension_module('_fast', 'shop_h/_fast.c', install: true, subdir: 'shop_h')\n",
        ),
        "shop_h/__init__.py": "from shop_h import _fast\nfrom shop_h.text import sums\n",
        "shop_h/text.py": "{code}",
        "shop_h/_fast.c": EXTENSION.replace("NUMBER", "1"),
    },
)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment that has the build back ends."""
    folder = tmp_path_factory.mktemp("environment") / ".venv"
    venv.create(folder, symlinks=True, with_pip=True)
    made = folder / "bin" / "python"
    done = subprocess.run(
        [made, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--upgrade", *NEEDED],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(
            f"pip cannot install the build back ends here: {done.stderr.strip().splitlines()[-1][:200]}"
        )
    return made


def edited(project: Project, python: Path, folder: Path) -> Path:
    """A clone installed editable, quadratic at HEAD and linear in the work tree."""
    root = clone(project, folder)
    install(python, project, root)
    write(root, {project.target: project.files[project.target]}, LINEAR)
    return root


def is_within(path: str, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def assert_right(answer: tuple[int, dict, str], root: Path) -> None:
    """HEAD was measured as HEAD and the work tree as the work tree, and so the ratio is right."""
    code, document, said = answer
    assert code == 0, (document.get("summary"), said)
    assert document["summary"]["status"] == "improved", document["summary"]
    (result,) = document["results"]
    assert not is_within(result["before"]["origin"], root)
    assert is_within(result["after"]["origin"], root)
    assert result["sizes"][-1]["cpu"]["ratio"] < 0.2
    assert result["same_results"]["equal"] == result["same_results"]["of"]


def assert_not_measured(answer: tuple[int, dict, str]) -> str:
    """Nothing was measured; the reason."""
    code, document, said = answer
    assert code == 3, (document.get("summary"), said)
    assert document["summary"]["status"] == "not-measured"
    (result,) = document["results"]
    assert not any(row["cpu"] for row in result["sizes"])
    return document["summary"]["verdict"]


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if kind in RARE else kind for kind in PROJECTS]
)
def test_each_side_is_the_code_that_was_meant(kind, python, tmp_path):
    project = PROJECTS[kind]
    root = edited(project, python, tmp_path)
    assert is_within(imported_from(python, project.module), root), "the install is not editable"
    assert_right(compare(python, root, f"{project.target}::sums", *CALL), root)


@pytest.mark.slow
def test_two_commits_are_both_taken_from_git(python, tmp_path):
    project = PROJECTS["setuptools, a folder named otherwise"]
    root = edited(project, python, tmp_path)
    git(root, "commit", "-q", "-am", "linear")
    (root / project.target).write_text("raise RuntimeError('the work tree was imported')")
    name = f"{project.target}::sums"
    code, document, said = compare(python, root, f"{name}@HEAD", f"{name}@HEAD~1", *CALL)
    assert code == 1, said
    assert document["summary"]["status"] == "regression"
    assert document["results"][0]["sizes"][-1]["cpu"]["ratio"] > 5


@pytest.mark.slow
def test_an_installed_part_of_the_namespace_is_found_beside_the_side_of_it_in_the_tree(python, tmp_path):
    """A namespace shared by two distributions, one of them installed for good."""
    other = tmp_path / "other"
    write(
        other,
        {
            "pyproject.toml": HATCHLING
            + named("acme-units")
            + "[tool.hatch.build.targets.wheel]\npackages = ['src/acme_wide']\n",
            "src/acme_wide/units/__init__.py": "ONE = 1",
        },
        "",
    )
    pip(python, other)
    project = Project(
        name="acme-sums",
        module="acme_wide.sums",
        target="src/acme_wide/sums/__init__.py",
        files={
            "pyproject.toml": HATCHLING
            + named("acme-sums")
            + "[tool.hatch.build.targets.wheel]\npackages = ['src/acme_wide']\n",
            "src/acme_wide/sums/__init__.py": "from acme_wide.units import ONE\n{code}",
        },
    )
    root = edited(project, python, tmp_path)
    answer = compare(python, root, f"{project.target}::sums", *CALL)
    if answer[0] == 0:
        assert_right(answer, root)
    else:
        assert "acme_wide" in assert_not_measured(answer)


def test_a_package_that_was_imported_before_us_is_not_measured(python, tmp_path):
    """A .pth file may import the package as Python starts: both sides would be the work tree."""
    project = PROJECTS["hatchling, exact"]
    root = edited(project, python, tmp_path)
    (site,) = (python.parents[1] / "lib").glob("python*/site-packages")
    eager = site / "eager_import.pth"
    eager.write_text(f"import {project.module}\n")
    try:
        answer = compare(python, root, f"{project.target}::sums", *CALL)
    finally:
        eager.unlink()
    if answer[0] == 0:
        assert_right(answer, root)
    else:
        assert str(root) in assert_not_measured(answer)


def test_a_package_that_sends_its_imports_to_the_work_tree_is_not_measured(python, tmp_path):
    project = PROJECTS["setuptools, src layout"]
    root = clone(project, tmp_path)
    package = root / "src" / "shop_a"
    (package / "__init__.py").write_text(f"__path__ = [{str(package)!r}]\n")
    git(root, "commit", "-q", "-am", "a path written out")
    install(python, project, root)
    (package / "text.py").write_text(LINEAR)
    reason = assert_not_measured(compare(python, root, f"{project.target}::sums", *CALL))
    assert str(package / "text.py") in reason


@pytest.fixture(scope="module")
def compiler():
    """A C compiler."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on this machine")


def test_a_compiled_package_of_which_only_python_changed(python, tmp_path, compiler):
    root = edited(COMPILED, python, tmp_path)
    assert is_within(imported_from(python, COMPILED.module), root)
    answer = compare(python, root, f"{COMPILED.target}::sums", *CALL)
    if answer[0] == 0:
        assert_right(answer, root)
    else:
        assert "_fast" in assert_not_measured(answer)


def test_a_compiled_package_whose_other_extension_cannot_be_had_is_not_measured(python, tmp_path, compiler):
    """The extension that is built is the work tree's; beside HEAD's Python it would be neither side."""
    root = edited(COMPILED, python, tmp_path)
    (root / "shop_h" / "_fast.c").write_text(EXTENSION.replace("NUMBER", "2"))
    imported_from(python, COMPILED.module)  # builds it
    reason = assert_not_measured(compare(python, root, f"{COMPILED.target}::sums", *CALL))
    assert "_fast" in reason
