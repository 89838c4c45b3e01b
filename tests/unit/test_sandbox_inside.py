"""Parts of the supervisor that can be tried without one: messages, encoding, meters."""

import json
import os
import socket
import struct
import threading
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.judge import answers as judge_answers
from best_agent.sandbox import contract
from best_agent.sandbox.inside import answers, channel, driver, meters


def test_the_descriptors_of_both_sides_are_the_contract_s():
    ours = (driver.FD_EVENT, driver.FD_GO, driver.FD_ANSWER)
    assert ours == (contract.FD_EVENT, contract.FD_GO, contract.FD_ANSWER)


def exchange(send):
    """What arrives of what `send` does with one end of a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        sender = threading.Thread(target=send, args=(theirs,))
        sender.start()
        try:
            return channel.receive(ours, blob_bytes=1 << 20)
        finally:
            sender.join()


@given(
    header=st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.none())),
    blobs=st.lists(st.binary(max_size=2000), max_size=4),
)
def test_messages_arrive_as_they_were_sent(header, blobs):
    message = exchange(lambda peer: channel.send(peer, header, blobs))
    assert (message.header, list(message.blobs), message.fds) == (header, blobs, ())


def test_descriptors_travel_beside_a_large_message():
    reader, writer = os.pipe()
    message = exchange(lambda peer: channel.send(peer, {"a": "x" * 300_000}, [b"y" * 500_000], [writer]))
    os.write(message.fds[0], b"through")
    assert os.read(reader, 10) == b"through"
    for fd in (reader, writer, *message.fds):
        os.close(fd)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!II", 1 << 30, 0),
        struct.pack("!II", 3, 0) + b"not",
        struct.pack("!II", 2, 0) + b"{}",
        struct.pack("!II", 28, 0) + b'{"header":{},"sizes":[99999]}'[:28],
        b"\x00\x00",
        b"",
        struct.pack("!II", 50, 0) + b"{",
    ],
)
def test_malformed_messages_are_errors(data):
    def send(peer):
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)

    with pytest.raises((ValueError, KeyError, channel.ChannelClosedError)):
        exchange(send)


def test_a_message_larger_than_agreed_is_refused():
    text = json.dumps({"header": {}, "sizes": [1 << 19, (1 << 19) + 1]}).encode()
    with pytest.raises(ValueError, match="bytes"):
        exchange(lambda peer: peer.sendall(struct.pack("!II", len(text), 0) + text))


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    st.complex_numbers(),
)
hashables = st.one_of(st.integers(), st.text(max_size=5), st.tuples(st.integers(), st.text(max_size=3)))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(hashables, inner, max_size=4),
        st.sets(hashables, max_size=4),
        st.frozensets(hashables, max_size=4),
        st.lists(inner, max_size=3).map(deque),
        st.binary(max_size=5).map(bytearray),
        st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3)),
    ),
    max_leaves=12,
)


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other


@given(values)
def test_the_judge_reads_what_the_driver_writes(value):
    assert same(judge_answers.decode(answers.encode(value)), value)


@given(values)
def test_an_echo_writes_the_same_amount(value):
    text = answers.encode(value)
    again = answers.encode(answers.decode(text))
    assert len(again) == len(text)


class Lazy(list):
    def __iter__(self):
        raise AssertionError("foreign code ran while an answer was encoded")


@pytest.mark.parametrize(
    "value", [Lazy(), [Lazy()], (Lazy(),), {1: Lazy()}, type("I", (int,), {})(3), print, object()]
)
def test_foreign_types_are_named_and_not_touched(value):
    assert b'{"o":"' in answers.encode(value)


def test_depth_is_bounded():
    value = []
    for _ in range(answers.DEPTH_AT_MOST - 1):
        value = [value]
    answers.encode(value)
    with pytest.raises(answers.UnencodableError):
        answers.encode([[[value]]])


def test_an_iterator_is_made_whole_and_nothing_else_is():
    assert answers.encode(answers.make_whole(iter([1, 2]))) == b'{"g":[1,2]}'
    assert answers.make_whole([1]) == [1]
    assert answers.encode(answers.make_whole({}.keys())) == b'{"o":"builtins.dict_keys"}'


@pytest.mark.parametrize("name", [b"a b", b") R 9 9", b"x\n) S", b"", b"((", b"\xff)"])
def test_a_process_may_have_any_name(name):
    tail = b"S 7 " + b" ".join(b"%d" % n for n in range(5, 53))
    found = meters.parse_stat(b"42 (" + name + b") " + tail)
    assert (found.state, found.parent) == ("S", 7)


def test_own_counters_can_be_read_from_outside():
    assert meters.stat(os.getpid()).state == "R"
    assert meters.cpu_clock_ns(os.getpid()) > 0
    assert meters.mapped_bytes(os.getpid()) > meters.resident(os.getpid()).now > 1 << 20
    assert meters.leads_process(os.getpid())
    gone = 1 << 30
    assert meters.stat(gone) is meters.resident(gone) is meters.mapped_bytes(gone) is None
    assert meters.descendants(gone) == []


def test_the_supervisor_imports_the_standard_library_only():
    import subprocess
    import sys

    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from best_agent.sandbox.inside import supervisor\n"
        "print([m for m in sys.modules if m.startswith('best_agent')"
        " and not m.startswith('best_agent.sandbox') and m != 'best_agent'])\n"
        "print('best_agent.sandbox.contract' in sys.modules, 'subprocess' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[0]) == []
    assert done.stdout.splitlines()[1] == "False False"
