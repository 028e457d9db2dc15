"""Random walks at full rate: those of C-SAW's figure 9, those of NextDoor's figure 7, and 4 million walks of 80.

C-SAW's are 4000 x 2000, and multidimensional with a frontier of 2000; NextDoor's DeepWalk and node2vec of length 100,
and PPR of mean length 99, whose walks end by themselves. The 4 million keep a GPU's memory busy.
"""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, measured, named, ratio_in
from csaw.engine.bench.context import Context
from csaw.engine.bench.machine import CHAINED, CHAINS
from csaw.engine.bench.work import Work

CLAIM = "walks are bound by random memory accesses: a uniform step takes at most twice what one gather takes"
MANY = 4_000_000
HALF = 0.5  # of the gather ceiling
LONG, PAPER = {"walk_length": 80, "weighted": False}, {"walk_length": 100, "weighted": False}
LENGTH = "length {walk_length}"
UNIFORM = Work("uniform walk", "deepwalk", MANY, LONG, 32e9)
WEIGHTED = Work("weighted walk", "deepwalk", MANY, LONG | {"weighted": True}, 30e9)
NODE2VEC = Work("node2vec p=2 q=.5", "node2vec", MANY, LONG | {"p": 2.0, "q": 0.5}, 17e9)
MULTIDIMENSIONAL = Work(
    "multidimensional, frontier 2000",
    "multidimensional",
    2000,
    {"frontier_size": 2000, "walk_length": 20000, "weighted": False, "layout": "entries"},
    5e9,
)
FEW = ("uniform walk, 4000 x 2000", "biased by degree, 4000 x 2000")
FEW_STEPS, SIZED = {"walk_length": 2000, "weighted": False}, "{instances} x {walk_length}"
WORKS = (
    UNIFORM,
    WEIGHTED,
    Work(FEW[0], "deepwalk", CHAINS, FEW_STEPS | {"layout": "entries"}, 5.8e9, sized=SIZED),
    Work(FEW[1], "biased", CHAINS, FEW_STEPS, sized=SIZED),
    NODE2VEC,
    Work("node2vec p=.5 q=2", "node2vec", MANY, LONG | {"p": 0.5, "q": 2.0}, 9e9),
    Work("node2vec p=.25 q=4", "node2vec", MANY, LONG | {"p": 0.25, "q": 4.0}, 5e9),
    Work("node2vec p=.25 q=4, weighted", "node2vec", MANY, LONG | {"p": 0.25, "q": 4.0, "weighted": True}),
    Work("DeepWalk, length 100", "deepwalk", MANY, PAPER, sized=LENGTH),
    Work("personalized PageRank, ends .01, no limit", "ppr", MANY, {"termination_prob": 0.01, "weighted": False}),
    Work(
        "personalized PageRank, ends .01, cut at 100",
        "ppr",
        MANY,
        PAPER | {"termination_prob": 0.01},
        sized="cut at {walk_length}",
    ),
    Work("node2vec p=2 q=.5, length 100", "node2vec", MANY, PAPER | {"p": 2.0, "q": 0.5}, sized=LENGTH),
    Work("personalized PageRank, ends .15", "ppr", MANY, PAPER),
    Work("walk with jumps", "jump", MANY, LONG),
    Work("Metropolis-Hastings", "metropolis-hastings", MANY, LONG),
    MULTIDIMENSIONAL,
)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        for row in context.measure(graph, WORKS):
            yield row | _beside_chains(row, context.limit(CHAINED))


def _beside_chains(row: Row, chained: float | None) -> Row:
    """Columns for walks too few to hide the latency of a gather: multiples of the rate of dependent gathers."""
    if row["work"] not in FEW or row.get("instances") != CHAINS:
        return {}
    return beside(row, chained, "gathers one after the other")


def verdict(rows: list[Row]) -> Verdict:
    return of_ceiling(measured(rows, work=UNIFORM.name), UNIFORM.name)


def of_ceiling(found: list[Row], name: str) -> Verdict:
    """Whether a work reaches half of the gather ceiling on every graph."""
    if not found:
        return Verdict(None, f"{name} was not measured")
    shares = {title: ratio_in(row, "of_ceiling") for title, row in named(found).items()}
    return by_row(shares, lambda share: share >= HALF, "times the gather ceiling")
