"""The measures of the page on writing one's own (docs/guides/own-measure.md), to be measured beside csaw's."""

from csaw.engine.measure import Measure, option, vertex_option

# mypy: disable-error-code=no-untyped-def


class Distance(Measure):
    """Breadth-first search."""

    source: int = vertex_option(help="vertex that distances are taken from")

    def start(self, v):
        return 0 if v.id == self.source else v.nothing

    def edge(self, e):
        return e.value + 1


class WeightFrom(Distance):
    """Shortest paths by weight."""

    def start(self, v):
        return 0.0 if v.id == self.source else v.nothing

    def edge(self, e):
        return e.value + e.weight


class Label(Measure):
    """Components by label propagation."""

    over = "undirected"
    kind = "label"

    def start(self, v):
        return v.id


class Rank(Measure):
    """PageRank in floats."""

    combine = "sum"
    kind = "rank"
    chance: float = option(0.85, help="chance that a step follows an edge", low=0, high=1)
    tolerance: float = option(1e-6, help="change of a round at which it ends", low=0)

    def start(self, v):
        return 1 / v.vertices

    def total(self, v):
        return 0.0 if v.degree else v.value

    def edge(self, e):
        return e.value / e.src_degree

    def vertex(self, v):
        return (1 - self.chance + self.chance * v.total) / v.vertices + self.chance * v.combined


class KCore(Measure):
    """The k-core, by leaving one after the other."""

    combine = "sum"
    over = "undirected"
    k: int = option(3, help="neighbors in the core that a vertex of it has at least", low=0)

    def start(self, v):
        return 1

    def vertex(self, v):
        return 1 if v.value and v.combined >= self.k else 0
