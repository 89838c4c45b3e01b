"""Language models over a real HTTP server and the real litellm: rounds, tokens, cost, and every failure."""

import importlib.util
import json
import socket
import warnings
from pathlib import Path
from typing import Any

import pytest
from openai_server import ChatServer, Reply, chat, code, error, no_choices, not_json
from refine_arena import BEST, LEANER, NAIVE, WRONG, CountingArena
from test_refine_loop import refine

from best_agent.errors import UsageError
from best_agent.model.refinement import Reason, Refinement, StopReason
from best_agent.refine.proposals.base import SourceError
from best_agent.refine.proposals.litellm import (
    ATTEMPTS,
    ATTEMPTS_AFTER_TIMEOUT,
    Backoff,
    LitellmSource,
    Price,
)
from best_agent.refine.settings import Settings

# Not importorskip: the first import has to be the product's own, which keeps litellm off the network.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None, reason="the llm extra is not installed"
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


class Waits:
    """Takes the place of sleeping; what is waited for is real, the waiting is not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def source(server: ChatServer, waits: Waits | None = None, **options: Any) -> LitellmSource:
    models = options.pop("models", ("openai/x",))
    return LitellmSource(
        models, "python", api_base=server.base_url, backoff=Backoff(wait=waits or Waits()), **options
    )


def run(tmp_path: Path, *replies: Reply, **options: Any) -> tuple[Refinement, ChatServer]:
    settings = options.pop("settings", Settings(rounds=len(replies)))
    with ChatServer(replies) as server:
        result = refine(source(server, **options), tmp_path / "run", settings=settings)
    return result, server


def reasons(result: Refinement) -> list[Reason]:
    return [candidate.reason for found in result.rounds for candidate in found.candidates]


def test_several_rounds_count_tokens_and_know_no_price_of_an_unknown_model(tmp_path: Path) -> None:
    result, server = run(tmp_path, code(WRONG), code(LEANER), code(BEST))
    assert reasons(result) == [Reason.FAILED, Reason.LEANER, Reason.FASTER]
    assert (result.spend.calls, result.spend.tokens_in, result.spend.tokens_out) == (3, 300, 60)
    assert result.spend.usd is None
    assert result.final.id == "r3c1"
    assert result.final.confirmed
    assert len(server.requests) == 3


def test_a_price_given_by_the_user_makes_the_cost_known(tmp_path: Path) -> None:
    price = Price(tokens_in=2e-6, tokens_out=10e-6)
    result, _ = run(tmp_path, code(LEANER), code(BEST), price=price)
    assert result.spend.usd == pytest.approx(2 * (100 * 2e-6 + 20 * 10e-6))


def test_a_price_that_litellm_knows_is_used(tmp_path: Path) -> None:
    result, _ = run(tmp_path, code(LEANER), models=("openai/gpt-4o",))
    assert result.spend.usd == pytest.approx(100 * 2.5e-6 + 20 * 10e-6)


def test_several_models_and_samples_are_asked_each_round(tmp_path: Path) -> None:
    models = ("openai/x", "openai/y")
    result, server = run(
        tmp_path, code(WRONG), code(LEANER), code(BEST), chat("no"), models=models, samples=2,
        settings=Settings(rounds=1),
    )  # fmt: skip
    assert [request["model"] for request in server.requests] == ["x", "y", "x", "y"]
    assert [candidate.origin for candidate in result.rounds[0].candidates] == list(models) * 2


def test_what_is_sent_is_the_prompt_and_the_code_and_no_key_but_a_placeholder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "very-secret-value-123")
    _, server = run(tmp_path, code(BEST))
    text = json.dumps(server.requests)
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user"]
    assert NAIVE.splitlines()[0] in text
    assert "very-secret-value-123" not in text
    assert server.authorizations == ["Bearer not-needed"]


def test_a_key_is_used_and_is_in_no_file_of_the_run_even_if_the_server_echoes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-test-0123456789abcdefghij"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    answer = code(f"# {key}\n{BEST}")
    _, server = run(tmp_path, answer)
    assert server.authorizations == [f"Bearer {key}"]
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if key.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (no_choices(), Reason.EMPTY_ANSWER),
        (chat(None), Reason.EMPTY_ANSWER),
        (chat(""), Reason.EMPTY_ANSWER),
        (chat("I am sorry, it cannot be improved."), Reason.NO_CODE),
        (chat("```python\ndef solve(numbers):\n    return [", finish="length"), Reason.TRUNCATED),
        (chat(None, finish="length", reasoning="hmm"), Reason.TRUNCATED),
        (chat("```java\nclass A {}\n```"), Reason.WRONG_LANGUAGE),
        (chat("```diff\n--- a\n+++ b\n```"), Reason.DIFF),
        (chat("```python\ndef other(numbers):\n    pass\n```"), Reason.NO_ENTRY),
    ],
)
def test_an_answer_without_a_program_is_a_rejected_candidate_that_was_paid(
    tmp_path: Path, reply: Reply, reason: Reason
) -> None:
    result, server = run(tmp_path, reply, code(BEST))
    assert reasons(result) == [reason, Reason.FASTER_AND_LEANER]
    assert len(server.requests) == 2, "such an answer is not asked for again"
    assert result.spend.calls == 2


def test_tokens_are_estimated_and_said_to_be_where_a_server_does_not_count(tmp_path: Path) -> None:
    result, _ = run(tmp_path, code(BEST, usage=False))
    assert result.spend.estimated
    assert result.spend.tokens_in > 100
    assert result.spend.tokens_out > 10


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(tmp_path: Path, status: int) -> None:
    waits = Waits()
    result, server = run(
        tmp_path, error(status), error(status), code(BEST), settings=Settings(rounds=1), waits=waits
    )
    assert reasons(result) == [Reason.FASTER_AND_LEANER]
    assert len(server.requests) == 3
    assert 0.5 <= waits.seconds[0] <= 1.0 <= waits.seconds[1] <= 2.0


def test_the_pause_that_a_server_asks_for_is_kept(tmp_path: Path) -> None:
    waits = Waits()
    run(tmp_path, error(429, retry_after="7"), code(BEST), settings=Settings(rounds=1), waits=waits)
    assert waits.seconds == [7.0]


def test_a_pause_too_long_to_wait_for_ends_the_run_and_says_how_to_go_on(tmp_path: Path) -> None:
    waits = Waits()
    result, server = run(tmp_path, error(429, retry_after="3600"), waits=waits)
    assert result.stop_reason is StopReason.SOURCE_FAILED
    assert "--resume" in result.stop_detail
    assert waits.seconds == []
    assert len(server.requests) == 1


def test_a_server_that_stays_busy_ends_the_run_after_some_attempts(tmp_path: Path) -> None:
    result, server = run(tmp_path, code(LEANER), error(500), settings=Settings(rounds=4))
    assert len(server.requests) == 1 + ATTEMPTS
    assert result.stop_reason is StopReason.SOURCE_FAILED
    assert f"after {ATTEMPTS} attempts" in result.stop_detail
    assert result.final.id == "r1c1"
    assert result.final.confirmed


def test_a_dropped_connection_is_tried_again(tmp_path: Path) -> None:
    result, server = run(tmp_path, Reply(drop=True), code(BEST), settings=Settings(rounds=1))
    assert reasons(result) == [Reason.FASTER_AND_LEANER]
    assert len(server.requests) == 2


def test_a_server_that_says_nothing_is_a_timeout(tmp_path: Path) -> None:
    result, server = run(tmp_path, Reply(hang=True), timeout_s=0.2)
    assert len(server.requests) == ATTEMPTS_AFTER_TIMEOUT
    assert "no answer within 0.2 s" in result.stop_detail
    assert "--answer-timeout" in result.stop_detail


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (error(401, "Incorrect API key provided: not-needed"), "does not accept the key"),
        (error(403), "does not accept the key"),
        (error(402), "no credit left"),
        (error(429, "insufficient_quota: you exceeded your current quota"), "no credit left"),
        (error(400, "temperature is bad"), "rejects the request"),
        (error(400, "This model's maximum context length is 10 tokens"), "longer than the model's context"),
        (not_json(), "not in the OpenAI chat protocol"),
        (Reply(body=b'{"id": '), "not in the OpenAI chat protocol"),
        (Reply(body=b"[1, 2]"), "not in the OpenAI chat protocol"),
        (Reply(body=b'{"choices": 3}'), "not in the OpenAI chat protocol"),
    ],
)
def test_what_asking_again_cannot_mend_is_said_at_once(tmp_path: Path, reply: Reply, said: str) -> None:
    result, server = run(tmp_path, reply)
    assert result.stop_reason is StopReason.SOURCE_FAILED
    assert said in result.stop_detail
    assert len(server.requests) == 1
    assert "Traceback" not in result.stop_detail
    assert result.stop_detail.count("\n") == 0


def test_a_model_that_a_server_does_not_know_is_said(tmp_path: Path) -> None:
    with ChatServer([error(404, "no such model")], path="/v1/chat/completions") as server:
        result = refine(source(server), tmp_path / "run")
    assert "does not know this model or address" in result.stop_detail
    assert "no such model" in result.stop_detail


def test_v1_is_appended_to_an_address_that_lacks_it(tmp_path: Path) -> None:
    with ChatServer([code(BEST)], path="/v1/chat/completions") as server:
        result = refine(source(server), tmp_path / "run", settings=Settings(rounds=1))
    assert reasons(result) == [Reason.FASTER_AND_LEANER]


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"http://127.0.0.1:{closed_port()}", "refused the connection"),
        ("http://host.invalid:1", "is not known"),
        ("127.0.0.1:80", "is not an address"),
    ],
)
def test_a_server_that_cannot_be_reached_is_said_clearly(tmp_path: Path, address: str, said: str) -> None:
    waits = Waits()
    asked = LitellmSource(("openai/x",), "python", api_base=address, backoff=Backoff(wait=waits))
    result = refine(asked, tmp_path / "run")
    assert said in result.stop_detail
    assert waits.seconds == []


def test_who_is_to_blame_decides_the_exit_code(tmp_path: Path) -> None:
    from refine_arena import start

    from best_agent.refine.proposals.base import Prompt, Request

    request = Request(round=1, prompt=Prompt(system="s", user="u"), parent=start(), entry="solve")
    for reply, exit_code in ((error(401), 2), (not_json(), 2), (error(503), 3)):
        with ChatServer([reply]) as server, pytest.raises(SourceError) as caught:
            next(source(server).propose(request))
        assert caught.value.exit_code == exit_code


def test_a_missing_key_is_found_before_anything_is_sent_or_run() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        LitellmSource(("gpt-4o",), "python").check()
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        LitellmSource(("ollama/x", "anthropic/claude-3"), "python").check()


def test_the_warnings_of_litellm_and_its_parts_are_not_the_users(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run(tmp_path, Reply(body=b'{"choices": 3}'))
    assert [str(warning.message) for warning in said if "ydantic" in str(warning.message)] == []


def test_a_local_server_needs_no_key() -> None:
    LitellmSource(("openai/x",), "python", api_base="http://127.0.0.1:1").check()
    LitellmSource(("ollama/x",), "python").check()


@pytest.mark.parametrize("model", ["x", "nonsense/foo", ""])
def test_an_unknown_provider_is_one_clear_line(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="PROVIDER/MODEL"):
        LitellmSource((model,), "python").check()
    assert capsys.readouterr().out == ""


# -- budgets ----------------------------------------------------------------------------------


def test_a_budget_that_cannot_pay_for_two_rounds_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    arena = CountingArena()
    with ChatServer([code(BEST)]) as server:
        for settings, said in (
            (Settings(max_tokens=3000), "--max-tokens is 3,000"),
            (Settings(max_usd=0.001), "the price of a model is not known"),
        ):
            with pytest.raises(UsageError, match=said):
                refine(source(server), tmp_path / "run", arena=arena, settings=settings)
        price = Price(tokens_in=1e-6, tokens_out=1e-5)
        with pytest.raises(UsageError, match=r"--max-usd is 0\.01"):
            refine(
                source(server, price=price), tmp_path / "run", arena=arena, settings=Settings(max_usd=0.01)
            )
        assert server.requests == []
    assert arena.assessed == []
    assert not (tmp_path / "run").exists()


def test_tokens_are_a_bound(tmp_path: Path) -> None:
    replies = [chat("no idea", tokens_in=3000, tokens_out=1000)] * 8
    settings = Settings(max_tokens=9000, patience=8)
    result, server = run(tmp_path, *replies, settings=settings)
    assert result.stop_reason is StopReason.TOKENS
    assert result.spend.tokens == 8000
    assert len(server.requests) == 2
    assert 0 < server.requests[0]["max_tokens"] < 9000


def test_usd_are_a_bound(tmp_path: Path) -> None:
    price = Price(tokens_in=1e-6, tokens_out=1e-6)
    replies = [chat("no idea", tokens_in=3000, tokens_out=1000)] * 8
    settings = Settings(max_usd=0.009, patience=8)
    result, server = run(tmp_path, *replies, settings=settings, price=price)
    assert result.stop_reason is StopReason.USD
    assert len(server.requests) == 2


def test_an_answer_that_was_paid_before_a_kill_is_not_paid_again(tmp_path: Path) -> None:
    def kill(_before: object, _after: object) -> None:
        raise SystemExit

    with ChatServer([code(LEANER), code(BEST)]) as server:
        settings = Settings(rounds=1)
        with pytest.raises(SystemExit):
            refine(source(server), tmp_path / "run", arena=CountingArena(before_race=kill), settings=settings)
        assert len(server.requests) == 1
        result = refine(source(server), tmp_path / "run", settings=settings, resume=True)
        assert len(server.requests) == 1
    assert reasons(result) == [Reason.LEANER]
    assert result.spend.tokens == 120
