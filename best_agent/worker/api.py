"""What a user's workload file imports from `best_agent`, in the tool and in the worker alike."""

from typing import Any, Callable, NamedTuple, Optional, Sequence, TypeVar

_Builder = TypeVar("_Builder", bound=Callable[..., Any])
MARK = "__best_agent_workload__"


class Workload(NamedTuple):
    """What the decorator says of a function that builds inputs."""

    target: str
    """`FILE::NAME`, as the user wrote it."""
    sizes: Optional[tuple]  # type: ignore[type-arg]  # of int; None: the command line gives them


def workload(target: str, *, sizes: Optional[Sequence[int]] = None) -> Callable[[_Builder], _Builder]:
    """Mark a function `(n, seed)` as the builder of inputs of size n for `target`.

    The function returns the positional arguments as a tuple, or `(args, kwargs)`. It is called anew for
    every call of the target, so the target may change what it is given. `sizes` are counted in whatever
    grows: items, bytes, rows.

    Raises:
        TypeError: the target is not text, or a size is not a whole number.
        ValueError: a size is below 1, or there is none.
    """
    if not isinstance(target, str):
        raise TypeError("workload: the target is written as text, like 'src/pkg/text.py::dedupe'")
    checked = None if sizes is None else _checked(sizes)

    def mark(builder: _Builder) -> _Builder:
        setattr(builder, MARK, Workload(target, checked))
        return builder

    return mark


def _checked(sizes: Sequence[int]) -> "tuple[int, ...]":
    counts = tuple(sizes)
    if not counts:
        raise ValueError("workload: sizes= is empty; give at least one, best three")
    for size in counts:
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError("workload: a size is a whole number, not %r" % (size,))
        if size < 1:
            raise ValueError("workload: a size is at least 1, not %d" % size)
    return tuple(sorted(set(counts)))
