"""Messages between harness and supervisor: a JSON header, blobs of bytes, and descriptors beside them."""

import array
import json
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_PREFIX: Final = struct.Struct("!II")
_HEADER_BYTES: Final = 64 << 20
_FDS_AT_MOST: Final = 8


class Message(NamedTuple):
    """One message as it was received."""

    header: dict[str, Any]
    blobs: tuple[bytes, ...]
    fds: tuple[int, ...]


class ChannelClosedError(Exception):
    """The other side is gone."""


def send(
    peer: socket.socket, header: Mapping[str, Any], blobs: Sequence[bytes] = (), fds: Sequence[int] = ()
) -> None:
    """Send one message.

    Raises:
        ChannelClosedError: nobody listens any more.
    """
    text = json.dumps({"header": header, "sizes": [len(blob) for blob in blobs]}).encode()
    first = _PREFIX.pack(len(text), len(fds))
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        peer.sendmsg([first], ancillary)
        peer.sendall(text)
        for blob in blobs:
            peer.sendall(blob)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ChannelClosedError from error


def receive(peer: socket.socket, *, blob_bytes: int) -> Message:
    """Receive one message whose blobs together are no larger than `blob_bytes`.

    Raises:
        ChannelClosedError: nobody speaks any more.
        ValueError: the message is larger than it may be, or not one.
        TimeoutError: the socket has a timeout and it passed.
    """
    prefix, fds = _receive_prefix(peer)
    text_size, _ = _PREFIX.unpack(prefix)
    if text_size > _HEADER_BYTES:
        raise ValueError(f"a header of {text_size} bytes")
    envelope = json.loads(_receive_exactly(peer, text_size))
    sizes: list[int] = envelope["sizes"]
    if sum(sizes) > blob_bytes:
        raise ValueError(f"{sum(sizes)} bytes where {blob_bytes} were expected at most")
    blobs = tuple(_receive_exactly(peer, size) for size in sizes)
    return Message(envelope["header"], blobs, fds)


def _receive_prefix(peer: socket.socket) -> tuple[bytes, tuple[int, ...]]:
    # Descriptors come with the first byte; the prefix was sent in one piece but may arrive in two.
    try:
        data, fds, _, _ = socket.recv_fds(peer, _PREFIX.size, _FDS_AT_MOST)
    except ConnectionResetError as error:
        raise ChannelClosedError from error
    if not data:
        raise ChannelClosedError
    return data + _receive_exactly(peer, _PREFIX.size - len(data)), tuple(fds)


def _receive_exactly(peer: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        try:
            part = peer.recv(min(size - len(parts), 1 << 20))
        except ConnectionResetError as error:
            raise ChannelClosedError from error
        if not part:
            raise ChannelClosedError
        parts += part
    return bytes(parts)
