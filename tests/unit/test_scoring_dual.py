import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.scoring.dual import lacking, score_grid, score_shares, weight

FULL = ((True,) * 3,) * 3
shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))


def boxes(cell: st.SearchStrategy[object], shape: tuple[int, int]) -> st.SearchStrategy[tuple[object, ...]]:
    rows = st.lists(cell, min_size=shape[1], max_size=shape[1]).map(tuple)
    return st.lists(rows, min_size=shape[0], max_size=shape[0]).map(tuple)


drawn = shapes.flatmap(lambda shape: st.tuples(boxes(st.floats(0, 1), shape), boxes(st.booleans(), shape)))
factors = st.floats(0.5, 3)


def test_weights_grow_by_tau_down_and_by_sigma_across() -> None:
    assert weight(0, 0, tau=1.2, sigma=1.5) == 1
    assert weight(2, 1, tau=1.2, sigma=1.5) == pytest.approx(1.2 * 1.2 * 1.5)


def test_dual_time_and_space_on_a_grid_worked_by_hand() -> None:
    grid = ((True, True, False), (True, False, False), (False, False, False))
    score = score_grid(grid, FULL, tau=1.2, sigma=1.2)
    assert score.dual == pytest.approx((1 + 1.2 + 1.2) / 3.64**2)
    assert score.time == pytest.approx((1 + 1.2) / 3.64)
    assert score.space == pytest.approx((1 + 1.2) / 3.64)
    assert score.beyond_references == 0


def test_tau_and_sigma_are_told_apart() -> None:
    fast = score_grid(((True, False), (True, False)), ((True, True), (True, True)), tau=2, sigma=3)
    lean = score_grid(((True, True), (False, False)), ((True, True), (True, True)), tau=2, sigma=3)
    assert fast.dual == pytest.approx((1 + 2) / (1 + 2 + 3 + 6))
    assert lean.dual == pytest.approx((1 + 3) / (1 + 2 + 3 + 6))
    assert (fast.time, fast.space) == (1, pytest.approx(1 / 4))
    assert (lean.time, lean.space) == (pytest.approx(1 / 3), 1)


@given(drawn, factors, factors)
def test_over_attainable_cells_a_score_is_a_share(drawn, tau: float, sigma: float) -> None:
    shares, attainable = drawn
    score = score_shares(shares, attainable, tau=tau, sigma=sigma)
    for value in (score.dual, score.time, score.space):
        assert value is None or -1e-12 <= value <= 1 + 1e-12


@given(drawn, factors, factors)
def test_what_is_beyond_the_references_is_what_counting_all_cells_adds(drawn, tau, sigma) -> None:
    shares, attainable = drawn
    ours = score_shares(shares, attainable, tau=tau, sigma=sigma)
    theirs = score_shares(shares, attainable, tau=tau, sigma=sigma, only_attainable=False)
    assert (ours.dual is None) == (theirs.dual is None) == (ours.beyond_references is None)
    if ours.dual is not None:
        assert theirs.dual == pytest.approx(ours.dual + ours.beyond_references, rel=1e-9, abs=1e-12)


@given(drawn)
def test_passing_all_that_is_attainable_scores_one(drawn) -> None:
    _, attainable = drawn
    score = score_grid(attainable, attainable, tau=1.2, sigma=1.2)
    if lacking(attainable) is None:
        assert score.dual == score.time == score.space == pytest.approx(1)
        assert score.beyond_references == 0


@pytest.mark.parametrize(
    ("attainable", "words"),
    [
        (((False, False), (False, False)), "any cell"),
        (((False, True), (False, True)), "time@k"),
        (((False, False), (True, True)), "space@k"),
        (((True, False), (False, False)), None),
        (((False, True), (True, False)), None),
    ],
)
def test_what_a_task_lacks_is_said_in_words(attainable, words: str | None) -> None:
    reason = lacking(attainable)
    assert reason is None if words is None else words in (reason or "")
    score = score_grid(attainable, attainable, tau=1.2, sigma=1.2)
    assert (None in (score.dual, score.time, score.space)) == (words is not None)


def test_grids_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="different shape"):
        score_grid(((True,),), FULL, tau=1, sigma=1)
    with pytest.raises(ValueError, match="different shape"):
        score_grid(((True, True), (True, True)), ((True, True), (True,)), tau=1, sigma=1)
