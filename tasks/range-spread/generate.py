"""A wandering value with single outliers; three questions a number, about parts of every length."""

import random


def generate(n, seed):
    rng = random.Random(seed)
    values = []
    level = 0
    for _ in range(n):
        level += rng.randint(-1000, 1000)
        values.append(level if rng.random() < 0.999 else rng.randint(-1_000_000_000, 1_000_000_000))
    questions = []
    for _ in range(3 * n):
        length = rng.randint(1, n) if rng.random() < 0.5 else rng.randint(1, 1 + n // 20)
        first = rng.randint(0, n - length)
        questions.append((first, first + length - 1))
    return values, questions
