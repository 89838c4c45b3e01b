import pytest

from best_agent.workload.layout import place, project_of


@pytest.fixture
def tree(tmp_path):
    def make(*files: str):
        for name in files:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        return tmp_path

    return make


def named(root, file):
    found = place(root / file, root)
    return found.module, [str(folder.relative_to(root)) for folder in found.roots]


def test_a_package_starts_where_init_files_end(tree):
    root = tree("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/text.py")
    assert named(root, "pkg/sub/text.py") == ("pkg.sub.text", ["."])


def test_the_src_folder_is_where_imports_start(tree):
    root = tree("pyproject.toml", "src/pkg/__init__.py", "src/pkg/text.py")
    assert named(root, "src/pkg/text.py") == ("pkg.text", ["src", "."])


def test_folders_below_src_are_namespaces(tree):
    root = tree("pyproject.toml", "src/acme/text/__init__.py", "src/acme/text/core.py")
    assert named(root, "src/acme/text/core.py") == ("acme.text.core", ["src", "."])


def test_the_init_file_is_the_package_itself(tree):
    root = tree("pkg/__init__.py", "pkg/sub/__init__.py")
    assert named(root, "pkg/sub/__init__.py")[0] == "pkg.sub"


def test_a_file_in_no_package_has_no_dotted_name(tree):
    root = tree("pyproject.toml", "tools/a.py")
    assert named(root, "tools/a.py") == (None, ["tools", "."])


def test_the_nearest_project_counts_in_a_monorepo(tree):
    root = tree(
        "pyproject.toml", "libs/one/pyproject.toml", "libs/one/src/one/__init__.py", "libs/one/src/one/a.py"
    )
    assert project_of(root / "libs/one/src/one/a.py", root) == root / "libs/one"
    assert named(root, "libs/one/src/one/a.py") == ("one.a", ["libs/one/src", "libs/one"])


def test_a_project_above_the_tree_is_not_asked(tree):
    root = tree("pyproject.toml", "inner/pkg/__init__.py", "inner/pkg/a.py")
    assert project_of(root / "inner/pkg/a.py", root / "inner") == root / "inner"
