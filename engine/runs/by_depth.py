"""Biases of walks made simpler before a method is chosen: factors that all edges of a step have in common are left out,
and a bias that at each depth depends only on the edge is drawn from tables, one for each case of the depth.

A common factor changes no law, because a step divides by the sum of its biases. If a walk has a fixed number of steps,
the text of its bias is evaluated for each of them in part (Jones, Gomard and Sestoft, Partial Evaluation, 1993):
depths of which the same text is left are a case.
"""

import ast
import copy
import math
from collections.abc import Sequence

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Walk
from csaw.engine.api.hooks import STATIC
from csaw.engine.plan.bias_bounds import MOST, Interval, Unbounded, assigned
from csaw.engine.plan.choices import Method
from csaw.engine.plan.selection import choose_select
from csaw.engine.runs.factored import OfStore, product, product_of, remade, remade_method, terms_of
from csaw.partition.errors import OptionError
from csaw.partition.graph.store import GraphStore

OF_STEP = frozenset({"depth", "instance", "source", "prev", "src", "src_degree", "vertices"})
"""Names whose value is the same for all edges of a step."""
MOST_CASES = 4  # tables of a graph
LONGEST = 1024  # steps of a walk whose depths are looked at one by one
MOST_WAYS = 64  # through the conditions of a bias at a depth
LEAST, LARGEST = 1e-250, 1e250  # of a product, and of each part of it: a bias is 0 or at least 1e-300
OF_WALK = {"depth", "instance", "source", "prev"}
"""Names with values of the walk, which a table of the graph cannot know."""

Range = tuple[float, float]


def simplified(store: GraphStore, algorithm: Algorithm, weighted: bool, select: Method | None) -> Algorithm:
    """The algorithm with a bias that is drawn faster and has the same law; as it is, if nothing is gained.

    ``weighted``: whether edge weights count. ``select``: the method that the user wants.
    """
    if not isinstance(algorithm, Walk) or algorithm.timed or algorithm.bias_range is not None:
        return algorithm
    if select not in (None, Method.UNIFORM, Method.ALIAS, Method.REJECTION):
        return algorithm
    for one in filter(None, (_without_common(store, algorithm, weighted), algorithm)):
        found = one
        if select in (None, Method.ALIAS) and (cases := depth_cases(store, one, weighted)):
            found = remade(one, type(one).edge_bias, depth_cases=cases)
        try:
            chosen = choose_select(found, weighted, select, store)
        except OptionError:
            continue  # which is said where the walk is planned
        if chosen is not Method.ITS:
            return found
    return algorithm


def _without_common(store: GraphStore, walk: Walk, weighted: bool) -> Walk | None:
    """The walk without the factors of its bias that all edges of a step have in common; None if there are none of which
    it is proven that they can be left out.
    """
    bias = hooks.edge_bias(walk, weighted)
    if bias.static or (whole := product_of(type(walk).edge_bias)) is None:
        return None
    common = [whole.only_reads(term, OF_STEP) for term, _ in whole.terms]
    with hooks.TREES:
        tree = ast.parse(bias.source)
    body = tree.body[-1].body  # type: ignore[attr-defined]
    if len(factors := terms_of(body[-1].value)) != len(common):
        return None
    reader = AtStep(tree, hooks.params(walk), store, _depths(walk))
    try:
        if (known := reader.after(body[:-1])) is None:
            return None
        reader.range_of(body[-1].value, known)
        common = [
            shared and reader.value_of(factor, known).low > 0
            for (factor, _), shared in zip(factors, common, strict=True)
        ]
    except (Unbounded, ArithmeticError, RecursionError):
        return None
    if not any(common):
        return None
    left = [term for term, shared in zip(whole.terms, common, strict=True) if not shared]
    method = remade_method(type(walk).edge_bias, whole.tree, whole.before if left else [], product(left))
    return remade(walk, method)


def _depths(walk: Walk) -> Interval:
    """The depths of a walk."""
    return Interval(0, MOST if walk.walk_length is None else max(walk.walk_length - 1, 0))


