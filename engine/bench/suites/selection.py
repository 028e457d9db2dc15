"""Selecting without replacement by inverse transform: the cost of candidates that were already selected.

C-SAW figures 10 to 12. Figure 10 is ``times``, the rate as a multiple of repeated sampling's; figure 11 is
``iterations_an_edge``, searches of the CTPS for each neighbor selected; figure 12 is ``searches_an_edge``, the work of
each detector to find repeated candidates. The works are the paper's: biased and unbiased neighbors, forest fire, and
layer sampling. The pool of a first layer is the row of its source, which is searched in all ways; csaw merges the pools
of later layers by exponential keys, which do not collide, so that two layers are measured in this way alone. With
``--parameters csaw`` larger neighbors and snowballs stand in place of the layers.
"""

from collections.abc import Callable, Iterator
from functools import partial

from csaw.engine.bench.bench_row import Published, Ratio, Row, Verdict, all_of, beside, by_row, paired, rate_of, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.suites.neighbors import BIASED, FOREST_FIRE, SNOWBALL
from csaw.engine.bench.work import Work
from csaw.engine.plan.detectors import DETECTORS
from csaw.engine.plan.methods import Collision

CLAIM = (
    "bipartite region search is faster than repeated and than updated sampling, with fewer iterations than "
    "repeated sampling, and a bitmap takes fewer searches than a list (C-SAW, figures 10 to 12)"
)
PUBLISHED = (Published("C-SAW, figures 10 to 12", "one NVIDIA V100"),)
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
FIRST_LAYER = BIASED.having("first layer, 10 of a source's", fanout=(10,), **BY_SEARCH)
OF_PAPER = (WORKS[0], WORKS[1], WORKS[3], FIRST_LAYER)
LAYERS = Work(
    "two layers, 10 of the frontier's, exponential keys",
    "layer",
    2000,
    {"depth": 2, "neighbor_size": 10, "bias": "degree", "weighted": False},
)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        for work in OF_PAPER if context.of_paper else WORKS:
            yield from _compared(context, graph, work)
        if context.of_paper:
            yield from context.measure(graph, [LAYERS])


def _compared(context: Context, graph: Graph, work: Work) -> Iterator[Row]:
    """A row for each way to treat a collision."""
    ways = {f"{work.name}, {way}": way for way in WAYS}
    found = list(context.compare(graph, (work.having(name, **WAYS[way]) for name, way in ways.items())))
    base = rate_of(found, f"{work.name}, {BASE}")
    for row in found:
        yield row | ({"way": ways[row["work"]]} | beside(row, base, BASE) if "rate" in row else {})


def verdict(rows: list[Row]) -> Verdict:
    parts = [
        _compare(rows, BASE, ratio, f"times the rate of {BASE}"),
        _compare(rows, BASE, partial(_fewer, "iterations"), "times fewer iterations"),
        _compare(rows, "updated", ratio, "times the rate of updated"),
        _compare(rows, LIST, partial(_fewer, "searches"), "times fewer searches than a list"),
    ]
    found = [part for part in parts if part is not None]
    if not found:
        return Verdict(None, f"{BEST} was not measured beside another")
    verdict = all_of(found)
    return Verdict(verdict.holds, f"{BEST} has {verdict.found}")


def _compare(rows: list[Row], other: str, times: Callable[[Row, Row], float | Ratio], said: str) -> Verdict | None:
    """Whether the best way exceeds another in each work, by ``times`` of both rows; None if no work has both."""
    found = {name: times(*both) for name, both in paired(rows, BEST, other).items()}
    return by_row(found, lambda times: times > 1, said) if found else None


def _fewer(what: str, best: Row, other: Row) -> float:
    """How many times fewer of something the best way counted, which repeats do not vary."""
    return other[f"{what}_an_edge"] / best[f"{what}_an_edge"]
