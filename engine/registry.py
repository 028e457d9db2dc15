"""Find algorithms by name: a file of engine/algorithms, or a user's own ``FILE.py:CLASS``."""

import ast
import importlib.util
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.declarations import check_declarations
from csaw.engine.ends import refuse_endless
from csaw.engine.hook_language import refuse_foreign
from csaw.engine.user_code import is_own, users_code
from csaw.engine.vertex_columns import NO_COLUMNS, VertexColumns
from csaw.partition.errors import OptionError, UnknownNameError
from csaw.partition.shown import quoted

LONGEST = 1000  # most characters of an expression


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


def build(name: str, parameters: dict[str, Any], edge_bias: str | None = None, columns: VertexColumns = NO_COLUMNS) -> Algorithm:  # fmt: skip
    """Make the algorithm with its options and the columns that its hooks read, and check all. Raises UnknownNameError or OptionError."""
    kind = find(name, edge_bias)
    if not is_own(kind) or kind.__init__ is Algorithm.__init__:
        algorithm = kind(**parameters)
    else:
        with users_code(f"--algo {name}: __init__ must take options by name and pass them on to super().__init__;"):
            algorithm = kind(**parameters)
    algorithm.vertex_columns = columns
    if is_own(kind):
        check_declarations(algorithm)
    if isinstance(algorithm, Walk) and algorithm.walk_length is None:
        refuse_endless(algorithm)
    return algorithm


def with_edge_bias(base: type[Algorithm], expression: str) -> type[Algorithm]:
    """A subclass of ``base`` whose edge_bias is a one-line expression over ``e``. OptionError if it is none."""
    try:
        if len(expression) > LONGEST:
            raise ValueError
        tree = ast.parse(expression, "--edge-bias", "eval")
        refuse_foreign([tree.body], "--edge-bias")
        # Write the tree as text again: a comment or line break in the expression would change the code around it.
        source = f"def edge_bias(self, e):\n    return {ast.unparse(tree)}\n"
        compiled = compile(source, "--edge-bias", "exec")
    except (SyntaxError, ValueError, RecursionError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(
            f"--edge-bias: expected an expression such as 'e.weight * 2', of at most {LONGEST} characters, found {quoted(expression)}"
        ) from error
    scope: dict[str, Any] = {}
    # The user's own expression runs here, just as the user's own file runs with --algo FILE.
    exec(compiled, {"math": import_module("math")}, scope)  # noqa: S102
    scope["edge_bias"].csaw_source = source
    return type(base.__name__, (base,), {"edge_bias": scope["edge_bias"], "bias_range": None, "label": base.name()})


def _shipped(name: str) -> type[Algorithm]:
    if name not in names():
        raise UnknownNameError(
            f"--algo: no algorithm called {quoted(name)}; there are {', '.join(names())}, or FILE.py:CLASS"
        )
    module = import_module(f"csaw.engine.algorithms.{name.replace('-', '_')}")
    return next(c for c in vars(module).values() if _defined_in(c, module.__name__))


def _from_file(name: str) -> type[Algorithm]:
    file, _, wanted = name.partition(":")
    if not wanted:
        raise OptionError(f"--algo: expected FILE.py:CLASS, found {name!r}")
    if not Path(file).is_file():
        raise UnknownNameError(f"--algo: {file} is not a file")
    spec = importlib.util.spec_from_file_location("csaw_user_" + Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise UnknownNameError(f"--algo: {file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    with users_code(f"--algo: {file} cannot be imported:"):
        spec.loader.exec_module(module)
    found = vars(module).get(wanted)
    if not (inspect.isclass(found) and issubclass(found, (Walk, Traversal))):
        raise UnknownNameError(f"--algo: {file} has no Walk or Traversal class called {wanted!r}")
    return found


def _defined_in(value: Any, module: str) -> bool:
    return inspect.isclass(value) and issubclass(value, Algorithm) and value.__module__ == module
