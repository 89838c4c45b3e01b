import os

import pytest
from task_folders import change, write_task

from best_agent.catalogue.load import LANGUAGES, load_task
from best_agent.errors import TaskError
from best_agent.languages import LANGUAGES as BUILDABLE
from best_agent.model.task import Mode


@pytest.fixture
def folder(tmp_path):
    return write_task(tmp_path)


def refusal(folder):
    with pytest.raises(TaskError) as caught:
        load_task(folder, "own")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_valid_task_is_loaded_whole(folder):
    task = load_task(folder, "own")
    assert (task.id, task.title, task.set_name, task.mode) == ("double", "Double", "own", Mode.FUNCTION)
    assert (task.sizes, task.space_levels, task.cases_per_scale) == ((10, 100), 2, 3)
    assert task.limits["python"].memory_bytes == ((65536, 8192), (655360, 65536))
    assert (task.limits["python"].time_factor, task.limits["python"].time_ns) == (3.0, None)
    assert task.signature.parameters == (("values", "list[int]"),)
    assert [(source.id, source.claimed_space) for source in task.references] == [("fast", "O(1)")]
    assert [source.id for source in task.naive] == ["naive"]
    assert (task.tau, task.sigma, task.checker, task.languages) == (1.2, 1.2, None, ("python",))


def test_statements_carry_the_limit_of_their_space_level(folder):
    task = load_task(folder, "own")
    assert task.statements == (
        "# Double\n\nUp to 100 numbers, within 640 KiB in Python.\n",
        "# Double\n\nUp to 100 numbers, within 64.0 KiB in Python.\n",
    )


def test_a_statement_without_a_limit_is_one_for_all_levels(folder):
    (folder / "statement.md").write_text("Sum {1, 2} and {x}.")
    assert load_task(folder, "own").statements == ("Sum {1, 2} and {x}.",)


def test_absolute_time_limits_and_weights_are_data(folder):
    change(folder / "task.toml", "time_factor = 3.0", "time_ms = [10, 1500.5]")
    change(
        folder / "task.toml", "space_levels = 2", "space_levels = 2\ntau = 2\nsigma = 1\ncases_per_scale = 5"
    )
    task = load_task(folder, "own")
    assert task.limits["python"].time_ns == (10_000_000, 1_500_500_000)
    assert (task.tau, task.sigma, task.cases_per_scale) == (2.0, 1.0, 5)


def test_a_checker_is_found_by_its_name(folder):
    (folder / "check.py").write_text("def check(arguments, answer):\n    return True\n")
    assert load_task(folder, "own").checker == folder / "check.py"


