"""The exact law of one step in plain Python: slow, obvious, and what every sample is tested against.

Two parts: a user's own hooks as plain Python, and the law, which calls them.
"""

import ast
import inspect
import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import numpy as np

from csaw.engine.api.algorithm import NONE, Algorithm, Walk
from csaw.engine.api.hook_language import Portable, Scope, call_of, function_in, read_again, scope_of, users_code
from csaw.engine.api.hook_scope import source_of
from csaw.engine.api.hooks import VALUES
from csaw.engine.draws import LEAST_BIAS
from csaw.engine.draws.portable import exponential, logarithm, power
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import BiasError, OptionError
from csaw.partition.graph.parts import Graph

# A user's own hooks as plain Python, for the slow law: the same source, with the numbers of compiled hooks where
# Python's would end in an error.
#
# x / 0      infinity or NaN                      x // 0, x % 0    0 where both are integers, otherwise infinity or NaN
# x ** y     as csaw_power, see draws/portable.py       math.sqrt(-1)    NaN; exp, log as in draws/portable.py
# x / y, and x < y, min(x, y) beside a float      of float64, to which integers beyond 2^53 are rounded
# x + y, x - y, x * y, -x, abs(x) of integers       modulo 2^64, as integers of 64 bits have it

Number = float | int
GAP, LEAST_SHARE, FASTEST = 1e20, 1e-280, 1e300  # of biases: nobody sees larger gaps, and smaller shares of the largest
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


def _plain(function: FunctionType, where: str, known: dict[FunctionType, Callable[..., float]]) -> Callable[..., float]:
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
    copy = function_in(scope, function.__name__)
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


# The exact law of one step in plain Python.

OFF = 1e-6  # that the sum of a law's chances may be off by


class GraphView:
    """A graph as an algorithm's hooks see it; weights are 1 in an unweighted run."""

    def __init__(self, graph: Graph, weighted: bool = True) -> None:
        self.indptr, self.indices, self.columns = graph.indptr, graph.indices, graph.columns
        self.weights = graph.weights if weighted else None
        self.vertices = self.indptr.size - 1
        self._cached: tuple[int, frozenset[int]] = (NONE, frozenset())  # the last row that was looked up

    def degree(self, v: int) -> int:
        return int(self.indptr[v + 1] - self.indptr[v])

    def row(self, v: int) -> tuple[list[int], list[float]]:
        """Neighbors of v, ascending, and the weights of the edges to them."""
        span = slice(int(self.indptr[v]), int(self.indptr[v + 1]))
        neighbors = self.indices[span].tolist()
        return neighbors, [1.0] * len(neighbors) if self.weights is None else self.weights[span].astype(
            np.float64
        ).tolist()

    def multiplicity(self, a: int, b: int) -> int:
        """How many edges lead from a to b."""
        if a < 0:
            return 0
        row = self.indices[self.indptr[a] : self.indptr[a + 1]]
        return int(np.searchsorted(row, b, "right") - np.searchsorted(row, b, "left"))

    def is_neighbor(self, a: int, b: int) -> bool:
        if not 0 <= a < self.vertices:
            return False
        if self._cached[0] != a:
            self._cached = a, frozenset(self.row(a)[0])
        return b in self._cached[1]


class Edge:
    """The edge that edge_bias reads, with the fields that algorithm.py names."""

    def __init__(
        self,
        view: GraphView,
        v: int,
        prev: int,
        source: int,
        depth: int,
        instance: int,
        column: Callable[[str, int], float],
        path: Sequence[int],
    ) -> None:
        self.src, self.prev, self.source, self.depth, self.instance = v, prev, source, depth, instance
        self.src_degree, self.vertices, self.is_neighbor = view.degree(v), view.vertices, view.is_neighbor
        self._view, self.column, self.path = view, column, steps_back(path)
        self.dst, self.weight = NONE, 1.0
        self._place = NONE  # among all edges of the graph

    def __getattr__(self, name: str) -> float:
        """The number that the edge has in the column ``name``, an int or a float."""
        columns = self._view.columns
        if name not in columns:
            raise OptionError(f"no e.{name}; the edge columns of the graph: {', '.join(columns) or 'none'}")
        number: float = columns[name][self._place].item()
        return number

    @property
    def dst_degree(self) -> int:
        return self._view.degree(self.dst)

    def random(self) -> float:
        raise RuntimeError("a bias must be a function of its edge; only update and dead_end may call random()")

    random_vertex = random


def steps_back(path: Sequence[int]) -> Callable[[int], int]:
    """``e.path`` of a walk that has come along ``path``, from its source to where it is."""
    return lambda steps: int(path[len(path) - 1 - int(steps)]) if 0 <= int(steps) < len(path) else NONE


class Place(NamedTuple):
    """What hooks read of a place in an instance beside its vertex: the numbers that ``edge_biases`` takes in turn."""

    prev: int = NONE
    source: int = NONE
    depth: int = 0
    instance: int = 0


def edge_biases(
    view: GraphView,
    algorithm: Algorithm,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    path: Sequence[int] = (),
    clock: tuple[int, int] | None = None,
) -> list[tuple[int, float]]:
    """(neighbor, bias) of every edge of v, in the order of its row.

    ``path``: a walk's vertices so far. ``clock``: of a walk in time, when it took its last edge and its first.
    BiasError if a bias is negative, NaN or infinite, or too near 0.
    """
    edge, biases = Edge(view, v, prev, source, depth, instance, algorithm.vertex_columns.value, path), []
    if clock is not None:
        vars(edge).update(previous_time=clock[0], start_time=clock[1])
    edge_bias, neighbors_and_weights = plain_hook(algorithm, "edge_bias"), zip(*view.row(v), strict=True)
    for edge._place, (edge.dst, edge.weight) in enumerate(neighbors_and_weights, int(view.indptr[v])):
        bias = float(edge_bias(edge))
        if not (bias == 0.0 or LEAST_BIAS <= bias < float("inf")):
            raise BiasError(
                f"the bias of edge {v} -> {edge.dst} (dense ids) is {bias}; a bias must be 0, or a finite number from "
                f"{LEAST_BIAS} on"
            )
        biases.append((edge.dst, bias))
    return biases


