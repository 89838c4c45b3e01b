"""Loading inside the worker: the target, and what builds its inputs."""

# ruff: noqa: ANN401  (what comes from the user can be of any type)

import ast
import builtins
import importlib
import importlib.util
import os
import random
import sys
import traceback
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from . import api
from .meter import Arguments

_NUMPY = "numpy.random"


class Refused(Exception):  # noqa: N818  (what the worker answers, not a fault of its own)
    """A request that cannot be met: a kind for the tool and one line for the user."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Loaded(NamedTuple):
    """A target that was found."""

    module: Any
    function: Callable[..., Any]


def load(file: str, dotted: Optional[str], name: str) -> Loaded:
    """Import the target's module and find the function in it.

    Args:
        file: the file, absolute.
        dotted: its name as an import would say it; None: a file of its own that is in no package.
        name: `function` or `Class.method`.

    Raises:
        Refused: `import` where the module does not load, `absent` where it has no such function,
            `usage` where the name is not of something that can be called.
    """
    try:
        module = importlib.import_module(dotted) if dotted else _lone(file)
    except BaseException as error:  # noqa: BLE001  (a module may raise anything, SystemExit as well)
        raise Refused("import", "%s cannot be imported: %s" % (file, _where(error))) from None
    found: Any = module
    for step, part in enumerate(name.split(".")):
        if not hasattr(found, part):
            outer = ".".join(name.split(".")[:step]) or os.path.basename(file)
            raise Refused("absent", "%s has no '%s'%s" % (outer, part, _near(part, found)))
        found = getattr(found, part)
    if not callable(found):
        raise Refused("usage", "%s is a %s, not a function" % (name, type(found).__name__))
    return Loaded(module, found)


def _lone(file: str) -> Any:
    """A file outside of any package, under its own name unless that is taken."""
    name = os.path.splitext(os.path.basename(file))[0]
    if name in sys.modules or name in sys.builtin_module_names or not name.isidentifier():
        name = "_best_agent_target_" + "".join(c if c.isalnum() else "_" for c in name)
    return _from_file(name, file)


def _from_file(name: str, file: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _near(part: str, holder: Any) -> str:
    import difflib  # only for this message

    names = [name for name in dir(holder) if callable(getattr(holder, name, None)) and name[:2] != "__"]
    close = difflib.get_close_matches(part, names, n=3, cutoff=0.6)
    return "; did you mean %s?" % " or ".join(close) if close else ""


def place_of(error: BaseException) -> str:
    """`file, line N` of the innermost frame of the user's code, or nothing."""
    here = os.path.dirname(os.path.abspath(__file__))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    frames = [f for f in frames if os.path.dirname(os.path.abspath(f.filename)) != here]
    return "%s, line %s" % (frames[-1].filename, frames[-1].lineno) if frames else ""


def _where(error: BaseException) -> str:
    """An exception in one line, with the place in the user's code that raised it."""
    text = "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
    place = "" if isinstance(error, SyntaxError) else place_of(error)
    return "%s (%s)" % (text, place) if place else text


