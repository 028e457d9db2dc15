"""Biased neighbor sampling with 2, 4, 8 and 16 thousand instances: C-SAW figure 16 (b).

Depth 3, and the largest neighbor size of (a), 8. With ``--parameters csaw``, neighbor size 2 and depth 2.
"""

from collections.abc import Iterator
from dataclasses import replace

from csaw.engine.bench.bench_row import Published, Row, Verdict
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.neighbor_size import BY_SUMS, DEPTH, SIZES, more_is_faster
from csaw.engine.bench.suites.neighbors import BIASED

CLAIM = "time grows more slowly than the number of instances (C-SAW, figure 16 b)"
PUBLISHED = (Published("C-SAW, figure 16 b", "one NVIDIA V100"),)
X = "instances"
FEWEST, QUICK = 2000, 25


def rows(context: Context) -> Iterator[Row]:
    fewest = QUICK if context.quick else FEWEST
    counts = [count for count in (fewest, 2 * fewest, 4 * fewest, 8 * fewest) if count <= context.most]
    how = f"{DEPTH} deep, by degree" if context.of_paper else "by degree"
    fanout = {"fanout": (SIZES[-1],) * DEPTH} if context.of_paper else {}
    works = [
        replace(BIASED.having(f"{count:,} instances, {how}", **BY_SUMS | fanout), instances=count) for count in counts
    ]
    for graph in context.graphs():
        for row in context.measure(graph, works):
            yield row | {"series": "biased neighbors"}


def verdict(rows: list[Row]) -> Verdict:
    return more_is_faster(rows, X)
