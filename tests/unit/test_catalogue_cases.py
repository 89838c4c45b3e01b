import marshal
import subprocess
import sys

import pytest
from task_folders import change, write_task

from best_agent.catalogue.cases import has_fresh_cases, load_cases
from best_agent.catalogue.load import load_task
from best_agent.errors import TaskError


@pytest.fixture
def folder(tmp_path):
    return write_task(tmp_path)


def refusal(folder, generator):
    (folder / "generate.py").write_text(generator)
    with pytest.raises(TaskError) as caught:
        load_cases(load_task(folder, "own"), 1)
    message = str(caught.value)
    assert str(folder / "generate.py") in message
    assert "\n" not in message
    return message


def test_each_scale_has_its_cases_smallest_first(folder):
    change(folder / "task.toml", "space_levels = 2", "space_levels = 2\ncases_per_scale = 2")
    cases = load_cases(load_task(folder, "own"), 1)
    assert [(case.id, case.scale, len(case.arguments[0])) for case in cases] == [
        ("1.1", 1, 10),
        ("1.2", 1, 10),
        ("2.1", 2, 100),
        ("2.2", 2, 100),
    ]
    assert all(case.stdin is None and case.expected is None for case in cases)


def test_the_same_seed_gives_the_same_cases_and_another_seed_others(folder):
    task = load_task(folder, "own")
    assert load_cases(task, 1) == load_cases(task, 1)
    assert load_cases(task, 1) != load_cases(task, 2)
    assert has_fresh_cases(task)


def test_cases_of_a_scale_differ_and_so_do_those_of_two_tasks(folder, tmp_path):
    first = load_cases(load_task(folder, "own"), 1)
    assert len({marshal.dumps(case.arguments) for case in first}) == len(first)
    other = load_cases(load_task(write_task(tmp_path, "other"), "own"), 1)
    assert [case.arguments for case in first] != [case.arguments for case in other]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_cases_do_not_depend_on_the_process(folder, hash_seed):
    code = (
        "import sys, pathlib; from best_agent.catalogue.load import load_task;"
        "from best_agent.catalogue.cases import load_cases;"
        "print(repr(load_cases(load_task(pathlib.Path(sys.argv[1]), 'own'), 1)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == repr(load_cases(load_task(folder, "own"), 1))


@pytest.mark.parametrize(
    ("generator", "expected"),
    [
        ("def generate(n, seed)\n", "does not run: SyntaxError"),
        ("1 / 0\n", "does not run: ZeroDivisionError"),
        ("import no_such_module_here\n", "does not run: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "does not run: SystemExit"),
        ("", "does not define the function 'generate'"),
        ("generate = 3\n", "does not define the function 'generate'"),
        ("def generate(n):\n    return (n,)\n", "failed: TypeError"),
        ("def generate(n, seed):\n    return [][n]\n", "generate(10, "),
        ("def generate(n, seed):\n    exit()\n", "failed: SystemExit"),
        ("def generate(n, seed):\n    return generate(n, seed)\n", "failed: RecursionError"),
        ("def generate(n, seed):\n    raise ValueError('two\\nlines')\n", "failed: ValueError: two"),
        ("def generate(n, seed):\n    return [[1]]\n", "the arguments are of type list, not a tuple"),
        ("def generate(n, seed):\n    return None\n", "the arguments are None, not a tuple"),
        ("def generate(n, seed):\n    return ()\n", "0 arguments, but the signature has 1"),
        ("def generate(n, seed):\n    return ([1], 2)\n", "2 arguments, but the signature has 1"),
        ("def generate(n, seed):\n    return ([1, '2'],)\n", "'values'[1] is of type str, not int"),
        ("def generate(n, seed):\n    return ([1, True],)\n", "'values'[1] is of type bool, not int"),
        ("def generate(n, seed):\n    return ([2**63],)\n", "'values'[0] does not fit into 64 bits"),
        ("def generate(n, seed):\n    return ((1, 2),)\n", "'values' is of type tuple, not list[int]"),
        (
            "calls = []\ndef generate(n, seed):\n    calls.append(n)\n    return ([len(calls)],)\n",
            "gives other arguments each time",
        ),
        (
            "class L(list): pass\ndef generate(n, seed):\n    return (L([1]),)\n",
            "'values' is of type L, not list[int]",
        ),
    ],
)
def test_a_generator_that_does_not_keep_its_word_is_named(folder, generator, expected):
    assert expected in refusal(folder, generator)


def test_text_that_no_program_can_be_sent_is_refused(folder):
    change(folder / "task.toml", '["values", "list[int]"]', '["values", "str"]')
    generator = "def generate(n, seed):\n    return ('\\ud800',)\n"
    assert "'values' holds half of a character" in refusal(folder, generator)


def test_a_generator_does_not_see_our_modules_as_its_own(folder):
    (folder / "generate.py").write_text(
        "import sys\nassert __name__ not in sys.modules\nassert __file__.endswith('generate.py')\n"
        "def generate(n, seed):\n    return ([n],)\n"
    )
    assert load_cases(load_task(folder, "own"), 1)[0].arguments == ([10],)
