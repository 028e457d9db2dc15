"""Arithmetic of intervals: bounds of what a hook computes from numbers of which bounds are known.

Additions, products, quotients and roots are rounded monotonically, so the bounds of a result are those that kernels
compute from the bounds of its operands, to the last bit; powers, exponentials and logarithms get some room.
"""

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
