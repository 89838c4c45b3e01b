import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from best_agent.errors import ResultsError
from best_agent.model.score import Attempt, CaseResult, Column, Protocol, ScoredTask, TaskResults
from best_agent.scoring.table import score


def shape(name: str = "1", *, scales: int = 2, levels: int = 2, cases: int = 1, **more: object) -> ScoredTask:
    return ScoredTask(id=name, scales=scales, space_levels=levels, cases_per_scale=cases, **more)  # type: ignore[arg-type]  # test data


def column(passed: int, total: int = 2) -> Column:
    """The first `passed` cases passed."""
    return tuple(CaseResult(number, number <= passed) for number in range(1, total + 1))


def attempt(*passed: int, total: int = 2) -> Attempt:
    return Attempt(id="x", columns=tuple(column(one, total) for one in passed))


def results(models: dict[str, list[Attempt]], task: ScoredTask | None = None) -> TaskResults:
    task = task or shape()
    full = task.scales * task.cases_per_scale
    return TaskResults(
        task=task,
        references=(attempt(*(full for _ in range(task.space_levels)), total=full),),
        models={name: dict(enumerate(attempts, 1)) for name, attempts in models.items()},
    )


def test_models_stand_best_first_and_the_leader_is_compared_with_each() -> None:
    tasks = [
        results({"poor": [attempt(1, 0)], "good": [attempt(2, 2)]}, shape(name)) for name in ("1", "2", "3")
    ]
    table = score(tasks, ks=(1,))
    assert [model.model for model in table.models] == ["good", "poor"]
    (difference,) = table.differences
    assert (difference.leader, difference.model, difference.figure) == ("good", "poor", "dual@1")
    assert difference.difference.value == pytest.approx(1 - 1 / 2.2**2)
    assert difference.difference.ci is not None


def test_every_model_is_scored_on_the_same_tasks_by_default() -> None:
    tasks = [
        results({"a": [attempt(2, 2)], "b": [attempt(2, 2)]}, shape("1")),
        results({"a": [attempt(2, 2)]}, shape("2")),
    ]
    table = score(tasks, ks=(1,))
    assert {model.model: (model.tasks, model.scores["dual@1"].value) for model in table.models} == {
        "a": (2, 1),
        "b": (2, 0.5),
    }
    assert [(gap.model, gap.task, gap.what) for gap in table.missing] == [("b", "2", "no results at all")]


def test_best_2026_has_no_row_for_a_model_without_a_file() -> None:
    tasks = [
        results({"a": [attempt(2, 2)], "b": [attempt(2, 2)]}, shape("1")),
        results({"a": [attempt(2, 2)]}, shape("2")),
    ]
    table = score(tasks, protocol=Protocol.BEST_2026)
    assert {model.model: model.tasks for model in table.models} == {"a": 2, "b": 1}


def test_the_number_of_samples_is_the_highest_seen_anywhere() -> None:
    tasks = [
        results({"a": [attempt(2, 2)] * 4}, shape("1")),
        results({"a": [attempt(2, 2)] * 2}, shape("2")),
    ]
    (model,) = score(tasks, ks=(1,)).models
    assert model.samples == 4
    assert model.scores["dual@1"].value == 0.75


def test_more_samples_than_there_are_cannot_be_estimated_and_that_is_said() -> None:
    (model,) = score([results({"a": [attempt(2, 2)] * 5})], ks=(1, 5, 10)).models
    assert model.scores["dual@5"].value == 1
    assert "dual@10" not in model.scores
    assert model.not_scored == dict.fromkeys(
        ("dual@10", "time@10", "space@10", "pass@10"), "the model has 5 samples a task"
    )


def test_asking_only_for_more_samples_than_there_are_leaves_no_figure() -> None:
    table = score([results({"a": [attempt(2, 2)]})], ks=(10,))
    assert table.models[0].scores == {}
    assert "1 sample a task" in table.models[0].not_scored["dual@10"]


def test_results_of_references_alone_are_shown() -> None:
    table = score([results({})], ks=(1,))
    assert table.models == ()
    assert table.references.scores["dual@1"].value == 1


