"""Custom biases and measures compared with csaw's.

The measures are those of the page on writing one's own (docs/guides/own-measure.md).
"""

from collections.abc import Callable, Iterator
from functools import partial

from csaw.engine.analytics.network import Network, on_host
from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, measured, paired, rate_of, ratio
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.machine import timed
from csaw.engine.bench.measure import Options, Work
from csaw.engine.bench.networks import (
    beside_goal,
    beside_one,
    goal_verdict,
    network_of,
    spread_over,
    timed_row,
    waiting,
    with_gpus,
)
from csaw.engine.measure import Measure, option, vertex_option


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


BIAS_TIMES = 1.1
TRAVERSED, FEW = 100_000, 2_000
MANY, LONG = 4_000_000, {"walk_length": 80, "weighted": True}
BUILT_IN, OWN = "node2vec p=.5 q=2, built in", "node2vec p=.5 q=2, own"
NODE2VEC = "e.weight * (2 if e.dst == e.prev else 1 if e.prev < 0 or e.is_neighbor(e.prev, e.dst) else 0.5)"
BIASES = {
    OWN: NODE2VEC,
    "triangles, without weights": "2 if e.is_neighbor(e.prev, e.dst) else 1",
    "return edge": "e.weight * (0.25 if e.dst == e.prev else 1)",
    "degrees and return edge": "e.weight * (2 if e.dst_degree > e.src_degree else 1) * (0.5 if e.dst == e.prev else 1)",
    "fewer hubs and return edge": "e.weight * e.dst_degree ** -0.5 * (0.5 if e.dst == e.prev else 1)",
    "fewer hubs, own node2vec": f"{NODE2VEC} * e.dst_degree ** -0.5",
    "by depth": "e.weight * (1 + e.depth % 3)",
    "by depth, two cases": "e.weight if e.depth % 2 == 0 else 1.0",
    "by depth, weights and then degrees": "e.weight if e.depth < 2 else 1 + e.dst_degree",
    "static": "e.weight * (1 + e.dst_degree) ** -0.5",
}
FANOUT = {"fanout": (25, 10)}
PLAIN, ROWS = "neighbors of 25 x 10, equal biases", "neighbors of 25 x 10, whole rows"
NEIGHBORS = {
    "neighbors of 25 x 10, by what was before": "2 if e.dst == e.source else 1",
    "neighbors of 25 x 10, near the vertex before": "2 if e.is_neighbor(e.prev, e.dst) else 1",
    "neighbors of 25 x 10, by weight and depth": "e.weight * (1 + e.depth)",
}
"""Biases of traversals, which are drawn by trials."""
ALTOGETHER = Work("a row at a time", "node2vec", 200, LONG | {"p": 0.5, "q": 2.0, "select": "its"})


def own_biases_rows(context: Context) -> Iterator[Row]:
    """Biases of the user's own: an expression whose bounds are read from its text is drawn as fast as built-in walks.

    C-SAW's promise (Pandey et al., SC 2020) is that a user writes a bias and the engine does the rest. The walks are
    measured in turns. "A row at a time" is node2vec with ``--select its``, which is how a bias without bounds is drawn.
    Neighbors are beside those with equal biases; "whole rows" are the first bias with ``--select its``.
    """
    for graph in context.graphs():
        works = [
            Work("weighted walk", "deepwalk", MANY, LONG),
            Work(BUILT_IN, "node2vec", MANY, LONG | {"p": 0.5, "q": 2.0}),
            *(Work(name, "deepwalk", MANY, LONG | {"edge_bias": text}) for name, text in BIASES.items()),
        ]
        found = list(context.compare(graph, works))
        built_in = rate_of(found, BUILT_IN)
        yield from (row if row["work"] == BUILT_IN else row | beside(row, built_in, "the built-in") for row in found)
        for row in context.measure(graph, [ALTOGETHER]):
            yield row | beside(row, built_in, "the built-in")
        yield from _neighbor_rows(context, graph)


def _neighbor_rows(context: Context, graph: Graph) -> Iterator[Row]:
    """Neighbors by biases of the user's own, beside equal biases."""
    first, *_ = NEIGHBORS.values()
    works = [
        Work(PLAIN, "neighbor", TRAVERSED, FANOUT | {"bias": "none"}),
        *(Work(name, "neighbor", TRAVERSED, FANOUT | _biased(text)) for name, text in NEIGHBORS.items()),
        Work(ROWS, "neighbor", FEW, FANOUT | _biased(first) | {"select": "its"}),
    ]
    found = list(context.compare(graph, works))
    plain = rate_of(found, PLAIN)
    yield from (row if row["work"] == PLAIN else row | beside(row, plain, "equal biases") for row in found)


