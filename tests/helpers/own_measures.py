"""Measures of one's own for tests: those of the page on writing one, and classes that use all that a hook can."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from csaw.engine.analytics.evaluation.options import kind_of
from csaw.engine.analytics.rounds import nothing
from csaw.engine.measure import Measure, vertex_option
from helpers.graphs import rows_of

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "own-measure.md"


def text_of_the_page():
    return "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))


def of_the_page(folder, name):
    """The class ``name`` of the page, from a file in ``folder``."""
    file = folder / "measures.py"
    if not file.exists():
        file.write_text(text_of_the_page())
    return kind_of(f"{file}:{name}")


class Endless(Measure):
    """Values that fall for good, until the rounds that are allowed are over."""

    limit = 50

    def start(self, v):
        return v.id

    def edge(self, e):
        return e.value - 1


class Farthest(Measure):
    """The largest id that reaches a vertex, lessened on the way; vertex decides, so that all that came counts."""

    combine = "max"
    source: int = vertex_option(help="none may leave it")

    def start(self, v):
        return v.id * 1.5

    def edge(self, e):
        return e.nothing if e.src == self.source else e.value - e.weight

    def vertex(self, v):
        return max(v.value, v.combined) if v.degree != 3 else v.value


class Reached(Measure):
    """Bits of the three first vertices that reach each vertex backward."""

    combine = "or"
    over = "reversed"

    def start(self, v):
        return 1 << v.id if v.id < 3 else 0


class Beaten(Measure):
    """How many in-neighbors have a larger value, in a share of the round's total: reads all that an edge can."""

    combine = "sum"
    rounds = 4

    def start(self, v):
        return 1.0 + v.degree / v.vertices

    def total(self, v):
        return v.value * 0.1 + v.round

    def edge(self, e):
        return e.weight / 3 if e.value >= e.dst_value and e.src != e.dst else e.round * 0.1

    def vertex(self, v):
        return v.combined / v.total + v.value / 7


class Same(Measure):
    """A search that reads its end, and so is never pushed."""

    def start(self, v):
        return v.id if v.id % 5 == 0 else v.nothing

    def edge(self, e):
        return e.value + 1 if e.dst_degree > 1 or e.dst_value > 100 else e.nothing


class Below(Measure):
    """The best of all that came, by weights, along edges to larger ids alone: pushed from disk, too."""

    combine = "max"

    def start(self, v):
        return 9.0 if v.degree > 2 else v.nothing

    def edge(self, e):
        return e.value - e.weight / 8 if e.dst > e.src else e.nothing


class Near(Measure):
    """A search with a tolerance: an integer that changes from nothing changes by more than an int64 can say."""

    combine = "max"
    tolerance = 0

    def start(self, v):
        return 0 if v.id == 0 else v.nothing

    def edge(self, e):
        return e.value + 1 if e.value < 3 else e.value


class Degrees(Measure):
    """Values are floats, and an edge gives an integer."""

    def start(self, v):
        return 0.5 + v.degree

    def edge(self, e):
        return e.src


class Huge(Measure):
    """A total of integers beyond 64 bits."""

    combine = "sum"
    rounds = 1

    def start(self, v):
        return 1 << 53

    def total(self, v):
        return v.value

    def vertex(self, v):
        return v.total + v.combined * 0


class Softened(Measure):
    """Floats that are summed along edges with all that a hook may call, until they hardly change."""

    combine = "sum"
    tolerance = 1e-3
    rounds = 20

    def start(self, v):
        return 1.0 / (1 + v.id)

    def total(self, v):
        return v.value * v.value

    def edge(self, e):
        return softened(e.value) * math.exp(-e.weight) + min(e.value, e.dst_value, 0.25) - max(-0.0, e.value * -0.0)

    def vertex(self, v):
        return 0.5 * v.value + v.combined / (1 + v.degree + abs(v.combined)) + v.total * 1e-9


