"""The one pass: a TreeCursor walks the tree once and notes what rules ask for."""

from typing import TYPE_CHECKING

from best_agent.rules.facts.binding import bind
from best_agent.rules.facts.model import Loop, Scope, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Node, Tree

_DEEPEST = 1_000
"""Nobody writes deeper: what is further down is not looked at, and nothing around it is mended."""
_DYNAMIC = frozenset({"locals", "vars", "eval", "exec", "globals", "dir"})
_COMPREHENSIONS = (
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
)
_SKIPPED = frozenset({"comment", "type", "string_content", "escape_sequence", "ERROR", "line_continuation"})
_INDEXED = (
    *("call", "comparison_operator", "for_statement", "augmented_assignment", "assignment"),
    *("list_comprehension", "subscript"),
)

Context = tuple[Scope, Loop | None]


class Gathered:
    """What the pass found. `best_agent.rules.facts.facts.Facts` answers questions over it."""

    __slots__ = ("calls", "index", "methods", "scopes")

    def __init__(self) -> None:
        self.index: dict[str, list[Step]] = {kind: [] for kind in _INDEXED}
        self.calls: dict[str, list[Step]] = {}
        self.methods: dict[str, list[Step]] = {}
        self.scopes: list[Scope] = []


class _Pass:
    def __init__(self, language: "Language", source: bytes) -> None:
        self._source = source
        self._overrides: dict[int, Context] = {}
        self.found = Gathered()
        handlers: dict[str, Callable[[Step], Context]] = {
            "function_definition": self._function,
            "lambda": self._function,
            "class_definition": self._class,
            "for_statement": self._for,
            "while_statement": self._while,
            "default_parameter": self._default,
            "typed_default_parameter": self._default,
            "call": self._call,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }
        kinds = [language.node_kind_for_id(i) or "" for i in range(language.node_kind_count)]
        named = [language.node_kind_is_named(i) for i in range(language.node_kind_count)]
        self._skip = [not is_named or kind in _SKIPPED for kind, is_named in zip(kinds, named, strict=True)]
        self._handler = [handlers.get(kind) for kind in kinds]
        self._lists = [self.found.index.get(kind) for kind in kinds]
        self._identifier = [kind == "identifier" for kind in kinds]

    def run(self, tree: "Tree") -> Gathered:
        """Walk the tree without recursion: depth costs memory, never the stack."""
        cursor, skip, known = tree.walk(), self._skip, len(self._skip)
        down, along, back = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        root = tree.root_node
        context: Context = (self._open("module", root, None), None)
        stack: list[tuple[Step, Context]] = []
        if down():
            stack.append((Step(root, None, *context), context))
        while stack:
            node = cursor.node
            assert node is not None, "the cursor stands on a node as long as the stack holds one"
            kind = node.kind_id
            entered = None
            if kind >= known or len(stack) > _DEEPEST or node.is_missing:
                _mark_broken(stack[-1][1][0])  # ERROR has an id beyond the grammar's own kinds
            elif not skip[kind]:
                entered = self._visit(node, kind, stack[-1])
            if entered is not None and down():
                stack.append(entered)
                continue
            while stack and not along():
                back()
                stack.pop()
        self._settle()
        return self.found

    def _visit(self, node: "Node", kind: int, above: tuple[Step, Context]) -> tuple[Step, Context] | None:
        """Note a node; returns its step and the context of its children, or None to pass over them."""
        up, context = above
        if self._overrides:
            context = self._overrides.pop(node.id, context)
        step = Step(node, up, *context)
        if self._identifier[kind]:
            bind(step, self._source)
            return None
        noted = self._lists[kind]
        if noted is not None:
            noted.append(step)
        handler = self._handler[kind]
        return step, (context if handler is None else handler(step))

    def _open(self, kind: "ScopeKind", node: "Node", outer: Scope | None) -> Scope:
        scope = Scope(kind, node, outer)
        self.found.scopes.append(scope)
        return scope

    def _function(self, step: Step) -> Context:
        kind: ScopeKind = "lambda" if step.node.type == "lambda" else "function"
        return self._open(kind, step.node, step.scope), None

    def _class(self, step: Step) -> Context:
        superclasses = step.node.child_by_field_name("superclasses")
        if superclasses is not None:
            self._overrides[superclasses.id] = (step.scope, step.loop)
        return self._open("class", step.node, step.scope), step.loop

    def _default(self, step: Step) -> Context:
        """A default is evaluated where the function is defined."""
        value = step.node.child_by_field_name("value")
        if value is not None and step.scope.outer is not None:
            self._overrides[value.id] = (step.scope.outer, None)
        return step.scope, step.loop

    def _for(self, step: Step) -> Context:
        """The target is bound in each round, like what the body binds."""
        loop = Loop(step, step.loop, step.node.child_by_field_name("right"))
        self._override(step, ("left", "body"), (step.scope, loop))
        return step.scope, step.loop

    def _override(self, step: Step, fields: tuple[str, ...], context: Context) -> None:
        for field in fields:
            child = step.node.child_by_field_name(field)
            if child is not None:
                self._overrides[child.id] = context

    def _while(self, step: Step) -> Context:
        loop = Loop(step, step.loop, None)
        self._override(step, ("condition", "body"), (step.scope, loop))
        return step.scope, step.loop

    def _comprehension(self, step: Step) -> Context:
        """Each clause is a loop inside the one before it; the first iterable is evaluated outside."""
        scope = self._open("comprehension", step.node, step.scope)
        loop = step.loop
        first = True
        for child in step.node.named_children:
            if child.type == "for_in_clause":
                iterable = child.child_by_field_name("right")
                if iterable is not None:
                    self._overrides[iterable.id] = (step.scope if first else scope, loop)
                loop = Loop(step, loop, iterable)
                target = child.child_by_field_name("left")
                if target is not None:
                    self._overrides[target.id] = (scope, loop)
                first = False
            elif child.type == "if_clause":
                self._overrides[child.id] = (scope, loop)
        self._override(step, ("body",), (scope, loop))
        return scope, step.loop

    def _call(self, step: Step) -> Context:
        function = step.node.child_by_field_name("function")
        if function is None:
            return step.scope, step.loop
        if function.type == "identifier":
            name = self._text(function)
            self.found.calls.setdefault(name, []).append(step)
            if name in _DYNAMIC:
                step.scope.dynamic = True
        elif function.type == "attribute":
            attribute = function.child_by_field_name("attribute")
            if attribute is not None:
                self.found.methods.setdefault(self._text(attribute), []).append(step)
        return step.scope, step.loop

    def _text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")

    def _settle(self) -> None:
        """Hand free names to the scope around: inner scopes stand behind outer ones in the list."""
        for scope in reversed(self.found.scopes):
            outer = scope.outer
            if outer is None:
                continue
            _hand_over(scope, outer)
            outer.broken |= scope.broken
            if scope.kind in ("comprehension", "lambda"):
                outer.dynamic |= scope.dynamic
        for scope in self.found.scopes:
            for sites in scope.sites.values():
                sites.sort(key=_position)


def _hand_over(scope: Scope, outer: Scope) -> None:
    for name, sites in scope.sites.items():
        if name in scope.bindings and name not in scope.foreign:
            continue
        if scope.kind == "comprehension":
            outer.sites.setdefault(name, []).extend(sites)
        else:
            outer.captured.add(name)
    unbound = scope.captured - (scope.bindings.keys() - scope.foreign)
    outer.captured |= scope.captured if scope.kind == "class" else unbound


def _position(step: Step) -> int:
    return step.node.start_byte


def _mark_broken(scope: Scope) -> None:
    scope.broken = True


def gather(language: "Language", tree: "Tree", source: bytes) -> Gathered:
    """All facts of a tree, in one pass."""
    return _Pass(language, source).run(tree)


if TYPE_CHECKING:
    from best_agent.rules.facts.model import ScopeKind
