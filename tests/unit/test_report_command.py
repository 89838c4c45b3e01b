import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from best_agent.cli.main import main

LEVELS = ("level0", "level1", "level2")


def cases(result: str = "Accepted", *, count: int = 9) -> list[dict[str, Any]]:
    return [
        {"case": str(n), "result": result, "time_used": 1, "memory_used": 4.0} for n in range(1, count + 1)
    ]


def task(
    identity: int, models: dict[str, str], *, reference: str = "Accepted", **more: Any
) -> dict[str, Any]:
    results = {"std": {level: {"std": cases(reference)} for level in LEVELS}}
    results |= {
        model: {level: {f"{model}_1": cases(result), f"{model}_2": cases()} for level in LEVELS}
        for model, result in models.items()
    }
    base = {"id": identity, "cate": "dp,graph", "difficulty": "easy", "memory_limit": [[64, 64, 64]]}
    return base | {"results": results} | more


def write(tmp_path: Path, *tasks: dict[str, Any]) -> str:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tasks))
    return str(path)


@pytest.fixture
def results(tmp_path: Path) -> str:
    gaps = task(3, {"good": "Accepted", "poor": "Wrong Answer"}, difficulty="Hard")
    del gaps["results"]["poor"]["level1"]["poor_2"]
    return write(
        tmp_path,
        task(1, {"good": "Accepted", "poor": "Wrong Answer"}),
        task(2, {"good": "Accepted", "poor": "Time Limit Exceeded"}),
        gaps,
        task(145, {"good": "Accepted"}, reference="Wrong Answer"),
    )


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_the_page_explains_itself_and_says_what_was_left_out_and_missing(results, capsys) -> None:
    page = output(capsys, results, "--k", "1,2")
    assert page.startswith(
        "dual@2: share of the time-and-memory grid that the answers pass, weighted to the hard cells."
    )
    for figure in ("dual@1", "dual@2", "time@1", "time@2", "space@1", "space@2", "pass@1", "pass@2"):
        assert figure in page
    assert "easy (2)" in page
    assert "hard (1)" in page
    assert "145: no reference passes any cell" in page
    assert "poor, task 3: sample 2, level1" in page
    assert "counted as failed" in page
    assert "dual@1: good is ahead of poor by" in page
    assert page.index("good") < page.index("poor")
    assert "\x1b" not in page


def test_figures_that_cannot_be_had_are_dashes_with_a_reason(results, capsys) -> None:
    page = output(capsys, results)
    assert "good: no dual@10, time@10, space@10, pass@10: the model has 2 samples a task" in page


def test_best_2026_says_that_missing_counts_as_passed(tmp_path: Path, capsys) -> None:
    page = output(capsys, write(tmp_path, task(1, {"m": "Accepted"})), "--protocol", "best-2026")
    assert "missing, counted as passed, 1 gap:" in page
    assert "m, task 1: sample 3-10" in page


def test_best_2026_stops_at_the_task_where_the_public_harness_does(results, capsys) -> None:
    assert "task 145: no reference passes any cell" in refused(capsys, results, "--protocol", "best-2026")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_name_and_no_interval_is_cut_on_a_narrow_terminal(results, capsys, monkeypatch, columns) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    wide = output(capsys, results, "--k", "1,2", "--format", "csv")
    text = re.sub(r"\x1b\[[0-9;]*m", "", output(capsys, results, "--k", "1,2"))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= columns
    words = text.split()
    for row in csv.DictReader(io.StringIO(wide)):
        if row["figure"] != "beyond_references" and not row["group"].startswith("category"):
            assert {row["model"], row["figure"], f"{float(row['value']):.3f}"} <= set(words)
            assert not row["low"] or f"{float(row['low']):.2f}-{float(row['high']):.2f}" in words


