"""The law of a walk's step from its hooks ``update`` and ``dead_end``: every way through them, with its chance.

A way is decided where a hook compares ``random()`` with a number, or draws ``random_vertex()``. So these hooks have a
law that nobody has to write: those that read of an edge its ends, their degrees, and the place on the walk.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

from csaw.engine.api.algorithm import NONE, LawView, Walk
from csaw.engine.api.hook_scope import source_of
from csaw.partition.errors import OptionError

Law = Callable[..., Mapping[int, float]]
PLACE = {"prev", "source", "depth", "vertices", "column", "path"}
KNOWN = {"update": PLACE | {"src", "dst", "src_degree", "dst_degree"}, "dead_end": PLACE | {"id", "degree"}}
DRAWN = {"random", "random_vertex"}
ANY = -2  # the end of the edge, whichever it is, where a hook does nothing but return it
ANYWHERE = -3  # a random vertex, whichever it is, where a hook does nothing but return it
NEVER = 1e-18  # chance of a way that no sample shows
MOST_WAYS = 1_000_000


class NegligibleWay(BaseException):
    """Raised in a hook to leave a way that no sample shows, as of a loop that goes on by chance."""


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
        if not possible:
            raise NegligibleWay
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


class Readable(NamedTuple):
    """A hook of which every way can be followed, by its name.

    ``alike``: whether it treats all ends of an edge alike. ``drawn``: whether it only returns its random vertices.
    """

    name: str
    alike: bool
    drawn: bool


def readable(hook: Callable[..., int], name: str, view: str | None = None) -> Readable | None:
    """The hook ``name``, whose argument is called ``view``; None where it reads or does anything that has no ways."""
    if not isinstance(hook, FunctionType) or hook.__name__ == "<lambda>":
        return None
    tree = ast.parse(source_of(hook)).body[0]
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) != 2:
        return None
    view = view or tree.args.args[1].arg
    nodes = list(ast.walk(tree))
    reads = [one for one in nodes if isinstance(one, ast.Attribute) and ast.unparse(one.value) == view]
    whole = [one for one in nodes if isinstance(one, ast.Name) and one.id == view]
    random, vertex = f"{view}.random", f"{view}.random_vertex"
    if len(whole) != len(reads) or not {one.attr for one in reads} <= KNOWN[name] | DRAWN:
        return None
    if not _only_compared(nodes, random):
        return None
    results = [end for one in nodes if isinstance(one, ast.Return) and one.value for end in results_of(one.value)]
    ends = [one for one in reads if one.attr == "dst"]
    alike = "dst_degree" not in {one.attr for one in reads} and all(any(end is one for one in results) for end in ends)
    drawn = [one for one in nodes if _is_call(one, vertex)]
    return Readable(name, alike, all(any(end is one for one in results) for end in drawn))


def law_of_walk(kind: type[Walk]) -> Law | None:
    """The method ``law`` for a class whose hooks decide where a walk goes and that has none of its own.

    None: its law stands, or cannot be found, and then nothing is tested, rather than by the law of a base whose hooks
    are others.
    """
    hooks = [name for name in ("update", "dead_end") if getattr(kind, name) is not getattr(Walk, name)]
    if not hooks or all(issubclass(_definer(kind, "law"), _definer(kind, name)) for name in hooks):
        return None
    found = {name: readable(getattr(kind, name), name) for name in hooks}
    if any(one is None or not one.drawn for one in found.values()):
        return Walk.law
    return law_by(found.get("update"), found.get("dead_end"))


def law_by(update: Readable | None, dead_end: Readable | None) -> Law:
    """The method ``law`` of a walk with these hooks; None is the hook of Walk."""

    def law(self: Walk, selected: Mapping[int, float], v: LawView) -> Mapping[int, float]:
        if not selected:
            return _spread(_outcomes(self, dead_end, partial(_vertex, v)), v) if dead_end else {NONE: 1.0}
        if update is None:
            return selected
        after = defaultdict[int, float](float)
        for dst, share in {ANY: 1.0}.items() if update.alike else selected.items():
            for vertex, chance in _outcomes(self, update, partial(_edge, v, dst)).items():
                after[vertex] += share * chance
        followed = after.pop(ANY, 0.0)
        for dst, share in selected.items():
            after[dst] += followed * share
        return _spread(after, v)

    return law


def _definer(kind: type, name: str) -> type:
    return next(one for one in kind.__mro__ if name in vars(one))


def results_of(value: ast.expr) -> list[ast.expr]:
    """The expressions of which one is returned."""
    return [*results_of(value.body), *results_of(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def _spread(chances: dict[int, float], v: LawView) -> dict[int, float]:
    """The chance of each vertex, where that of a random one is that of all."""
    anywhere = chances.pop(ANYWHERE, 0.0)
    if not anywhere:
        return chances
    each = anywhere / v.vertices
    return dict.fromkeys(range(v.vertices), each) | {
        u: each * (0 <= u < v.vertices) + one for u, one in chances.items()
    }


def _only_compared(nodes: list[ast.AST], random: str) -> bool:
    """Whether a hook learns of its random numbers by comparisons alone, of the call or of a name for it."""
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


def _outcomes(self: Walk, hook: Readable, view: Callable[[Ways, bool], object]) -> dict[int, float]:
    """The chance of each vertex that the hook returns for a ``view``, which is made for each way."""
    from csaw.engine.api.law import plain_hook  # imports NumPy, which a command's help does without

    called, found = plain_hook(self, hook.name), defaultdict[int, float](float)
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for _ in range(MOST_WAYS):
        if not waiting:
            return found
        ways = Ways(*waiting.pop())
        with suppress(NegligibleWay):
            vertex = int(called(view(ways, hook.drawn)))
            found[vertex] += ways.chance
        waiting += ways.others
    raise OptionError(f"more than {MOST_WAYS:,} paths through a step; give the class a method law")


def _edge(v: LawView, dst: int, ways: Ways, drawn: bool) -> SimpleNamespace:
    degree = v.degree(dst) if dst != ANY else 0
    return SimpleNamespace(src=v.id, dst=dst, src_degree=v.degree(v.id), dst_degree=degree, **_place(v, ways, drawn))


def _vertex(v: LawView, ways: Ways, drawn: bool) -> SimpleNamespace:
    return SimpleNamespace(id=v.id, degree=v.degree(v.id), **_place(v, ways, drawn))


def _place(v: LawView, ways: Ways, drawn: bool) -> dict[str, object]:
    """The numbers that hooks read of a place of a walk, and its random numbers."""
    numbers = {name: getattr(v, name) for name in PLACE}
    each = 1.0 / v.vertices
    return numbers | {
        "random": lambda: Fraction(ways),
        "random_vertex": lambda: ANYWHERE if drawn else ways.decide(each for _ in range(v.vertices)),
    }
