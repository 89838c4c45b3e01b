"""Where proposals come from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from best_agent.refine.proposals.base import ProposalSource


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the user said about the source of proposals."""

    language: str
    models: tuple[str, ...] = ()
    api_base: str | None = None
    samples: int = 1
    price: tuple[float, float] | None = None
    """USD per million tokens, in and out."""
    command: str | None = None
    candidates: Path | None = None
    answer_timeout_s: float = 120.0
    say: Callable[[str], None] = lambda _: None


def _rules(options: SourceOptions) -> ProposalSource:
    from best_agent.refine.proposals.rules import RuleSource

    return RuleSource(options.language)


def _candidates(options: SourceOptions) -> ProposalSource:
    from best_agent.refine.proposals.directory import DirectorySource

    assert options.candidates is not None
    return DirectorySource(options.candidates, options.language)


def _command(options: SourceOptions) -> ProposalSource:
    from best_agent.refine.proposals.command import CommandSource

    assert options.command is not None
    return CommandSource(options.command, options.language, timeout_s=options.answer_timeout_s)


def _model(options: SourceOptions) -> ProposalSource:
    from best_agent.refine.proposals.litellm import LitellmSource, Price

    price = options.price
    return LitellmSource(
        options.models,
        options.language,
        api_base=options.api_base,
        samples=options.samples,
        price=None if price is None else Price(tokens_in=price[0] / 1e6, tokens_out=price[1] / 1e6),
        timeout_s=options.answer_timeout_s,
        say=options.say,
    )


SOURCES: dict[str, Callable[[SourceOptions], ProposalSource]] = {
    "rules": _rules,
    "candidates": _candidates,
    "command": _command,
    "model": _model,
}
"""Every source by its kind; each is imported when it is first asked for."""
