import contextlib
import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.judge.answers import AnswerError, Iterated, Opaque, decode


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("[]", []),
        ('"a"', "a"),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e300", 1e300),
        ('{"i": "-0x3fffffffffffffff"}', -0x3FFFFFFFFFFFFFFF),
        ('{"f": "-inf"}', -math.inf),
        ('{"t": [1, [2]]}', (1, [2])),
        ('{"s": [1, 2]}', {1, 2}),
        ('{"z": []}', frozenset()),
        ('{"q": [1]}', deque([1])),
        ('{"d": [[{"t": [1, 2]}, "x"]]}', {(1, 2): "x"}),
        ('{"b": "00ff"}', b"\x00\xff"),
        ('{"a": "00"}', bytearray(1)),
        ('{"c": [1.0, 2.0]}', 1 + 2j),
        ('{"r": [0, 5, 2]}', range(0, 5, 2)),
        ('{"g": [1, 2]}', Iterated((1, 2))),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_each_tag_is_read_as_its_type(text: str, value: object) -> None:
    read = decode(text.encode())
    assert read == value
    assert type(read) is type(value)


def test_a_value_of_unknown_type_equals_nothing() -> None:
    opaque = decode(b'{"o": "candidate.Sly"}')
    assert isinstance(opaque, Opaque)
    assert opaque != decode(b'{"o": "candidate.Sly"}')


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"[1] 2",
        b"{}",
        b'{"t": [], "s": []}',
        b'{"x": []}',
        b'{"t": 1}',
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"123456789012345678901",
        b'{"i": 3}',
        b'{"i": "zz"}',
        b'{"i": ""}',
        b'{"f": "1.5"}',
        b'{"f": 3}',
        b'{"s": [[]]}',
        b'{"d": [[1]]}',
        b'{"d": [[[], 1]]}',
        b'{"d": 3}',
        b'{"b": "0"}',
        b'{"b": 7}',
        b'{"c": [1.0]}',
        b'{"c": [1, 2]}',
        b'{"r": [0, 1, 0]}',
        b'{"r": [0, 1]}',
        b'{"r": ["a", 1, 1]}',
        b'{"o": []}',
        b"[" * 300 + b"]" * 300,
        b"[" * 200_000,
        b'{"t":[' * 5_000 + b"]}" * 5_000,
        b'{"i": "0x' + b"f" * 200_000 + b'"}',
        b"1" * 5_000,
        "\ufeff1".encode(),
    ],
)
def test_what_is_malformed_is_refused(data: bytes) -> None:
    with pytest.raises(AnswerError):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_refused(data: bytes) -> None:
    with contextlib.suppress(AnswerError):
        decode(data)


@given(st.text(alphabet='[]{}"tsd:,01.e-i', max_size=60))
def test_any_text_is_an_answer_or_refused(text: str) -> None:
    with contextlib.suppress(AnswerError):
        decode(text.encode())
