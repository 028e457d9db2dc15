"""Write the names of the user's module that hooks use beside their arguments as source text.

Each gets a name of its own there.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType

from csaw.engine.api.hook_language import PORTABLE, Portable, refuse_foreign, scope_of
from csaw.engine.api.hook_place import placed
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

OWN = "own_"
# A division by zero gives infinity or NaN, as on a GPU, and an error then names the bias.
INLINED, CALLED = '@inner(forceinline=True, error_model="numpy")\n', '@inner(error_model="numpy")\n'
BUILTINS = ("abs", "min", "max", "int", "float", "bool", "round", "pow", "range", "len", "True", "False", "None")


def source_of(method: Callable) -> str:
    try:
        return getattr(method, "csaw_source", None) or textwrap.dedent(inspect.getsource(method))
    except (OSError, TypeError) as error:
        name = getattr(method, "__qualname__", quoted(method))
        raise OptionError(
            f"expected a method written with def, in a file, found {name}, which has no source"
        ) from error


class Own(ast.NodeTransformer):
    """Gives names of the user's module a prefix, so that they cannot hide names of a kernel."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(OWN + node.id, node.ctx) if node.id in self.names else node


def globals_of(method: Callable, names: set[str], where: str) -> str:
    """Source text for the names that a hook reads from its module: numbers, modules, and functions with the names they
    read.
    """
    scope = scope_of(method)
    text = ""
    for name in sorted(names):
        value = scope.get(name)
        value = getattr(value, "py_func", value)  # a user's own @njit function
        if isinstance(value, (bool, int, float)):
            text += f"{OWN}{name} = {value!r}\n" if abs(value) < math.inf else f"{OWN}{name} = float('{value}')\n"
        elif isinstance(value, ModuleType):
            text += f"import {value.__name__} as {OWN}{name}\n"
        elif isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
            text += f"from math import {value.__name__} as {OWN}{name}\n"
        elif isinstance(value, FunctionType):
            text += _helper(value, name, where)
        else:
            raise OptionError(f"{where}: {name} is not a number, a function, or a module; a hook can use nothing else")
    return text


def _helper(function: FunctionType, name: str, where: str) -> str:
    tree = ast.parse(source_of(function)).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise OptionError(f"{where}: {name} must be a function written with def")
    try:
        refuse_foreign(tree.body, where)
        tree = Portable(scope_of(function), where).visit(tree)
    except OptionError as error:
        raise placed(error, function) from error
    tree.decorator_list = []
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {a.arg for a in tree.args.args} | set(BUILTINS)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - stored
    used -= set(PORTABLE.values())
    before = globals_of(function, used - {function.__name__}, where)
    tree = Own(used).visit(tree)
    tree.name = OWN + name
    return before + f"{CALLED}{ast.unparse(ast.fix_missing_locations(tree))}\n"