def test_every_language_of_the_loader_can_be_built():
    assert set(LANGUAGES.values()) <= set(BUILDABLE)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # unknown and missing keys
        ('title = "Double"', 'titel = "Double"', ["title: missing", "'titel'"]),
        ('title = "Double"', "", ["title: missing"]),
        (
            "space_levels = 2",
            "space_levels = 2\ncase_per_scale = 3",
            ["case_per_scale: unknown key", "'cases_per_scale'"],
        ),
        ("space_levels = 2", "space_levels = 2\nzzz = 3", ["zzz: unknown key", "the keys here are"]),
        (
            'returns = "int"',
            'returns = "int"\nreturn = "int"',
            ["signature.return: unknown key", "'returns'"],
        ),
        (
            'claimed_time = "O(n)"',
            'claimed_tim = "O(n)"',
            ["reference[1].claimed_time: missing", "'claimed_tim'"],
        ),
        ('claimed_time = "O(n)"', 'claimed_time = "O(n)"\nspeed = 1', ["reference[1].speed: unknown key"]),
        (
            "time_factor = 3.0",
            "time_factor = 3.0\ntime_facto = 3.0",
            ["limits.python.time_facto: unknown key"],
        ),
        ('files = ["naive.py"]', 'files = ["naive.py"]\nfile = "x"', ["naive.file: unknown key"]),
        ("[signature]", "[signatur]", ["signature: missing", "'signatur'"]),
        ("[naive]", "[nave]", ["naive: missing", "'nave'"]),
        # wrong types
        ('title = "Double"', "title = 3", ["title: must be text"]),
        ('title = "Double"', 'title = "  "', ["title: must be text"]),
        ("space_levels = 2", "space_levels = 2.0", ["space_levels: must be a whole number"]),
        ("space_levels = 2", "space_levels = true", ["space_levels: must be a whole number"]),
        ("space_levels = 2", "space_levels = 0", ["space_levels: must be a whole number"]),
        ("sizes = [10, 100]", 'sizes = "10"', ["sizes: must be an array"]),
        ("sizes = [10, 100]", "sizes = []", ["sizes: must hold at least one"]),
        ("sizes = [10, 100]", "sizes = [10, 100.5]", ["sizes: must be whole"]),
        ("sizes = [10, 100]", "sizes = [100, 10]", ["sizes: must grow"]),
        ("sizes = [10, 100]", "sizes = [10, 10]", ["sizes: must grow"]),
        ("sizes = [10, 100]", "sizes = [-1, 10]", ["sizes: must hold numbers above 0"]),
        ("sizes = [10, 100]", "sizes = [10, nan]", ["sizes: must hold numbers above 0"]),
        ("sizes = [10, 100]", "sizes = [10, inf]", ["sizes: must hold numbers above 0"]),
        ("sizes = [10, 100]", "sizes = [10, 1e300]", ["sizes: must hold numbers above 0"]),
        ("sizes = [10, 100]", f"sizes = [10, {'9' * 5000}]", ["task.toml: not valid TOML"]),
        ("sizes = [10, 100]", f"sizes = [10, {'9' * 4000}]", ["sizes: must hold numbers above 0"]),
        ("sizes = [10, 100]", "sizes = [10, 2020-01-01]", ["sizes: must hold numbers above 0"]),
        ('categories = ["arithmetic"]', "categories = [1]", ["categories: must be an array of texts"]),
        ('difficulty = "easy"', 'difficulty = "Easy"', ["difficulty: must be one of", "did you mean 'easy'"]),
        ('mode = "function"', 'mode = "program"', ["mode: own tasks have the mode 'function'"]),
        ('entry = "solve"', 'entry = "so lve"', ["entry: 'so lve' is not the name"]),
        ('entry = "solve"', 'entry = "answer"', ["reference_fast.py: does not define 'answer'"]),
        ("space_levels = 2", "space_levels = 2\ntau = 0", ["tau: must be a number above 0"]),
        ("space_levels = 2", "space_levels = 2\nsigma = nan", ["sigma: must be a number above 0"]),
        ("[signature]", "[[signature]]", ["signature: must be a table"]),
        ("[[reference]]", "[reference]", ["reference: must be one or more [[reference]] tables"]),
        ('files = ["naive.py"]', "files = []", ["naive.files: must name at least one"]),
        # signature
        (
            '[["values", "list[int]"]]',
            '[["values", "List[int]"]]',
            ["signature.parameters", "'List[int]' is not a type"],
        ),
        ('[["values", "list[int]"]]', '[["values", "list[int"]]', ["'list[int' is not a type"]),
        ('[["values", "list[int]"]]', '[["values", "list[int, str]"]]', ["is not a type"]),
        (
            '[["values", "list[int]"]]',
            '[["values", "int"], ["values", "int"]]',
            ["'values' stands there twice"],
        ),
        ('[["values", "list[int]"]]', '[["a b", "int"]]', ["'a b' is not the name of a parameter"]),
        ('[["values", "list[int]"]]', '[["values"]]', ["signature.parameters: must be an array of"]),
        ('[["values", "list[int]"]]', '["values", "int"]', ["signature.parameters: must be an array of"]),
        ('returns = "int"', 'returns = "dict"', ["signature.returns: 'dict' is not a type"]),
        # limits
        ("[[64, 8], [640, 64]]", "[[64, 8]]", ["limits.python.memory_kb: must have 2 rows"]),
        (
            "[[64, 8], [640, 64]]",
            "[[64], [640]]",
            ["limits.python.memory_kb: must have 2 rows (scales) of 2"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[64, 8], [640]]",
            ["limits.python.memory_kb: must have 2 rows (scales) of 2"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[8, 64], [640, 64]]",
            ["limits.python.memory_kb: must not grow to the right"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[64, 0], [640, 64]]",
            ["limits.python.memory_kb: must hold numbers above 0"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[64, -8], [640, 64]]",
            ["limits.python.memory_kb: must hold numbers above 0"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[64, nan], [640, 64]]",
            ["limits.python.memory_kb: must hold numbers above 0"],
        ),
        (
            "[[64, 8], [640, 64]]",
            "[[64, 1e-9], [640, 64]]",
            ["limits.python.memory_kb: must be at least a byte"],
        ),
        ("[[64, 8], [640, 64]]", "[64, 8]", ["limits.python.memory_kb: must be an array of arrays"]),
        ("[[64, 8], [640, 64]]", '[["64", "8"], [640, 64]]', ["limits.python.memory_kb: must hold numbers"]),
        ("time_factor = 3.0", "", ["limits.python.time_factor: give either"]),
        (
            "time_factor = 3.0",
            "time_factor = 3.0\ntime_ms = [1, 2]",
            ["limits.python.time_factor: give either"],
        ),
        ("time_factor = 3.0", "time_factor = 0.5", ["limits.python.time_factor", "at least 1"]),
        ("time_factor = 3.0", "time_ms = [1]", ["limits.python.time_ms: must have 2 numbers"]),
        ("time_factor = 3.0", "time_ms = [1, 1e305]", ["limits.python.time_ms: must hold numbers above 0"]),
        ("[[64, 8], [640, 64]]", "[[64, 8], [1e307, 64]]", ["limits.python.memory_kb: must hold numbers"]),
        ("time_factor = 3.0", "time_ms = [1, 0]", ["limits.python.time_ms: must hold numbers above 0"]),
        ("[limits.python]", "[limits.pyton]", ["limits.pyton: unknown language", "'python'"]),
        ("[limits.python]", "[limits.cpp]", ["limits.cpp: there is no reference in cpp"]),
        # files
        ('"reference_fast.py"', '"reference_slow.py"', ["reference[1].file", "there is no file"]),
        (
            '"reference_fast.py"',
            '"../double/reference_fast.py"',
            ["reference[1].file", "within the task's folder"],
        ),
        ('"reference_fast.py"', '"/etc/passwd"', ["reference[1].file", "within the task's folder"]),
        ('"reference_fast.py"', r'"a\u0000b"', ["reference[1].file", "within the task's folder"]),
        ('"reference_fast.py"', '"statement.md"', ["reference[1].file", "no known language"]),
        ('"reference_fast.py"', '"."', ["reference[1].file", "there is no file"]),
        (
            '["naive.py"]',
            '["naive.py", "reference_fast.py"]',
            ["naive.files: there are two naive solutions in python"],
        ),
        ('["naive.py"]', '["absent.py"]', ["naive.files", "there is no file"]),
        # not TOML at all
        ('title = "Double"', 'title = "Double', ["not valid TOML", "line 1"]),
        ('title = "Double"', 'title = "Double"\ntitle = "x"', ["not valid TOML"]),
        ('title = "Double"', "x = " + "[" * 5000, ["task.toml"]),
    ],
)
def test_what_is_wrong_is_named_by_file_and_key(folder, old, new, expected):
    change(folder / "task.toml", old, new)
    message = refusal(folder)
    assert str(folder) in message
    for part in expected:
        assert part in message


