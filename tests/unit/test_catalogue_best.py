import csv
import json
from pathlib import Path

import pytest
from task_folders import BEST_ROW, write_best

from best_agent.catalogue.cases import has_fresh_cases, load_cases
from best_agent.catalogue.importers.best import BestSet
from best_agent.catalogue.importers.best_references import references
from best_agent.errors import TaskError
from best_agent.model.task import Mode

SAMPLE = Path(__file__).parents[2].parent / "shared" / "data" / "best"
needs_sample = pytest.mark.skipif(not SAMPLE.is_dir(), reason=f"the sample of BEST is not at {SAMPLE}")


def loaded(root, *rows, cases=9):
    return BestSet(write_best(root, *rows, cases=cases)).load("7")


def limits_kb(task):
    return [[limit // 1024 for limit in row] for row in task.limits["cpp"].memory_bytes]


def refusal(root, row):
    with pytest.raises(TaskError) as caught:
        loaded(root, row)
    message = str(caught.value)
    assert "data.csv" in message
    assert "\n" not in message
    return message


def test_a_task_is_read_as_its_authors_wrote_it(tmp_path):
    task = loaded(tmp_path)
    assert (task.id, task.set_name, task.mode, task.title) == ("7", "best", Mode.DRIVER, "Count the numbers.")
    assert (task.sizes, task.space_levels, task.difficulty) == ((10, 100, 1000), 3, "medium")
    assert task.categories == ("math", "sort")
    assert task.driver == BEST_ROW["test"]
    assert (task.exact_output, task.signature, task.checker, task.notes) == (False, None, None, ())
    assert task.limits["cpp"].time_ns == (10**9, 10**9, 10**9)
    assert task.limits["cpp"].time_factor is None
    assert not has_fresh_cases(task)


def test_one_list_of_limits_is_for_the_largest_scale(tmp_path):
    task = loaded(tmp_path, {"memory_limit": "[[12800, 6400, 32]]"})
    assert limits_kb(task) == [[200, 100, 64], [1600, 800, 64], [12800, 6400, 64]]


def test_three_lists_of_limits_are_one_for_each_scale(tmp_path):
    task = loaded(tmp_path, {"memory_limit": "[[100, 90, 10], [800, 700, 80], [6400, 640, 64.9]]"})
    assert limits_kb(task) == [[100, 90, 64], [800, 700, 80], [6400, 640, 64]]


@pytest.mark.parametrize("scales", [1, 2, 4, 5])
@pytest.mark.parametrize("levels", [1, 2, 4])
def test_the_data_decides_how_many_scales_and_levels_there_are(tmp_path, scales, levels):
    sizes = [10**scale for scale in range(1, scales + 1)]
    limits = [64 * 8**scales // 2**level for level in range(levels)]
    task = loaded(
        tmp_path, {"data": json.dumps(sizes), "memory_limit": json.dumps([limits])}, cases=3 * scales
    )
    assert (len(task.sizes), task.space_levels, len(task.statements)) == (scales, levels, levels)
    assert limits_kb(task)[-1] == limits
    assert limits_kb(task)[0][0] == 64 * 8
    cases = load_cases(task, 1)
    assert [case.scale for case in cases] == [scale for scale in range(1, scales + 1) for _ in range(3)]


def test_each_space_level_has_a_prompt_with_its_limit_at_the_largest_scale(tmp_path):
    statements = loaded(tmp_path).statements
    assert [text.split("Memory limit: ")[1] for text in statements] == ["6400 KB\n", "640 KB\n", "64 KB\n"]
    assert all("n <= 1000\nTime limit: 1000 ms" in text for text in statements)


def test_each_numbered_method_is_a_reference_and_helpers_are_none(tmp_path):
    found = loaded(tmp_path).references
    assert [(source.id, source.entry) for source in found] == [("std_1", "solve1"), ("std_2", "solve2")]
    assert all(source.text == BEST_ROW["std"] and source.language == "cpp" for source in found)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("class Solution { public: int solve(int n) { return n; } };", ["solve"]),
        ("struct Solution { int solve(int n); };\nint Solution::solve(int n) { return n; }", ["solve"]),
        ("class Solution { public: vector<int>& solve(vector<int>& v) { return v; } };", ["solve"]),
        ("class Solution { public: int* solve(int* v) const { return v; } };", ["solve"]),
        ("class S { int solve10() {return 1;} int solve2() {return 1;} };", ["solve2", "solve10"]),
        ("class S { int solve1() { return 0; } int solve() { return solve1(); } };", ["solve1"]),
        ("// int solve2() {}\nclass S { int solve1() { return 0; } };", ["solve1"]),
        ('class S { int solve1() { puts("int solve2() {}"); return 0; } };', ["solve1"]),
        ("class S { int solve(int n) { return n; } int solver() { return 1; } };", ["solve"]),
        ("class S { int resolve(int n) { return solve(n); } };", []),
        ("int solve;", []),
        ("class Solution { int solve(int n);", []),
        ("\x00\ud7ff{{{{((((", []),
    ],
)
def test_references_are_the_methods_that_are_defined(text, entries):
    assert [source.entry for source in references(text, "cpp")] == entries


def test_cases_are_the_files_byte_for_byte(tmp_path):
    task = loaded(tmp_path)
    folder = tmp_path / "data" / "test_cases" / "7"
    (folder / "9.in").write_bytes(b"9 \r\n\xff")
    cases = load_cases(task, 1)
    assert [case.id for case in cases] == [str(number) for number in range(1, 10)]
    assert (cases[8].stdin, cases[8].expected, cases[8].arguments) == (b"9 \r\n\xff", b"9\n", None)
    assert load_cases(task, 2) == cases


def test_a_missing_or_empty_case_file_is_a_note_and_its_case_is_left_out(tmp_path):
    root = write_best(tmp_path)
    folder = root / "data" / "test_cases" / "7"
    (folder / "2.in").unlink()
    (folder / "4.out").write_text(" \n")
    (folder / "5.in").write_bytes(b"")
    (folder / "6.out").unlink()
    (folder / "6.out").mkdir()
    task = BestSet(root).load("7")
    assert [case.id for case in load_cases(task, 1)] == ["1", "3", "7", "8", "9"]
    assert task.notes == (
        f"{folder / '2.in'}: missing; case 2 is left out",
        f"{folder / '4.out'}: empty; case 4 is left out",
        f"{folder / '5.in'}: empty; case 5 is left out",
        f"{folder / '6.out'}: not a regular file; case 6 is left out",
        f"{folder}: no usable case at scale 2",
    )


def test_a_case_may_not_be_a_link_to_a_file_elsewhere(tmp_path):
    root = write_best(tmp_path / "best")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path = root / "data" / "test_cases" / "7" / "1.in"
    path.unlink()
    path.symlink_to(secret)
    task = BestSet(root).load("7")
    assert "a link that leads out of the task's folder" in task.notes[0]
    assert all(case.stdin != b"secret" for case in load_cases(task, 1))


def test_carriage_returns_and_surplus_cases_are_notes(tmp_path):
    root = write_best(tmp_path, cases=10)
    folder = root / "data" / "test_cases" / "7"
    (folder / "3.out").write_bytes(b"3\r\n")
    task = BestSet(root).load("7")
    assert task.notes == (
        f"{folder / '3.out'}: has carriage returns (CRLF)",
        f"{folder}: case 10 is beyond the 9 cases of 3 scales and is left out",
    )
    assert len(load_cases(task, 1)) == 9


def test_a_task_without_cases_can_be_shown_but_not_run(tmp_path):
    task = loaded(tmp_path, cases=0)
    assert "no usable case at scale 1" in " ".join(task.notes)
    with pytest.raises(TaskError, match="task 7 has no usable case"):
        load_cases(task, 1)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"data": "[10, 100, 50]"}, "data: the sizes [10, 100, 50] do not grow"),
        ({"memory_limit": "[[640, 6400, 64]]"}, "memory_limit: grows from one space level to the next"),
        ({"desc": "Count up to @data within @time_limit."}, "desc: does not tell @memory_limit"),
    ],
)
def test_what_is_odd_but_usable_is_a_note(tmp_path, row, expected):
    assert expected in " ".join(loaded(tmp_path, row).notes)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"data": ""}, "data: empty"),
        ({"data": "[]"}, "data: must be a list of numbers"),
        ({"data": "1000"}, "data: must be a list of numbers"),
        ({"data": "[10, -1]"}, "data: must hold numbers above 0"),
        ({"data": "[10, NaN]"}, "data: must hold numbers above 0"),
        ({"data": "[10, 0.5]"}, "data: must be whole numbers from 1"),
        ({"data": "[10, true]"}, "data: must hold numbers above 0"),
        ({"data": '["10"]'}, "data: must hold numbers above 0"),
        ({"data": "[10^3]"}, "data: not a number or a list of numbers"),
        ({"data": "[" * 100_000}, "data: not a number or a list of numbers"),
        ({"data": "[" + "9" * 5000 + "]"}, "data: not a number or a list of numbers"),
        ({"time_limit": "fast"}, "time_limit: not a number"),
        ({"time_limit": "0"}, "time_limit: must be a number above 0"),
        ({"time_limit": "[1000]"}, "time_limit: must be a number above 0"),
        ({"time_limit": "1e305"}, "time_limit: must be a number above 0"),
        ({"memory_limit": "[[1e305, 1, 1]]"}, "memory_limit: must hold numbers above 0"),
        ({"data": "[10, " + "9" * 4000 + "]"}, "data: must hold numbers above 0"),
        ({"time_limit": "Infinity"}, "time_limit: must be a number above 0"),
        ({"memory_limit": "64"}, "memory_limit: must be a list of lists"),
        ({"memory_limit": "[[64], [64]]"}, "memory_limit: must be 1 or 3 lists"),
        ({"memory_limit": "[[64, 64], [64], [64]]"}, "memory_limit: must be 1 or 3 lists of the same length"),
        ({"memory_limit": "[[64, null, 64]]"}, "memory_limit: must hold numbers above 0"),
        ({"memory_limit": "[[]]"}, "memory_limit: must be a list of numbers"),
        ({"std": ""}, "std: empty"),
        ({"std": "int main() {}"}, "std: defines neither solve nor solve1"),
        ({"test": "  "}, "test: empty"),
        ({"desc": "\n"}, "desc: empty"),
    ],
)
def test_what_makes_a_task_unusable_is_named_by_file_task_and_column(tmp_path, row, expected):
    message = refusal(tmp_path, row)
    assert "task '7': " in message
    assert expected in message


