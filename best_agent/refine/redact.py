"""Keeps credentials out of logs and messages."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|ghp|gho|github_pat)[-_][A-Za-z0-9_\-]{16,}|\bAIza[A-Za-z0-9_\-]{30,}|\bAKIA[A-Z0-9]{16}\b"
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_MIN_LENGTH = 8
REDACTED = "[redacted]"


class Redactor:
    """Replaces the secrets of an environment, and what looks like one, in any text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first, so that a secret that contains another goes as a whole.
        self._secrets = sorted(
            {secret for secret in secrets if len(secret) >= _MIN_LENGTH}, key=len, reverse=True
        )

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] | None = None) -> "Redactor":
        """One that knows the values of all variables whose name speaks of a key, token or password."""
        found = os.environ if environment is None else environment
        return cls(value for name, value in found.items() if _SECRET_NAME.search(name))

    def __call__(self, text: str) -> str:
        """The text without secrets, known ones and what looks like one."""
        return _USER_INFO.sub(REDACTED, _SECRET_SHAPES.sub(REDACTED, self.known(text)))

    def known(self, text: str) -> str:
        """The text without the secrets of the environment; nothing else is touched."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def values(self, value: Any) -> Any:  # noqa: ANN401  (any JSON value)
        """A JSON value with all of its strings redacted."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, dict):
            return {key: self.values(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.values(item) for item in value]
        return value