def test_a_long_model_name_leaves_room_for_figures(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    text = output(capsys, write(tmp_path, task(1, {"m" * 200: "Accepted"})))
    assert "1.000" in text
    assert "…" not in text


def test_long_lists_are_cut_and_say_so(tmp_path: Path, capsys) -> None:
    tasks = [task(n, {"m": "Accepted"}, reference="Wrong Answer") for n in range(30)]
    page = output(capsys, write(tmp_path, task(99, {"m": "Accepted"}), *tasks))
    assert "excluded, 30 tasks:" in page
    assert "and 18 more; --format json lists all" in page


def test_the_json_gives_every_figure_with_its_interval(results, capsys) -> None:
    document = json.loads(output(capsys, results, "--format", "json", "--k", "1,2"))
    assert document["schema"] == "best-agent/report/1"
    found = document["results"]
    assert [model["model"] for model in found["models"]] == ["good", "poor"]
    poor = found["models"][1]
    assert poor["n"] == 2
    for triples in (
        poor["score"],
        poor["by_difficulty"]["easy"]["score"],
        poor["by_category"]["dp"]["score"],
    ):
        for value, low, high in triples.values():
            assert low <= value <= high
    assert set(poor["score"]) >= {f"{name}@{k}" for name in ("dual", "time", "space", "pass") for k in (1, 2)}
    assert poor["by_difficulty"]["hard"]["score"]["dual@1"][1:] == [None, None]
    assert found["excluded"] == [{"task": "145", "reason": "no reference passes any cell"}]
    assert {"model": "poor", "task": "3", "what": "sample 2, level1"} in found["missing"]
    assert found["missing_counts_as"] == "failed"
    assert found["totals"] == document["summary"] == {"models": 2, "tasks": 3, "excluded": 1, "missing": 1}
    assert found["differences"][0]["leader"] == "good"
    assert found["references"]["score"]["dual@1"] == [1, 1, 1]


def test_the_csv_has_one_line_for_each_figure_of_each_group(results, capsys) -> None:
    rows = list(csv.DictReader(io.StringIO(output(capsys, results, "--format", "csv", "--k", "1"))))
    (row,) = [row for row in rows if (row["model"], row["group"], row["figure"]) == ("good", "all", "dual@1")]
    assert (row["n"], row["tasks"], float(row["value"])) == ("2", "3", 1)
    assert {row["group"] for row in rows} >= {"all", "difficulty:easy", "difficulty:hard", "category:graph"}


def test_the_markdown_is_a_table_that_names_cannot_break(tmp_path: Path, capsys) -> None:
    page = output(capsys, write(tmp_path, task(1, {"a|b": "Accepted"})), "--format", "markdown")
    assert "| a\\|b | 2 |" in page
    widths = {line.replace("\\|", "").count("|") for line in page.splitlines() if line.startswith("| ")}
    assert len(widths) == 2  # the scores, and those by difficulty


def test_names_are_never_read_as_markup(tmp_path: Path, capsys) -> None:
    page = output(capsys, write(tmp_path, task(1, {"[red]m": "Accepted"})))
    assert "[red]m" in page


def test_several_files_are_one_task_set_and_the_output_can_go_to_a_file(tmp_path: Path, capsys) -> None:
    first = write(tmp_path, task(1, {"good": "Accepted"}))
    second = tmp_path / "second.json"
    second.write_text(json.dumps([task(1, {"poor": "Wrong Answer"})]))
    target = tmp_path / "scores.csv"
    assert output(capsys, first, str(second), "--format", "csv", "--output", str(target)) == ""
    assert {line.split(",")[1] for line in target.read_text().splitlines()[1:]} == {"good", "poor", "std"}


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is not JSON"), ("[]", "there are no results"), ("{}", "must be a list, not an object")],
)
def test_what_is_not_results_is_one_clear_line(tmp_path: Path, capsys, content: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    assert message in refused(capsys, str(path))


def test_a_missing_file_is_one_clear_line(tmp_path: Path, capsys) -> None:
    assert "there is no such file or folder" in refused(capsys, str(tmp_path / "none.json"))


@pytest.mark.parametrize("k", ["", "0", "1,", "ten", "-1", "1.5", "99999999", "٣"])
def test_k_must_be_whole_numbers(results, capsys, k: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["report", results, f"--k={k}"])
    assert caught.value.code == 2
    assert "list of whole numbers from 1" in capsys.readouterr().err


def test_help_teaches_with_examples(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    page = capsys.readouterr().out
    assert "best-agent report results.json" in page
    assert "best-2026" in page


def test_progress_goes_to_standard_error_alone(results, capsys) -> None:
    assert main(["report", results, "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert "scoring poor, 2 of 2" in err
    assert "scoring" not in out