@pytest.mark.parametrize(
    "name", ["task.toml", "statement.md", "generate.py", "reference_fast.py", "naive.py"]
)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert name in refusal(folder)


@pytest.mark.parametrize(
    "name", ["task.toml", "statement.md", "generate.py", "reference_fast.py", "naive.py", "check.py"]
)
def test_no_file_may_be_a_link_out_of_the_folder(folder, name, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("def solve(): secret")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)
    message = refusal(folder)
    assert name in message
    assert "leads out of the task's folder" in message


@pytest.mark.parametrize("name", ["statement.md", "check.py"])
def test_a_loop_of_links_is_refused(folder, name):
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(folder / name)
    assert name in refusal(folder)


def test_a_link_within_the_folder_is_fine(folder):
    (folder / "naive.py").unlink()
    (folder / "naive.py").symlink_to(folder / "reference_fast.py")
    assert load_task(folder, "own").naive[0].text == (folder / "reference_fast.py").read_text()


def test_a_folder_or_a_pipe_is_no_file(folder):
    (folder / "generate.py").unlink()
    os.mkfifo(folder / "generate.py")
    assert "generate.py" in refusal(folder)
    (folder / "generate.py").unlink()
    (folder / "generate.py").mkdir()
    assert "generate.py" in refusal(folder)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe", "not UTF-8: byte 0 is 0xff"),
        (b"x" * (1 << 20) + b"x", "larger than 1 MiB"),
        (b" \n", "empty"),
    ],
)
def test_a_statement_must_be_a_short_text(folder, content, expected):
    (folder / "statement.md").write_bytes(content)
    message = refusal(folder)
    assert "statement.md" in message
    assert expected in message


@pytest.mark.parametrize("word", ["{memroy_limit}", "{sizes}", "{Size}"])
def test_a_misspelt_placeholder_is_not_left_for_the_reader(folder, word):
    (folder / "statement.md").write_text(f"Within {word}.")
    assert f"unknown placeholder {word} (did you mean" in refusal(folder)


def test_a_reference_may_not_stand_there_twice(folder):
    text = (folder / "task.toml").read_text()
    start, end = text.index("[[reference]]"), text.index("[naive]")
    (folder / "task.toml").write_text(text + text[start:end])
    assert "reference[2].file: a reference 'fast' in python stands there already" in refusal(folder)


def test_a_reference_needs_limits_in_its_language(folder):
    (folder / "reference_fast.cpp").write_text("long long solve() { return 0; }")
    (folder / "task.toml").write_text(
        (folder / "task.toml").read_text()
        + '[[reference]]\nfile = "reference_fast.cpp"\nclaimed_time = "O(1)"\nclaimed_space = "O(1)"\n'
    )
    assert "limits.cpp: missing" in refusal(folder)
