"""The contracts of the JSON: valid, complete, documented, and strict where they must be."""

import copy
import json
import math
import re
import runpy
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support import contract

from best_agent.cli import doctor
from best_agent.cli.main import VERBS
from best_agent.model.refinement import Objective, Reason, StopReason
from best_agent.model.run import Isolation, Meter, Status
from best_agent.model.score import Protocol
from best_agent.model.task import Mode
from best_agent.refine.proposals import SOURCES
from best_agent.workload.figures import State

DOCS = contract.ROOT / "docs"
MAY_BE_ABSENT = {"run": {"dual"}, "tasks": {"tasks", "unusable"}}


def examples() -> dict[str, dict[str, Any]]:
    """The complete documents in docs/json.md, by the heading and number under which they stand."""
    found = {}
    for part in (DOCS / "json.md").read_text("utf-8").split("\n## ")[1:]:
        for number, block in enumerate(re.findall(r"```json\n(.*?)```", part, re.DOTALL)):
            document = json.loads(block)
            if document["results"]:
                found[f"{part.partition(chr(10))[0].strip('`')} {number}"] = document
    return found


EXAMPLES = examples()


def objects(node: Any) -> list[dict[str, Any]]:
    """The schemas of objects with named fields, wherever they stand."""
    return [
        one
        for _, _, one in contract.walk(node)
        if isinstance(one, dict) and one.get("type") == "object" and "properties" in one
    ]


def test_every_verb_has_a_contract_and_none_is_left_over() -> None:
    assert set(contract.verbs()) == {verb.name for verb in VERBS}


@pytest.mark.parametrize("verb", contract.verbs())
def test_the_schema_is_valid_and_names_its_verb(verb: str) -> None:
    schema = contract.schema(verb)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["properties"]["schema"]["const"] == f"best-agent/{verb}/1"


@pytest.mark.parametrize("verb", contract.verbs())
def test_every_field_is_required_and_described(verb: str) -> None:
    for shape in objects(contract.schema(verb)):
        absent = set(shape["properties"]) - set(shape["required"])
        assert absent <= MAY_BE_ABSENT.get(verb, set())
        assert set(shape["required"]) <= set(shape["properties"])
        assert all(field.get("description") for field in shape["properties"].values())


@pytest.mark.parametrize("verb", contract.verbs())
def test_schemas_stand_on_their_own(verb: str) -> None:
    text = json.dumps(contract.schema(verb))
    assert set(re.findall(r'"\$ref": "([^#"]*)#', text)) <= {""}
    used = set(re.findall(r'"#/\$defs/(\w+)', text))
    assert used == set(contract.schema(verb)["$defs"])


def test_a_shape_is_the_same_in_every_schema_that_has_it() -> None:
    seen: dict[str, Any] = {}
    for verb in contract.verbs():
        for name, shape in contract.schema(verb)["$defs"].items():
            assert seen.setdefault(name, shape) == shape, f"{name} differs in {verb}.json"


@pytest.mark.parametrize(
    ("verb", "place", "words"),
    [
        ("run", "program_status", Status),
        ("run", "meter", Meter),
        ("run", "isolation", [*Isolation, None]),
        ("compare", "comparison_status", State),
        ("measure", "comparison_status", State),
        ("refine", "program_status", Status),
        ("refine", "candidate/properties/status", [*Status, "not-run"]),
        ("refine", "candidate/properties/reason", Reason),
        ("refine", "refine_results/properties/objective", Objective),
        ("refine", "refine_results/properties/stop_reason", StopReason),
        ("refine", "refine_results/properties/source", SOURCES),
        ("report", "report_results/properties/protocol", Protocol),
        ("tasks", "outline/properties/mode", Mode),
        ("tasks", "task/properties/mode", Mode),
    ],
)
def test_the_words_of_a_schema_are_the_words_of_the_code(verb: str, place: str, words: Any) -> None:
    node = contract.schema(verb)["$defs"]
    for step in place.split("/"):
        node = node[step]
    assert sorted(map(str, node["enum"])) == sorted(map(str, words))


def test_the_states_of_doctor_are_those_of_the_code() -> None:
    fields = contract.schema("doctor")["properties"]
    states = [state.value for state in doctor.State]
    assert fields["results"]["items"]["properties"]["state"]["enum"] == states
    assert fields["summary"]["required"] == states


def test_the_tables_of_the_page_are_those_of_the_schemas() -> None:
    page = DOCS / "json.md"
    made = runpy.run_path(str(DOCS / "build_json.py"))["page"](page.read_text("utf-8"))
    assert made == page.read_text("utf-8"), "run: python docs/build_json.py"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other argparse, other layout of the help")
def test_the_page_of_the_command_line_is_what_help_says() -> None:
    made = runpy.run_path(str(DOCS / "build_cli.py"))["page"]()
    assert made == (DOCS / "cli.md").read_text("utf-8"), "run: python docs/build_cli.py"


