"""The catalogue's own tasks: their solutions agree, and their limits say what they are meant to say."""

import ast
import copy
import hashlib
import json
import marshal
import os
import re
import subprocess
import sys
from functools import cache

import pytest

from best_agent import languages
from best_agent.catalogue.cases import load_cases
from best_agent.catalogue.locate import open_set
from best_agent.catalogue.signature import arguments_mismatch
from best_agent.judge.answers import decode
from best_agent.languages.contract import BuildRequest
from best_agent.model.run import Limits, Status
from best_agent.rules.rewrites import rewrites
from best_agent.sandbox.contract import Program
from best_agent.sandbox.launcher import open_session
from best_agent.sandbox.probe import choose

CATALOGUE = open_set(None)
DEMONSTRATION = "cold-reports"
SMALL_SIZES = (1, 2, 3, 5, 8, 13, 40, 120)
SPREAD_BYTES = 16 * 1024
"""How far the fault meter of C++ may be off, with room."""

every_task = pytest.mark.parametrize("task_id", CATALOGUE.ids())
every_language = pytest.mark.parametrize("language", ["python", "cpp"])


@cache
def load(task_id):
    return CATALOGUE.load(task_id)


def function(text, name):
    namespace = {}
    exec(text, namespace)
    return namespace[name]


def python_solutions(task):
    return {
        source.id: function(source.text, source.entry)
        for source in (*task.references, *task.naive)
        if source.language == "python"
    }


def need(language):
    missing = languages.get(language).missing_tool()
    if missing:
        pytest.skip(missing)


def session(task, source):
    isolation = choose("auto")
    request = BuildRequest(source=source, mode=task.mode, signature=task.signature)
    program = languages.get(source.language).build(request, isolation)
    assert isinstance(program, Program), program
    return program, open_session(program, isolation)


def answer(run):
    assert run.status is Status.OK, run.detail
    return decode(run.answer)


def test_there_are_at_least_four_tasks():
    assert len(CATALOGUE.ids()) >= 4
    assert DEMONSTRATION in CATALOGUE.ids()


@every_task
def test_each_language_has_a_fast_a_lean_and_a_naive_solution(task_id):
    task = load(task_id)
    assert task.languages == ("python", "cpp")
    for language in task.languages:
        assert [source.id for source in task.references_in(language)] == ["fast", "lean"]
        assert [source.id for source in task.naive if source.language == language] == ["naive"]


@every_task
def test_the_example_of_the_statement_holds(task_id):
    task = load(task_id)
    found = re.search(r"Example: `solve\((.*?)\)` is `(.*?)`", task.statement(0), re.DOTALL)
    assert found, "the statement has no example"
    arguments, expected = ast.literal_eval(f"({found[1]},)"), ast.literal_eval(found[2])
    assert arguments_mismatch(arguments, task.signature) is None
    for solve in python_solutions(task).values():
        assert solve(*copy.deepcopy(arguments)) == expected


@every_task
def test_python_solutions_agree_on_small_inputs_of_many_seeds(task_id):
    task = load(task_id)
    generate = function((task.origin / "generate.py").read_text(), "generate")
    for size in SMALL_SIZES:
        for seed in range(12):
            arguments = generate(size, seed)
            assert arguments_mismatch(arguments, task.signature) is None
            answers = {
                name: solve(*copy.deepcopy(arguments)) for name, solve in python_solutions(task).items()
            }
            assert len(set(map(repr, answers.values()))) == 1, (size, seed, answers)


@every_task
def test_python_and_cpp_agree_in_the_sandbox(task_id):
    need("cpp")
    task = load(task_id)
    cases = [case for seed in (1, 2) for case in load_cases(task, seed) if case.scale < len(task.sizes)]
    largest = [load_cases(task, 1)[-1]]
    expected = {}
    for source in (*task.references, *task.naive):
        small = [case for case in cases if case.scale == 1]
        chosen = small if source.id == "naive" else [*cases, *largest]
        _, opened = session(task, source)
        with opened as running:
            for case in chosen:
                stdin = languages.get(source.language).encode_arguments(case.arguments, task.signature)
                key = marshal.dumps(case.arguments)
                found = answer(running.run(stdin, Limits()))
                assert expected.setdefault(key, found) == found, (source.id, source.language, case.id)


@every_task
@every_language
def test_the_first_space_level_admits_the_fast_reference_and_the_last_only_the_lean_one(task_id, language):
    need(language)
    task = load(task_id)
    peaks = {}
    for source in task.references_in(language):
        program, opened = session(task, source)
        with opened as running:
            for case in load_cases(task, 4)[:: task.cases_per_scale]:
                stdin = languages.get(language).encode_arguments(case.arguments, task.signature)
                run = running.run(stdin, Limits(), traced=program.memory_pass)
                assert answer(run) is not None
                peaks[source.id, case.scale] = max(run.peak_bytes, peaks.get((source.id, case.scale), 0))
    limits = task.limits[language].memory_bytes
    room = SPREAD_BYTES if language == "cpp" else 0
    for scale, row in enumerate(limits, 1):
        assert peaks["fast", scale] + room <= row[0]
        assert peaks["lean", scale] + room <= row[-1]
    largest = len(limits)
    assert peaks["fast", largest] > limits[-1][-1] + room
    assert 3 * peaks["lean", largest] < peaks["fast", largest]


@every_task
def test_inputs_do_not_depend_on_the_order_of_hashes(task_id):
    code = (
        "import hashlib, marshal, sys; from best_agent.catalogue.locate import open_set;"
        "from best_agent.catalogue.cases import load_cases;"
        "cases = load_cases(open_set(None).load(sys.argv[1]), 9);"
        "print(hashlib.sha256(repr([case.arguments for case in cases]).encode()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, task_id],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = repr([case.arguments for case in load_cases(load(task_id), 9)])
    assert done.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()


def test_the_rules_mend_the_demonstration_one_by_one_in_any_order():
    task = load(DEMONSTRATION)
    arguments = load_cases(task, 1)[0].arguments
    expected = python_solutions(task)["fast"](*copy.deepcopy(arguments))
    start = next(source.text for source in task.naive if source.language == "python").encode()
    pending, seen = [start], set()
    while pending:
        source = pending.pop()
        if source in seen:
            continue
        seen.add(source)
        assert function(source.decode(), task.references[0].entry)(*copy.deepcopy(arguments)) == expected
        pending.extend(rewrite.source for rewrite in rewrites(source))
    assert len({rewrite.rule for rewrite in rewrites(start)} - {"all"}) >= 3
    assert len([source for source in seen if not rewrites(source)]) == 1, "the order of rules must not matter"


@pytest.mark.slow
@every_task
@every_language
def test_a_race_shows_the_fast_reference_to_be_faster_and_the_lean_one_leaner(task_id, language):
    need(language)
    lean = next(source for source in load(task_id).references_in(language) if source.id == "lean")
    arguments = ["run", str(lean.path), "--task", task_id, "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "best_agent", *arguments], capture_output=True, text=True, check=False
    )
    results = json.loads(done.stdout)["results"]
    assert (done.returncode, results["status"]) == (0, "ok")
    assert results["score"]["dual"] == 1.0
    fast = next(contest for contest in results["references"] if contest["id"] == "fast")
    assert fast["time"]["ratio_ci"][0] > 1, fast["time"]
    assert 2 * fast["memory"]["after"] < fast["memory"]["before"], fast["memory"]
