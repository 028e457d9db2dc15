"""Biased neighbor sampling with 1, 2, 4 and 8 neighbors of each vertex: C-SAW figure 16 (a).

16,000 instances and depth 3. With ``--parameters csaw``, 2000 instances and depth 2.
"""

from collections.abc import Iterator
from dataclasses import replace

from csaw.engine.bench.bench_row import Published, Ratio, Row, Verdict, by_row, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.neighbors import BIASED
from csaw.engine.bench.work import Work

CLAIM = "time grows more slowly than the sampled edges when a vertex selects more neighbors (C-SAW, figure 16 a)"
PUBLISHED = (Published("C-SAW, figure 16 a", "one NVIDIA V100"),)
X = "neighbor_size"
SIZES = (1, 2, 4, 8)
INSTANCES, DEPTH = 16_000, 3
BY_SUMS = {"select": "its", "layout": "ctps"}  # all sizes read the same arrays


def rows(context: Context) -> Iterator[Row]:
    works = {size: _work(size, of_paper=context.of_paper) for size in SIZES}
    sizes = {work.name: size for size, work in works.items()}
    for graph in context.graphs():
        for row in context.measure(graph, works.values()):
            yield row | {X: sizes[row["work"]], "series": "biased neighbors"}


def _work(size: int, *, of_paper: bool) -> Work:
    if of_paper:
        deep = BIASED.having(f"neighbor size {size}, depth {DEPTH}, by degree", fanout=(size,) * DEPTH, **BY_SUMS)
        return replace(deep, instances=INSTANCES)
    return BIASED.having(f"neighbor size {size}, by degree", fanout=(size, size), **BY_SUMS)


def verdict(rows: list[Row]) -> Verdict:
    return more_is_faster(rows, X)


def more_is_faster(rows: list[Row], over: str) -> Verdict:
    """Whether on every graph the rate is higher at the largest value of column ``over`` than at the smallest.

    It is higher beyond the spreads of both.
    """
    times: dict[str, Ratio] = {}
    for graph in dict.fromkeys(row["graph"] for row in rows):
        here = sorted((row for row in rows if row["graph"] == graph), key=lambda row: row[over])
        low, high = here[0], here[-1]
        if low[over] < high[over]:
            times[graph] = ratio(high, low)
    if not times:
        return Verdict(None, "fewer than two sizes were measured")
    return by_row(times, lambda found: found > 1, f"times the rate from {low[over]:,} to {high[over]:,}")
