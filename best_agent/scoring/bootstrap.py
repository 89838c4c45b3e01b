"""Intervals of means over tasks: the tasks are drawn again, with replacement, from a fixed seed."""

import math
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter

from best_agent.model.measurement import Interval
from best_agent.model.score import Estimate

RESAMPLES = 1000
SEED = 1
_CONFIDENCE = 0.95


def mean(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """The mean of one value for each task, with its 95% percentile bootstrap interval.

    The same values give the same interval on every machine. With one task there is no interval: how
    tasks differ cannot be seen from one.

    Raises:
        ValueError: there are no values.
    """
    return clustered_mean([(value,) for value in values], resamples=resamples, seed=seed)


def clustered_mean(
    groups: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Estimate:
    """The mean over all values of all tasks, where a task may bring several (its references).

    Tasks, not values, are drawn again: the values of one task hang together.

    Raises:
        ValueError: there are no tasks, or a task without values.
    """
    if not groups or not all(groups):
        raise ValueError("a mean over tasks needs tasks, each with a value")
    totals = [math.fsum(group) for group in groups]
    counts = [len(group) for group in groups]
    value = math.fsum(totals) / sum(counts)
    if len(groups) < 2:
        return Estimate(value=value, ci=None, tasks=len(groups))
    draws = _draws(len(groups), resamples, seed)
    if len(set(counts)) == 1:
        drawn_values = len(counts) * counts[0]
        means = sorted(sum(pick(totals)) / drawn_values for pick in draws)
    else:
        means = sorted(sum(pick(totals)) / sum(pick(counts)) for pick in draws)
    tail = int((1 - _CONFIDENCE) / 2 * resamples)
    # The value belongs to its interval; rounding alone could put it outside where all tasks agree.
    low, high = min(means[tail], value), max(means[resamples - 1 - tail], value)
    return Estimate(value=value, ci=Interval(low=low, high=high), tasks=len(groups))


@lru_cache(maxsize=16)
def _draws(count: int, resamples: int, seed: int) -> tuple[Callable[[Sequence[float]], Sequence[float]], ...]:
    """The same draws for every model, so that differences between models are paired.

    A draw picks `count` of as many values, at least two. It is an itemgetter because a table of 30
    models on 400 tasks makes millions of picks of one value, which no loop of ours is fit for.
    """
    # Not cryptography: the seed is fixed so that a score repeats.
    generator = random.Random(seed)  # noqa: S311  (resampling, not secrets)
    places = list(range(count))
    return tuple(itemgetter(*generator.choices(places, k=count)) for _ in range(resamples))
