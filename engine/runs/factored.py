"""Walks whose bias has a factor that depends only on the edge, and one that knows the walker: C-SAW's static and
dynamic biases, combined.

A bias that returns a product, ``e.weight * e.dst_degree ** -0.5 * (0.5 if e.dst == e.prev else 1)``, is drawn as fast
as its dynamic factor allows: neighbors are proposed by the static one, from tables, and accepted by the other, as
node2vec proposes by weight. The static factors take the place of the weights of the graph, computed while it is read.
"""

import ast
import copy
import math
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.hook_language import function_in, scope_of, stored_names
from csaw.engine.api.hook_scope import source_of
from csaw.engine.cpu.specialize import Kernels
from csaw.engine.plan.bias_bounds import MOST, Interval, IntervalReader, Unbounded
from csaw.engine.plan.choices import Method
from csaw.engine.plan.selection import bounds, choose_select
from csaw.partition.arrays.loader import AGAIN, StoredArray
from csaw.partition.base.parallel import processors
from csaw.partition.errors import BiasError, OptionError, StoreError
from csaw.partition.graph.attributes import WEIGHT_RANGE, Attributes
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.views import View

OF_EDGE = frozenset({"weight", "src", "dst", "src_degree", "dst_degree", "vertices"})  # what a static factor may read
WORTH = 4  # times fewer draws by rejection, for which tables are made of a factor that needs none
SPAN = 2.0**100  # of the static factors of a graph: float32 holds more


@dataclass(frozen=True)
class Factors:
    """The static factor as an algorithm of its own, whose edge_bias it is, and the walk that is left, whose edge_bias
    is the weight times the dynamic factor. ``scale``: a power of 2 times which the largest static factor is near 1.
    """

    static: Walk
    walk: Walk
    text: str
    scale: float


def split(store: GraphStore, algorithm: Walk, weighted: bool, select: Method | None) -> Factors | None:
    """The factors by which a walk is drawn by rejection; None where it is drawn otherwise.

    ``weighted``: whether edge weights count. ``select``: the method that the user wants.
    """
    bias = hooks.edge_bias(algorithm, weighted)
    if algorithm.timed or algorithm.bias_range is not None or bias.static or select not in (None, Method.REJECTION):
        return None
    others = list(filter(None, hooks.others(algorithm, weighted).values()))
    if any(hook.by_edge for hook in others):  # it would read the static factor in place of the weight
        return None
    try:
        now = choose_select(algorithm, weighted, None, store)
        parts = _parts(type(algorithm).edge_bias)
    except OptionError:
        return None  # which is said where the walk is planned
    if parts is None:
        return None
    static, walk = remade(algorithm, parts[0]), remade(algorithm, parts[1], static_factor=parts[2])
    scale = _scale(store, static, weighted)
    if scale is None or choose_select(walk, True, None, store) is not Method.REJECTION:
        return None
    if now is Method.REJECTION and _draws(algorithm) < WORTH * _draws(walk):
        return None
    return Factors(static, walk, parts[2], scale)


def _draws(walk: Walk) -> float:
    """Draws of a step by rejection, at most."""
    low, high, _ = bounds(walk)
    return high / low if low > 0 else math.inf


class Product(NamedTuple):
    """A method that returns a product: its ``tree``, the name of its edge, the statements ``before`` the product, the
    names of variables that these set, and the factors.
    """

    tree: ast.FunctionDef
    view: str
    before: list[ast.stmt]
    local: set[str]
    terms: list[tuple[ast.expr, bool]]

    def reads(self, term: ast.expr) -> set[str]:
        """The fields of the edge that a factor reads."""
        found = (one for one in ast.walk(term) if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name))
        return {one.attr for one in found if one.value.id == self.view}  # type: ignore[attr-defined]

    def only_reads(self, term: ast.expr, fields: AbstractSet[str]) -> bool:
        """Whether a factor reads no other fields of the edge, and no variable of the hook."""
        names = {one.id for one in ast.walk(term) if isinstance(one, ast.Name)}
        return self.reads(term) <= fields and not names & self.local


def product_of(method: Callable[..., float]) -> Product | None:
    """The product that a method returns; None where it returns anything else, or in several places."""
    with hooks.TREES:
        tree = ast.parse(source_of(method)).body[0]
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) != 2:
        return None
    *before, last = tree.body
    if (
        not isinstance(last, ast.Return)
        or last.value is None
        or any(isinstance(one, ast.Return) for each in before for one in ast.walk(each))
    ):
        return None
    local = {one.id for each in before for one in ast.walk(each) if isinstance(one, ast.Name)} & stored_names(tree)
    return Product(tree, tree.args.args[1].arg, before, local, terms_of(last.value))


