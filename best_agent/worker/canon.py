"""Values made comparable between two processes: a digest, and the floats apart for a tolerant look.

The walk is deterministic: dicts in their order, sets without one, objects by type and state. It never
follows a depth with recursion (a linked list may be a million links deep), except into the members of
sets.
"""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import array
import copyreg
import hashlib
import io
import itertools
import marshal
import math
import re
import struct
import types
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

MAX_NODES = 20_000_000
"""Values visited before a result is called too large to compare."""
MAX_FLOATS = 500_000
"""Floats kept apart; a result with more of them is compared exactly or not at all."""

_ADDRESS = re.compile(r"0x[0-9A-Fa-f]{4,}")


class TooLarge(Exception):  # noqa: N818  (a state of the value, not a fault)
    """The value has more parts than can be compared."""


class Canon(NamedTuple):
    """One value, ready to be compared with another's."""

    exact: str
    """Digest of everything."""
    shape: str
    """Digest of everything but the values of floats."""
    floats: Optional[Tuple[float, ...]]
    """The floats in the order of the walk; None where there are more than MAX_FLOATS."""
    opaque: Tuple[str, ...]
    """Types whose values cannot be looked into; they were compared by type only."""


class _Sink:
    """Collects tokens into the two digests."""

    def __init__(self) -> None:
        self.exact = hashlib.blake2b(digest_size=16)
        self.shape = hashlib.blake2b(digest_size=16)
        self.floats: Optional[List[float]] = []
        self.opaque: "dict[str, None]" = {}
        self.nodes = 0

    def token(self, tag: str, payload: bytes = b"") -> None:
        head = b"%s%d:" % (tag.encode(), len(payload))
        for digest in (self.exact, self.shape):
            digest.update(head)
            digest.update(payload)

    def number(self, value: float) -> None:
        self.exact.update(struct.pack("d", _NAN if value != value else value))
        self.shape.update(b"f")
        if self.floats is not None:
            self.floats.append(value)
            if len(self.floats) > MAX_FLOATS:
                self.floats = None

    def many(self, values: Any) -> None:
        self.token("floats", b"%d" % len(values))
        self.exact.update(array.array("d", [_NAN if value != value else value for value in values]).tobytes())
        if self.floats is not None:
            self.floats.extend(values)
            if len(self.floats) > MAX_FLOATS:
                self.floats = None

    def done(self) -> Canon:
        floats = None if self.floats is None else tuple(self.floats)
        return Canon(self.exact.hexdigest(), self.shape.hexdigest(), floats, tuple(self.opaque))


