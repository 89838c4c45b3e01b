"""Protocol best-2026 against the numbers that the public harness's own scorer gave."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from best_agent.errors import ResultsError
from best_agent.evaluate.results_json import read_file
from best_agent.model.score import ModelScore, Protocol, ScoreTable
from best_agent.scoring.cells import BEST_2026_SAMPLES, TaskCells, task_cells
from best_agent.scoring.table import score

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "dual_at_k"
EXACT = 1e-12

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the golden vectors are not at {FOLDER}")

AGGREGATES = {
    "dual1_time": "time@1",
    "dual10_time": "time@10",
    "dual1_space": "space@1",
    "dual10_space": "space@10",
    "dual1_comb": "dual@1",
    "dual10_comb": "dual@10",
    "problem_pass10": "pass@10",
}


def expected(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.expected.json").read_text())


def scored(name: str) -> ScoreTable:
    return score(read_file(FOLDER / f"{name}.input.json"), protocol=Protocol.BEST_2026)


def everybody(table: ScoreTable) -> dict[str, ModelScore]:
    return {model.model: model for model in (*table.models, table.references)}


def cells(name: str) -> dict[str, TaskCells]:
    results = read_file(FOLDER / f"{name}.input.json")
    models = sorted({model for task in results for model in task.models})
    samples = dict.fromkeys(models, BEST_2026_SAMPLES)
    return {
        task.task.id: task_cells(task, protocol=Protocol.BEST_2026, samples=samples, scored=list(task.models))
        for task in results
    }


def matrix(row: dict[str, str]) -> list[float]:
    return [float(row[f"(time{t},space{level})"]) for t in (1, 2, 3) for level in (1, 2, 3)]


NAMES = ("a_regular", "c_no_reference_in_time_column", "d_ratio_above_one", "e_no_references")
RUNS = ("a_regular", "d_ratio_above_one")


@pytest.mark.parametrize("name", NAMES)
def test_the_passed_share_of_every_cell_is_the_exported_one(name: str) -> None:
    found = cells(name)
    for model, rows in expected(name)["export_csv"].items():
        for row in rows:
            if model == "std":
                continue
            grids = found[row["id"]].models[model]
            shares = [sum(grid[t][level] for grid in grids) / 10 for t in range(3) for level in range(3)]
            assert shares == pytest.approx(matrix(row), abs=EXACT), (model, row["id"])


@pytest.mark.parametrize("name", NAMES)
def test_the_grid_of_every_reference_is_the_exported_one(name: str) -> None:
    found = cells(name)
    rows = expected(name)["export_csv"].get("std", [])
    for task, one in found.items():
        theirs = [
            matrix(row) for row in sorted(rows, key=lambda row: row["solution_id"]) if row["id"] == task
        ]
        assert [[float(cell) for row in grid for cell in row] for grid in one.references] == theirs


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_of_every_task_is_theirs(name: str) -> None:
    found = everybody(scored(name))
    for model, rows in expected(name)["processed_csv"].items():
        by_task: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            by_task.setdefault(row["id"], []).append(row)
        assert set(found[model].per_task) == set(by_task)
        for task, theirs in by_task.items():
            for key, figure in AGGREGATES.items():
                mean = sum(float(row[key]) for row in theirs) / len(theirs)
                assert found[model].per_task[task][figure] == pytest.approx(mean, abs=EXACT, rel=0)


@pytest.mark.parametrize("name", RUNS)
def test_every_aggregate_is_theirs(name: str) -> None:
    found = everybody(scored(name))
    aggregates = expected(name)["aggregate_full"]
    assert set(found) == set(aggregates)
    for model, theirs in aggregates.items():
        for key, figure in AGGREGATES.items():
            assert found[model].scores[figure].value == pytest.approx(theirs[key], abs=EXACT, rel=0)
        for group in ("easy", "medium", "hard"):
            ours = found[model].by_difficulty.get(group, {})
            assert bool(ours) == bool(theirs[f"n_{group}"])
            for key, figure in (("dual1_comb", "dual@1"), ("dual10_comb", "dual@10")):
                value = ours[figure].value if ours else 0
                assert value == pytest.approx(theirs[f"{key}_{group}"], abs=EXACT, rel=0)


@pytest.mark.parametrize("name", RUNS)
def test_the_published_table_of_three_digits_is_theirs(name: str) -> None:
    found = everybody(scored(name))
    for row in csv.DictReader(io.StringIO(expected(name)["result_csv"])):
        ours = found[row["model"]].scores
        for key in ("dual1_time", "dual10_time", "dual1_space", "dual10_space", "dual1_comb", "dual10_comb"):
            assert f"{ours[AGGREGATES[key]].value:.3f}" == row[key]
        assert f"{ours['pass@10'].value:.3f}" == row["pass10"]


def test_where_the_scorer_divided_by_zero_the_error_names_the_task_and_the_row() -> None:
    name = "c_no_reference_in_time_column"
    assert expected(name)["log"]["dual"]["stderr"] == ["ZeroDivisionError: float division by zero"]
    with pytest.raises(ResultsError, match=r"task 301: no reference passes any scale at the loosest space"):
        scored(name)


def test_where_the_scorer_had_no_references_the_error_names_a_task() -> None:
    assert expected("e_no_references")["log"]["dual"]["rc"] == 1
    with pytest.raises(ResultsError, match=r"task 301: .*has references"):
        scored("e_no_references")


def test_the_ratio_above_one_is_at_most_one_by_default_and_the_rest_stands_apart() -> None:
    table = score(read_file(FOLDER / "d_ratio_above_one.input.json"))
    alpha = table.models[0].scores
    assert alpha["dual@1"].value == 1
    theirs = expected("d_ratio_above_one")["aggregate_full"]["alpha"]["dual1_comb"]
    assert alpha["dual@1"].value + alpha["beyond_references"].value == pytest.approx(theirs, abs=EXACT)
