"""Questions that rules ask about a source."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from best_agent.model.finding import Finding, Fix
from best_agent.rules.facts.model import Loop, Scope, Step, Variable
from best_agent.rules.facts.roles import Role, role_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node

    from best_agent.rules.facts.gather import Gathered
    from best_agent.rules.registry import Rule

T = TypeVar("T")
_MOST_USES = 1_000
"""A name that is used more often is left alone: each question looks at all of its uses."""
_CONSTANT_ITEMS = frozenset({"tuple", "list", "set", "string", "concatenated_string", "integer", "float"})


class Facts:
    """All that is known about one source. Nodes are valid as long as this object lives."""

    def __init__(self, source: bytes, root: "Node", gathered: "Gathered", *, fixable: bool) -> None:
        self.source = source
        self.root = root
        self.newline = "\r\n" if b"\r\n" in source else "\n"
        self._gathered = gathered
        self._fixable = fixable
        self._scopes: dict[int, Scope] = {}
        self._roles: dict[tuple[int, str], tuple[tuple[Step, Role], ...]] = {}
        self._kept: dict[str, Any] = {}
        self._variables: dict[tuple[int, str], Variable | None] = {}

    def of_type(self, kind: str) -> "Sequence[Step]":
        """Every node of one of the types that the pass keeps, in order."""
        return self._gathered.index[kind]

    def calls(self, *names: str) -> "Iterator[Step]":
        """Calls of a plain name that nothing in the source binds anew: calls of the builtin."""
        for name in names:
            for step in self._gathered.calls.get(name, ()):
                if self.is_builtin(name, step.scope):
                    yield step

    def method_calls(self, *names: str) -> "Iterator[Step]":
        """Calls of an attribute with one of the names."""
        for name in names:
            yield from self._gathered.methods.get(name, ())

    def scope_of(self, node: "Node") -> Scope:
        """The scope that a comprehension, lambda, function or class opens; the module's for other nodes."""
        if not self._scopes:
            self._scopes = {scope.node.id: scope for scope in self._gathered.scopes}
        return self._scopes.get(node.id, self.module)

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        return self._gathered.scopes[0]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that is used anywhere: a new name must be none of them."""
        return frozenset(name for scope in self._gathered.scopes for name in scope.sites)

    def kept(self, name: str, find: "Callable[[], T]") -> "T":
        """What `find` returns, looked for once: for rules that ask the same of a source."""
        if name not in self._kept:
            self._kept[name] = find()
        found: T = self._kept[name]
        return found

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names that some function declares `global` or `nonlocal`: they may be bound from there."""
        return frozenset(name for scope in self._gathered.scopes for name in scope.foreign)

    def text(self, node: "Node") -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")

    def is_builtin(self, name: str, scope: Scope) -> bool:
        """Nothing in the source gives the name another meaning."""
        return self.variable(name, scope) is None

    def variable(self, name: str, scope: Scope) -> Variable | None:
        """The variable that a name means in a scope; None for builtins and what is not bound here."""
        at: Scope | None = scope
        first = True
        while at is not None:
            visible = first or at.kind != "class"
            if visible and name in at.foreign:
                at = self.module if at is not self.module else None
                first = False
                continue
            if visible and name in at.bindings:
                return self._variable(name, at)
            first = first and at.kind == "comprehension"
            at = at.outer
        return None

    def _variable(self, name: str, scope: Scope) -> Variable:
        key = (id(scope), name)
        known = self._variables.get(key)
        if known is None:
            bindings = tuple(scope.bindings[name])
            places = {
                binding.site.node.id for binding in bindings if binding.how not in ("augment", "delete")
            }
            uses = tuple(site for site in scope.sites[name] if site.node.id not in places)
            hidden = name in scope.captured or scope.broken or scope.dynamic or name in scope.foreign
            hidden |= len(uses) > _MOST_USES
            private = not hidden and scope.kind != "class"
            known = self._variables[key] = Variable(name, scope, bindings, uses, private)
        return known

    def roles(self, variable: Variable) -> tuple[tuple[Step, Role], ...]:
        """Each use of a variable with what it is for."""
        key = (id(variable.scope), variable.name)
        known = self._roles.get(key)
        if known is None:
            found = ((use, role_of(use, self.source)) for use in variable.uses)
            known = self._roles[key] = tuple((use, self._checked(role)) for use, role in found)
        return known

    def _checked(self, role: Role) -> Role:
        """An argument of a function that only bears the name of a builtin goes we know not where."""
        name = role.detail.partition(":")[0]
        known = role.kind != "argument" or "." in name or self.is_builtin(name, role.step.scope)
        return role if known else Role("other", role.step)

    def is_constant_loop(self, loop: Loop) -> bool:
        """The loop runs a number of times that is written in the source."""
        iterable = loop.iterable
        if iterable is None:
            return False
        if iterable.type == "call":
            function = iterable.child_by_field_name("function")
            arguments = iterable.child_by_field_name("arguments")
            known = function is not None and self.text(function) in ("range", "enumerate", "zip", "reversed")
            return known and arguments is not None and all(map(self._is_constant, arguments.named_children))
        if iterable.type == "identifier":
            return self._is_constant_name(iterable, loop.step.scope)
        return self._is_constant(iterable)

    def _is_constant_name(self, node: "Node", scope: Scope) -> bool:
        variable = self.variable(self.text(node), scope)
        if variable is None or len(variable.bindings) != 1 or variable.bindings[0].how != "assign":
            return False
        value = variable.bindings[0].value
        return (
            value is not None
            and variable.name not in self.declared
            and value.type in ("tuple", "string", "list")
            and not self._grows(variable)
        )

    def _grows(self, variable: Variable) -> bool:
        """A list may grow after its literal: by a method, or out of sight."""
        value = variable.bindings[0].value
        if value is None or value.type != "list":
            return False
        return any(use.up is not None and use.up.node.type == "attribute" for use in variable.uses)

    def _is_constant(self, node: "Node") -> bool:
        if node.type == "unary_operator":
            return True
        return node.type in _CONSTANT_ITEMS

    def growing_loops(self, step: Step) -> "Iterator[Loop]":
        """The loops around a step whose number of rounds depends on the input, from the inside out."""
        loop = step.loop
        while loop is not None:
            if not self.is_constant_loop(loop):
                yield loop
            loop = loop.outer

    def finding(self, rule: "Rule", step: Step, message: str, fix: Fix | None = None) -> Finding:
        """A finding at a step. A fix is left out where a syntax error or an encoding makes edits a risk."""
        node = step.node
        keep = self._fixable and not step.scope.broken and not step.scope.dynamic
        return Finding(
            rule=rule.id,
            kind=rule.kind,
            confidence=rule.confidence,
            message=message,
            line=node.start_point.row + 1,
            column=node.start_point.column,
            end_line=node.end_point.row + 1,
            end_column=node.end_point.column,
            fix=fix if keep else None,
        )


def inside(step: Step, loop: Loop) -> bool:
    """The step runs in each round of the loop."""
    at = step.loop
    while at is not None:
        if at is loop:
            return True
        at = at.outer
    return False


def statement(step: Step) -> Step | None:
    """The statement that a step belongs to: the ancestor (or itself) that stands in a block or module."""
    at: Step | None = step
    while at is not None and at.up is not None:
        if at.up.node.type in ("block", "module"):
            return at
        at = at.up
    return None


def ancestors(step: Step) -> "Iterator[Step]":
    """The steps above, from the parent to the root."""
    at = step.up
    while at is not None:
        yield at
        at = at.up
