"""Biases of the user's own beside built-in walks: an expression whose bounds are read from its text is drawn as fast.

C-SAW's promise (Pandey et al., SC 2020) is that a user writes a bias and the engine does the rest. The walks are
measured in turns. "A row at a time" is node2vec with ``--select its``, which is how a bias without bounds is drawn.
"""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, paired, rate_of, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.work import Work

TIMES = 1.1
CLAIM = f"node2vec as a user's own expression takes at most {TIMES} times as long as the built-in one"
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
    "static": "e.weight * (1 + e.dst_degree) ** -0.5",
}
ALTOGETHER = Work("a row at a time", "node2vec", 200, LONG | {"p": 0.5, "q": 2.0, "select": "its"})


def rows(context: Context) -> Iterator[Row]:
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


def verdict(rows: list[Row]) -> Verdict:
    ratios = {name: ratio(*two) for name, two in paired(rows, "own", "built in").items()}
    if not ratios:
        return Verdict(None, "node2vec was not measured in both ways; that needs a graph with weights")
    return by_row(ratios, lambda share: share >= 1 / TIMES, "times the rate of the built-in one")
