"""Tolls of one digit, so that many walks are equally cheap, with bands that lead the way."""

import random


def generate(n, seed):
    rng = random.Random(seed)
    tolls = [rng.choices(range(1, 10), k=n) for _ in range(n)]
    for _ in range(3):
        row = rng.randrange(n)
        tolls[row] = rng.choices((1, 1, 2), k=n)
    return (tolls,)