class Walker:
    """Walks values; what depends on the side (where own classes live) is told once."""

    def __init__(self, own: Callable[[str], bool], opaque_own: bool = False) -> None:
        """Make a walker.

        Args:
            own: whether a module's name is of the target's own file; its name is left out of digests,
                so that a class of `a.py` equals its twin in `b.py`.
            opaque_own: compare instances of such classes by type only.
        """
        self._own = own
        self._opaque_own = opaque_own

    def canon(self, value: Any) -> Canon:
        """The value's digests.

        Raises:
            TooLarge: it has more than MAX_NODES parts.
        """
        sink = _Sink()
        self._walk(value, sink)
        return sink.done()

    def type_name(self, kind: type) -> str:
        """The name that types are compared by."""
        module = "" if self._own(kind.__module__) else kind.__module__
        return "%s.%s" % (module, kind.__qualname__)

    def _walk(self, value: Any, sink: _Sink) -> None:
        stack: List[Any] = [value]
        open_ids: "dict[int, int]" = {}
        keep: List[Any] = []
        while stack:
            item = stack.pop()
            if type(item) is _Close:
                del open_ids[item.identity]
                continue
            sink.nodes += 1
            if sink.nodes > MAX_NODES:
                raise TooLarge
            if self._scalar(item, sink):
                continue
            if id(item) in open_ids:
                sink.token("cycle", b"%d" % (len(open_ids) - open_ids[id(item)]))
                continue
            parts = self._open(item, sink)
            if parts:
                open_ids[id(item)] = len(open_ids)
                keep.append(item)
                stack.append(_Close(id(item)))
                stack.extend(reversed(parts))

    def _scalar(self, item: Any, sink: _Sink) -> bool:
        kind = type(item)
        if kind is str:
            sink.token("s", item.encode("utf-8", "surrogatepass"))
        elif kind is int:
            sink.token("i", b"%x" % item)
        elif kind is float:
            sink.number(item)
        elif kind in _PLAIN:
            sink.token(kind.__name__, repr(item).encode())
        elif kind in (bytes, bytearray):
            sink.token(kind.__name__, bytes(item))
        elif kind is complex:
            sink.token("c")
            sink.number(item.real)
            sink.number(item.imag)
        else:
            return self._named(item, sink)
        return True

    def _named(self, item: Any, sink: _Sink) -> bool:
        """Things that are their name: classes, functions, modules."""
        if isinstance(item, type):
            sink.token("type", self.type_name(item).encode())
        elif isinstance(item, _FUNCTIONS):
            module = str(getattr(item, "__module__", ""))
            name = getattr(item, "__qualname__", item.__name__)
            sink.token("function", (("" if self._own(module) else module) + "." + name).encode())
        elif isinstance(item, types.ModuleType):
            sink.token("module", item.__name__.encode())
        else:
            return False
        return True

    def _open(self, item: Any, sink: _Sink) -> List[Any]:
        """The head of a container goes to the sink; its parts are returned, in order."""
        kind = type(item)
        if kind in (list, tuple):
            sink.token(kind.__name__, b"%d" % len(item))
            return [] if self._flat(item, sink) else list(item)
        if kind is dict:
            sink.token("dict", b"%d" % len(item))
            parts = list(itertools.chain.from_iterable(item.items()))
            return [] if self._flat(parts, sink) else parts
        if kind in (set, frozenset):
            self._unordered(item, sink, kind.__name__)
            return []
        return self._object(item, sink)

    def _flat(self, items: Any, sink: _Sink) -> bool:
        """Take in a whole sequence of plain values, or of sequences of them, at the speed of C.

        marshal in version 2 writes exact types and neither references nor interning, so that its bytes
        depend on the values only.
        """
        kinds = set(map(type, items))
        if kinds == {float}:
            sink.many(items)
        elif kinds <= _FLAT:
            sink.token("flat", marshal.dumps(list(items), 2))
        elif kinds in ({list}, {tuple}):
            inner = list(itertools.chain.from_iterable(items))
            if not set(map(type, inner)) <= _FLAT:
                return False
            sink.token("flat2", marshal.dumps([next(iter(kinds)).__name__, list(map(len, items)), inner], 2))
        else:
            return False
        sink.nodes += len(items)
        return True

    def _unordered(self, members: Any, sink: _Sink, name: str) -> None:
        """Members in the order of their digests.

        Floats are ordered by value, so that a last digit which differs does not reorder them.
        """
        walked = [self.canon(member) for member in members]
        walked.sort(
            key=lambda canon: (canon.shape, [_order(value) for value in canon.floats or ()], canon.exact)
        )
        sink.token(name, b"%d" % len(walked))
        for canon in walked:
            sink.shape.update(canon.shape.encode())
            if not canon.floats:
                sink.exact.update(canon.exact.encode())
            for value in canon.floats or ():
                sink.number(value)
            sink.opaque.update(dict.fromkeys(canon.opaque))

    def _object(self, item: Any, sink: _Sink) -> List[Any]:
        kind = type(item)
        name = self.type_name(kind)
        if self._opaque_own and self._own(kind.__module__):
            sink.token("own", name.encode())
            return []
        array = _array(item)
        if array is not None:
            sink.token("array", name.encode())
            return array
        parts = _reduced(item)
        if parts is None:
            sink.opaque[name] = None
            sink.token("opaque", name.encode())
            return []
        sink.token("object", name.encode())
        return parts


class _Close(NamedTuple):
    """Marks on the stack where a container ends."""

    identity: int


_FLAT = frozenset((int, str, bool, type(None), bytes))
_NAN = float("nan")
_PLAIN = (bool, type(None), type(Ellipsis), type(NotImplemented), range)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def _order(value: float) -> Tuple[int, float]:
    return (1, 0.0) if math.isnan(value) else (0, value)


def _array(item: Any) -> Optional[List[Any]]:
    """Dtype, shape and contents of a numpy array or scalar, known by what it offers."""
    if not type(item).__module__.startswith("numpy"):
        return None
    if not all(hasattr(item, name) for name in ("dtype", "shape", "tolist")):
        return None
    return [str(item.dtype), tuple(item.shape), item.tolist()]


def _reduced(item: Any) -> Optional[List[Any]]:
    """What pickle keeps of an object: constructor, arguments, state, items; None: it has no such form."""
    if isinstance(item, io.IOBase):
        return None
    try:
        reducer = copyreg.dispatch_table.get(type(item))
        form = reducer(item) if reducer else item.__reduce_ex__(4)
        if isinstance(form, str):
            return [form]
        parts = list(form)
        for place in (3, 4):  # iterators over list items and dict items
            if len(parts) > place and parts[place] is not None:
                parts[place] = list(parts[place])
    except Exception:  # noqa: BLE001  (any class may refuse; it is then compared by type)
        return None
    return parts[:5]


def without_addresses(text: str) -> str:
    """Text with memory addresses taken out: they differ from run to run."""
    return _ADDRESS.sub("0x", text)