@pytest.mark.parametrize("task_id", ["..", "../x", "a/b", ".", "", "a b", "7\n"])
def test_an_id_of_the_table_is_never_a_path(tmp_path, task_id):
    root = write_best(tmp_path)
    with (root / "data" / "data.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(BEST_ROW))
        writer.writeheader()
        writer.writerow({**BEST_ROW, "id": task_id})
    tasks = BestSet(root)
    if tasks.ids() == ("7",):  # blanks around an id are not part of it
        return
    with pytest.raises(TaskError, match="id: must be letters, digits"):
        tasks.load(tasks.ids()[0])


def test_an_id_that_stands_there_twice_is_taken_once_and_noted(tmp_path):
    root = write_best(tmp_path, {}, {"data": "[1, 2, 3]"})
    tasks = BestSet(root)
    assert tasks.ids() == ("7",)
    task = tasks.load("7")
    assert task.sizes == (10, 100, 1000)
    assert "id 7 stands there twice" in task.notes[0]


HEAD = b"id,desc,data,time_limit,memory_limit,std,test,cate,difficulty\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the column 'id' is missing"),
        (b"a,b\n1,2\n", "the column 'id' is missing"),
        (b"id,desc,data,time_limit,memory_limit,std,test,cate\n", "the column 'difficulty' is missing"),
        (HEAD, "holds no tasks"),
        (HEAD + b"\xff", "not UTF-8"),
        (HEAD + b'7,"a\n', "data: empty"),
        (HEAD + b"7\n", "data: empty"),
        (
            b"id,desc,data,time_limit,memory_limit,std,test,cate,difficulty\n7,a,b,c,d,e,f,g,h,i,j\n",
            "data: not a number",
        ),
    ],
)
def test_a_malformed_table_is_refused_in_one_line(tmp_path, content, expected):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.csv").write_bytes(content)
    with pytest.raises(TaskError) as caught:
        BestSet(tmp_path).load("7")
    assert expected in str(caught.value)
    assert "data.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_no_checkout_says_what_one_is(tmp_path):
    with pytest.raises(TaskError, match=r"best:DIR is a checkout with data/data\.csv"):
        BestSet(tmp_path)


