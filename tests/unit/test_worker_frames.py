import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.worker import frames

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def through_a_pipe(raw: bytes):
    reader, writer = os.pipe()
    try:
        os.write(writer, raw)
        os.close(writer)
        return frames.receive(reader)
    finally:
        os.close(reader)


@given(st.dictionaries(st.text(max_size=10), values, max_size=4))
def test_a_message_arrives_as_it_was_sent(message):
    reader, writer = os.pipe()
    try:
        frames.send(writer, message)
        assert frames.receive(reader) == message
    finally:
        os.close(reader)
        os.close(writer)


def test_a_closed_pipe_is_the_end_and_no_error():
    assert through_a_pipe(b"") is None


@pytest.mark.parametrize("raw", [b"\0", b"\0\0\0", struct.pack(">I", 10) + b"{}"])
def test_a_pipe_that_ends_inside_a_message_is_an_error(raw):
    with pytest.raises(EOFError):
        through_a_pipe(raw)


@pytest.mark.parametrize(
    "raw",
    [b"hello world", struct.pack(">I", 2) + b"[]", struct.pack(">I", 3) + b"\xff\xfe{", b"\xff\xff\xff\xff"],
)
def test_what_is_no_message_is_an_error(raw):
    with pytest.raises(ValueError, match=r"not a message|codec|Expecting"):
        through_a_pipe(raw)
