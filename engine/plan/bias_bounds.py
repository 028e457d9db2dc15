"""Bounds of a bias, read from its text: what is proven for every edge decides how a walk draws.

The text of a hook is run once with intervals in place of numbers, as abstract interpretation does (Cousot and Cousot,
POPL 1977).
"""

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from csaw.engine.api import hooks
from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.hook_language import is_truth

# Arithmetic of intervals: bounds of what a hook computes from numbers of which bounds are known.
#
# Additions, products, quotients and roots are rounded monotonically, so the bounds of a result are those that kernels
# compute from the bounds of its operands, to the last bit; powers, exponentials and logarithms get some room.

Number = int | float
MOST = 2**62  # of a number of vertices, of edges or of instances
ROOM = 1e-12  # share of a power, an exponential or a logarithm


class Unbounded(Exception):
    """The text computes what has no bounds here."""


@dataclass(frozen=True)
class Interval:
    """All numbers from ``low`` to ``high``: integers alone where both are integers. Those of the same ``vertex`` are
    one number.
    """

    low: Number
    high: Number
    vertex: str = ""

    @property
    def whole(self) -> bool:
        """Whether its numbers are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def truths(self) -> set[bool]:
        """The truth values that its numbers have."""
        found = {True} if (self.low, self.high) != (0, 0) else set()
        return found | ({False} if self.low <= 0 <= self.high else set())

    def or_also(self, other: "Interval | None") -> "Interval":
        if other is None:
            return self
        vertex = self.vertex if self.vertex == other.vertex else ""
        whole = _of_all(min(self.low, other.low), max(self.high, other.high), (self, other))
        return replace(whole, vertex=vertex)


def _below(number: Number) -> float:
    """The next float that is not above."""
    return found if (found := float(number)) <= number else math.nextafter(found, -math.inf)


def _above(number: Number) -> float:
    """The next float that is not below."""
    return -_below(-number)


def any_of(values: Sequence[Interval]) -> Interval:
    """All numbers of some intervals."""
    found = values[0]
    for one in values[1:]:
        found = found.or_also(one)
    return found


def least(values: Sequence[Interval]) -> Interval:
    """The interval of ``min`` of a number of each."""
    return _of_all(min(one.low for one in values), min(one.high for one in values), values)


def greatest(values: Sequence[Interval]) -> Interval:
    """The interval of ``max`` of a number of each."""
    return _of_all(max(one.low for one in values), max(one.high for one in values), values)


def _of_all(low: Number, high: Number, values: Sequence[Interval]) -> Interval:
    return Interval(low, high) if all(one.whole for one in values) else Interval(_below(low), _above(high))


def truth(truths: set[bool]) -> Interval:
    """An interval of 0 and 1, for these truth values."""
    return Interval(int(min(truths)), int(max(truths)))


def checked(low: Number, high: Number) -> Interval:
    """An interval; Unbounded for what is no finite number, and for integers beyond 64 bits."""
    too_large = any(isinstance(one, int) and abs(one) > 2 * MOST - 1 for one in (low, high))
    if too_large or not (math.isfinite(low) and math.isfinite(high)):
        raise Unbounded
    return Interval(low, high)


def alike(a: Interval, b: Interval) -> tuple[Interval, Interval]:
    """Two intervals as kernels compare them: integers beside floats are floats, which has not all beyond 2^53."""
    if a.whole == b.whole:
        return a, b
    return replace(a, low=float(a.low), high=float(a.high)), replace(b, low=float(b.low), high=float(b.high))


def of_one(op: ast.unaryop, a: Interval) -> Interval:
    """The interval of a sign or of not."""
    if isinstance(op, ast.USub):
        return checked(-a.high, -a.low)
    if isinstance(op, ast.Not):
        return truth({not one for one in a.truths})
    if isinstance(op, ast.UAdd):
        return replace(a, vertex="")
    raise Unbounded


def _corners(of: Callable[[Number, Number], Number], a: Interval, b: Interval) -> Interval:
    """The bounds of a function that is monotone in both of its arguments, each for itself."""
    found = [of(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if any(map(math.isnan, found)):
        raise Unbounded
    return checked(min(found), max(found))


BITS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
"""Operations on the bits of two known integers."""


def of_two(op: ast.operator, a: Interval, b: Interval) -> Interval:
    """The interval of an operation on two numbers. Unbounded for those that are not known here."""
    if isinstance(op, ast.Add):
        return checked(a.low + b.low, a.high + b.high)
    if isinstance(op, ast.Sub):
        return checked(a.low - b.high, a.high - b.low)
    if isinstance(op, ast.Mult):
        return _corners(lambda x, y: x * y, a, b)
    if isinstance(op, ast.Div) and not b.low <= 0 <= b.high:
        return _corners(lambda x, y: float(x) / float(y), a, b)
    if type(op) in BITS and a.whole and b.whole and a.low == a.high and b.low == b.high:
        return Interval(found := BITS[type(op)](int(a.low), int(b.low)), found)
    if isinstance(op, ast.FloorDiv) and a.whole and b.whole and b.low > 0:
        return _corners(lambda x, y: x // y, a, b)
    if isinstance(op, ast.Mod) and a.whole and b.whole and a.low == a.high and b.low == b.high > 0:
        return checked(a.low % b.low, a.low % b.low)
    if isinstance(op, ast.Mod) and b.low > 0 and math.isfinite(a.low) and math.isfinite(a.high):
        return Interval(0, b.high - 1) if a.whole and b.whole else Interval(0.0, _above(b.high))
    raise Unbounded


def _roomy(low: float, high: float) -> Interval:
    """An interval with some room, for functions whose last bits are not proven."""
    return checked(low - ROOM * abs(low), high + ROOM * abs(high))


def _power(a: Interval, b: Interval) -> Interval:
    if a.low < 0 or (a.low == 0 and b.low <= 0):
        raise Unbounded
    found = _corners(lambda x, y: math.pow(x, y), a, b)
    return _roomy(found.low, found.high)


def _logarithm(a: Interval) -> Interval:
    if a.low <= 0:
        raise Unbounded
    low, high = math.log(a.low), math.log(a.high)
    return checked(low - ROOM * (1.0 + abs(low)), high + ROOM * (1.0 + abs(high)))


def _root(a: Interval) -> Interval:
    if a.low < 0:
        raise Unbounded
    return checked(math.sqrt(a.low), math.sqrt(a.high))


def _absolute(a: Interval) -> Interval:
    if a.low >= 0:
        return checked(a.low, a.high)
    return checked(-a.high, -a.low) if a.high <= 0 else checked(0 * a.low, max(-a.low, a.high))


FUNCTIONS: dict[str, tuple[int, Callable[..., Interval]]] = {
    "float": (1, lambda a: Interval(float(a.low), float(a.high))),
    "bool": (1, lambda a: truth(a.truths)),
    "abs": (1, _absolute),
    "fabs": (1, _absolute),
    "sqrt": (1, _root),
    "csaw_exponential": (1, lambda a: _roomy(math.exp(a.low), math.exp(a.high))),
    "csaw_logarithm": (1, _logarithm),
    "csaw_power": (2, _power),
}
"""Functions of hooks, with the number of their arguments."""


Environment = dict[str, "Interval"]
LARGEST = 1e260  # of a bound: its product with any float32 and any number of edges still fits a float64
TRIALS = 256  # most trials of a step by rejection that bounds may let one expect
DEEPEST = 16  # calls of own functions within each other
VERTICES = ("dst", "src")
DEPTHS = Interval(0, MOST)


@dataclass(frozen=True)
class Bounds:
    """A bias over the weight of its edge is in [low, high], and ``back`` on the edge to the previous vertex, or at most
    ``high`` there where ``back`` equals ``high``. No bias over a weight is below ``lowest``.
    """

    low: float
    high: float
    back: float
    lowest: float

    @property
    def are_near(self) -> bool:
        """Whether they prove that a proposal is accepted often enough for rejection."""
        return 1.0 / LARGEST <= self.high <= min(LARGEST, TRIALS * self.low)


def derived_bounds(algorithm: Algorithm, depth: int | None = None) -> Bounds | None:
    """The bounds of edge_bias / e.weight at all depths, or at one; None where nothing is proven.

    A traversal draws no edge apart: ``high`` bounds all of its edges.
    """
    found = _read(algorithm, depth)[0]
    return replace(found, high=max(found.high, found.back)) if found and isinstance(algorithm, Traversal) else found


def asks_on_return(algorithm: Walk) -> bool:
    """Whether edge_bias may ask if an edge exists when its own edge leads back to the previous vertex."""
    return _read(algorithm)[1]


def _read(algorithm: Algorithm, depth: int | None = None) -> tuple[Bounds | None, bool]:
    bias = hooks.edge_bias(algorithm, weighted=False)  # in which the weight is 1
    depths = _depths(algorithm) if depth is None else Interval(depth, depth)
    bounds, asks = _read_text(bias.source, hooks.params(algorithm), depths)
    return None if bias.columns else bounds, asks


def _depths(algorithm: Algorithm) -> Interval:
    """The depths at which neighbors are selected."""
    if not isinstance(algorithm, Traversal) or algorithm.is_unlimited:
        return DEPTHS
    return Interval(0, max(len(algorithm.sizes()) - 1, 0))


@lru_cache(64)
def _read_text(source: str, params: tuple[float, ...], depths: Interval) -> tuple[Bounds | None, bool]:
    with hooks.TREES:
        tree = ast.parse(source)
    try:
        returning = IntervalReader(tree, params, returns=True, depths=depths)
        back, asks = returning.result(), returning.asks
    except (Unbounded, ArithmeticError, RecursionError):
        return None, True
    try:
        others = IntervalReader(tree, params, returns=False, depths=depths).result()
    except (Unbounded, ArithmeticError, RecursionError):
        return None, asks
    return _bounds(others, back), asks


def _bounds(others: Interval, back: Interval) -> Bounds | None:
    """The bounds of edges that lead elsewhere and of the one that leads back; None where they bound nothing."""
    low, high, returning = float(others.low), float(others.high), float(back.low)
    if back.low < back.high:
        returning = high = max(high, float(back.high))
    lowest = min(low, float(back.low))
    return Bounds(low, high, returning, lowest) if lowest >= 0.0 and high < math.inf else None


class IntervalReader:
    """Runs the function ``edge_bias`` of a text. ``returns``: of the edge to the previous vertex, or of all others.

    ``depths``: those at which it is called.
    """

    def __init__(self, tree: ast.Module, params: Sequence[float], returns: bool, depths: Interval = DEPTHS) -> None:
        self.functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
        self.params, self.returns, self.depths, self.calls = params, returns, depths, 0
        self.asks = False  # whether it has asked if an edge exists
        imports = [one for one in tree.body if isinstance(one, ast.ImportFrom)]
        self.imported = {one.asname or one.name: one.name for each in imports for one in each.names}
        modules = [one for each in tree.body if isinstance(each, ast.Import) for one in each.names]
        self.math = {one.asname or one.name for one in modules if one.name == "math"}
        self.constants: Environment = {}
        for statement in (one for one in tree.body if isinstance(one, ast.Assign)):
            name, value = assigned(statement)
            self.constants[name] = self._value(value, {})

    def result(self) -> Interval:
        """All that the function may return."""
        known = {name: Interval(0, MOST, name) for name in VERTICES}
        known["source"] = Interval(-1, MOST, "source")  # -1: none
        known["prev"] = known["dst"] if self.returns else Interval(-1, MOST, "prev")
        known |= {"depth": self.depths, "instance": Interval(0, 2 * MOST - 1), "weight": Interval(1.0, 1.0)}
        return self._called(self.functions["edge_bias"], known)

    def _called(self, function: ast.FunctionDef, known: Environment) -> Interval:
        self.calls += 1
        if self.calls > DEEPEST:
            raise Unbounded
        returned, after = self._run(function.body, self.constants | known)
        self.calls -= 1
        if returned is None or after is not None:  # it may end without a number
            raise Unbounded
        return returned

    def _run(self, body: Sequence[ast.stmt], known: Environment) -> tuple[Interval | None, Environment | None]:
        """The values that statements may return, and the variables after them; None if they are never reached."""
        returned: Interval | None = None
        for statement in body:
            if isinstance(statement, ast.If):
                ways = []
                for holds in self._value(statement.test, known).truths:
                    ways.append(self._run(statement.body if holds else statement.orelse, dict(known)))
                for found, _ in ways:
                    returned = returned if found is None else found.or_also(returned)
                behind = [after for _, after in ways if after is not None]
                if not behind:
                    return returned, None
                known = _joined(behind)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                return self._value(statement.value, known).or_also(returned), None
            else:
                name, value = assigned(statement)
                known[name] = self._value(value, known)
        return returned, known

    def _value(self, node: ast.expr, known: Environment) -> Interval:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return checked(+value, +value)
            case ast.Name(id=name) if name in known:
                return known[name]
            case ast.Subscript(value=ast.Name(id="params"), slice=ast.Constant(value=int() as number)):
                return checked(+self.params[number], +self.params[number])  # of a truth 0 or 1
            case ast.Attribute(value=ast.Name(id=owner), attr="pi" | "e" | "tau" | "inf" as name) if owner in self.math:
                return checked(getattr(math, name), getattr(math, name))
            case ast.IfExp():
                ways = [node.body if truth else node.orelse for truth in self._value(node.test, known).truths]
                return any_of([self._value(way, known) for way in ways])
            case ast.BoolOp():
                return self._decided(node, known)
            case ast.Compare():
                return self._compared(node, known)
            case ast.UnaryOp():
                return of_one(node.op, self._value(node.operand, known))
            case ast.BinOp():
                return of_two(node.op, self._value(node.left, known), self._value(node.right, known))
            case ast.Call(keywords=[]):
                return self._call(node, known)
        raise Unbounded

    def _decided(self, node: ast.BoolOp, known: Environment) -> Interval:
        """``and`` and ``or``: of truths, each is looked at where those before it have not decided; of numbers, any."""
        if not all(map(is_truth, node.values)):
            return any_of([self._value(one, known) for one in node.values])
        decides = isinstance(node.op, ast.Or)
        found: set[bool] = set()
        for one in node.values:
            truths = self._value(one, known).truths
            found |= truths & {decides}
            if truths == {decides}:
                return truth(found)
        return truth(found | {not decides})

    def _compared(self, node: ast.Compare, known: Environment) -> Interval:
        ends = [self._value(one, known) for one in (node.left, *node.comparators)]
        found = [self._one_compared(op, *two) for op, two in zip(node.ops, pairwise(ends), strict=True)]
        return truth({all(one == {True} for one in found), all(True in one for one in found)})

    def _one_compared(self, op: ast.cmpop, a: Interval, b: Interval) -> set[bool]:
        """The truth values of a comparison."""
        if isinstance(op, ast.Gt | ast.GtE):
            return self._one_compared(ast.Lt() if isinstance(op, ast.Gt) else ast.LtE(), b, a)
        same = bool(a.vertex) and a.vertex == b.vertex
        a, b = alike(a, b)
        if isinstance(op, ast.Eq | ast.NotEq):
            other = {a.vertex, b.vertex} == {"dst", "prev"} and not self.returns
            may = not other and a.low <= b.high and b.low <= a.high
            must = same or (a.low == a.high == b.low == b.high)
            equal = {True} if must else {True, False} if may else {False}
            return equal if isinstance(op, ast.Eq) else {not one for one in equal}
        if isinstance(op, ast.Lt):
            return {False} if same else {a.low < b.high, a.high < b.low}
        if isinstance(op, ast.LtE):
            return {True} if same else {a.low <= b.high, a.high <= b.low}
        raise Unbounded

    def _call(self, node: ast.Call, known: Environment) -> Interval:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "is_neighbor":
            self.asks = True
            return Interval(0, 1)
        if name == "degree":
            has_edge = isinstance(node.args[1], ast.Name) and node.args[1].id == "src"
            return Interval(int(has_edge), MOST)
        if name == "vertex_count":
            return Interval(1, MOST)
        given, name = [self._value(one, known) for one in node.args], self.imported.get(name, name)
        if (own := self.functions.get(name)) is not None and len(own.args.args) == len(given):
            names = [one.arg for one in own.args.args]
            return self._called(own, dict(zip(names, given, strict=True)))
        if name in FUNCTIONS and len(given) == FUNCTIONS[name][0]:
            return FUNCTIONS[name][1](*given)
        if name in ("min", "max") and given:
            return least(given) if name == "min" else greatest(given)
        raise Unbounded


def assigned(statement: ast.stmt) -> tuple[str, ast.expr]:
    """The variable and the value of an assignment."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return name, value
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return name, ast.BinOp(ast.Name(name, ast.Load()), op, value)
    raise Unbounded


def _joined(ways: Sequence[Environment]) -> Environment:
    """The variables behind branches: those that each of them has."""
    return {name: any_of([way[name] for way in ways]) for name in ways[0] if all(name in way for way in ways)}
