from best_agent.judge.outside import NOTHING, excess
from best_agent.model.run import Phase, Run, Status


def run(load_ms: float, write_ms: float = 0.5, load_faults: int = 100, write_faults: int = 10) -> Run:
    return Run(
        status=Status.OK,
        cpu_ns=1_000_000,
        load=Phase(cpu_ns=round(load_ms * 1e6), minor_faults=load_faults),
        region=Phase(cpu_ns=1_000_000, minor_faults=5),
        write_out=Phase(cpu_ns=round(write_ms * 1e6), minor_faults=write_faults),
    )


HONEST = [run(1.3), run(1.6), run(1.1)]


def test_an_honest_program_has_no_excess() -> None:
    assert excess(HONEST, HONEST) == NOTHING
    assert not excess([run(1.9, 0.9)], HONEST)


def test_solving_while_loading_is_charged() -> None:
    found = excess([run(6.3), run(6.4), run(6.2)], HONEST)
    assert found
    assert found.cpu_ns == 5_000_000


def test_solving_while_writing_out_is_charged() -> None:
    assert excess([run(1.3, 6.0)], HONEST).cpu_ns == 5_500_000


def test_memory_taken_before_the_call_is_charged() -> None:
    assert excess([run(1.3, load_faults=20_000)], HONEST).minor_faults == 19_900


def test_a_fifth_more_memory_before_the_call_is_charged() -> None:
    honest = [run(5.0, load_faults=800)]
    assert not excess([run(5.0, load_faults=860)], honest)
    assert excess([run(5.0, load_faults=960)], honest).minor_faults == 160


def test_one_burst_of_the_machine_is_not_charged() -> None:
    assert not excess([run(1.3), run(9.0), run(1.4)], HONEST)


def test_runs_without_phases_have_nothing_outside() -> None:
    bare = Run(status=Status.TIME_LIMIT)
    assert excess([bare], HONEST) == NOTHING
    assert excess([run(50.0)], [bare]) == NOTHING
    assert excess([], HONEST) == NOTHING
