"""Facts about a source: where each node stands, which names live in which scope, what loops over what."""

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

ScopeKind = Literal["module", "function", "class", "lambda", "comprehension"]
How = Literal["assign", "parallel", "unpack", "parameter", "for", "with", "augment", "delete", "other"]


class Step:
    """A node together with its way up to the root, its scope and the innermost loop around it.

    Steps compare by identity: a chain may be thousands of levels long.
    """

    __slots__ = ("loop", "node", "scope", "up")

    def __init__(self, node: "Node", up: "Step | None", scope: "Scope", loop: "Loop | None") -> None:
        self.node = node
        self.up = up
        self.scope = scope
        self.loop = loop


class Loop:
    """A `for`, a `while` or one clause of a comprehension."""

    __slots__ = ("iterable", "outer", "step")

    def __init__(self, step: Step, outer: "Loop | None", iterable: "Node | None") -> None:
        self.step = step
        self.outer = outer
        self.iterable = iterable
        """None for `while`."""


class Binding(NamedTuple):
    """One place where a name receives a value."""

    site: Step
    how: How
    value: "Node | None" = None
    """The value; for `for` and `with` what is iterated or entered; for `unpack` what is taken apart."""
    annotation: "Node | None" = None


class Scope:
    """A module, class, function, lambda or comprehension, and the names that are used in it."""

    __slots__ = ("bindings", "broken", "captured", "dynamic", "foreign", "kind", "node", "outer", "sites")

    def __init__(self, kind: ScopeKind, node: "Node", outer: "Scope | None") -> None:
        self.kind = kind
        self.node = node
        self.outer = outer
        self.sites: dict[str, list[Step]] = {}
        """Every place where a name is used or bound here or in a comprehension here."""
        self.bindings: dict[str, list[Binding]] = {}
        self.captured: set[str] = set()
        """Names that a function, lambda or class inside uses as well."""
        self.foreign: set[str] = set()
        """Names declared `global` or `nonlocal`."""
        self.broken = False
        """There is a syntax error inside: some uses may be hidden."""
        self.dynamic = False
        """`locals()`, `eval` or the like may use any name."""


class Variable(NamedTuple):
    """A name in the scope that binds it."""

    name: str
    scope: Scope
    bindings: tuple[Binding, ...]
    uses: tuple[Step, ...]
    """All sites but the bindings (`del` and augmented assignments count as uses as well)."""
    private: bool
    """Only code of this scope can reach the name, and all of that code is known."""
