"""Find algorithms by name: a file of engine/algorithms, or a user's own ``FILE.py:CLASS``."""

import hashlib
import inspect
import linecache
import pkgutil
from importlib import import_module
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType
from typing import Any

from csaw.engine.algorithm import LARGEST, Algorithm, MiniBatches, Option, Traversal, Walk
from csaw.engine.ends import refuse_endless
from csaw.engine.expression import bias_of
from csaw.engine.user_code import is_own, users_code
from csaw.engine.vertex_columns import NO_COLUMNS, VertexColumns
from csaw.partition.errors import OptionError, UnknownNameError
from csaw.partition.shown import quoted

LAYOUTS = {Walk: ("walks",), Traversal: ("subgraphs", "hops"), MiniBatches: ("batches",)}
HOOKS = {"update": Walk, "dead_end": Walk, "law": Walk, "bias_range": Walk, "expected_steps": Walk, "vertex_bias": Traversal, "geometric": Traversal, "sizes": Traversal}  # fmt: skip
STARTS = ("all", "random", "connected", "distinct", "every", "clusters")


def names() -> list[str]:
    """Every shipped algorithm's name on the command line."""
    package = import_module("csaw.engine.algorithms")
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__))


def find(name: str, edge_bias: str | None = None) -> type[Algorithm]:
    """The algorithm class called ``name``; with ``edge_bias``, a subclass whose bias is that expression.

    UnknownNameError if there is none; OptionError if the expression, or the user's own file, is malformed.
    """
    if not isinstance(name, str):
        raise UnknownNameError(f"--algo: expected the name of an algorithm, or FILE.py:CLASS, found {quoted(name)}")
    found = _from_file(name) if ".py" in name else _shipped(name)
    return found if edge_bias is None else with_edge_bias(found, edge_bias)


def code_of(name: str) -> tuple[bytes, str]:
    """The text of the file that ``FILE.py:CLASS`` names, and its SHA-256. UnknownNameError where there is no such file."""
    file, _, wanted = name.partition(":")
    if not wanted:
        raise OptionError(f"--algo: expected FILE.py:CLASS, found {name!r}")
    if not Path(file).is_file():
        raise UnknownNameError(f"--algo: {file} is not a file")
    if Path(file).suffix != ".py":
        raise UnknownNameError(f"--algo: {file} is not a Python file")
    try:
        text = Path(file).read_bytes()
    except OSError as error:
        raise UnknownNameError(f"--algo: {file} cannot be read: {error.strerror}") from error
    return text, hashlib.sha256(text).hexdigest()


def build(name: str, parameters: dict[str, Any], edge_bias: str | None = None, columns: VertexColumns = NO_COLUMNS) -> Algorithm:  # fmt: skip
    """Make the algorithm with its options and the columns that its hooks read, and check all. Raises UnknownNameError or OptionError."""
    kind = find(name, edge_bias)
    if not is_own(kind) or kind.__init__ is Algorithm.__init__:
        algorithm = kind(**parameters)
    else:
        with users_code(f"--algo {name}: __init__ must take options by name and pass them on to super().__init__;"):
            algorithm = kind(**parameters)
    algorithm.vertex_columns, algorithm.file_digest = columns, code_of(name)[1] if ".py" in name else ""
    if is_own(kind):
        check_declarations(algorithm)
    if isinstance(algorithm, Walk) and algorithm.walk_length is None:
        refuse_endless(algorithm)
    return algorithm


