import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from task_folders import write_best, write_task

import best_agent
from best_agent.catalogue.locate import open_set
from best_agent.errors import TaskError, UsageError


def test_the_own_catalogue_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = open_set(None)
    assert len(tasks.ids()) >= 4
    assert tasks.load(tasks.ids()[0]).set_name == "own"


def test_the_catalogue_of_a_wheel_lies_inside_of_the_package(tmp_path):
    package = Path(best_agent.__file__).parent
    shutil.copytree(package, tmp_path / "best_agent", ignore=shutil.ignore_patterns("__pycache__"))
    write_task(tmp_path / "best_agent" / "_tasks")
    code = "from best_agent.catalogue.locate import open_set; print(open_set(None).ids())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "('double',)"


def test_an_installation_without_tasks_says_so(tmp_path):
    package = Path(best_agent.__file__).parent
    shutil.copytree(package, tmp_path / "best_agent", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", "tasks", "list"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "the catalogue is missing from this installation" in done.stderr


def test_a_folder_holds_the_tasks_that_have_a_task_file(tmp_path):
    write_task(tmp_path, "b-task")
    write_task(tmp_path, "a-task")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("")
    tasks = open_set(str(tmp_path))
    assert tasks.ids() == ("a-task", "b-task")
    assert str(tmp_path) in tasks.description


def test_one_spoilt_task_does_not_hide_the_others(tmp_path):
    write_task(tmp_path, "good")
    (write_task(tmp_path, "bad") / "task.toml").write_text("")
    tasks = open_set(str(tmp_path))
    assert tasks.ids() == ("bad", "good")
    assert tasks.load("good").id == "good"
    with pytest.raises(TaskError, match=r"bad/task.toml"):
        tasks.load("bad")


@pytest.mark.parametrize("task_id", ["doubel", "DOUBLE", "double "])
def test_an_unknown_id_suggests_near_ones(tmp_path, task_id):
    write_task(tmp_path)
    with pytest.raises(TaskError) as caught:
        open_set(str(tmp_path)).load(task_id)
    assert f"no task '{task_id}'" in str(caught.value)
    assert "'double'" in str(caught.value) or task_id == "DOUBLE"


@pytest.mark.parametrize("task_id", ["", ".", "..", "../double", "double/", "double/.", "/", "a\0b"])
def test_an_id_is_not_a_path(tmp_path, task_id):
    write_task(tmp_path / "set")
    write_task(tmp_path, "outside")
    with pytest.raises(TaskError, match="no task"):
        open_set(str(tmp_path / "set")).load(task_id)


@pytest.mark.parametrize("name", ["Double", "do uble", "-x", "ü"])
def test_a_folder_whose_name_is_no_id_is_refused_by_name(tmp_path, name):
    write_task(tmp_path, name)
    with pytest.raises(TaskError, match="name the folder with"):
        open_set(str(tmp_path)).load(name)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("", "there is no such folder"),
        ("nowhere", "there is no such folder"),
        ("bst:.", "'bst' is no kind of set (did you mean 'best'?)"),
        ("enamel:.", "'enamel' is no kind of set; the kinds are: best"),
        ("best:", "there is no folder"),
        ("best:nowhere", "there is no folder 'nowhere'"),
    ],
)
def test_a_spec_that_names_nothing_is_refused_with_the_way_on(tmp_path, monkeypatch, spec, expected):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        open_set(spec)
    assert expected in str(caught.value)


def test_a_folder_without_tasks_and_a_task_itself_are_told_apart(tmp_path):
    with pytest.raises(TaskError, match="holds no tasks"):
        open_set(str(tmp_path))
    folder = write_task(tmp_path)
    with pytest.raises(TaskError, match=f"is one task; name the folder that holds it: --tasks {tmp_path}"):
        open_set(str(folder))


def test_a_folder_with_a_colon_in_its_name_is_still_a_folder(tmp_path, monkeypatch):
    write_task(tmp_path / "my:tasks")
    monkeypatch.chdir(tmp_path)
    assert open_set("my:tasks").ids() == ("double",)


def test_a_checkout_of_best_is_read_by_its_kind(tmp_path):
    write_best(tmp_path)
    tasks = open_set(f"best:{tmp_path}")
    assert tasks.ids() == ("7",)
    with pytest.raises(TaskError, match="no task '8'"):
        tasks.load("8")
