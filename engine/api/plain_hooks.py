"""A user's own hooks as plain Python, for the slow law: the same source, with the numbers of compiled hooks where
Python's would end in an error.

x / 0      infinity or NaN                      x // 0, x % 0    0 where both are integers, otherwise infinity or NaN
x ** y     as csaw_power, see portable.py       math.sqrt(-1)    NaN; exp, log as in portable.py
x / y, and x < y, min(x, y) beside a float      of float64, to which integers beyond 2^53 are rounded
x + y, x - y, x * y, -x, abs(x) of integers       modulo 2^64, as integers of 64 bits have it
"""

import ast
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from types import FunctionType

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.hook_language import Portable, Scope, call_of, read_again, scope_of
from csaw.engine.api.hook_rewriter import VALUES
from csaw.engine.api.hook_scope import source_of
from csaw.engine.api.user_code import users_code
from csaw.engine.draws.portable import exponential, logarithm, power

Number = float | int
CSAWS = ("csaw.engine.api.", "csaw.engine.algorithms.")  # modules of hooks that divide by nothing that may be 0


def quotient(a: Number, b: Number) -> float:
    """``a / b`` as compiled hooks have it."""
    a, b = (float(one) if isinstance(one, int) else one for one in (a, b))
    if b != 0:
        return a / b
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def floor_quotient(a: Number, b: Number) -> Number:
    """``a // b`` as compiled hooks have it."""
    if b != 0:
        return a // b
    return 0 if isinstance(a, int) and isinstance(b, int) else quotient(a, b)


def remainder(a: Number, b: Number) -> Number:
    """``a % b`` as compiled hooks have it."""
    if b != 0:
        return a % b
    return 0 if isinstance(a, int) and isinstance(b, int) else math.nan


def root(x: Number) -> float:
    """``math.sqrt(x)`` as compiled hooks have it."""
    return math.sqrt(x) if x >= 0 else math.nan


COMPARED: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _alike(values: Sequence[Number]) -> Sequence[Number]:
    """Numbers of one type: floats if one of them is. Stand-ins for random numbers stay as they are."""
    mixed = any(isinstance(one, float) for one in values)
    return [float(one) if isinstance(one, int) else one for one in values] if mixed else values


def compared(signs: Sequence[str], *ends: Number) -> bool:
    """``a < b <= c`` as compiled hooks have it."""
    pairs = zip(signs, pairwise(ends), strict=True)
    return all(COMPARED[getattr(ast, sign)](*_alike(two)) for sign, two in pairs)


def least(*values: Number) -> Number:
    """``min`` as compiled hooks have it."""
    return min(_alike(values))


def greatest(*values: Number) -> Number:
    """``max`` as compiled hooks have it."""
    return max(_alike(values))


def wrapped(x: Number) -> Number:
    """The sum, difference or product of integers as compiled hooks have it; floats stay as they are."""
    if type(x) is int and not -(2**63) <= x < 2**63:
        return (x + 2**63) % 2**64 - 2**63
    return x


MADE_PLAIN = (wrapped, quotient, floor_quotient, remainder, root, compared, least, greatest)
ENGINE: Scope = {
    "csaw_power": power,
    "csaw_exponential": exponential,
    "csaw_logarithm": logarithm,
    **{f"csaw_{function.__name__}": function for function in MADE_PLAIN},
}
WRAPS = (ast.Add, ast.Sub, ast.Mult)
DIVIDES: dict[type[ast.operator], str] = {
    ast.Div: "csaw_quotient",
    ast.FloorDiv: "csaw_floor_quotient",
    ast.Mod: "csaw_remainder",
}


def plain_hook(algorithm: Algorithm, name: str) -> Callable[[object], float]:
    """The hook of this name, to be called with an edge or a vertex.

    OptionError, when it is called, for whatever it raises.
    """
    method = getattr(type(algorithm), name)
    where = f"{algorithm.name()}.{getattr(method, 'csaw_name', name)}"
    if str(getattr(method, "__module__", "")).startswith(CSAWS):
        return lambda view: method(algorithm, view)
    plain = _copied(method, where)

    def called(view: object) -> float:
        with users_code(f"{where} failed:"):
            return plain(algorithm, view)

    return called


@lru_cache(maxsize=64)  # the slow law asks for a hook at each vertex
def _copied(method: FunctionType, where: str) -> Callable[..., float]:
    """The hook as plain Python."""
    return _plain(method, where, {})


