"""Proposals from language models, through litellm. It is imported inside the call only: 6 s and 200 MB."""

import importlib
import importlib.util
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from best_agent.errors import MissingExtraError, UsageError
from best_agent.model.refinement import Reason, Spend
from best_agent.refine.extract import extract_code
from best_agent.refine.proposals.base import (
    Estimate,
    Prompt,
    Proposal,
    Request,
    SourceError,
    estimated_tokens,
)
from best_agent.refine.proposals.failures import MAX_WAIT_S, Failure, Kind, classify, describe, pause_s
from best_agent.refine.redact import Redactor
from best_agent.units import printable

ATTEMPTS = 5
ATTEMPTS_AFTER_TIMEOUT = 2
"""A server that let the whole timeout pass once is given one more chance, not four."""
ASSUMED_ANSWER_TOKENS = 2048
"""For estimates before the first answer."""
_PLACEHOLDER_KEY = "not-needed"
_OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no price list from the network at import
    "LITELLM_OFFLINE_MODE": "true",  # no tokenizers or catalogues either
    "LITELLM_MODE": "PRODUCTION",  # a stranger's .env file must not redirect calls and keys
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per token."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How to wait between attempts."""

    base_s: float = 1.0
    cap_s: float = 30.0
    wait: Callable[[float], None] = time.sleep


