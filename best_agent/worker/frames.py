"""Messages between the tool and its worker: JSON, each behind four bytes that give its length.

Both ends use this module; it is the only thing they share.
"""

import json
import os
import struct
from typing import Any, Dict, Optional

_HEAD = struct.Struct(">I")
MAX_BYTES = 256 << 20
"""Longest message; a length beyond it means that something else wrote to the pipe."""


def send(descriptor: int, message: Dict[str, Any]) -> None:
    """Write one message whole.

    Raises:
        OSError: the other end is gone.
        ValueError: the message is longer than MAX_BYTES.
    """
    body = json.dumps(message, ensure_ascii=True).encode("ascii")
    if len(body) > MAX_BYTES:
        raise ValueError("a message of %d bytes is too long" % len(body))
    view = memoryview(_HEAD.pack(len(body)) + body)
    while view:
        view = view[os.write(descriptor, view) :]


def receive(descriptor: int) -> Optional[Dict[str, Any]]:
    """The next message, or None where the other end has closed the pipe between two messages.

    Raises:
        EOFError: the pipe ended inside a message.
        ValueError: what was read is not a message.
    """
    head = _exactly(descriptor, _HEAD.size, start=True)
    if not head:
        return None
    (length,) = _HEAD.unpack(head)
    if length > MAX_BYTES:
        raise ValueError("not a message: its length would be %d bytes" % length)
    message = json.loads(_exactly(descriptor, length, start=False))
    if not isinstance(message, dict):
        raise ValueError("not a message: %.40r" % (message,))  # noqa: TRY004  (of the pipe, not of a caller)
    return message


def _exactly(descriptor: int, count: int, start: bool) -> bytes:
    parts = []
    missing = count
    while missing:
        part = os.read(descriptor, min(missing, 1 << 20))
        if not part:
            if start and missing == count:
                return b""
            raise EOFError("the pipe ended inside a message")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