def _plain(function: FunctionType, where: str, known: dict[FunctionType, Callable]) -> Callable[..., float]:
    """A copy of a hook, or of a function of its file that it calls.

    ``known``: copies by what they are copies of.
    """
    if function in known:
        return known[function]
    given = scope_of(function)
    tree = ast.parse(source_of(function))
    tree.body[0].decorator_list = []  # type: ignore[attr-defined]
    tree = ast.fix_missing_locations(_Plain(given).visit(Portable(given, where).visit(tree)))
    scope = {**given, **ENGINE}
    known[function] = lambda *arguments: copy(*arguments)  # one that calls itself
    exec(compile(tree, f"<{where}>", "exec"), scope)  # noqa: S102 - the user's own code, as with --algo FILE
    copy = scope[function.__name__]
    copy.__defaults__ = function.__defaults__  # of the moment when Python read them
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for name in called & given.keys():
        value = getattr(given[name], "py_func", given[name])
        if inspect.isfunction(value):
            scope[name] = _plain(value, where, known)
    known[function] = copy
    return copy


def plain_text(source: str) -> ast.Module:
    """The text of a compiled hook, with the functions that it calls, as plain Python computes what it does."""
    tree = ast.parse(source)
    imports = [one for each in tree.body if isinstance(each, ast.Import) for one in each.names]
    scope: Scope = {one.asname or one.name: import_module(one.name) for one in imports}
    for each in (one for one in tree.body if isinstance(one, ast.ImportFrom)):
        scope |= {one.asname or one.name: getattr(import_module(str(each.module)), one.name) for one in each.names}
    plain: ast.Module = ast.fix_missing_locations(_Plain(scope).visit(tree))
    return plain


def _is_real(node: ast.expr) -> bool:
    """Whether it is a float for sure: a weight, a number with a point, and what is computed from them."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, float)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name == "weight"
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
            return _is_real(left) or _is_real(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_real(operand)
        case ast.IfExp(body=body, orelse=other):
            return _is_real(body) and _is_real(other)
        case ast.Call(func=ast.Name(id="csaw_power" | "csaw_exponential" | "csaw_logarithm" | "csaw_quotient")):
            return True
    return False


def _is_whole(node: ast.expr) -> bool:
    """Whether it is an integer for sure."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    return isinstance(node, ast.Attribute) and node.attr in (*VALUES, "id", "degree", "src_degree", "dst_degree")


class _Plain(ast.NodeTransformer):
    """Divisions and square roots by the functions of this file."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if type(node.op) in DIVIDES:
            return call_of(DIVIDES[type(node.op)], node.left, node.right)
        wraps = isinstance(node.op, WRAPS) and not (_is_real(node.left) or _is_real(node.right))
        return call_of("csaw_wrapped", node) if wraps else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if type(node.op) in DIVIDES:
            return ast.Assign([node.target], call_of(DIVIDES[type(node.op)], read_again(node.target), node.value))
        if not isinstance(node.op, WRAPS) or _is_real(node.value):
            return node
        found = ast.BinOp(read_again(node.target), node.op, node.value)
        return ast.Assign([node.target], call_of("csaw_wrapped", found))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        plain = not isinstance(node.op, ast.USub) or isinstance(node.operand, ast.Constant) or _is_real(node.operand)
        return node if plain else call_of("csaw_wrapped", node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        signs = [type(op) for op in node.ops]
        if not all(sign in COMPARED for sign in signs) or all(map(_is_whole, (node.left, *node.comparators))):
            return node
        said = ast.Tuple([ast.Constant(one.__name__) for one in signs], ast.Load())
        return call_of("csaw_compared", said, node.left, *node.comparators)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and self.scope.get(function.id) is None and len(node.args) > 1:
            made = {"min": "csaw_least", "max": "csaw_greatest"}.get(function.id)
            if made is not None:
                return call_of(made, *node.args)
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            found = getattr(self.scope.get(function.value.id), function.attr, None)
        else:
            found = self.scope.get(function.id) if isinstance(function, ast.Name) else None
            if isinstance(function, ast.Name) and function.id == "abs" and found is None:
                return call_of("csaw_wrapped", node)
        return call_of("csaw_root", *node.args) if found in (math.sqrt, np.sqrt) else node
