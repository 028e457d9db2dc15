"""Biased neighbor sampling with 1, 2, 4 and 8 neighbors of each vertex, 2000 instances, depth 2: C-SAW figure 16 (a)."""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict
from csaw.engine.bench.context import Context
from csaw.engine.bench.suites.neighbors import BIASED

CLAIM = "time grows more slowly than the sampled edges when a vertex selects more neighbors (C-SAW, figure 16 a)"
X = "neighbor_size"
SIZES = (1, 2, 4, 8)
BY_SUMS = {"select": "its", "layout": "ctps"}  # all sizes read the same arrays
WORKS = {f"neighbor size {size}, by degree": size for size in SIZES}


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        works = (BIASED.having(name, fanout=(size, size), **BY_SUMS) for name, size in WORKS.items())
        for row in context.measure(graph, works):
            yield row | {X: WORKS[row["work"]], "series": "biased neighbors"}


def verdict(rows: list[Row]) -> Verdict:
    return more_is_faster(rows, X)


def more_is_faster(rows: list[Row], over: str) -> Verdict:
    """Whether on every graph the rate at the largest value of column ``over`` exceeds that at the smallest, beyond the spreads of both."""
    ratios, clear = [], []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        here = sorted((row for row in rows if row["graph"] == graph), key=lambda row: row[over])
        low, high = here[0], here[-1]
        ratios.append(high["rate"] / low["rate"])
        clear.append(high["slowest"] > low["fastest"])
    if not ratios or low[over] == high[over]:
        return Verdict(None, "fewer than two sizes were measured")
    found = f"{min(ratios):.2g}" if len(ratios) == 1 else f"{min(ratios):.2g} to {max(ratios):.2g}"
    noise = "" if all(clear) else ", within the spread of the figures"
    return Verdict(all(clear), f"{found} times the rate from {low[over]:,} to {high[over]:,}{noise}")
