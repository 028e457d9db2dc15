"""Neighbor samples and subgraphs: GraphSAGE's 25 x 10, layer sampling (NextDoor figure 7), and C-SAW's settings.

Those of C-SAW's figures 9 to 12 are 2000 instances with neighbor size 2 and depth 2, forest fire with Pf .7.
"""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.walks import of_ceiling
from csaw.engine.bench.work import Work

CLAIM = (
    "neighbors are bound by random memory accesses: a pick with replacement takes at most twice what one gather takes"
)
MOST_LAYERS = 20  # the number of vertices ends an instance, unless its source reaches fewer
FANOUT = {"fanout": (25, 10), "weighted": False}
REPLACED = Work("25 x 10, with replacement", "neighbor", 1_000_000, FANOUT | {"replace": True}, 80e9)
DISTINCT = Work("25 x 10, without replacement", "neighbor", 1_000_000, FANOUT, 40e9)
BIASED = Work("2 x 2 by degree (C-SAW)", "neighbor", 2000, {"fanout": (2, 2), "bias": "degree", "weighted": False})
FOREST_FIRE = Work("forest fire .7 (C-SAW)", "forest-fire", 2000, {"burn_prob": 0.7, "depth": 2, "weighted": False})
SNOWBALL = Work("snowball, 2 of each", "snowball", 2000, {"depth": 2, "neighbor_size": 2, "weighted": False})
WORKS = (
    REPLACED,
    DISTINCT,
    Work("25 x 10, weighted, with replacement", "neighbor", 1_000_000, FANOUT | {"replace": True, "weighted": True}),
    Work("25 x 10, weighted, without replacement", "neighbor", 1_000_000, FANOUT | {"weighted": True}),
    BIASED,
    FOREST_FIRE,
    Work("layer, 10 of the frontier's", "layer", 2000, {"depth": 2, "neighbor_size": 10, "weighted": False}),
    Work(
        "layers of 1000 until 2000 vertices (NextDoor)",
        "layer",
        100,
        {"depth": MOST_LAYERS, "neighbor_size": 1000, "total": 2000, "weighted": False},
    ),
    SNOWBALL,
    Work("random edges, 100 of the graph's", "random-edge", 2000, {"neighbor_size": 100, "weighted": False}),
)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        yield from context.measure(graph, WORKS)


def verdict(rows: list[Row]) -> Verdict:
    return of_ceiling(measured(rows, work=REPLACED.name), REPLACED.name)
