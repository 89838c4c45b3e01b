import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from best_agent.errors import ResultsError
from best_agent.evaluate.results_json import read_file
from best_agent.evaluate.sources import read_all
from best_agent.scoring.table import score


def cases(result: str = "Accepted") -> list[dict[str, Any]]:
    return [{"case": str(n), "result": result, "time_used": 1, "memory_used": 4.0} for n in range(1, 10)]


def record(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": 7,
        "cate": "dp, graph",
        "difficulty": "easy",
        "memory_limit": [[6400, 640, 64]],
        "results": {
            "std": {f"level{level}": {"std": cases()} for level in range(3)},
            "m": {f"level{level}": {"m_1": cases(), "m_2": cases("Wrong Answer")} for level in range(3)},
        },
    }
    found.update(changes)
    return found


def read(tmp_path: Path, document: Any) -> Any:
    path = tmp_path / "results.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_file(path)


def test_a_task_is_read_with_its_shape_its_references_and_its_samples(tmp_path: Path) -> None:
    (one,) = read(tmp_path, [record()])
    assert (one.task.id, one.task.scales, one.task.space_levels, one.task.cases_per_scale) == ("7", 3, 3, 3)
    assert one.task.categories == ("dp", "graph")
    assert [reference.id for reference in one.references] == ["std"]
    assert sorted(one.models["m"]) == [1, 2]
    assert [case.passed for case in one.models["m"][2].columns[1]] == [False] * 9
    assert one.separate_programs


def test_levels_and_weights_are_data(tmp_path: Path) -> None:
    limits = [[9, 8, 7, 6, 5]] * 2
    results = {"std": {f"level{level}": {"std": cases()[:8]} for level in range(5)}}
    changed = record(memory_limit=limits, tau=2, sigma=1.5, cases_per_scale=4, results=results)
    (one,) = read(tmp_path, [changed])
    assert (one.task.scales, one.task.space_levels, one.task.tau, one.task.sigma) == (2, 5, 2, 1.5)
    table = score([one], ks=(1,))
    assert table.references.scores["dual@1"].value == 1
    assert table.missing == ()


def test_a_model_of_which_no_level_was_recorded_is_left_out(tmp_path: Path) -> None:
    (one,) = read(tmp_path, [record(results={"std": {}, "m": {}, "n": {"level0": {}}})])
    assert one.references == ()
    assert set(one.models) == {"n"}


