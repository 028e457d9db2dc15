"""The law of a walk's step from its hook ``update``: every way through the hook, with its chance.

A way is decided where the hook compares ``random()`` with a number, or draws ``random_vertex()``. So these hooks have a
law that nobody has to write: those that read of an edge its ends, their degrees, and the place on the walk.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from csaw.partition.errors import OptionError

KNOWN = {"src", "dst", "prev", "source", "depth", "vertices", "src_degree", "dst_degree", "column", "path"}
DRAWN = {"random", "random_vertex"}
ANY = -2  # the end of the edge, whichever it is, where a hook does nothing but return it
NEVER = 1e-18  # chance of a way that no sample shows
MOST_WAYS = 1_000_000


class Ways:
    """One way through a hook: the decisions of ``taken``, then the first that is possible.

    ``others``: the ways that turn off from it.
    """

    def __init__(self, taken: tuple[int, ...], chance: float) -> None:
        self.taken, self.chance, self.depth = taken, chance, 0
        self.others: list[tuple[tuple[int, ...], float]] = []

    def decide(self, chances: Iterable[float]) -> int:
        """The number of a decision of which ``chances`` says how likely each is."""
        before, self.depth = self.taken[: self.depth], self.depth + 1
        if self.depth <= len(self.taken):
            return self.taken[self.depth - 1]
        possible = [(one, self.chance * chance) for one, chance in enumerate(chances) if self.chance * chance > NEVER]
        self.others += [((*before, one), chance) for one, chance in possible[1:]]
        first, self.chance = possible[0]
        self.taken = (*before, first)
        return first


class Fraction:
    """A random number of [0, 1), of which a hook learns by comparing it."""

    def __init__(self, ways: Ways) -> None:
        self.ways, self.low, self.high = ways, 0.0, 1.0

    def __lt__(self, bound: float) -> bool:
        if bound <= self.low or bound >= self.high:
            return bool(bound >= self.high)
        below = (bound - self.low) / (self.high - self.low)
        if self.ways.decide((below, 1.0 - below)) == 0:
            self.high = bound
            return True
        self.low = bound
        return False

    __le__ = __lt__  # the number is never the bound

    def __gt__(self, bound: float) -> bool:
        return not self < bound

    __ge__ = __gt__


def law_of(update: Callable[..., int], edge: str) -> Callable[..., Mapping[int, float]] | None:
    """The method ``law`` of a walk with this hook, whose edge is called ``edge``; None where it reads anything else."""
    tree = ast.parse(update.csaw_source)  # type: ignore[attr-defined]
    reads = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute) and ast.unparse(one.value) == edge}
    if not reads <= KNOWN | DRAWN or not _only_compared(tree, f"{edge}.random"):
        return None

    returned = [one.value for one in ast.walk(tree) if isinstance(one, ast.Return)]
    ends = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and ast.unparse(one) == f"{edge}.dst"]
    alike = "dst_degree" not in reads and all(any(end is one for one in returned) for end in ends)

    def law(self: Any, selected: Mapping[int, float], v: Any) -> Mapping[int, float]:
        from csaw.engine.api.plain_hooks import plain_hook  # imports NumPy, which a command's help does without

        if not selected:
            return {-1: 1.0}
        update, after = plain_hook(self, "update"), defaultdict[int, float](float)
        for dst, share in {ANY: 1.0}.items() if alike else selected.items():
            for vertex, chance in _outcomes(update, v, dst).items():
                after[vertex] += share * chance
        followed = after.pop(ANY, 0.0)
        for dst, share in selected.items():
            after[dst] += followed * share
        return after

    return law


def _only_compared(tree: ast.AST, random: str) -> bool:
    """Whether a hook learns of its random numbers by comparisons alone, of the call or of a name for it."""
    nodes = list(ast.walk(tree))
    comparisons = [one for one in nodes if isinstance(one, ast.Compare)]
    compared = [end for one in comparisons for end in (one.left, *one.comparators)]
    named = [one for one in nodes if isinstance(one, ast.Assign) and _is_call(one.value, random)]
    names = {ast.unparse(target) for one in named for target in one.targets}
    numbers = [one for one in nodes if _is_call(one, random)]
    numbers += [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id in names]
    if any(sum(end in numbers for end in (one.left, *one.comparators)) > 1 for one in comparisons):
        return False
    return all(one in compared or any(one is name.value for name in named) for one in numbers)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def _outcomes(update: Callable[[object], float], v: Any, dst: int) -> dict[int, float]:
    """The chance of each vertex that the hook returns at ``v`` for an edge to ``dst``."""
    found: dict[int, float] = defaultdict(float)
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for _ in range(MOST_WAYS):
        if not waiting:
            return found
        ways = Ways(*waiting.pop())
        vertex = int(update(_edge(v, dst, ways)))
        found[vertex] += ways.chance
        waiting += ways.others
    raise OptionError(f"more than {MOST_WAYS:,} ways through the step; give the class a method law")


def _edge(v: Any, dst: int, ways: Ways) -> SimpleNamespace:
    numbers = {name: getattr(v, name) for name in ("prev", "source", "depth", "vertices", "column", "path")}
    return SimpleNamespace(
        src=v.id,
        dst=dst,
        src_degree=v.degree(v.id),
        dst_degree=v.degree(dst) if dst != ANY else 0,
        random=lambda: Fraction(ways),
        random_vertex=lambda: ways.decide(1.0 / v.vertices for _ in range(v.vertices)),
        **numbers,
    )
