"""Selecting without replacement by inverse transform, C-SAW figures 10 to 12: the cost of candidates that were already selected.

Figure 10 is ``times``, the rate as a multiple of repeated sampling's; figure 11 is ``iterations_an_edge``, searches of the CTPS
for each neighbor selected; figure 12 is ``searches_an_edge``, the work of each detector to find repeated candidates. The works are the paper's: biased and
unbiased neighbors, forest fire, and layer sampling, in one way alone: csaw merges a layer's pools by exponential keys, which do not collide. With
``--parameters csaw`` larger neighbors and snowballs stand in place of the layers.
"""

from collections.abc import Iterator
from statistics import geometric_mean

from csaw.engine.bench.bench_row import Row, Verdict, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.suites.neighbors import BIASED, FOREST_FIRE, SNOWBALL
from csaw.engine.bench.work import Work
from csaw.engine.plan.detectors import DETECTORS
from csaw.engine.plan.methods import Collision

CLAIM = "bipartite region search is faster than repeated and than updated sampling, with fewer iterations than repeated sampling, and a bitmap takes fewer searches than a list (C-SAW, figures 10 to 12)"
BASE, BEST = "repeated", "bipartite"
LIST = f"{BEST}, linear"
WAYS = {collision: {"collision": collision} for collision in Collision} | {
    f"{BEST}, {detector}": {"collision": BEST, "detect": detector} for detector in DETECTORS
}
BY_SEARCH = {"select": "its", "layout": "csr"}  # all ways read the same arrays
WORKS = (
    BIASED.having("biased neighbors, 2 x 2", **BY_SEARCH),
    BIASED.having("unbiased neighbors, 2 x 2", bias="none", **BY_SEARCH),
    BIASED.having("biased neighbors, 8 x 8", fanout=(8, 8), **BY_SEARCH),
    FOREST_FIRE.having("forest fire .7", **BY_SEARCH),
    SNOWBALL.having("snowball, 2 of each", **BY_SEARCH),
)
OF_PAPER = (WORKS[0], WORKS[1], WORKS[3])
LAYER = Work(
    "layer, 10 of the frontier's, exponential keys",
    "layer",
    2000,
    {"depth": 2, "neighbor_size": 10, "bias": "degree", "weighted": False},
)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        for work in OF_PAPER if context.of_paper else WORKS:
            yield from _compared(context, graph, work)
        if context.of_paper:
            yield from context.measure(graph, [LAYER])


def _compared(context: Context, graph: Graph, work: Work) -> Iterator[Row]:
    """A row for each way to treat a collision."""
    ways = {f"{work.name}, {way}": way for way in WAYS}
    found = list(context.compare(graph, (work.having(name, **WAYS[way]) for name, way in ways.items())))
    base = [row["rate"] for row in measured(found, work=f"{work.name}, {BASE}")]
    for row in found:
        if "rate" in row:
            row["way"] = ways[row["work"]]
            row |= {"times": row["rate"] / base[0], "times_of": BASE} if base else {}
        yield row


def verdict(rows: list[Row]) -> Verdict:
    best = {_case(row): row for row in measured(rows, way=BEST)}
    said, holds = [], True
    for other in (*Collision, LIST):
        pairs = [(best[_case(row)], row) for row in measured(rows, way=other) if other != BEST and _case(row) in best]
        if not pairs:
            continue
        if other == LIST:
            fewer = sum(row["searches_an_edge"] for _, row in pairs) / sum(
                mine["searches_an_edge"] for mine, _ in pairs
            )
            said.append(f"{fewer:.2f} times fewer searches than a list")
            holds &= fewer > 1
            continue
        times = geometric_mean(mine["rate"] / row["rate"] for mine, row in pairs)
        said.append(f"{times:.2f} times the rate of {other}")
        holds &= times > 1
        if other == BASE:
            fewer = geometric_mean(row["iterations_an_edge"] / mine["iterations_an_edge"] for mine, row in pairs)
            said[-1] += f" with {fewer:.2f} times fewer iterations"
            holds &= fewer > 1
    return (
        Verdict(holds, f"{BEST} has {', '.join(said)}")
        if said
        else Verdict(None, f"{BEST} was not measured beside another")
    )


def _case(row: Row) -> tuple[str, str]:
    """(graph, work without the way to treat collisions)."""
    return row["graph"], row["work"].removesuffix(f", {row['way']}")
