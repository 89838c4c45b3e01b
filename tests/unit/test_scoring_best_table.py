"""Every decision in which the default protocol parts from the public harness, one test (or more) a row."""

import pytest

from best_agent.errors import ResultsError
from best_agent.judge.grid import ProgramCase, of_program
from best_agent.judge.outputs import text_difference
from best_agent.model.score import Attempt, CaseResult, Column, Protocol, ScoredTask, ScoreTable, TaskResults
from best_agent.pipeline.protocol import BEST_2026 as JUDGED_AS_THEIRS
from best_agent.pipeline.protocol import DEFAULT as JUDGED_AS_OURS
from best_agent.scoring.table import score

THEIRS = Protocol.BEST_2026


def column(*scales: bool, cases: int = 3) -> Column:
    """A column in which all cases of the scales that are True passed."""
    return tuple(CaseResult(t * cases + i + 1, ok) for t, ok in enumerate(scales) for i in range(cases))


PASS = column(True, True, True)
FAIL = column(False, False, False)
REFERENCE = Attempt(id="std", columns=(PASS, PASS, PASS))


def task(
    samples: dict[int, Attempt], *references: Attempt, name: str = "1", difficulty: str = "easy"
) -> TaskResults:
    shape = ScoredTask(id=name, scales=3, space_levels=3, cases_per_scale=3, difficulty=difficulty)
    return TaskResults(task=shape, references=references or (REFERENCE,), models={"m": samples})


def sample(*columns: Column | None) -> Attempt:
    return Attempt(id="m", columns=columns)


def figures(table: ScoreTable) -> dict[str, float]:
    return {name: estimate.value for name, estimate in table.models[0].scores.items()}


def half_of_ten() -> TaskResults:
    good, bad = sample(PASS, PASS, PASS), sample(FAIL, FAIL, FAIL)
    return task({number: good if number <= 5 else bad for number in range(1, 11)})


def test_row_1_default_estimates_pass_at_k_without_bias() -> None:
    ours = figures(score([half_of_ten()], ks=(5,)))
    assert ours["pass@5"] == ours["dual@5"] == pytest.approx(1 - 1 / 252)  # C(5,5) / C(10,5)


def test_row_1_best_2026_plugs_the_observed_share_in() -> None:
    theirs = figures(score([half_of_ten()], protocol=THEIRS, ks=(5,)))
    assert theirs["pass@5"] == theirs["dual@5"] == pytest.approx(1 - 0.5**5, abs=1e-15)


GAPS = {
    "sample": ({1: sample(FAIL, FAIL, FAIL), 10: sample(FAIL, FAIL, FAIL)}, "sample 2-9", 0.8),
    "level": ({n: sample(PASS, None, PASS) for n in range(1, 11)}, "sample 1, level1", 1.0),
    "trailing case": (
        {n: sample(PASS, PASS[:8], PASS) for n in range(1, 11)},
        "sample 1, level1, case 9",
        1.0,
    ),
}


@pytest.mark.parametrize("gap", GAPS)
def test_row_2_default_counts_what_is_missing_as_failed_and_lists_it(gap: str) -> None:
    samples, what, _ = GAPS[gap]
    table = score([task(samples)], ks=(1,))
    assert figures(table)["dual@1"] < 1
    assert [(one.model, one.task) for one in table.missing] == [("m", "1")] * len(table.missing)
    assert what in [one.what for one in table.missing]


@pytest.mark.parametrize("gap", GAPS)
def test_row_2_best_2026_counts_what_is_missing_as_passed(gap: str) -> None:
    samples, what, share = GAPS[gap]
    table = score([task(samples)], protocol=THEIRS, ks=(1,))
    assert figures(table)["dual@1"] == pytest.approx(share)
    assert what in [one.what for one in table.missing]


def test_row_2_a_case_missing_in_the_middle_shifts_the_later_ones_in_the_public_harness() -> None:
    # Case 4 failed and case 1 is missing: by its number the failure is of scale 2, by its place of scale 1.
    shifted = tuple(CaseResult(number, number != 4) for number in range(2, 10))
    samples = {n: sample(shifted, shifted, shifted) for n in range(1, 11)}
    assert figures(score([task(samples)], protocol=THEIRS, ks=(1,)))["pass@1"] == 0


UNREACHED = {
    "no cell": Attempt(id="std", columns=(FAIL, FAIL, FAIL)),
    "no scale at the loosest level": Attempt(id="std", columns=(FAIL, PASS, PASS)),
    "not the smallest scale": Attempt(id="std", columns=(column(False, True, True),) * 3),
}


@pytest.mark.parametrize("lack", UNREACHED)
def test_row_3_default_excludes_and_names_a_task_that_no_reference_reaches(lack: str) -> None:
    good = {1: sample(PASS, PASS, PASS)}
    table = score([task(good, UNREACHED[lack], name="145"), task(good, name="7")], ks=(1,))
    assert [one.task for one in table.excluded] == ["145"]
    assert "reference" in table.excluded[0].reason
    assert table.tasks == 1
    assert figures(table)["dual@1"] == 1


@pytest.mark.parametrize("lack", UNREACHED)
def test_row_3_best_2026_fails_with_an_error_that_names_the_task(lack: str) -> None:
    good = {1: sample(PASS, PASS, PASS)}
    with pytest.raises(ResultsError, match=r"task 145: no reference passes"):
        score([task(good, name="7"), task(good, UNREACHED[lack], name="145")], protocol=THEIRS)