def test_a_task_counts_once_among_references_by_default_and_each_reference_under_best_2026() -> None:
    two = TaskResults(task=shape("1"), references=(attempt(2, 2), attempt(2, 0)), models={})
    one = TaskResults(task=shape("2"), references=(attempt(2, 2),), models={})
    half = 1 / 2.2
    ours = score([two, one], ks=(1,)).references
    theirs = score([two, one], ks=(1,), protocol=Protocol.BEST_2026).references
    assert ours.scores["dual@1"].value == pytest.approx(((1 + half) / 2 + 1) / 2)
    assert theirs.scores["dual@1"].value == pytest.approx((1 + half + 1) / 3)


def test_categories_and_difficulties_have_their_own_means() -> None:
    tasks = [
        results({"a": [attempt(2, 2)]}, shape("1", difficulty="easy", categories=("dp", "graph"))),
        results({"a": [attempt(0, 0)]}, shape("2", difficulty="EASY", categories=("dp",))),
        results({"a": [attempt(0, 0)]}, shape("3", difficulty="hard")),
    ]
    (model,) = score(tasks, ks=(1,)).models
    values = {
        name: (group["dual@1"].value, group["dual@1"].tasks) for name, group in model.by_difficulty.items()
    }
    assert values == {"easy": (0.5, 2), "hard": (0, 1)}
    values = {
        name: (group["dual@1"].value, group["dual@1"].tasks) for name, group in model.by_category.items()
    }
    assert values == {"dp": (0.5, 2), "graph": (1, 1)}


def test_tasks_of_different_shape_stand_in_one_table() -> None:
    wide = shape("2", scales=1, levels=5, cases=4, tau=2.0, sigma=3.0)
    tasks = [
        results({"a": [attempt(2, 2)]}, shape("1")),
        results({"a": [attempt(4, 4, 0, 0, 0, total=4)]}, wide),
    ]
    (model,) = score(tasks, ks=(1,)).models
    assert model.per_task["2"]["dual@1"] == pytest.approx((1 + 3) / (1 + 3 + 9 + 27 + 81))
    assert model.per_task["2"]["time@1"] == 1


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=6))
@settings(max_examples=40)
def test_scores_are_shares_and_grow_with_k(passed: list[list[int]]) -> None:
    (model,) = score(
        [results({"a": [attempt(*one) for one in passed]})], ks=(1, len(passed)), resamples=2
    ).models
    for name in ("dual", "time", "space", "pass"):
        first, last = model.scores[f"{name}@1"].value, model.scores[f"{name}@{len(passed)}"].value
        assert -1e-12 <= first <= last + 1e-12 <= 1 + 1e-9


def test_nothing_to_score_is_an_error_that_names_what_was_excluded() -> None:
    with pytest.raises(ResultsError, match="there are no results"):
        score([])
    bare = TaskResults(task=shape("9"), references=(), models={"a": {1: attempt(2, 2)}})
    with pytest.raises(ResultsError, match="task 9: there are no references"):
        score([bare])


def test_best_2026_skips_a_task_that_nobody_touched_but_not_one_without_references() -> None:
    untouched = TaskResults(task=shape("5"), references=(), models={})
    assert score([results({"a": [attempt(2, 2)]}), untouched], protocol=Protocol.BEST_2026).tasks == 1
    bare = TaskResults(task=shape("9"), references=(), models={"a": {1: attempt(2, 2)}})
    with pytest.raises(ResultsError, match="task 9: there are no references"):
        score([results({"a": [attempt(2, 2)]}), bare], protocol=Protocol.BEST_2026)


@pytest.mark.parametrize("ks", [(), (0,), (1, -3)])
def test_k_is_a_whole_number_from_one(ks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="k is a whole number"):
        score([results({})], ks=ks)


def test_a_score_repeats_to_the_last_digit() -> None:
    tasks = [results({"a": [attempt(2, n % 3)]}, shape(str(n))) for n in range(12)]
    assert score(tasks) == score(tasks)
