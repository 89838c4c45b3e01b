import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.judge.grid import ProgramCase, build, of_program, union
from best_agent.model.score import cumulative

shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))
grids = shapes.flatmap(
    lambda shape: st.lists(
        st.lists(st.booleans(), min_size=shape[1], max_size=shape[1]).map(tuple),
        min_size=shape[0],
        max_size=shape[0],
    ).map(tuple)
)


@given(grids)
def test_a_cell_is_passed_exactly_if_it_and_all_easier_cells_are(raw: tuple[tuple[bool, ...], ...]) -> None:
    grid = build(raw)
    for t, row in enumerate(grid):
        for level, cell in enumerate(row):
            assert cell == all(raw[a][b] for a in range(t + 1) for b in range(level + 1))


@given(grids)
def test_the_rule_applied_twice_changes_nothing(raw: tuple[tuple[bool, ...], ...]) -> None:
    assert cumulative(cumulative(raw)) == cumulative(raw)


@given(grids)
def test_a_union_holds_what_either_passes(raw: tuple[tuple[bool, ...], ...]) -> None:
    nothing = tuple(tuple(False for _ in row) for row in raw)
    opposite = tuple(tuple(not cell for cell in row) for row in raw)
    assert union([raw, nothing]) == raw
    assert all(all(row) for row in union([raw, opposite]))
    assert union([]) == ()


def test_a_union_of_different_shapes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        union([((True,),), ((True, False),)])


@pytest.mark.parametrize("ragged", [[], [[]], [[True], [True, False]]])
def test_what_is_not_a_grid_is_refused(ragged: list[list[bool]]) -> None:
    with pytest.raises(ValueError, match="rows of one length"):
        build(ragged)


LIMITS = [[400, 200, 100], [800, 400, 200]]


def case(
    scale: int,
    peak: int | None = 50,
    *,
    ok: bool = True,
    cpu: int | None = 5,
    limit: int | None = 10,
) -> ProgramCase:
    return ProgramCase(scale=scale, ok=ok, peak_bytes=peak, cpu_ns=cpu, time_limit_ns=limit)


def test_one_peak_decides_every_space_level_of_its_scale() -> None:
    assert of_program([case(1, 150), case(2, 150)], LIMITS) == ((True, True, False), (True, True, False))


def test_a_limit_itself_is_still_within() -> None:
    assert of_program([case(1, 100, cpu=10), case(2, 200, cpu=10)], LIMITS) == ((True,) * 3, (True,) * 3)
    assert of_program([case(1, 101), case(2, 201)], LIMITS) == ((True, True, False), (True, True, False))
    assert of_program([case(1, cpu=11), case(2)], LIMITS) == ((False,) * 3, (False,) * 3)


def test_the_worst_case_of_a_scale_decides() -> None:
    assert of_program([case(1, 50), case(1, 300), case(2, 50)], LIMITS)[0] == (True, False, False)


def test_failing_small_inputs_loses_the_large_ones_too() -> None:
    wrong_when_small = [case(1, ok=False), case(2)]
    assert of_program(wrong_when_small, LIMITS) == ((False,) * 3, (False,) * 3)
    assert of_program(wrong_when_small, LIMITS, keep_minimum=False) == ((False,) * 3, (True,) * 3)


def test_memory_that_was_not_measured_passes_no_level() -> None:
    assert of_program([case(1, None), case(2)], LIMITS)[0] == (False,) * 3


def test_time_that_was_not_measured_passes_only_without_a_limit() -> None:
    assert of_program([case(1, cpu=None), case(2)], LIMITS)[0] == (False,) * 3
    assert of_program([case(1, cpu=None, limit=None), case(2)], LIMITS)[0] == (True,) * 3


def test_a_scale_without_cases_is_not_passed() -> None:
    assert of_program([case(1)], LIMITS) == ((True,) * 3, (False,) * 3)
    assert of_program([], LIMITS) == ((False,) * 3, (False,) * 3)


def test_any_shape_will_do() -> None:
    assert of_program([case(1, 7)], [[8]]) == ((True,),)
    assert of_program([case(1), case(2), case(3), case(4)], [[100, 10]] * 4) == ((True, False),) * 4


@pytest.mark.parametrize("scale", [0, 3, -1])
def test_a_case_of_an_unknown_scale_is_refused(scale: int) -> None:
    with pytest.raises(ValueError, match=f"a case of scale {scale} in a grid of 2 scales"):
        of_program([case(scale)], LIMITS)


def test_ragged_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of one length"):
        of_program([case(1), case(2)], [[1, 2], [1]])
