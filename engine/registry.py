"""Names to algorithms: a file of engine/algorithms, or ``FILE.py:CLASS`` of the user's own."""

import importlib.util
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.partition.errors import OptionError, UnknownNameError


def names() -> list[str]:
    """Every shipped algorithm's name on the command line."""
    package = import_module("csaw.engine.algorithms")
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__))


def find(name: str, edge_bias: str | None = None) -> type[Algorithm]:
    """The class called ``name``; with ``edge_bias``, a subclass whose bias is that expression."""
    found = _from_file(name) if ".py" in name else _shipped(name)
    return found if edge_bias is None else with_edge_bias(found, edge_bias)


def build(name: str, parameters: dict[str, Any], edge_bias: str | None = None) -> Algorithm:
    """The algorithm with its options set and checked."""
    return find(name, edge_bias)(**parameters)


def with_edge_bias(base: type[Algorithm], expression: str) -> type[Algorithm]:
    """A subclass of ``base`` whose edge_bias is a one-line expression over ``e``."""
    try:
        compile(expression, "--edge-bias", "eval")
    except SyntaxError as error:
        raise OptionError(
            f"--edge-bias: expected an expression such as 'e.weight * 2', found {expression!r}"
        ) from error
    source = f"def edge_bias(self, e):\n    return ({expression})\n"
    scope: dict[str, Any] = {}
    # The user's own expression runs here as the user's own file does with --algo FILE.
    exec(source, {"math": import_module("math")}, scope)  # noqa: S102
    scope["edge_bias"].csaw_source = source
    return type(base.__name__, (base,), {"edge_bias": scope["edge_bias"], "bias_range": None, "label": base.name()})


def _shipped(name: str) -> type[Algorithm]:
    if name not in names():
        raise UnknownNameError(
            f"--algo: no algorithm called {name!r}; there are {', '.join(names())}, or FILE.py:CLASS"
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
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise OptionError(f"--algo: {file} cannot be imported: {type(error).__name__}: {error}") from error
    found = vars(module).get(wanted)
    if not (inspect.isclass(found) and issubclass(found, (Walk, Traversal))):
        raise UnknownNameError(f"--algo: {file} has no Walk or Traversal class called {wanted!r}")
    return found


def _defined_in(value: Any, module: str) -> bool:
    return inspect.isclass(value) and issubclass(value, Algorithm) and value.__module__ == module
