"""Many sensors, a third of them broken, and a window of a twelfth of the readings."""

import random


def generate(n, seed):
    rng = random.Random(seed)
    count = 225
    sensors = rng.choices(range(count), k=n)
    values = rng.choices(range(-100_000, 100_001), k=n)
    broken = rng.sample(range(count), count // 3)
    width = n // 12 + rng.randint(1, 10)
    step = n // 90 + rng.randint(1, 3)
    return sensors, values, broken, width, step