def _parts(method: Callable[..., float]) -> tuple[Callable[..., float], Callable[..., float], str] | None:
    """The methods of both factors, and the text of the static one; None where the bias is no product of them."""
    if (whole := product_of(method)) is None:
        return None
    static = [one for one in whole.terms if whole.only_reads(one[0], OF_EDGE)]
    dynamic = [one for one in whole.terms if one not in static]
    if not dynamic or not any(whole.reads(one) for one, _ in static):
        return None
    weight = ast.Attribute(ast.Name(whole.view, ast.Load()), "weight", ast.Load())
    alone, left = product(static), product([(weight, False), *dynamic])
    return (
        remade_method(method, whole.tree, [], alone),
        remade_method(method, whole.tree, whole.before, left),
        ast.unparse(alone),
    )


def terms_of(node: ast.expr, divides: bool = False) -> "list[tuple[ast.expr, bool]]":
    """The factors of a product, and whether it is divided by each."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        other = divides != isinstance(node.op, ast.Div)
        return [*terms_of(node.left, divides), *terms_of(node.right, other)]
    return [(node, divides)]


def product(terms: list[tuple[ast.expr, bool]]) -> ast.expr:
    whole: ast.expr = ast.Constant(1.0)
    for number, (term, divides) in enumerate(terms):
        begins = number == 0 and not divides
        whole = term if begins else ast.BinOp(whole, ast.Div() if divides else ast.Mult(), term)
    return whole


def remade_method(
    method: Callable[..., float], tree: ast.FunctionDef, before: list[ast.stmt], value: ast.expr
) -> Callable[..., float]:
    """The method with these statements, which returns ``value``; it sees what the original sees."""
    made = copy.copy(tree)
    made.body, made.decorator_list = [*before, ast.Return(value)], []
    text = ast.unparse(ast.fix_missing_locations(made)) + "\n"
    scope = dict(scope_of(method))
    exec(compile(text, "<factor of a bias>", "exec"), scope)  # noqa: S102 - a part of the user's own method
    found = function_in(scope, tree.name)
    found.__dict__.update(csaw_source=text, csaw_name=getattr(method, "csaw_name", "edge_bias"))
    return found


def remade(algorithm: Walk, bias: Callable[..., float], **more: object) -> Walk:
    """The algorithm with another edge_bias, and with ``more`` attributes."""
    made, kind = copy.copy(algorithm), type(algorithm)
    made.__class__ = type(kind.__name__, (kind,), {"edge_bias": bias, "label": algorithm.name(), **more})
    return made


def _scale(store: GraphStore, static: Walk, weighted: bool) -> float | None:
    """A power of 2 times which all static factors are floats of 32 bits that lose nothing; None where that is not
    proven.
    """
    with hooks.TREES:
        tree = ast.parse(hooks.edge_bias(static, weighted).source)
    low = high = 1.0
    try:
        reading = OfStore(tree, hooks.params(static), store)
        for factor, divides in reading.factors():
            least, most = float(factor.low), float(factor.high)
            if factor.whole and not divides:
                least = max(least, 1.0) if least >= 0 else least  # 0 stays 0
            if not 0.0 < least <= most < math.inf:
                return None
            low, high = (low / most, high / least) if divides else (low * least, high * most)
    except (Unbounded, ArithmeticError, RecursionError):
        return None
    return math.ldexp(1.0, -math.frexp(high)[1]) if 0.0 < low <= high < math.inf and high / low <= SPAN else None


class OfStore(IntervalReader):
    """Reads a static factor with the ranges of weights and degrees of a graph."""

    def __init__(self, tree: ast.Module, params: tuple[float, ...], store: GraphStore) -> None:
        self.store = store
        super().__init__(tree, params, returns=False)

    def factors(self) -> list[tuple[Interval, bool]]:
        """The bounds of each factor of the product that the hook returns, and whether it is divided by it."""
        last = self.functions["edge_bias"].body[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        known = self.of_edges()
        return [(self._value(term, known), divides) for term, divides in terms_of(last.value)]

    def of_edges(self) -> dict[str, Interval]:
        """The least and largest value of each name, for any edge."""
        vertex = Interval(0, max(self.store.vertices - 1, 0))
        known = self.constants | {"src": vertex, "dst": vertex}
        if (weights := self.store.weight_range) is not None:
            known["weight"] = Interval(float(weights[0]), float(weights[1]))
        return known

    def _call(self, node: ast.Call, known: dict[str, Interval]) -> Interval:
        name = getattr(node.func, "id", "")
        if name == "degree":
            has_edge = not self.store.directed or ast.unparse(node.args[1]) == "src"
            return Interval(int(has_edge), self.store.max_degree)
        if name == "vertex_count":
            return Interval(self.store.vertices, min(self.store.vertices, MOST))
        return super()._call(node, known)


PIECE = 1 << 20  # edges whose factors a thread computes at a time
HEADER = """\
# Written by csaw; delete at will.
import math
import numpy as np
from csaw.engine.draws.portable import exponential as csaw_exponential, logarithm as csaw_logarithm, power as csaw_power
from csaw.partition.base.compile import inner, njit
"""


def factored(
    store: GraphStore, algorithm: Algorithm, weighted: bool, select: Method | None
) -> tuple[GraphStore, Algorithm, bool]:
    """The graph, the algorithm and whether weights count, by which a run is planned and drawn.

    Where the bias of a walk has a static factor beside its weight and a dynamic one with bounds, the static one takes
    the place of the weight; otherwise they are as given.
    """
    found = split(store, algorithm, weighted, select) if isinstance(algorithm, Walk) else None
    return (store, algorithm, weighted) if found is None else (Factored(store, found, weighted), found.walk, True)


class Factored(View):
    """``store`` with static factors as weights: float32, times a power of 2.

    It holds 8 bytes a vertex in memory where they depend on degrees.
    """

    is_plain = False  # files have other weights: no reader takes rows from them
    one_sided_weights = True

    def __init__(self, store: GraphStore, factors: Factors, weighted: bool) -> None:
        super().__init__(store, _attributes(store, factors))
        self.in_memory = store.in_memory
        self.static, self.scale = factors.static, factors.scale
        self.reads_weights = weighted and store.weighted

    @cached_property
    def _hook(self) -> hooks.Hook:
        return hooks.edge_bias(self.static, self.reads_weights)

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels({}, [self._hook], ("static_factors.py",), HEADER)

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]; where nothing reads them, their number alone is right."""
        reads = {"src_degree", "dst_degree"} & self._hook.reads
        return np.diff(self.store.read_indptr()) if reads else np.broadcast_to(np.int64(0), self.vertices)

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_offsets(self, number: int, out: np.ndarray | None = None) -> np.ndarray:
        return self.store.read_offsets(number, out)

    def read_edges(self, number: int, arrays: Mapping[str, np.ndarray], first: int = 0) -> None:
        out = arrays.get(WEIGHT.array)
        read = {name: array for name, array in arrays.items() if name != WEIGHT.array}
        if out is not None:
            if INDICES not in read:
                read[INDICES] = np.empty(out.size, self.id_dtype)
            if self.reads_weights:
                read[WEIGHT.array] = out  # which the factors take the place of
        self.store.read_edges(number, read, first)
        if out is not None and out.size:
            self._fill(number, first, read[INDICES], out)

    def _fill(self, number: int, first: int, indices: np.ndarray, out: np.ndarray) -> None:
        part, offsets = self.partitions[number], self.store.read_offsets(number)
        params, none = hooks.params(self.static), np.empty(0, np.float32)
        fill, degrees = self._kernels.fill_factors, self.degrees

        def piece(begin: int) -> int:
            span = slice(begin, begin + PIECE)
            weights = out[span] if self.reads_weights else none
            given = part.first_vertex, offsets, first + begin, indices[span], weights
            wrong = fill(params, degrees, *given, self.scale, out[span])
            return begin + wrong if wrong >= 0 else -1

        pieces = range(0, out.size, PIECE)
        if len(pieces) == 1:
            found = [piece(0)]
        else:
            with ThreadPoolExecutor(processors()) as threads:
                found = list(threads.map(piece, pieces))
        if (wrong := max(found)) >= 0:
            src = part.first_vertex + int(np.searchsorted(offsets, first + wrong, side="right")) - 1
            raise BiasError(
                f"{self.static.name()}.edge_bias is not a finite number of at least 0 for the edge {src} -> "
                f"{indices[wrong]} (dense ids)"
            )

    def opened(self, number: int, name: str) -> StoredArray:
        """Raise StoreError for weights: no file has static factors."""
        if name == WEIGHT.array:
            raise StoreError(f"{self.path}: no file has the factors of a bias; read them with read_edges; {AGAIN}")
        return self.store.opened(number, name)

    def read_ahead(self, number: int, names: Collection[str], first: int = 0, count: int | None = None) -> None:
        wanted = {WEIGHT.array: self.reads_weights}
        self.store.read_ahead(number, [name for name in names if wanted.get(name, True)], first, count)


def _attributes(store: GraphStore, factors: Factors) -> Attributes:
    """The attributes of the graph, with weights and their bytes."""
    more = 0 if store.weighted else WEIGHT.dtype.itemsize
    rows = [[p.first_vertex, p.last_vertex, p.first_edge, p.edges, p.nbytes + more * p.edges] for p in store.partitions]
    said = store.attributes.copy()
    said.pop(WEIGHT_RANGE, None)
    said.update({"weighted": True, "partitions": rows, "factor": [factors.text, list(hooks.params(factors.static))]})
    return said