def softened(x):
    y = x**1.5
    while y > 1.0:
        y /= 3.0
    return y


class Signed(Measure):
    """The best of floats of both signs, which order as integers in two ways."""

    combine = "max"

    def start(self, v):
        return -0.0 if v.id % 3 == 0 else 50.0 - v.id

    def edge(self, e):
        return e.value * 0.75 - 0.125 * e.src_degree


class Counted(Measure):
    """Integers that are summed along edges, with a total of integers."""

    combine = "sum"
    rounds = 3

    def start(self, v):
        return v.id % 4

    def total(self, v):
        return v.value // (v.id % 3 + 1)

    def edge(self, e):
        return e.value * (e.src_degree - e.dst_degree) if e.src % 2 else -e.dst

    def vertex(self, v):
        return v.combined % 1000 - v.total % 7 + v.round


class Divided(Measure):
    """Divisions of integers that round down, and by 0, which give 0."""

    rounds = 4

    def start(self, v):
        return 7 - 3 * v.id

    def edge(self, e):
        return e.value // (e.dst % 3) + e.value % (e.src % 4 - 2) - e.round


class Unfit(Measure):
    """An edge gives NaN, of which the vertex makes NaN."""

    combine = "sum"

    def start(self, v):
        return 1.0

    def edge(self, e):
        return (e.value - e.dst_value) / (e.value - e.dst_value)

    def vertex(self, v):
        return v.combined


KINDS = (Farthest, Reached, Beaten, Same, Below, Near, Degrees, Huge, Softened, Signed, Counted, Divided)


def found(measure, network):
    """The values of all vertices."""
    return measure.findings(network)[measure.name()].values


COMBINED = {"min": min, "max": max, "sum": lambda a, b: a + b, "or": lambda a, b: a | b}


def by_definition(one, store, source=0):
    """Values and number of rounds, by calling the hooks in Python's interpreter on lists."""
    edges = [(u, v, w) for u, row in enumerate(rows_of(store, store.weighted)) for v, w in row]
    edges = [(v, u, w) for u, v, w in edges] if one.over == "reversed" else edges
    count, degrees = store.vertices, np.bincount([u for u, *_ in edges], minlength=store.vertices).tolist()
    me = SimpleNamespace(source=source)
    real = isinstance(type(one).start(me, _view(one, True, id=0, degree=degrees[0], vertices=count)), float)

    def view(**fields):
        return _view(one, real, vertices=count, **fields)

    def of(v):
        return {"id": v, "degree": degrees[v]}

    values, number, none = [type(one).start(me, view(**of(v))) for v in range(count)], 0, nothing(one.combine, real)
    while one.rounds is None or number < one.rounds:
        number += 1
        shared = {"round": number}
        if one.has("total"):
            each = [type(one).total(me, view(**of(v), value=values[v], **shared)) for v in range(count)]
            shared["total"] = sum(each) if not real else np.sum(each)
        came = [none] * count
        for u, v, weight in sorted(edges, key=lambda edge: (edge[1], edge[0])):
            if one.combine == "sum" or values[u] != none:
                ends = {"src": u, "dst": v, "src_degree": degrees[u], "dst_degree": degrees[v], "weight": weight}
                sent = type(one).edge(me, view(**ends, value=values[u], dst_value=values[v], **shared))
                came[v] = COMBINED[one.combine](came[v], sent)
        if one.has("vertex"):
            pairs = zip(values, came, strict=True)
            new = [
                type(one).vertex(me, view(**of(v), value=old, combined=got, **shared))
                for v, (old, got) in enumerate(pairs)
            ]
        else:
            new = [COMBINED[one.combine](old, got) for old, got in zip(values, came, strict=True)]
        changed, values = new != values, new
        if not changed and not one.reads("round"):
            break
    return values, number


def _view(one, real, **fields):
    return SimpleNamespace(**fields, nothing=nothing(one.combine, real))
