"""Mostly different numbers around zero, some of them often, and a target that many pairs reach."""

import random


def generate(n, seed):
    rng = random.Random(seed)
    reach = 10 * n
    values = [rng.randint(-reach, reach) for _ in range(n)]
    often = rng.choices(values, k=5)
    for position in rng.sample(range(n), n // 50):
        values[position] = rng.choice(often)
    target = often[0] + often[1] if rng.random() < 0.5 else rng.randint(-n, n)
    return values, target
