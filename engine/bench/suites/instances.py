"""Biased neighbor sampling with 2, 4, 8 and 16 thousand instances, neighbor size 2, depth 2: C-SAW figure 16 (b)."""

from collections.abc import Iterator
from dataclasses import replace

from csaw.engine.bench.bench_row import Row, Verdict
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.neighbor_size import BY_SUMS, more_is_faster
from csaw.engine.bench.suites.neighbors import BIASED

CLAIM = "time grows more slowly than the number of instances (C-SAW, figure 16 b)"
X = "instances"
FEWEST, QUICK = 2000, 25


def rows(context: Context) -> Iterator[Row]:
    fewest = QUICK if context.quick else FEWEST
    counts = [count for count in (fewest, 2 * fewest, 4 * fewest, 8 * fewest) if count <= context.most]
    works = [replace(BIASED.having(f"{count:,} instances, by degree", **BY_SUMS), instances=count) for count in counts]
    for graph in context.graphs():
        for row in context.measure(graph, works):
            yield row | {"series": "biased neighbors"}


def verdict(rows: list[Row]) -> Verdict:
    return more_is_faster(rows, X)
