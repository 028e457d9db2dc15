"""Neighbors drawn together for a part of the graph, or instance by instance: NextDoor figures 7 and 8, on a GPU.

NextDoor has a kernel each for vertices with less than 32 samples, up to 1,024, and more. csaw has one, so that works
tell these cases apart: a million instances with 10, 100 and 2,000 samples of each source.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from csaw.engine.bench.bench_row import Published, Row, Verdict, beside, by_row, gap, paired, rate_of, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.neighbors import DISTINCT, REPLACED
from csaw.engine.bench.work import Work

CLAIM = (
    "transit-parallel sampling, its grouping included, is faster than sample-parallel sampling (NextDoor, "
    "figures 7 and 8)"
)
PUBLISHED = (Published("NextDoor, figures 7 and 8", "one NVIDIA V100"),)
WAYS = {"off": "sample-parallel", "on": "transit-parallel"}
FEWER = (100_000, 400_000)  # sources: with fewer picks per edge of the graph, they share fewer rows
SAMPLES = (10, 100, 2000)  # of each source
WORKS = (
    REPLACED,
    DISTINCT,
    REPLACED.having("5 x 48, with replacement", fanout=(5, 48)),
    REPLACED.having("10 x 25, with replacement", fanout=(10, 25)),
    *(
        replace(work, name=f"{work.name}, {count:,} sources", instances=count, goal=None, sized="{instances:,} sources")
        for work in (REPLACED, DISTINCT)
        for count in FEWER
    ),
)


def shared(context: Context) -> list[Work]:
    """Works in which several instances begin at each source, so that their first hop has as many samples of it.

    A run of fewer instances than that has none.
    """
    found = []
    for work, count in product((REPLACED, DISTINCT), SAMPLES):
        if sources := context.shrunk(work).instances // count:
            named = work.having(f"{work.name}, {count:,} samples of a source", sources=f"random:{sources}")
            found.append(replace(named, goal=None))
    return found


def rows(context: Context) -> Iterator[Row]:
    if not context.on_gpu:
        yield gap("transit parallelism", "it is for GPUs, and here is none; the CPU draws instance by instance")
        return
    for graph in context.graphs():
        for work in context.wanted([*WORKS, *shared(context)]):
            variants = {f"{work.name}, {way}": option for option, way in WAYS.items()}
            found = list(
                context.compare(graph, (work.having(n, transit_parallel=option) for n, option in variants.items()))
            )
            base = rate_of(found, f"{work.name}, {WAYS['off']}")
            yield from (row | beside(row, base, WAYS["off"]) for row in found)


def verdict(rows: list[Row]) -> Verdict:
    times = {name: ratio(*both) for name, both in paired(rows, WAYS["on"], WAYS["off"]).items()}
    if not times:
        return Verdict(None, "both ways were not measured")
    return by_row(times, lambda found: found > 1, f"times the rate of {WAYS['off']}")
