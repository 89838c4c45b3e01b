import random
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st

from best_agent.measure.sequential import Outcome
from best_agent.model.run import Meter
from best_agent.workload.paired import shown
from best_agent.workload.process import WorkerDiedError
from best_agent.workload.rounds import Budget, alike, plan, take
from best_agent.workload.single import figure
from best_agent.workload.subject import Reading


class Bench:
    """A subject whose clock is a list of numbers: what the rounds do with readings, without processes."""

    def __init__(self, name, cost, log, luck=0.0):
        self.name, self.cost, self.log, self.luck = name, cost, log, luck

    def calibrate(self, size, seed):
        return 3, 1.0 if callable(self.cost) else self.cost

    def time(self, size, seed, loops):
        self.log.append(self.name)
        cost = self.cost() if callable(self.cost) else self.cost
        return Reading(cpu_ns=cost * (1 + self.luck), wall_ns=cost * 1.5, outside_ns=None, waited=False)

    def revive(self):
        self.log.append(f"{self.name} again")


def taken(costs, sizes=(10,), rounds=12, log=None, luck=lambda: 0.0):
    log = [] if log is None else log
    opened = []

    @contextmanager
    def opening():
        opened.append(True)
        yield tuple(Bench(str(place), cost, log, luck()) for place, cost in enumerate(costs))

    budget = Budget(seconds=60, plan=plan(rounds))
    found = take(opening, sizes, sides=len(costs), seed=1, budget=budget, progress=lambda line: None)
    return found, opened, log


def test_every_round_is_of_fresh_processes_and_the_sides_take_turns_to_be_first():
    chance = random.Random(1)
    (size,), opened, log = taken([100.0, 100.0], luck=lambda: chance.gauss(0, 0.1))
    assert size.rounds == len(opened) == 12
    assert log[:6] == ["0", "1", "1", "0", "0", "1"]


def test_a_clear_difference_ends_the_rounds_of_its_size_early():
    chance = random.Random(1)
    (size,), opened, _ = taken([1000.0, 10.0], luck=lambda: chance.gauss(0, 0.01))
    assert size.rounds == len(opened) == 5


def test_clear_sameness_ends_them_too():
    chance = random.Random(1)
    (size,), _, _ = taken([1000.0, 1000.0], luck=lambda: chance.gauss(0, 0.001))
    assert size.rounds == 5
    assert shown(*size.cpu, plan=plan(12)) is Outcome.NOT_SHOWN


def test_a_side_that_fails_ends_its_size_and_says_why():
    def dies():
        raise WorkerDiedError("the process was ended by SIGSEGV")

    (size,), _, log = taken([100.0, dies])
    assert size.failure == "the process was ended by SIGSEGV"
    assert size.rounds == 0
    assert log[-2:] == ["0 again", "1 again"]


def test_the_time_that_is_over_ends_the_rounds_after_the_smallest_number_of_them():
    @contextmanager
    def opening():
        yield (Bench("0", 5.0, []), Bench("1", 5.1, []))

    (size,) = take(
        opening, (10,), sides=2, seed=1, budget=Budget(seconds=0.0, plan=plan(12)), progress=lambda line: None
    )
    assert size.rounds == 3


@given(st.integers(3, 60))
def test_the_last_look_is_the_cap(most):
    assert plan(most).cap == most


def test_batches_are_of_the_same_number_of_calls_where_the_speeds_are_alike():
    assert alike([(10, 500.0), (3, 1500.0)]) == (10, 10)
    assert alike([(1, 9e6), (50, 1e5)]) == (1, 50)


def test_no_difference_is_claimed_from_two_pairs():
    assert shown([1.0, 1.0], [9.0, 9.0], plan=plan(12)) is Outcome.NOT_SHOWN


def test_between_two_looks_what_is_left_of_alpha_is_spent():
    chance = random.Random(2)
    before = [100 * (1 + chance.gauss(0, 0.01)) for _ in range(6)]
    assert shown(before, [reading * 2 for reading in before[::-1]], plan=plan(12)) is Outcome.MORE


@given(st.lists(st.floats(1, 1e12), min_size=1, max_size=20))
def test_the_interval_of_a_figure_holds_its_median_or_the_figure_is_exact_or_estimated(readings):
    found = figure(readings, Meter.EXACT)
    if found.ci is not None:
        assert found.ci.low <= found.value <= found.ci.high
    else:
        assert (found.meter is Meter.EXACT) == (len(set(readings)) == 1)