class LitellmSource:
    """Asks every model for `samples` answers a round, one after another."""

    kind = "model"
    exhausted = "no model was asked"
    first_wins = False
    reads_prompt = True

    def __init__(
        self,
        models: Sequence[str],
        language: str,
        *,
        api_base: str | None = None,
        samples: int = 1,
        price: Price | None = None,
        timeout_s: float = 120.0,
        backoff: Backoff | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._models = tuple(models)
        self._language = language
        self._api_base = api_base
        self._samples = samples
        self._price = price
        self._timeout_s = timeout_s
        self._backoff = backoff or Backoff()
        self._say = say
        self._redact = Redactor.of_environment()
        # Spreads retries only; nothing that is measured depends on it.
        self._jitter = random.Random()  # noqa: S311  (not cryptography)

    @property
    def note(self) -> str:
        """Which models."""
        return f"{'models' if len(self._models) > 1 else 'model'} {', '.join(self._models)}"

    @property
    def departure(self) -> str:
        """To whom the prompt goes."""
        where = self._redact(self._api_base) if self._api_base else "the provider"
        return f"the prompt, with the problem and the code, goes to {', '.join(self._models)} at {where}"

    def per_round(self) -> int:
        """Models times samples."""
        return len(self._models) * self._samples

    def expected(self, rounds: int) -> int:
        """All rounds of answers."""
        return self.per_round() * rounds

    def check(self) -> None:
        """Find a missing package, an unknown provider or a missing key before anything is run or sent.

        Raises:
            MissingExtraError: litellm is not installed.
            UsageError: a model's provider is not known, or its key is not set.
        """
        litellm = _litellm(self._say)
        for model in self._models:
            self._check_model(litellm, model)

    def estimate(self, prompt: Prompt) -> Estimate | None:
        """A round's tokens and USD, with answers of 2,048 tokens."""
        tokens_in = prompt.estimated_tokens
        usd: float | None = 0.0
        for model in self._models:
            price = self._price_of(model)
            if price is None or usd is None:
                usd = None
                continue
            usd += self._samples * (tokens_in * price.tokens_in + ASSUMED_ANSWER_TOKENS * price.tokens_out)
        return Estimate(tokens=self.per_round() * (tokens_in + ASSUMED_ANSWER_TOKENS), usd=usd)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """One answer after another, so that each is kept before the next is paid.

        Raises:
            SourceError: a call failed and retrying did not help.
        """
        slots = [model for _ in range(self._samples) for model in self._models]
        for model in slots[request.skip :]:
            yield self._answer(model, request)

    def _check_model(self, litellm: ModuleType, model: str) -> None:
        try:
            litellm.get_llm_provider(model)
        except litellm.exceptions.BadRequestError:
            raise UsageError(
                f"litellm does not know the provider of model '{model}'; write PROVIDER/MODEL, as in "
                f"openai/{model.rpartition('/')[2]} (any server with the OpenAI protocol, with --api-base)"
            ) from None
        found = litellm.validate_environment(model=model)
        missing = [name for name in found["missing_keys"] if not self._dispensable(name)]
        if missing:
            raise UsageError(
                f"model '{model}' needs {' and '.join(missing)} in the environment; set it, or use a local "
                "server (--api-base URL), a program (--command CMD), files (--candidates PATH), or none of "
                "them for the built-in rules"
            )

    def _dispensable(self, name: str) -> bool:
        """Local servers need no key, and an address that --api-base gives need not be set."""
        if self._api_base is not None:
            return name.endswith(("_API_KEY", "_API_BASE"))
        return name == "OLLAMA_API_BASE"

    def _price_of(self, model: str) -> Price | None:
        if self._price is not None:
            return self._price
        litellm = _litellm(self._say)
        name, provider, *_ = litellm.get_llm_provider(model)
        for key in (model, name):
            entry = litellm.model_cost.get(key, {})
            rates = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
            if entry.get("litellm_provider") == provider and None not in rates:
                return Price(tokens_in=float(rates[0]), tokens_out=float(rates[1]))
        return None

    def _answer(self, model: str, request: Request) -> Proposal:
        response = self._call(model, request)
        choices = list(getattr(response, "choices", None) or ())
        # A server could send back the key that it was called with.
        content = self._redact.known((choices[0].message.content or "") if choices else "")
        spend = self._spend(model, request, response, content)
        if not content:
            detail = "the server sent no answer (empty `choices`)" if not choices else "the answer is empty"
            cut = bool(choices) and choices[0].finish_reason == "length"
            return Proposal(
                origin=model,
                code=None,
                problem=Reason.TRUNCATED if cut else Reason.EMPTY_ANSWER,
                detail="the answer was cut off before any code" if cut else detail,
                spend=spend,
            )
        cut_off = choices[0].finish_reason == "length"
        found = extract_code(content, language=self._language, entry=request.entry, cut_off=cut_off)
        return Proposal(
            origin=model,
            code=found.code,
            problem=found.problem,
            detail=found.detail,
            raw=content,
            spend=spend,
        )

    def _call(self, model: str, request: Request) -> Any:  # noqa: ANN401  (litellm's untyped response)
        litellm = _litellm(self._say)
        # The base of all of litellm's errors; litellm brings the package along.
        errors: type[Exception] = importlib.import_module("openai").OpenAIError
        attempt = 0
        while True:
            try:
                with _quiet():
                    return litellm.completion(**self._arguments(model, request))
            except errors as error:
                failure = classify(error)
            if failure.kind is Kind.NOT_FOUND and self._completed_address():
                continue
            most = ATTEMPTS_AFTER_TIMEOUT if failure.kind is Kind.TIMEOUT else ATTEMPTS
            if not failure.retryable or attempt + 1 >= most:
                raise self._failed(model, failure, attempt + 1)
            wait_s = pause_s(
                failure,
                attempt,
                base_s=self._backoff.base_s,
                cap_s=self._backoff.cap_s,
                jitter=self._jitter,
            )
            if wait_s > MAX_WAIT_S:
                raise self._failed(model, failure, attempt + 1)
            attempt += 1
            what = f"status {failure.status}" if failure.status else f"{failure.kind}"
            self._say(f"{model}: {what}; attempt {attempt + 1} of {most} in {wait_s:.0f} s")
            self._backoff.wait(wait_s)

    def _completed_address(self) -> bool:
        """Append /v1 to an address without a path, once: many servers want it, many users leave it out."""
        if self._api_base is None or urlsplit(self._api_base).path.strip("/"):
            return False
        self._api_base = f"{self._api_base.rstrip('/')}/v1"
        self._say(f"not found there; trying {self._redact(self._api_base)}")
        return True

    def _arguments(self, model: str, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": "system", "content": request.prompt.system},
                {"role": "user", "content": request.prompt.user},
            ],
            "timeout": self._timeout_s,
            "max_retries": 0,
        }
        if request.max_answer_tokens is not None:
            arguments["max_tokens"] = request.max_answer_tokens
        if self._api_base is not None:
            arguments["api_base"] = self._api_base
            if _litellm(self._say).validate_environment(model=model)["missing_keys"]:
                arguments["api_key"] = _PLACEHOLDER_KEY
        return arguments

    def _spend(self, model: str, request: Request, response: object, content: str) -> Spend:
        usage = getattr(response, "usage", None)
        tokens_in = int(getattr(usage, "prompt_tokens", 0) or 0)
        tokens_out = int(getattr(usage, "completion_tokens", 0) or 0)
        estimated = tokens_in == 0
        if estimated:
            tokens_in, tokens_out = request.prompt.estimated_tokens, estimated_tokens(content)
        price = self._price_of(model)
        usd = None if price is None else tokens_in * price.tokens_in + tokens_out * price.tokens_out
        return Spend(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, usd=usd, estimated=estimated)

    def _failed(self, model: str, failure: Failure, attempts: int) -> SourceError:
        line = describe(failure, model, self._redact(self._api_base or ""), attempts, self._timeout_s)
        said = printable(self._redact(failure.message))[:300]
        with_said = f"{line} (it said: {said})" if failure.status and said else line
        return SourceError(with_said, blame_configuration=failure.blame_configuration)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of litellm and what it is made of: the user can do nothing about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _litellm(say: Callable[[str], None]) -> ModuleType:
    os.environ.update(_OFFLINE)
    if "litellm" not in sys.modules and importlib.util.find_spec("litellm"):
        say("loading litellm; it takes some seconds")
    try:
        with _quiet():
            litellm = importlib.import_module("litellm")
    except ImportError:
        raise MissingExtraError("asking a language model", "llm") from None
    settings: dict[str, Any] = {"suppress_debug_info": True, "drop_params": True, "telemetry": False}
    vars(litellm).update(settings)
    return litellm
