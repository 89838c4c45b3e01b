import json
import re
import subprocess
import sys

import pytest
from task_folders import change, write_best, write_task

from best_agent.cli.main import main


def best_agent(capsys, *arguments):
    code = main(["tasks", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list_shows_the_own_tasks(capsys):
    code, out, err = best_agent(capsys, "list")
    assert (code, err) == (0, "")
    assert "cold-reports" in out
    assert "1,000 .. 100,000" in out
    assert "python, cpp" in out
    assert "tasks in the catalogue of best-agent" in out


@pytest.mark.parametrize("columns", [80, 200])
def test_a_list_has_each_task_in_one_line(capsys, monkeypatch, tmp_path, columns):
    for number in range(3):
        write_task(tmp_path, f"task-{number}")
        change(tmp_path / f"task-{number}" / "task.toml", "title = ", f"title = '{'a long title ' * 30}' # ")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    out = re.sub(r"\x1b\[[0-9;]*m", "", best_agent(capsys, "list", "--tasks", tmp_path)[1])
    rows = [line for line in out.splitlines() if "a long" in line]
    assert [row.split()[0] for row in rows] == ["task-0", "task-1", "task-2"]
    assert all(len(row) <= columns and row.rstrip().endswith("…") for row in rows)


def test_list_as_json_is_the_envelope(capsys):
    code, out, _ = best_agent(capsys, "list", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert document["schema"] == "best-agent/tasks/1"
    assert document["summary"]["tasks"] == len(document["results"])
    assert document["summary"]["unusable"] == []
    first = document["results"][0]
    assert set(first) == {
        "id",
        "title",
        "set",
        "mode",
        "difficulty",
        "categories",
        "languages",
        "sizes",
        "space_levels",
        "references",
        "notes",
    }


def test_show_has_statement_sizes_limits_and_references(capsys):
    code, out, _ = best_agent(capsys, "show", "cold-reports")
    assert code == 0
    for part in (
        "A weather station", "sensors: list[int]", "limits in python", "limits in cpp", "6x fastest",
        "100,000", "2.00 MiB", "reference_fast.py", "O(n)", "naive.cpp",
    ):  # fmt: skip
        assert part in out


def test_show_as_json_has_exact_limits(capsys, tmp_path):
    write_task(tmp_path)
    code, out, _ = best_agent(capsys, "show", "double", "--tasks", tmp_path, "--format", "json")
    assert code == 0
    (task,) = json.loads(out)["results"]
    assert task["limits"] == {
        "python": {"memory_bytes": [[65536, 8192], [655360, 65536]], "time_factor": 3.0, "time_ns": None}
    }
    assert task["signature"] == {
        "entry": "solve",
        "parameters": [{"name": "values", "type": "list[int]"}],
        "returns": "int",
    }
    assert len(task["statements"]) == 2


def test_show_takes_the_statement_of_a_space_level(capsys, tmp_path):
    write_task(tmp_path)
    assert "640 KiB in Python" in best_agent(capsys, "show", "double", "--tasks", tmp_path)[1]
    shown = best_agent(capsys, "show", "double", "--tasks", tmp_path, "--space-level", "2")[1]
    assert "within 64.0 KiB in Python" in shown
    code, out, err = best_agent(capsys, "show", "double", "--tasks", tmp_path, "--space-level", "3")
    assert (code, out) == (2, "")
    assert "--space-level 3: task double has 2" in err


def test_a_task_of_best_is_shown_with_absolute_times_and_its_defects(capsys, tmp_path):
    write_best(tmp_path, cases=8)
    code, out, _ = best_agent(capsys, "show", "7", "--tasks", f"best:{tmp_path}")
    assert code == 0
    assert "1.00 s" in out
    assert "solve2()" in out
    assert "note: " in out
    assert "9.in" in out.replace("\n", "")
    assert "(has defects)" in best_agent(capsys, "list", "--tasks", f"best:{tmp_path}")[1].replace("\n", "")


def test_a_task_that_cannot_be_used_does_not_hide_the_others(capsys, tmp_path):
    write_task(tmp_path, "good")
    change(write_task(tmp_path, "bad") / "task.toml", 'title = "Double"', "")
    code, out, err = best_agent(capsys, "list", "--tasks", tmp_path)
    assert (code, err) == (0, "")
    assert "unusable bad" in out
    assert "title: missing" in out
    assert "1 task in" in out
    document = json.loads(best_agent(capsys, "list", "--tasks", tmp_path, "--format", "json")[1])
    (unusable,) = document["summary"]["unusable"]
    assert unusable["id"] == "bad"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("show", "cold-report"),
            "'cold-report' in the catalogue of best-agent (did you mean 'cold-reports'?)",
        ),
        (
            ("show", "xyz"),
            "there is no task 'xyz' in the catalogue of best-agent; see: best-agent tasks list",
        ),
        (("list", "--tasks", "bset:."), "'bset' is no kind of set (did you mean 'best'?)"),
        (("list", "--tasks", "/nowhere"), "there is no such folder"),
    ],
)
def test_what_does_not_exist_is_one_clear_line(capsys, arguments, expected):
    code, out, err = best_agent(capsys, *arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1


def test_a_broken_task_is_named_by_file_and_key(capsys, tmp_path):
    folder = write_task(tmp_path)
    change(folder / "task.toml", "time_factor = 3.0", "time_factr = 3.0")
    code, _, err = best_agent(capsys, "show", "double", "--tasks", tmp_path)
    assert code == 2
    assert f"{folder / 'task.toml'}: limits.python." in err


def test_texts_of_others_do_not_reach_the_terminal_as_controls(capsys, tmp_path):
    write_best(tmp_path, {"desc": "\x1b[2Jgone\x07 [bold]not markup[/bold] @data", "cate": "\x1b]0;x\x07"})
    for action in (("list",), ("show", "7")):
        out = best_agent(capsys, *action, "--tasks", f"best:{tmp_path}")[1]
        assert "\x1b" not in out
        assert "\x07" not in out
    assert "[bold]not markup[/bold]" in out


@pytest.mark.parametrize("arguments", [(), ("shw",), ("show",), ("list", "extra")])
def test_usage_errors_end_with_two(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        best_agent(capsys, *arguments)
    assert caught.value.code == 2


def test_help_teaches_with_examples():
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", "tasks", "--help"], capture_output=True, text=True, check=True
    )
    assert "best-agent tasks show cold-reports" in done.stdout
