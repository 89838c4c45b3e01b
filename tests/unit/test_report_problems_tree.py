import json
from pathlib import Path
from typing import Any

import pytest

from best_agent.errors import ResultsError
from best_agent.evaluate.problems_tree import read_tree
from best_agent.evaluate.results_json import read_file
from best_agent.evaluate.sources import read_all
from best_agent.model.score import Protocol
from best_agent.scoring.table import score

GOLDEN = Path(__file__).parents[2].parent / "shared" / "data" / "dual_at_k" / "a_regular.input.json"
PROBLEM = {
    "time_limit": 1000,
    "memory_limit": [[6400, 640, 64]],
    "data": [10, 100, 1000],
    "cate": "math",
    "difficulty": "easy",
}


def cases(result: str = "Accepted") -> list[dict[str, Any]]:
    return [{"case": f"{n}", "result": result, "time_used": 1, "memory_used": 4.0} for n in range(1, 10)]


def write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document, indent=4))


def make_task(root: Path, task: str = "7") -> Path:
    """A task as the harness leaves it: sources, cases and results beside each other."""
    folder = root / task
    write(folder / "problem.json", PROBLEM)
    write(folder / "desc" / "desc.md", "text")
    write(folder / "exec" / "test.cpp", "int main() {}")
    write(folder / "cases" / "1.in", "1")
    for level in range(3):
        write(folder / "codes" / "std" / f"level{level}" / "std.h", "class Solution {};")
        write(folder / "codes" / "std" / f"level{level}" / "result.json", {"std": cases()})
        write(folder / "codes" / "m" / f"level{level}" / "m_1.h", "class Solution {};")
        write(folder / "codes" / "m" / f"level{level}" / "result.json", {"m_1": cases(), "m_2": cases()})
    return folder


@pytest.mark.parametrize("named", ["data/problems", "data", "."])
def test_the_folder_or_the_checkout_that_holds_it_is_read(tmp_path: Path, named: str) -> None:
    make_task(tmp_path / "data" / "problems")
    (one,) = read_tree(tmp_path / named)
    assert one.task.id == "7"
    assert one.task.difficulty == "easy"
    assert [reference.id for reference in one.references] == ["std"]
    assert sorted(one.models["m"]) == [1, 2]


def test_tasks_come_in_the_order_in_which_people_count(tmp_path: Path) -> None:
    for task in ("10", "9", "100"):
        make_task(tmp_path, task)
    assert [one.task.id for one in read_tree(tmp_path)] == ["9", "10", "100"]


def test_a_level_that_was_not_run_is_missing_and_not_an_error(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    (folder / "codes" / "m" / "level1" / "result.json").unlink()
    (one,) = read_tree(tmp_path)
    assert one.models["m"][1].columns[1] is None
    table = score([one], ks=(1,))
    assert [gap.what for gap in table.missing] == ["sample 1, level1", "sample 2, level1"]


def test_a_model_that_was_only_asked_has_no_results(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    write(folder / "codes" / "asked" / "level0" / "asked_1.h", "class Solution {};")
    (one,) = read_tree(tmp_path)
    assert set(one.models) == {"m"}


def test_a_task_that_was_never_run_is_excluded_and_named(tmp_path: Path) -> None:
    make_task(tmp_path)
    write(tmp_path / "8" / "problem.json", PROBLEM)
    table = score(read_tree(tmp_path), ks=(1,))
    assert [(one.task, one.reason) for one in table.excluded] == [("8", "there are no references")]


def test_hidden_folders_and_files_beside_models_are_nobodys_results(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    write(folder / "codes" / ".cache" / "level0" / "result.json", "broken")
    write(folder / "codes" / "README", "text")
    write(tmp_path / ".git" / "config", "text")
    assert set(read_tree(tmp_path)[0].models) == {"m"}


def test_a_file_that_a_killed_run_left_broken_is_named(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    broken = folder / "codes" / "m" / "level2" / "result.json"
    broken.write_text('{"m_1": [')
    with pytest.raises(ResultsError, match="is not JSON") as caught:
        read_tree(tmp_path)
    assert str(broken) in str(caught.value)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ([], "must be an object, not a list"),
        ({key: value for key, value in PROBLEM.items() if key != "cate"}, "lacks the key 'cate'"),
        (PROBLEM | {"memory_limit": "[[1]]"}, r"memory_limit: must be a list"),
    ],
)
def test_a_malformed_description_is_named(tmp_path: Path, problem: Any, message: str) -> None:
    folder = make_task(tmp_path)
    write(folder / "problem.json", problem)
    with pytest.raises(ResultsError, match=message) as caught:
        read_tree(tmp_path)
    assert str(folder / "problem.json") in str(caught.value)


def test_a_task_without_description_is_named(tmp_path: Path) -> None:
    make_task(tmp_path)
    (tmp_path / "9" / "codes").mkdir(parents=True)
    with pytest.raises(ResultsError, match=r"9/problem\.json: cannot be read"):
        read_tree(tmp_path)


def test_a_level_that_the_task_does_not_have_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    write(folder / "codes" / "m" / "level3" / "result.json", {})
    with pytest.raises(ResultsError, match="'level3' is not one of level0 to level2"):
        read_tree(tmp_path)


def test_a_sample_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    write(folder / "codes" / "m" / "level0" / "result.json", {"other_1": cases()})
    with pytest.raises(ResultsError, match=r"level0/result\.json: 'other_1' is not a sample of 'm'"):
        read_tree(tmp_path)


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="name a data/problems folder"):
        read_tree(tmp_path)


def test_a_link_that_leads_in_a_circle_is_not_followed_for_ever(tmp_path: Path) -> None:
    folder = make_task(tmp_path)
    (folder / "codes" / "loop").symlink_to(folder / "codes")
    assert set(read_tree(tmp_path)[0].models) == {"m"}


@pytest.mark.skipif(not GOLDEN.is_file(), reason=f"the golden vectors are not at {GOLDEN}")
def test_the_golden_results_laid_out_as_a_tree_score_the_same(tmp_path: Path) -> None:
    for record in json.loads(GOLDEN.read_text()):
        folder = tmp_path / "data" / "problems" / str(record["id"])
        keys = ("cate", "difficulty", "memory_limit")
        write(folder / "problem.json", PROBLEM | {key: record[key] for key in keys})
        for model, levels in record["results"].items():
            for level, samples in levels.items():
                write(folder / "codes" / model / level / "result.json", samples)
    for protocol in Protocol:
        assert score(read_all([tmp_path]), protocol=protocol) == score(read_file(GOLDEN), protocol=protocol)


def test_a_folder_whose_name_drives_a_terminal_is_refused_in_printable_words(tmp_path: Path) -> None:
    make_task(tmp_path, "7\x1b[31m")
    with pytest.raises(ResultsError, match="is not a name") as caught:
        read_tree(tmp_path)
    assert str(caught.value).isprintable()