class Inputs:
    """Builds the arguments of calls, equal on both sides for equal (size, seed)."""

    def __init__(self, build: Callable[[int, int], Arguments]) -> None:
        self._build = build

    def __call__(self, size: int, seed: int) -> Arguments:
        """Fresh arguments. The generators of `random` and numpy are seeded first.

        Raises:
            Refused: `inputs` where the user's builder raises or returns something else.
        """
        seed_generators(seed)
        had_numpy = _NUMPY in sys.modules
        try:
            built = self._build(size, seed)
            if not had_numpy and _NUMPY in sys.modules:  # the builder itself brought it in, unseeded
                seed_generators(seed)
                built = self._build(size, seed)
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001  (the user's code, whatever it raises)
            raise Refused(
                "inputs", "building the input of size %d raised %s" % (size, _where(error))
            ) from None
        return built


def seed_generators(seed: int) -> None:
    """Seed the generators that code uses without being asked: `random`'s, and numpy's where it is loaded."""
    random.seed(seed)
    numpy_random = sys.modules.get(_NUMPY)
    if numpy_random is not None and hasattr(numpy_random, "seed"):
        numpy_random.seed(seed % (1 << 32))


def from_workload(file: str, name: str) -> Tuple[Inputs, Optional[Tuple[int, ...]], str]:
    """The builder `name` of a workload file, its sizes, and the target it is for.

    Raises:
        Refused: `workload` where the file does not load or holds no such builder.
    """
    try:
        module = _from_file("_best_agent_workload_file", file)
    except BaseException as error:  # noqa: BLE001  (a module may raise anything)
        raise Refused(
            "workload", "the workload file %s cannot be loaded: %s" % (file, _where(error))
        ) from None
    builder = getattr(module, name, None)
    mark = getattr(builder, api.MARK, None)
    if not callable(builder) or mark is None:
        raise Refused("workload", "%s has no function '%s' marked with @workload" % (file, name))

    def build(size: int, seed: int) -> Arguments:
        return _arguments(builder(size, seed), "%s of %s" % (name, os.path.basename(file)))

    return Inputs(build), mark.sizes, mark.target


def marked(file: str) -> List[Tuple[str, str]]:
    """(function, target) of every workload in a file, in the order of the file.

    Raises:
        Refused: `workload` where the file does not load.
    """
    try:
        module = _from_file("_best_agent_workload_file", file)
    except BaseException as error:  # noqa: BLE001  (a module may raise anything)
        raise Refused(
            "workload", "the workload file %s cannot be loaded: %s" % (file, _where(error))
        ) from None
    found = [(name, getattr(value, api.MARK, None)) for name, value in vars(module).items()]
    return [(name, mark.target) for name, mark in found if mark is not None]


def _arguments(built: Any, who: str) -> Arguments:
    if not isinstance(built, tuple):
        raise Refused(
            "inputs",
            "%s returned a %s; it must return the arguments as a tuple, like (items,), or (args, kwargs)"
            % (who, type(built).__name__),
        )
    if len(built) == 2 and isinstance(built[0], tuple) and isinstance(built[1], dict):
        if not all(isinstance(key, str) for key in built[1]):
            return built, {}
        return built
    return built, {}


def from_call(text: str, module: Any, name: str, names: List[str]) -> Inputs:
    """Inputs from a call written out, `dedupe(['a'] * {n})`: the argument expressions, evaluated anew.

    Expressions see the target's module, so that its classes can be used, and n and seed. The call may be
    written with any of `names`: the two sides can be of different names.

    Raises:
        Refused: `usage` where the text is not a call of the target.
    """
    shown = text

    def build(size: int, seed: int) -> Arguments:
        filled = text.replace("{n}", str(size)).replace("{seed}", str(seed))
        code = compile(_as_arguments(filled, shown, name, names), "<--call>", "eval")
        space = {"__builtins__": builtins, **vars(module), "n": size, "seed": seed}
        args, kwargs = eval(code, space)  # noqa: S307  (the user's own words about the user's own code)
        return args, kwargs

    _as_arguments(text.replace("{n}", "1").replace("{seed}", "1"), shown, name, names)
    return Inputs(build)


def _as_arguments(filled: str, shown: str, name: str, names: List[str]) -> ast.Expression:
    try:
        call = ast.parse(filled.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise Refused(
            "usage", "--call %r is not Python: %s" % (shown, getattr(error, "msg", error))
        ) from None
    last = name.rsplit(".", 1)[-1]
    short = {one.rsplit(".", 1)[-1] for one in names}
    if not isinstance(call, ast.Call):
        raise Refused("usage", "--call %r is not a call; write it like %s(...)" % (shown, last))
    called = call.func
    receiver: List[ast.expr] = []
    if isinstance(called, ast.Attribute) and called.attr in short:
        # Class.method is called on an instance that the text builds; pkg.function is only spelled out.
        receiver = [called.value] if "." in name and ast.unparse(called) not in names else []
    elif not (isinstance(called, ast.Name) and called.id in short):
        raise Refused("usage", "--call %r calls %s, not %s" % (shown, ast.unparse(called), last))
    keywords = ast.Call(ast.Name("dict", ast.Load()), [], call.keywords)
    pair = ast.Tuple([ast.Tuple([*receiver, *call.args], ast.Load()), keywords], ast.Load())
    return ast.fix_missing_locations(ast.Expression(pair))