def of_largest(biases: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The positive biases as shares of the largest, whose sum is finite where theirs may not be. If floats do not hold
    all shares, gaps become smaller: an edge GAP times as likely as another always comes first.
    """
    different = sorted({bias for _, bias in biases if bias > 0.0}, reverse=True) or [1.0]
    if different[-1] / different[0] >= LEAST_SHARE:
        return [(dst, bias / different[0]) for dst, bias in biases]
    shares = {different[0]: 1.0}
    for before, bias in pairwise(different):
        shares[bias] = max(shares[before] * max(bias / before, 1.0 / GAP), LEAST_SHARE)
    return [(dst, shares.get(bias, 0.0)) for dst, bias in biases]


def squared_entries(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, normalize: str) -> np.ndarray:
    """float64 [edges]: the bias of each edge by ``MatrixEntries``, the square of its entry, for all edges at once."""
    degree = np.diff(indptr)
    square = np.ones(indices.size) if weights is None else weights.astype(np.float64) ** 2
    own = np.repeat(degree, degree)
    if normalize == "symmetric":
        other = degree[indices].astype(np.float64)
        return np.where(other > 0, square / (own * np.maximum(other, 1.0)), 0.0)
    return square / (own * own) if normalize == "row" else square


def edge_law(
    view: GraphView,
    algorithm: Algorithm,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    visited: Collection[int] = (),
    path: Sequence[int] = (),
) -> dict[int, float]:
    """Chance of each neighbor of v to be selected next; empty at a dead end. Repeated edges count together."""
    biases = edge_biases(view, algorithm, v, prev, source, depth, instance, path)
    merged: dict[int, float] = {}
    for dst, bias in of_largest([one for one in biases if one[1] > 0.0 and one[0] not in visited]):
        merged[dst] = merged.get(dst, 0.0) + bias
    total = sum(merged.values())
    return {dst: bias / total for dst, bias in merged.items()}


def next_law(
    view: GraphView,
    walk: Walk,
    v: int,
    prev: int = NONE,
    source: int = NONE,
    depth: int = 0,
    instance: int = 0,
    path: Sequence[int] = (),
) -> dict[int, float]:
    """Chance of each vertex to follow v on a walk; NONE: the walk ends, as it does where a hook returns less than 0.

    ``path``: the vertices of the walk so far, if its hooks read them.
    """
    selected = edge_law(view, walk, v, prev, source, depth, instance, path=path)
    at = SimpleNamespace(
        id=v,
        prev=prev,
        source=source,
        depth=depth,
        vertices=view.vertices,
        degree=view.degree,
        column=walk.vertex_columns.value,
        path=steps_back(path),
    )
    with users_code(f"{walk.name()}.law failed:"):
        law = walk.law(selected, at)
        if not isinstance(law, Mapping):
            raise OptionError(f"expected a mapping from vertices to probabilities, found {quoted(law)}")
        if not abs(sum(law.values()) - 1.0) < OFF:
            raise OptionError(
                f"the probabilities of what follows vertex {v} sum to {sum(law.values()):.6g}, expected 1"
            )
        found: dict[int, float] = {}
        for u, chance in law.items():
            if chance > 0.0:
                then = max(u, NONE)  # as compiled code takes any negative number
                found[then] = found.get(then, 0.0) + chance
        return found


def inclusion_law(biases: list[tuple[int, float]], picks: int) -> dict[int, float]:
    """Chance that each neighbor is among ``picks`` edges drawn one after the other without replacement.

    Edges arrive at exponential times of rate bias, and the first ``picks`` are the sample (Efraimidis and Spirakis,
    2006). A neighbor is in it when, at its first edge's arrival t, fewer than ``picks`` others have arrived: integrated
    over u = exp(-bias t) by Gauss-Legendre.
    """
    positive = [(dst, bias) for dst, bias in biases if bias > 0.0]
    if picks >= len(positive):
        return dict.fromkeys((dst for dst, _ in positive), 1.0)
    rates: dict[int, float] = {}
    for dst, bias in positive:
        rates[dst] = rates.get(dst, 0.0) + bias
    return {dst: _chance(rate, [b for d, b in positive if d != dst], picks) for dst, rate in rates.items()}


def _chance(rate: float, others: list[float], picks: int) -> float:
    nodes, node_weights = np.polynomial.legendre.leggauss(40)
    # panels that halve towards both ends resolve others much faster and much slower
    edges = np.concatenate([[0.0], 0.5 ** np.arange(50, 0, -1), 1.0 - 0.5 ** np.arange(2, 51), [1.0]])
    low, high = edges[:-1, None], edges[1:, None]
    u = (low + (high - low) * (nodes + 1) / 2).ravel()
    area = ((high - low) / 2 * node_weights).ravel()
    with np.errstate(over="ignore"):
        absent = np.exp(np.log(u)[None, :] * np.minimum(np.array(others) / rate, FASTEST)[:, None])
    arrived = np.zeros((picks, u.size))  # arrived[k]: chance that k others have
    if picks == 0:
        return 0.0
    arrived[0] = 1.0
    for chance in absent:
        arrived[1:] = arrived[1:] * chance + arrived[:-1] * (1.0 - chance)
        arrived[0] *= chance
    return float(min(1.0, (arrived.sum(axis=0) * area).sum()))