def depth_cases(store: GraphStore, walk: Walk, weighted: bool) -> tuple[int, ...]:
    """The case of each depth of a walk, from 0 on; empty if its steps cannot be drawn from few tables."""
    bias, length = hooks.edge_bias(walk, weighted), walk.walk_length
    if bias.static or bias.columns or length is None or not 0 < length <= LONGEST or "depth" not in bias.reads:
        return ()
    if not bias.reads <= STATIC | OF_STEP:
        return ()
    numbers, found = dict[str, int](), []
    for depth in range(length):
        text = _static_text(bias.source, hooks.params(walk), store, depth)
        if text is None or (text not in numbers and len(numbers) == MOST_CASES):
            return ()
        found.append(numbers.setdefault(text, len(numbers)))
    return tuple(found)


def _static_text(source: str, params: tuple[float, ...], store: GraphStore, depth: int) -> str | None:
    """The text of a bias at a depth, without factors that all edges of a row have in common; None where it depends on
    more than the edge, or where it is not proven that all of its values are biases.
    """
    with hooks.TREES:
        tree = ast.parse(source)
    reader = AtStep(tree, params, store, Interval(depth, depth))
    known = reader.of_edges()
    try:
        value = reader.decided(tree.body[-1].body, known, {})  # type: ignore[attr-defined]
        reader.range_of(value, known)
        left = reader.without_shared(value, known)[1]
    except (Unbounded, ArithmeticError, RecursionError):
        return None
    names = {one.id for one in ast.walk(left) if isinstance(one, ast.Name)}
    return None if names & OF_WALK else ast.unparse(ast.fix_missing_locations(left))


