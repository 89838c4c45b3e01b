"""What went wrong with a call to a model, and whether waiting helps.

litellm calls a refused connection, a dropped one and an answer that is not JSON all "internal server
error 500". The chain of causes says which it was: an HTTP status was received only where an
`HTTPStatusError` is in it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
MAX_WAIT_S = 120.0
"""A server that asks for a longer pause ends the run; `--resume` goes on later."""


class Kind(StrEnum):
    """Kinds of failure, each with an outcome of its own."""

    REFUSED = "refused"
    UNKNOWN_HOST = "unknown-host"
    BAD_ADDRESS = "bad-address"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    KEY = "key"
    """The server does not accept the key, or the account may not use the model."""
    QUOTA = "quota"
    NOT_FOUND = "not-found"
    TOO_LONG = "too-long"
    """The prompt does not fit the model's context."""
    REJECTED = "rejected"
    """Another status of the 400s: asking again would not change it."""
    BUSY = "busy"
    """A status that asks for patience: 429, 500, 502, 503, 504."""
    NOT_THE_PROTOCOL = "not-the-protocol"
    """Something answered with success, but not in the OpenAI chat protocol."""


_WORTH_RETRYING = frozenset({Kind.BUSY, Kind.TIMEOUT, Kind.CONNECTION})
_CONFIGURATION = frozenset(
    {
        Kind.REFUSED,
        Kind.UNKNOWN_HOST,
        Kind.BAD_ADDRESS,
        Kind.KEY,
        Kind.NOT_FOUND,
        Kind.NOT_THE_PROTOCOL,
        Kind.REJECTED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed call."""

    kind: Kind
    status: int | None = None
    """HTTP status, if one was received."""
    retry_after_s: float | None = None
    message: str = ""

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.kind in _WORTH_RETRYING

    @property
    def blame_configuration(self) -> bool:
        """Whether the command line or the set-up is to blame, not the moment."""
        return self.kind in _CONFIGURATION


def classify(error: BaseException, *, now: datetime | None = None) -> Failure:
    """What kind of failure an exception of a model call is."""
    chain = tuple(_chain(error))
    message = " ".join(str(error).split())
    response = next(
        (getattr(link, "response", None) for link in chain if type(link).__name__ == "HTTPStatusError"), None
    )
    if response is not None:
        return _by_status(int(response.status_code), dict(response.headers), message, now)
    kind = _by_connection({type(link).__name__ for link in chain})
    if kind is not None:
        return Failure(kind=kind, message=message)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status != 500:
        return _by_status(status, {}, message, now)
    return Failure(kind=Kind.NOT_THE_PROTOCOL, message=message)


def pause_s(failure: Failure, attempt: int, *, base_s: float, cap_s: float, jitter: random.Random) -> float:
    """Seconds to wait before the next attempt; attempts count from 0.

    What the server asks for is honoured; otherwise the pause doubles, with half of it left to chance so
    that many clients do not come back at once.
    """
    if failure.retry_after_s is not None:
        return failure.retry_after_s
    longest = min(cap_s, base_s * 2.0**attempt)
    return longest / 2 + jitter.uniform(0, longest / 2)


def describe(failure: Failure, model: str, api_base: str, attempts: int, timeout_s: float) -> str:
    """One line: what happened and what to do."""
    where = api_base or "its provider"
    tries = f"after {attempts} attempts" if attempts > 1 else "at once"
    lines = {
        Kind.REFUSED: f"{where} refused the connection; is the server running, and is --api-base right?",
        Kind.UNKNOWN_HOST: f"the host of {where} is not known; is --api-base right, is there a network?",
        Kind.BAD_ADDRESS: f"--api-base '{api_base}' is not an address; write it like http://127.0.0.1:8000/v1",
        Kind.TIMEOUT: f"no answer within {timeout_s:g} s ({tries}); give it longer with --answer-timeout",
        Kind.CONNECTION: f"the connection to {where} broke ({tries})",
        Kind.KEY: f"{where} does not accept the key or may not serve this model (status {failure.status})",
        Kind.QUOTA: f"the account at {where} has no credit left (status {failure.status})",
        Kind.NOT_FOUND: f"{where} does not know this model or address (status 404)",
        Kind.TOO_LONG: "the prompt is longer than the model's context",
        Kind.REJECTED: f"{where} rejects the request (status {failure.status})",
        Kind.NOT_THE_PROTOCOL: f"{where} answers, but not in the OpenAI chat protocol; is --api-base right?",
        Kind.BUSY: f"{where} answers with status {failure.status} ({tries}); go on later with --resume",
    }
    return f"{model}: {lines[failure.kind]}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _by_connection(names: set[str]) -> Kind | None:
    if "ConnectionRefusedError" in names:
        return Kind.REFUSED
    if "gaierror" in names:
        return Kind.UNKNOWN_HOST
    if names & {"UnsupportedProtocol", "InvalidURL"}:
        return Kind.BAD_ADDRESS
    if names & {"Timeout", "APITimeoutError", "ReadTimeout", "ConnectTimeout", "PoolTimeout", "WriteTimeout"}:
        return Kind.TIMEOUT
    if names & {"APIConnectionError", "RemoteProtocolError", "ReadError", "WriteError", "ConnectError"}:
        return Kind.CONNECTION
    return None


def _by_status(status: int, headers: dict[str, str], message: str, now: datetime | None) -> Failure:
    text = message.casefold()
    kind = Kind.REJECTED
    if status in (401, 403):
        kind = Kind.KEY
    elif status == 402 or (status == 429 and "insufficient_quota" in text):
        kind = Kind.QUOTA
    elif status == 404:
        kind = Kind.NOT_FOUND
    elif status in RETRIED_STATUSES:
        kind = Kind.BUSY
    elif status in (400, 413) and any(
        word in text for word in ("context length", "context window", "too long")
    ):
        kind = Kind.TOO_LONG
    asked = _retry_after_s({name.lower(): value for name, value in headers.items()}, now)
    return Failure(kind=kind, status=status, retry_after_s=asked, message=message)


def _retry_after_s(headers: dict[str, str], now: datetime | None) -> float | None:
    """The pause a server asks for: seconds, or a date. What cannot be read is not there."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        return _until(value, now)
    return seconds if 0 <= seconds < float("inf") else None


def _until(value: str, now: datetime | None) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