def _biased(text: str) -> Options:
    """The options of a bias, which count weights if it reads them."""
    return {"edge_bias": text, "weighted": "e.weight" in text}


def own_biases_verdict(rows: list[Row]) -> Verdict:
    ratios = {name: ratio(*two) for name, two in paired(rows, "own", "built in").items()}
    if not ratios:
        return Verdict(None, "node2vec was not measured in both ways; that needs a graph with weights")
    return by_row(ratios, lambda share: share >= 1 / BIAS_TIMES, "times the rate of the built-in one")


MEASURE_TIMES = 3
DAMPING, TOLERANCE = 0.85, 1e-6
Works = dict[str, tuple[type[Measure], Callable[[], object]]]


def own_measures_rows(context: Context) -> Iterator[Row]:
    """Measures of the user's own beside csaw's of the same name: how much slower hooks in rounds are.

    The classes are those of the guide on writing one's own, the steps those of Gunrock (Wang and others, PPoPP 2016).
    Rates are entries of rows in a second, of PageRank in all its rounds; hooks are compiled before. A search begins at
    the vertex of largest degree, PageRank ends at a change of 1e-6, and the 3-core is beside all core numbers. With
    several GPUs, each class is measured on all of them, too, and on the graph spread over them. Those that csaw leaves
    to the first GPU are measured there.
    """
    for graph in context.graphs():
        network = network_of(context, graph)
        several = _several(context, graph, network)
        for work, (kind, call) in _works(network).items():
            if context.only in work:
                built_in = _row(context, network, work, call)
                for row in (built_in, *_beside(context, network, several, kind, built_in)):
                    yield context.on(graph) | row
        for one in (network, *several.values()):
            one.close()


def _works(network: Network) -> Works:
    """csaw's measure by its name, with the class that finds the same."""
    source, nowhere = int(on_host(network.degrees).argmax()), network.xp.zeros(0, "int64")
    ranks = {"damping": DAMPING, "tolerance": TOLERANCE, "sources": nowhere}
    works: Works = {
        "BFS": (Distance, lambda: network.compute("bfs", source=source)),
        "components": (Label, lambda: network.undirected.compute("components")),
        "PageRank": (Rank, lambda: network.compute("pagerank", **ranks)),
        "core numbers": (KCore, lambda: network.undirected.compute("core")),
    }
    if network.weighted:
        works["SSSP"] = (WeightFrom, lambda: network.compute("sssp", source=source))
    return works


def _row(context: Context, network: Network, work: str, call: Callable[[], object]) -> Row:
    seconds = timed(call, context.repeats, waiting(context))
    return timed_row(work, seconds, network.edges) | {"ran_on": network.device}


def _beside(
    context: Context, network: Network, several: dict[str, Network], kind: type[Measure], built_in: Row
) -> Iterator[Row]:
    """The rows of the user's own measure: beside csaw's, and on several GPUs beside that of one."""
    own = _row(context, network, f"{built_in['work']}, {kind.name()}", partial(kind().computed, network))
    times = f"{own['seconds'] / built_in['seconds']:.2g} x csaw's own"
    yield own | beside_goal(own, built_in["rate"] / MEASURE_TIMES) | {"note": times}
    for where, gpus in several.items():
        row = _row(context, gpus, f"{own['work']}, {where}", partial(kind().computed, gpus))
        yield row | beside_one(row, own)


def _several(context: Context, graph: Graph, network: Network) -> dict[str, Network]:
    """The network on all GPUs that were given, if there are several: each with all rows, and each with its own."""
    if len(context.devices) < 2:
        return {}
    where, pooled = f"{len(context.devices)} GPUs", spread_over(context, graph)
    spread = {} if pooled is None else {f"{where}, pooled": pooled}
    return {where: with_gpus(network, context.devices[1:]), **spread}


def own_measures_verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows) if "met" in row]
    return goal_verdict(found, "no measure of one's own was measured", lambda row: f"{row['work']} {row['note']}")


SUITES = {
    "own-biases": Suite(
        f"node2vec as a user's own expression takes at most {BIAS_TIMES} times as long as the built-in one",
        own_biases_rows,
        own_biases_verdict,
    ),
    "own-measures": Suite(
        f"a measure in Python's hooks takes at most {MEASURE_TIMES} times as long as csaw's own",
        own_measures_rows,
        own_measures_verdict,
    ),
}