class AtStep(OfStore):
    """Reads a bias with what is known of a graph, at some depths."""

    def __init__(self, tree: ast.Module, params: tuple[float, ...], store: GraphStore, depths: Interval) -> None:
        super().__init__(tree, params, store)
        self.depths, self.ways = depths, 1

    def of_edges(self) -> dict[str, Interval]:
        known = super().of_edges()
        if "weight" in known:
            known["weight"] = Interval(0.0, known["weight"].high)  # the range of a graph leaves out weights of 0
        earlier = Interval(-1, max(self.store.vertices - 1, 0))  # -1: none
        return known | {"depth": self.depths, "instance": Interval(0, 2 * MOST - 1), "source": earlier, "prev": earlier}

    def after(self, body: Sequence[ast.stmt]) -> dict[str, Interval] | None:
        """The variables behind statements that return nothing."""
        return self._run(body, self.of_edges())[1]

    def value_of(self, node: ast.expr, known: dict[str, Interval]) -> Interval:
        return self._value(node, known)

    def range_of(self, node: ast.expr, known: dict[str, Interval]) -> Range:
        """The least and the largest value above 0 of an expression that is never below 0, and 0 only exactly.

        Unbounded unless products of its factors, of any of them, are far from the ends of floats.
        """
        low = high = 1.0
        whole = self._value(node, known)
        for factor, divides in terms_of(node):
            least, most = self._range_of_factor(factor, known)
            if divides:
                if self._value(factor, known).low <= 0:
                    raise Unbounded
                least, most = 1.0 / most, 1.0 / least
            low, high = low * min(least, 1.0), high * max(most, 1.0)
        if not (LEAST <= low <= high <= LARGEST):
            raise Unbounded
        return (low, high) if len(terms_of(node)) > 1 or whole.low <= 0 else (float(whole.low), float(whole.high))

    def _range_of_factor(self, node: ast.expr, known: dict[str, Interval]) -> Range:
        if isinstance(node, ast.Name) and node.id == "weight" and self.store.weight_range is not None:
            return self.store.weight_range
        if isinstance(node, ast.IfExp):
            ways = [node.body if truth else node.orelse for truth in self._value(node.test, known).truths]
            ranges = [self.range_of(way, known) for way in ways]
            return min(low for low, _ in ranges), max(high for _, high in ranges)
        found = self._value(node, known)
        if found.low > 0:
            return float(found.low), float(found.high)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            ranges = [self.range_of(one, known) for one in (node.left, node.right)]
            return min(low for low, _ in ranges), sum(high for _, high in ranges)
        if isinstance(node, ast.Call) and (exponent := self._exponent(node, known)) > 0:
            low, high = self.range_of(node.args[0], known)
            return low**exponent, high**exponent
        if found.low == 0 and (found.whole or found.high == 0):
            return 1.0, max(float(found.high), 1.0)
        raise Unbounded

    def _exponent(self, node: ast.Call, known: dict[str, Interval]) -> float:
        """The exponent of a power or of a root; 0 of other calls, and where it is not known."""
        called = ast.unparse(node.func)
        if called == "csaw_power":
            exponent = self._value(node.args[1], known)
            return float(exponent.low) if exponent.low == exponent.high else 0.0
        return 0.5 if called in {f"{name}.sqrt" for name in self.math} else 0.0

    def decided(self, body: Sequence[ast.stmt], known: dict[str, Interval], local: dict[str, ast.expr]) -> ast.expr:
        """The value that statements return, as an expression without variables and without ways that are never taken.

        ``local``: the values of variables. Unbounded for statements that may return none, and for too many ways.
        """
        for number, statement in enumerate(body, 1):
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self._folded(statement.value, known, local)
            if isinstance(statement, ast.If):
                test = self._folded(statement.test, known, local)
                ways = [
                    self.decided([*(statement.body if truth else statement.orelse), *body[number:]], known, dict(local))
                    for truth in sorted(self.truths(test, known), reverse=True)
                ]
                self.ways += len(ways) - 1
                if self.ways > MOST_WAYS:
                    raise Unbounded
                return ast.IfExp(test, *ways) if len(ways) == 2 else ways[0]
            name, value = assigned(statement)
            local[name] = self._folded(value, known, local)
        raise Unbounded

    def truths(self, test: ast.expr, known: dict[str, Interval]) -> set[bool]:
        try:
            return self._value(test, known).truths
        except (Unbounded, ArithmeticError):
            return {True, False}

    def _folded(self, node: ast.expr, known: dict[str, Interval], local: dict[str, ast.expr]) -> ast.expr:
        """An expression without variables, with a number for what is the same for all edges."""
        return _Folded(self, known, local).folded(copy.deepcopy(node))

    def point(self, node: ast.expr, known: dict[str, Interval]) -> ast.expr | None:
        """The number that an expression has for all edges; None where it has several, or where that is not proven."""
        try:
            found = self._value(node, known)
        except (Unbounded, ArithmeticError):
            return None
        return ast.Constant(found.low) if found.low == found.high and math.isfinite(found.low) else None

    def without_shared(self, node: ast.expr, known: dict[str, Interval]) -> tuple[list[str], ast.expr]:
        """The factors above 0 that all edges of a row have in common, as texts, and the expression without them."""
        if isinstance(node, ast.IfExp):
            (shared, body), (others, orelse) = (self.without_shared(one, known) for one in (node.body, node.orelse))
            return (shared, ast.IfExp(node.test, body, orelse)) if shared == others else ([], node)
        shared, left = list[str](), []
        for term, divides in terms_of(node):
            if self._is_shared(term, known):
                shared.append(f"{'/' if divides else '*'} {ast.unparse(ast.fix_missing_locations(term))}")
            else:
                left.append((term, divides))
        return sorted(shared), product(left)

    def _is_shared(self, term: ast.expr, known: dict[str, Interval]) -> bool:
        names = {one.id for one in ast.walk(term) if isinstance(one, ast.Name)}
        return not names & {"weight", "dst"} and self._value(term, known).low > 0


class _Folded(ast.NodeTransformer):
    """Replaces variables by their values, and what is the same for all edges by a number; decides conditions."""

    def __init__(self, reader: AtStep, known: dict[str, Interval], local: dict[str, ast.expr]) -> None:
        self.reader, self.known, self.local = reader, known, local

    def folded(self, node: ast.expr) -> ast.expr:
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name) and node.id in self.local:
            return copy.deepcopy(self.local[node.id])
        found: ast.AST = super().visit(node)
        if isinstance(found, ast.expr) and not isinstance(found, ast.Constant):
            number = self.reader.point(found, self.known)
            return found if number is None else number
        return found

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.folded(node.test)
        truths = self.reader.truths(test, self.known)
        if len(truths) == 1:
            return self.folded(node.body if True in truths else node.orelse)
        return ast.IfExp(test, self.folded(node.body), self.folded(node.orelse))
