"""Inputs for `texts/text.py::line_starts`; best-agent finds this file by its name and its decorator."""

import random

from best_agent import workload


@workload("texts/text.py::line_starts", sizes=(200, 600, 2_000))
def lines(n, seed):
    lengths = random.Random(seed)
    return ("".join("x" * lengths.randrange(60) + "\n" for _ in range(n)),)