def test_the_index_names_every_page_and_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (DOCS / "README.md").read_text("utf-8"))
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} <= set(links)
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^):#]+)\)", page.read_text("utf-8")):
            assert (DOCS / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_page_keep_the_contract(name: str) -> None:
    contract.check(EXAMPLES[name])
    assert EXAMPLES[name]["schema"] == f"best-agent/{name.split()[0]}/1"


def test_every_verb_has_an_example() -> None:
    assert {name.split()[0] for name in EXAMPLES} == set(contract.verbs())


@pytest.mark.parametrize("name", EXAMPLES)
def test_readers_of_the_published_schema_accept_fields_that_are_added_and_our_own_check_does_not(
    name: str,
) -> None:
    document = copy.deepcopy(EXAMPLES[name])
    document["results_of_tomorrow"] = []
    document["summary"]["mood"] = "good"
    verb = name.split()[0]
    assert Draft202012Validator(contract.schema(verb)).is_valid(document)
    assert any("mood" in line for line in contract.problems(document))


def changed(name: str, place: str, value: Any) -> dict[str, Any]:
    """An example with one value changed; the last step `-x` takes the field x away."""
    document = copy.deepcopy(EXAMPLES[name])
    node: Any = document
    *steps, last = place.split("/")
    for step in steps:
        node = node[int(step)] if step.isdigit() else node[step]
    if last.startswith("-"):
        del node[last[1:]]
    else:
        node[last] = value
    return document


SIZE = "results/0/sizes/0"


@pytest.mark.parametrize(
    ("name", "place", "value", "said"),
    [
        ("compare 0", f"{SIZE}/cpu/ratio_ci", None, "no interval"),
        ("compare 0", f"{SIZE}/wall/ratio_ci", None, "no interval"),
        ("compare 0", f"{SIZE}/cpu/ratio", 7.0, "not inside"),
        ("compare 0", f"{SIZE}/cpu/ratio", math.nan, "no result"),
        ("compare 0", f"{SIZE}/cpu/before", math.inf, "no result"),
        ("compare 0", f"{SIZE}/cpu/before", -1.0, "minimum"),
        ("compare 0", f"{SIZE}/cpu/ratio_ci", [1.0], "too short"),
        ("compare 0", f"{SIZE}/peak/meter", "estimated", ""),
        ("compare 0", f"{SIZE}/peak", None, "null without a reason"),
        ("compare 0", f"{SIZE}/-cpu", None, "'cpu' is a required"),
        ("compare 0", "results/0/status", "fine", "'fine' is not one of"),
        ("compare 0", "results/0/-same_results", None, "'same_results' is a required"),
        ("measure 0", f"{SIZE}/cpu/ci", None, "no interval"),
        ("measure 0", f"{SIZE}/cpu/ci", [1e9, 2e9], "not inside"),
        ("run 0", "results/cases/0/cpu_ns", 12.5, "not of type"),
        ("run 0", "results/cases/0/peak_bytes", -4096, "minimum"),
        ("run 0", "results/cases/0/time_ratio_ci", None, "no interval"),
        ("run 0", "results/cases/0/time_ratio", None, "null without a reason"),
        ("run 0", "results/cases/0/memory_ratio_meter", "estimated", "no interval"),
        ("run 0", "results/references/0/time/ratio_ci", None, "no interval"),
        ("run 0", "results/status", "failed", ""),
        ("run 0", "summary/status", "forbidden", "but the results say"),
        ("run 0", "summary/-dual", None, "'dual' is a required"),
        ("run 0", "meters/time", "good", "'good' is not one of"),
        ("run 1", "results/wall_ns", True, ""),
        ("run 1", "results/-stdout", None, "'stdout' is a required"),
        ("run 1", "isolation", "container", "'container' is not one of"),
        ("refine 0", "results/rounds/0/candidates/0/time_ratio_ci", [9.0, 9.5], "not inside"),
        ("refine 0", "results/final/time_ratio_ci", None, "no interval"),
        ("refine 0", "meters/memory", "estimated", "no interval"),
        ("refine 0", "results/rounds/0/candidates/0/reason", "good", "'good' is not one of"),
        ("report 0", "results/models/0/score/dual@1", [0.9, 0.1, 0.2], "not inside"),
        ("report 0", "results/models/0/score/dual@1", [0.9, 0.1, None], "half an interval"),
        ("report 0", "results/models/0/score/dual@1", 0.9, "not of type"),
        ("tasks 0", "results/0/-references", None, "'references' is a required"),
        ("doctor 0", "results/0/state", "broken", "'broken' is not one of"),
        ("doctor 0", "schema", "best-agent/doctor/2", "expected"),
        ("doctor 0", "schema", "best-agent/cure/1", "none of the contracts"),
    ],
)
def test_a_breach_is_found_and_its_place_named(name: str, place: str, value: Any, said: str) -> None:
    found = contract.problems(changed(name, place, value))
    assert any(said in line and line.startswith("$") for line in found), found


@pytest.mark.parametrize("document", [None, [], "text", 3, {}, {"schema": 1}, {"schema": "a/b/c/d"}])
def test_what_is_no_document_is_refused(document: Any) -> None:
    assert contract.problems(document)
