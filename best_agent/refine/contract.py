"""What the loop asks of the measuring side. `pipeline` provides it; tests provide their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from best_agent.model.task import Source
from best_agent.model.verdict import Contest, ProgramVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is to be solved, in the words a proposer may see. Nothing hidden is in here."""

    id: str
    title: str
    statement: str
    language: str
    entry: str
    mode: str
    """`function`, `driver` or `program`."""
    sizes: tuple[int, ...]
    time_limits: tuple[str, ...]
    """By scale, in words: `3x the fastest reference`, `1 s`."""
    memory_limits: tuple[tuple[int, ...], ...]
    """Bytes, [scale][space level]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A candidate judged on its own: correctness, grid, figures; and raced against the references."""

    verdict: ProgramVerdict
    against_references: tuple[Contest, ...] = ()
    """One per reference of the language; empty where the candidate is not correct."""


class Arena(Protocol):
    """Where candidates are judged and raced. All of it happens isolated and from outside."""

    @property
    def problem(self) -> Problem:
        """The problem at hand."""
        ...

    def judge(self, candidate: Source) -> ProgramVerdict:
        """Judge a candidate on every case; once for each program.

        Raises:
            MeasureError: the harness failed; says nothing about the candidate.
        """
        ...

    def assess(self, candidate: Source) -> Assessment:
        """Judge a candidate on every case and, if it is correct, race it against each reference.

        Raises:
            MeasureError: the harness failed; says nothing about the candidate.
        """
        ...

    def race(self, before: Source, after: Source, *, share: float = 1.0, also: Sequence[int] = ()) -> Contest:
        """Run two correct programs in turn until a difference is shown or the cap of pairs is reached.

        The largest scale that both answer is raced, and with few pairs the smaller ones named in `also`.
        `share` is the part of the run's error budget (alpha) that this race may spend: 1/candidates.

        Raises:
            MeasureError: the harness failed.
        """
        ...

    def confirm(self, before: Source, after: Source) -> tuple[Contest, str]:
        """Race once more on fresh seeds (or, where a set has fixed inputs, in fresh runs).

        Returns the contest and `fresh-seeds` or `same-inputs`.
        """
        ...
