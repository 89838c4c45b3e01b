"""A real HTTP server on loopback that speaks the OpenAI chat protocol and answers from a script.

Each request takes the next `Reply`; the last one is repeated. What was asked is kept in `requests`.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One scripted answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hang: bool = False
    """Take the request and say nothing until the server is closed."""
    drop: bool = False
    """Close the connection without an answer."""


def chat(
    content: str | None,
    *,
    tokens_in: int = 100,
    tokens_out: int = 20,
    finish: str = "stop",
    usage: bool = True,
    reasoning: str | None = None,
) -> Reply:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    document: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "x",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }
    if usage:
        document["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return Reply(body=json.dumps(document).encode())


def code(text: str, **options: Any) -> Reply:
    return chat(f"Here is the program.\n\n```python\n{text}\n```\n", **options)


def no_choices() -> Reply:
    document = {"id": "1", "object": "chat.completion", "created": 1, "model": "x", "choices": []}
    return Reply(body=json.dumps(document).encode())


def not_json() -> Reply:
    return Reply(body=b"<html>It works!</html>", headers={"content-type": "text/html"})


def error(status: int, message: str = "no", *, retry_after: str | None = None) -> Reply:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    body = json.dumps({"error": {"message": message, "type": "t", "param": None, "code": None}}).encode()
    return Reply(status=status, headers=headers, body=body)


class ChatServer:
    """Use as a context manager; `base_url` is what --api-base takes."""

    def __init__(self, replies: Iterable[Reply], *, path: str = "/chat/completions") -> None:
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self._replies = list(replies)
        self._path = path
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _next(self, request: dict[str, Any], authorization: str | None) -> Reply:
        with self._lock:
            reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
            self.requests.append(request)
            self.authorizations.append(authorization)
            return reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length) or b"{}")
                if self.path != owner._path:
                    self._send(error(404, f"there is no {self.path} here"))
                    return
                self._send(owner._next(body, self.headers.get("authorization")))

            def _send(self, reply: Reply) -> None:
                if reply.hang:
                    owner._closing.wait()
                if reply.hang or reply.drop:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
