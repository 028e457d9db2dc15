"""Split the bias of a walk into a factor that depends only on the edge and one that knows the walker: C-SAW's static
and dynamic biases, combined.

A bias that returns a product, ``e.weight * e.dst_degree ** -0.5 * (0.5 if e.dst == e.prev else 1)``, is drawn as fast
as its dynamic factor allows: neighbors are proposed by the static one, from tables, and accepted by the other, as
node2vec proposes by weight. The static factor takes the place of the weights; see runs/factored.py.
"""

import ast
import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Walk
from csaw.engine.api.hook_language import function_in, scope_of, stored_names
from csaw.engine.api.hook_scope import source_of
from csaw.engine.plan.bias_bounds import MOST, Interval, IntervalReader, Unbounded
from csaw.engine.plan.methods import Method
from csaw.engine.plan.selection import bounds, choose_select
from csaw.partition.errors import OptionError
from csaw.partition.graph.store import GraphStore

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
    static, walk = _remade(algorithm, parts[0], ""), _remade(algorithm, parts[1], parts[2])
    scale = _scale(store, static, weighted)
    if scale is None or choose_select(walk, True, None, store) is not Method.REJECTION:
        return None
    if now is Method.REJECTION and (math.isinf(_draws(walk)) or _draws(algorithm) < WORTH * _draws(walk)):
        return None
    return Factors(static, walk, parts[2], scale)


def _draws(walk: Walk) -> float:
    """Draws of a step by rejection, at most."""
    low, high, _ = bounds(walk)
    return high / low if low > 0 else math.inf


def _parts(method: Callable[..., float]) -> tuple[Callable[..., float], Callable[..., float], str] | None:
    """The methods of both factors, and the text of the static one; None where the bias is no product of them."""
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
    view = tree.args.args[1].arg
    local = {one.id for each in before for one in ast.walk(each) if isinstance(one, ast.Name)} & stored_names(tree)
    terms = list(_terms(last.value, divides=False))
    static = [one for one in terms if _is_static(one[0], view, local)]
    dynamic = [one for one in terms if one not in static]
    if not dynamic or not any(_reads(one, view) for one, _ in static):
        return None
    weight = ast.Attribute(ast.Name(view, ast.Load()), "weight", ast.Load())
    alone, left = _product(static), _product([(weight, False), *dynamic])
    return _method(method, tree, [], alone), _method(method, tree, before, left), ast.unparse(alone)


def _terms(node: ast.expr, divides: bool) -> "list[tuple[ast.expr, bool]]":
    """The factors of a product, and whether it is divided by each."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        other = divides != isinstance(node.op, ast.Div)
        return [*_terms(node.left, divides), *_terms(node.right, other)]
    return [(node, divides)]


def _reads(node: ast.AST, view: str) -> set[str]:
    """The fields of the edge that an expression reads."""
    found = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name))
    return {one.attr for one in found if one.value.id == view}  # type: ignore[attr-defined]


def _is_static(node: ast.expr, view: str, local: set[str]) -> bool:
    """Whether a factor depends on the edge alone, and on no variable of the hook."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return _reads(node, view) <= OF_EDGE and not names & local


def _product(terms: list[tuple[ast.expr, bool]]) -> ast.expr:
    whole: ast.expr = ast.Constant(1.0)
    for number, (term, divides) in enumerate(terms):
        begins = number == 0 and not divides
        whole = term if begins else ast.BinOp(whole, ast.Div() if divides else ast.Mult(), term)
    return whole


def _method(
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


def _remade(algorithm: Walk, bias: Callable[..., float], factor: str) -> Walk:
    """The algorithm with another edge_bias."""
    made, kind = copy.copy(algorithm), type(algorithm)
    more = {"edge_bias": bias, "label": algorithm.name(), "static_factor": factor}
    made.__class__ = type(kind.__name__, (kind,), more)
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
        vertex = Interval(0, max(self.store.vertices - 1, 0))
        known = self.constants | {"src": vertex, "dst": vertex}
        if (weights := self.store.weight_range) is not None:
            known["weight"] = Interval(float(weights[0]), float(weights[1]))
        return [(self._value(term, known), divides) for term, divides in _terms(last.value, divides=False)]

    def _call(self, node: ast.Call, known: dict[str, Interval]) -> Interval:
        name = getattr(node.func, "id", "")
        if name == "degree":
            has_edge = not self.store.directed or ast.unparse(node.args[1]) == "src"
            return Interval(int(has_edge), self.store.max_degree)
        if name == "vertex_count":
            return Interval(self.store.vertices, min(self.store.vertices, MOST))
        return super()._call(node, known)