def test_reading_leaves_the_limit_of_csv_fields_as_it_was(tmp_path):
    before = csv.field_size_limit()
    task = loaded(tmp_path, {"desc": "x" * 200_000 + " @data @time_limit @memory_limit"})
    assert len(task.statements[0]) > 200_000
    assert csv.field_size_limit() == before


def test_a_table_with_a_byte_order_mark_and_crlf_is_read(tmp_path):
    root = write_best(tmp_path)
    path = root / "data" / "data.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert BestSet(root).ids() == ("7",)


@needs_sample
def test_all_tasks_of_the_sample_have_the_limits_and_references_that_were_recorded():
    tasks = BestSet(SAMPLE)
    expected = json.loads((SAMPLE / "expected.json").read_text())
    assert set(tasks.ids()) == set(expected)
    for task_id in tasks.ids():
        task, known = tasks.load(task_id), expected[task_id]
        assert limits_kb(task) == known["limits_kb_time_by_space"], task_id
        assert [source.id for source in task.references] == list(known["references"]), task_id
        assert task.difficulty == known["difficulty"].lower(), task_id
        assert len(load_cases(task, 1)) == len(next(iter(known["references"].values()))["verdicts"]), task_id
        assert not any("@" in text.split("Time limit:")[-1] for text in task.statements), task_id


@needs_sample
def test_the_defects_of_the_sample_are_found():
    tasks = BestSet(SAMPLE)
    defects = {task_id: tasks.load(task_id).notes for task_id in tasks.ids()}
    assert [task_id for task_id, notes in defects.items() if notes] == ["68"]
    assert any("1.in: has carriage returns" in note for note in defects["68"])
    assert any("case 10 is beyond the 9 cases" in note for note in defects["68"])