FIRST_CELL = Attempt(id="std", columns=(column(True, False, False), FAIL, FAIL))


def test_row_4_default_never_exceeds_one_and_reports_the_cells_beyond_apart() -> None:
    ours = figures(score([task({1: sample(PASS, PASS, PASS)}, FIRST_CELL)], ks=(1,)))
    assert ours["dual@1"] == ours["time@1"] == ours["space@1"] == 1
    assert ours["beyond_references"] == pytest.approx(3.64**2 - 1)


def test_row_4_best_2026_counts_cells_that_no_reference_passes() -> None:
    theirs = figures(score([task({1: sample(PASS, PASS, PASS)}, FIRST_CELL)], protocol=THEIRS, ks=(1,)))
    assert theirs["dual@1"] == pytest.approx(3.64**2)
    assert theirs["time@1"] == pytest.approx(3.64)


def test_row_5_default_never_ties_a_program_to_another_program_of_the_same_number() -> None:
    # The program written for the loosest level is wrong, those written for the tighter ones are right.
    ours = figures(score([task({1: sample(FAIL, PASS, PASS)})], ks=(1,)))
    assert ours["dual@1"] == pytest.approx((1.2 + 1.44) / 3.64)


def test_row_5_default_keeps_the_minimum_over_scales_of_one_program() -> None:
    only_large = column(False, True, True)
    ours = figures(score([task({1: sample(only_large, PASS, PASS)})], ks=(1,)))
    assert ours["time@1"] == 0


def test_row_5_default_one_program_for_all_levels_has_one_grid() -> None:
    results = task({1: sample(FAIL, PASS, PASS)})
    single = TaskResults(
        task=results.task, references=results.references, models=results.models, separate_programs=False
    )
    assert figures(score([single], ks=(1,)))["dual@1"] == 0


def test_row_5_default_a_measured_peak_decides_all_space_levels_of_a_program() -> None:
    cases = [ProgramCase(scale, True, peak, 1, 10) for scale, peak in ((1, 90), (2, 150), (3, 150))]
    assert of_program(cases, [[400, 200, 100]] * 3) == (
        (True, True, True),
        (True, True, False),
        (True, True, False),
    )


def test_row_5_best_2026_ties_sample_k_to_sample_k_of_the_level_before() -> None:
    samples = {number: sample(FAIL, PASS, PASS) for number in range(1, 11)}
    assert figures(score([task(samples)], protocol=THEIRS, ks=(1,)))["dual@1"] == 0


def test_row_5_references_have_their_minimum_by_default_and_none_under_best_2026() -> None:
    odd = Attempt(id="std", columns=(column(True, False, True), PASS, PASS))
    good = {number: sample(PASS, PASS, PASS) for number in range(1, 11)}
    ours = score([task(good, odd)], ks=(1,))
    assert (
        figures(ours)["beyond_references"] > 0.5
    )  # scales 2 and 3 are beyond a reference that fails scale 2
    theirs = score([task(good, odd)], protocol=THEIRS, ks=(1,))
    assert figures(theirs)["beyond_references"] == pytest.approx(1.2 / (3.64**2 - 1.2))


def test_row_6_default_judges_peak_memory_and_best_2026_cumulative_faults() -> None:
    assert JUDGED_AS_OURS.normalise_memory
    assert not JUDGED_AS_THEIRS.normalise_memory


def test_row_7_difficulty_is_normalised_by_default_and_compared_exactly_by_best_2026() -> None:
    good = {number: sample(PASS, PASS, PASS) for number in range(1, 11)}
    results = [task(good, name="1", difficulty="Medium"), task(good, name="2", difficulty="medium ")]
    assert set(score(results).models[0].by_difficulty) == {"medium"}
    assert set(score(results, protocol=THEIRS).models[0].by_difficulty) == {"Medium", "medium "}


def test_row_7_a_model_whose_name_begins_like_another_keeps_its_own_row() -> None:
    shape = task({}).task
    models = {
        "gpt": {1: sample(PASS, PASS, PASS)},
        "gpt-mini": {1: sample(FAIL, FAIL, FAIL)},
        "gpt_1": {1: sample(PASS, FAIL, FAIL)},
    }
    table = score([TaskResults(task=shape, references=(REFERENCE,), models=models)], ks=(1,))
    found = {model.model: model.scores["dual@1"].value for model in table.models}
    assert found == {"gpt": 1, "gpt-mini": 0, "gpt_1": pytest.approx(1 / 3.64)}


def test_row_8_no_reading_of_one_case_reaches_the_next() -> None:
    # A killed run leaves no reading: its case is not passed, whatever its neighbours read.
    killed = [
        ProgramCase(1, True, 10, 1, 10),
        ProgramCase(2, True, None, None, 10),
        ProgramCase(3, True, 10, 1, 10),
    ]
    assert of_program(killed, [[100]] * 3) == ((True,), (False,), (False,))


def test_row_9_output_is_compared_by_tokens_by_default_and_exactly_by_best_2026() -> None:
    assert not JUDGED_AS_OURS.exact_output
    assert JUDGED_AS_THEIRS.exact_output
    assert text_difference(b"1 2\n3\n", b"1 2\r\n3", exact=False) is None
    assert text_difference(b"1 2\n3\n", b"1 2\r\n3", exact=True) is not None


def test_row_10_default_optimises_and_best_2026_does_not() -> None:
    assert JUDGED_AS_OURS.optimisation == "-O2"
    assert JUDGED_AS_THEIRS.optimisation == "-O0"