def place(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *steps, last = path.split("/")
    at: Any = changed
    for step in steps:
        at = at[int(step)] if isinstance(at, list) else at[step]
    at[int(last) if isinstance(at, list) else last] = value
    return changed


CASE = "results/m/level1/m_1/4"
MALFORMED = {
    "id of another type": ("id", 1.5, r"\[0\]\.id: must be a text, not 1\.5"),
    "id true": ("id", True, r"\[0\]\.id: must be a text, not True"),
    "id blank": ("id", " ", r"\[0\]\.id: must be a text, not an empty text"),
    "id that drives a terminal": ("id", "\x1b[31m", r"\[0\]\.id: .* is not a name"),
    "category null": ("cate", None, r"\[0\]\.cate: must be a text, not null"),
    "difficulty a number": ("difficulty", 3, r"\[0\]\.difficulty: must be a text, not 3"),
    "limits not nested": ("memory_limit", [1, 2], r"memory_limit\[0\]: must be a list, not 1"),
    "limits empty": ("memory_limit", [], r"memory_limit: must be lists of one length"),
    "limits ragged": ("memory_limit", [[1, 2], [1]], r"memory_limit: must be lists of one length"),
    "limit zero": ("memory_limit/0/1", 0, r"memory_limit\[0\]\[1\]: must be a number above 0"),
    "limit a text": ("memory_limit/0/1", "64", r"memory_limit\[0\]\[1\]: must be a number above 0"),
    "too many levels": ("memory_limit", [[1] * 33], r"memory_limit: has more than 32"),
    "tau huge": ("tau", 1e9, r"tau: must be a number above 0 and up to 100"),
    "cases huge": ("cases_per_scale", 10**9, r"cases_per_scale: must be a whole number from 1 to 1000"),
    "unknown key": ("memory_limits", [], r"\[0\]: has the unknown key 'memory_limits'"),
    "separate programs a number": (
        "separate_programs",
        1,
        r"separate_programs: must be true or false, not 1",
    ),
    "results a list": ("results", [], r"results: must be an object, not a list"),
    "model a list": ("results/m", [], r"results\.m: must be an object, not a list"),
    "model without a name": ("results/ ", {}, r"results: ' ' is not a name"),
    "model that drives a terminal": ("results/\x1b]0;x", {}, r"is not a name"),
    "unknown level": ("results/m/level3", {}, r"results\.m: 'level3' is not one of level0 to level2"),
    "level that drives a terminal": ("results/m/\x1b[2J", {}, r"'\\x1b\[2J' is not one of level0"),
    "level without number": ("results/m/level", {}, r"'level' is not one of level0 to level2"),
    "level with zeros": ("results/m/level01", {}, r"'level01' is not one of"),
    "level null": ("results/m/level1", None, r"results\.m\.level1: must be an object, not null"),
    "sample of another model": ("results/m/level1/n_1", [], r"'n_1' is not a sample of 'm'"),
    "sample without number": ("results/m/level1/m", [], r"'m' is not a sample of 'm'"),
    "sample zero": ("results/m/level1/m_0", [], r"'m_0' is not a sample of 'm'"),
    "sample beyond reason": ("results/m/level1/m_99999", [], r"m_1 to m_9999"),
    "cases an object": ("results/m/level1/m_1", {}, r"level1\.m_1: must be a list, not an object"),
    "case a text": (CASE, "Accepted", r"m_1\[4\]: must be an object, not 'Accepted'"),
    "case without result": (CASE, {"case": 5}, r"m_1\[4\]: lacks the key 'result'"),
    "case with a stranger": (CASE, {"case": 5, "result": "Accepted", "x": 1}, r"has the unknown key 'x'"),
    "case number zero": (f"{CASE}/case", 0, r"case: must be a whole number from 1 to 9, not 0"),
    "case number ten": (f"{CASE}/case", "10", r"case: must be a whole number from 1 to 9, not 10"),
    "case number in words": (f"{CASE}/case", "five", r"case: must be a whole number"),
    "case number of other digits": (f"{CASE}/case", "٣", r"case: must be a whole number"),
    "case number broken": (f"{CASE}/case", 1.0, r"case: must be a whole number"),
    "case number true": (f"{CASE}/case", True, r"case: must be a whole number"),
    "case twice": (f"{CASE}/case", "4", r"m_1\[4\]\.case: is 4 for the second time"),
    "verdict in another case": (
        f"{CASE}/result",
        "accepted",
        r"'accepted' is not a verdict; known are Accepted",
    ),
    "verdict true": (f"{CASE}/result", True, r"'True' is not a verdict"),
    "verdict a list": (f"{CASE}/result", ["Accepted"], r"is not a verdict"),
    "time a text": (f"{CASE}/time_used", "1", r"time_used: must be a number"),
    "memory null": (f"{CASE}/memory_used", None, r"memory_used: must be a number"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_every_malformed_value_is_one_error_with_its_place(tmp_path: Path, name: str) -> None:
    path, value, message = MALFORMED[name]
    with pytest.raises(ResultsError, match=message) as caught:
        read(tmp_path, [place(record(), path, value)])
    assert str(caught.value).startswith(str(tmp_path / "results.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["id", "cate", "difficulty", "memory_limit", "results"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    changed = record()
    del changed[key]
    with pytest.raises(ResultsError, match=rf"\[0\]: lacks the key '{key}'"):
        read(tmp_path, [changed])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[{]", "is not JSON: .* in line 1, column 3"),
        ('{"id": 1}', "must be a list, not an object"),
        ("null", "must be a list, not null"),
        ("[3]", r"\[0\]: must be an object, not 3"),
        ("[NaN]", "NaN is not a number that JSON knows"),
        ('[{"id": 1, "id": 2}]', "the key 'id' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        (f"[{'1' * 5000}]", "a number too long"),
    ],
)
def test_what_is_not_results_at_all_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        read(tmp_path, text)


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"[\xff]")
    with pytest.raises(ResultsError, match=r"is not UTF-8 text \(byte 1\)"):
        read_file(path)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="cannot be read"):
        read_file(tmp_path)


def test_a_task_twice_in_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"\[1\]\.id: task 7 stands twice"):
        read(tmp_path, [record(), record(id="7")])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
somewhere = st.sampled_from(
    [
        *record(),
        "memory_limit/0",
        "results/m",
        "results/m/level0",
        "results/m/level0/m_1",
        CASE,
        f"{CASE}/case",
    ]
)


@given(somewhere, json_values)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere_is_read_or_refused_and_nothing_else(
    tmp_path: Path, path: str, value: Any
) -> None:
    with contextlib.suppress(ResultsError):
        read(tmp_path, [place(record(), path, value)])


def two_files(tmp_path: Path, first: Any, second: Any) -> list[Path]:
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path, document in zip(paths, (first, second), strict=True):
        path.write_text(json.dumps(document))
    return paths


def test_models_of_several_files_become_one_task_set(tmp_path: Path) -> None:
    other = record()
    other["results"]["n"] = {level: {"n_1": cases()} for level in other["results"].pop("m")}
    (one,) = read_all(two_files(tmp_path, [record()], [other]))
    assert set(one.models) == {"m", "n"}
    assert len(one.references) == 1


def test_references_may_stand_in_one_of_the_files_alone(tmp_path: Path) -> None:
    bare = record()
    del bare["results"]["std"]
    alone = record(results={"std": record()["results"]["std"]})
    (one,) = read_all(two_files(tmp_path, [bare], [alone]))
    assert one.references
    assert set(one.models) == {"m"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("difficulty", "hard", "task 7 differs in limits, category or difficulty"),
        ("results/n", {}, "results of 'm' already"),
        ("results", {"std": {"level0": {"std": cases("Wrong Answer")}}}, "references did otherwise"),
    ],
)
def test_files_that_contradict_each_other_are_refused(
    tmp_path: Path, path: str, value: Any, message: str
) -> None:
    with pytest.raises(ResultsError, match=message) as caught:
        read_all(two_files(tmp_path, [record()], [place(record(), path, value)]))
    assert "second.json" in str(caught.value)


def test_a_path_that_is_not_there_and_files_without_tasks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="there is no such file or folder"):
        read_all([tmp_path / "nothing.json"])
    with pytest.raises(ResultsError, match="there are no results"):
        read_all(two_files(tmp_path, [], []))


def test_scales_can_be_given_where_one_list_stands_for_all(tmp_path: Path) -> None:
    (one,) = read(tmp_path, [record(scales=4)])
    assert one.task.scales == 4
    with pytest.raises(ResultsError, match=r"scales: is 3, but there are memory limits of 2 scales"):
        read(tmp_path, [record(scales=3, memory_limit=[[3, 2, 1]] * 2)])


def test_one_program_for_all_levels_can_be_said(tmp_path: Path) -> None:
    (one,) = read(tmp_path, [record(separate_programs=False)])
    assert not one.separate_programs