def check_declarations(algorithm: Algorithm) -> None:
    """OptionError if a user's own class declares something that the engine cannot use."""
    kind = Walk if isinstance(algorithm, Walk) else Traversal
    stored = LAYOUTS[MiniBatches if isinstance(algorithm, MiniBatches) else kind]
    name = algorithm.name()
    missing = [option for option, declared in algorithm.options().items() if not _is_set(algorithm, option, declared)]
    if missing:
        raise OptionError(
            f"{name}: {', '.join(missing)} not set; its __init__ must pass the options on to super().__init__"
        )
    if algorithm.layout not in stored or algorithm.sources_from not in STARTS:
        raise OptionError(
            f"{name}: expected a layout of {', '.join(stored)} and sources_from {', '.join(STARTS)}, found {quoted(algorithm.layout)} "
            f"and {quoted(algorithm.sources_from)}"
        )
    _refuse_unused(algorithm, kind)
    if isinstance(algorithm, MiniBatches):
        _refuse_other_rules(algorithm)
    width = getattr(algorithm, "frontier_size", 1)
    if not isinstance(width, int) or not 1 <= width <= LARGEST:
        raise OptionError(f"{name}.frontier_size: expected an integer of at least 1, found {quoted(width)}")
    if getattr(algorithm, "total", None) is not None and not (algorithm.collective and algorithm.visited_once):  # type: ignore[attr-defined]
        raise OptionError(
            f"{name}.total: expected None, found {quoted(algorithm.total)}; only collective traversals that visit a vertex once end by it"  # type: ignore[attr-defined]
        )
    for declared in ("sizes", "geometric", "bias_range", "expected_steps"):
        if getattr(algorithm, declared, None) is not None:
            with users_code(f"{name}.{declared} failed:"):
                found = getattr(algorithm, declared)()
            if declared == "expected_steps" and not (isinstance(found, (int, float)) and found >= 0):
                raise OptionError(f"{name}.expected_steps: expected a number from 0 on, found {quoted(found)}")
            if declared == "sizes" and not (
                isinstance(found, (tuple, list)) and all(isinstance(n, int) and -1 <= n <= LARGEST for n in found)
            ):
                raise OptionError(f"{name}.sizes: expected a tuple of integers, -1 or more, found {quoted(found)}")


def _is_set(algorithm: Algorithm, option: str, declared: Option) -> bool:
    value = getattr(algorithm, option, declared)
    return not isinstance(value, Option) and (value is not None or bool(declared.none))


def _refuse_unused(algorithm: Algorithm, kind: type) -> None:
    """OptionError if the class has a hook that algorithms of its kind never call, although its author expects that."""
    clocks = bool(getattr(algorithm, "clocks", False))
    for hook, base in HOOKS.items():
        defined = getattr(type(algorithm), hook, None)
        if kind is not base and defined is not None:
            raise OptionError(
                f"{algorithm.name()}.{hook}: a {kind.__name__} never calls it; it is a hook of a {base.__name__}"
            )
    if kind is Traversal and not clocks and type(algorithm).vertex_bias is not Traversal.vertex_bias:  # type: ignore[attr-defined]
        raise OptionError(f"{algorithm.name()}.vertex_bias: only a Traversal with clocks = True calls it")


def _refuse_other_rules(algorithm: MiniBatches) -> None:
    """OptionError if mini-batches declare a rule of other traversals, which they do not follow."""
    for rule in ("collective", "induced", "each_edge_once", "clocks", "geometric", "visited_once", "revisits", "sources_from", "unique"):  # fmt: skip
        if getattr(algorithm, rule) != getattr(MiniBatches, rule):
            raise OptionError(
                f"{algorithm.name()}.{rule}: expected {getattr(MiniBatches, rule)}, as in all mini-batches, found {quoted(getattr(algorithm, rule))}; remove it, or derive the class from Traversal"
            )


def with_edge_bias(base: type[Algorithm], expression: str) -> type[Algorithm]:
    """A subclass of ``base`` whose edge_bias is a one-line expression over ``e``. OptionError if it is none."""
    return type(base.__name__, (base,), {"edge_bias": bias_of(expression), "bias_range": None, "label": base.name()})


def _shipped(name: str) -> type[Algorithm]:
    if name not in names():
        raise UnknownNameError(
            f"--algo: no algorithm called {quoted(name)}; there are {', '.join(names())}, or FILE.py:CLASS"
        )
    module = import_module(f"csaw.engine.algorithms.{name.replace('-', '_')}")
    return next(c for c in vars(module).values() if _defined_in(c, module.__name__))


def _from_file(name: str) -> type[Algorithm]:
    file, _, wanted = name.partition(":")
    text, place = code_of(name)[0], str(Path(file).absolute())
    module = ModuleType("csaw_user_" + Path(file).stem)
    module.__file__ = place
    with users_code(f"--algo: {file} cannot be imported:"):
        # Its text alone: a loader of Python's would run what a folder __pycache__ beside it holds, if that says that it is of this file.
        exec(compile(text, place, "exec"), vars(module))  # noqa: S102 - the user has named it
        linecache.cache[place] = (len(text), None, decode_source(text).splitlines(keepends=True), place)
    found = vars(module).get(wanted)
    if not (inspect.isclass(found) and issubclass(found, (Walk, Traversal))):
        raise UnknownNameError(f"--algo: {file} has no Walk or Traversal class called {wanted!r}")
    return found


def _defined_in(value: Any, module: str) -> bool:
    return inspect.isclass(value) and issubclass(value, Algorithm) and value.__module__ == module
