"""Graphs of several types: fanouts by relation and walks along metapaths compared with the same graph without types."""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict, all_of, beside, by_row, gap, measured, named, rate_of, ratio
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import AUTHOR, MOST_EDGES, PAPER, Graph, with_types
from csaw.engine.bench.measure import Work

OTHERS = "*"  # all relations, which is written as it is on the command line
MINI_BATCHES = Work(
    "mini-batches, 25 x 10, without relations",
    "minibatch",
    200,
    {"sources": f"type:{PAPER}", "seeds_per_batch": 1024, "fanout": (25, 10)},
)
EACH = MINI_BATCHES.having("mini-batches, 25 and 10 of each relation", fanout={OTHERS: (25, 10)})
IN_ALL = MINI_BATCHES.having(
    "mini-batches, 25 and 10 in all",
    fanout={OTHERS: (13, 5), "cites": (12, 5), "knows": (12, 5)},
)
NEIGHBORS = Work(
    "neighbors, 25 x 10, without relations",
    "neighbor",
    100_000,
    {"sources": f"type:{PAPER}", "fanout": (25, 10)},
)
NEIGHBORS_OF_EACH = NEIGHBORS.having("neighbors, 25 and 10 of each relation", fanout={OTHERS: (25, 10)})
WALK = Work("uniform walk, without relations", "deepwalk", 4_000_000, {"sources": f"type:{AUTHOR}", "walk_length": 80})
METAPATHS = (
    WALK.having("walk along author-paper-author", metapath="author,paper,author"),
    WALK.having("walk along author-paper-paper-author", metapath="author,paper,paper,author"),
)


PARTS = (
    (MINI_BATCHES, (EACH, IN_ALL), 0.5, "times the rate of mini-batches without relations"),
    (NEIGHBORS, (NEIGHBORS_OF_EACH,), 0.7, "times the rate of neighbors without relations"),
    (WALK, METAPATHS, 0.8, "times the rate of uniform walks"),
)
"""What is compared: works without relations and works with them, the least share of the rate, and what it is of."""


def relations_rows(context: Context) -> Iterator[Row]:
    """Mini-batches and neighbors with a fanout for each relation and walks along metapaths, compared with the same
    without relations.

    Half of the vertices become authors, the others papers, so that two relations leave each vertex: authors know
    authors and write papers, papers cite papers and are written. Mini-batches begin at 1,024 papers. They select as
    many edges of each relation as the mini-batch without relations selects in all, or 13 and 12, and 5 and 5, which is
    as many together. Walks of 80 steps begin at authors, in order, with each step uniform. Bringing the edges into the
    order of their relations is not timed.
    """
    for graph in context.graphs():
        if graph.store.edges > MOST_EDGES:
            yield context.on(graph) | gap(EACH.name, f"it gives types to at most {MOST_EDGES:,} edges")
            continue
        typed = Graph(f"{graph.label}, two types", with_types(graph.store))
        for base, works, *_ in PARTS:
            found = list(context.compare(typed, (base, *works)))
            rate = rate_of(found, base.name)
            yield from (row if row["work"] == base.name else row | beside(row, rate, base.name) for row in found)


def relations_verdict(rows: list[Row]) -> Verdict:
    return all_of([_part(rows, *part) for part in PARTS])


def _part(rows: list[Row], base: Work, works: tuple[Work, ...], least: float, said: str) -> Verdict:
    bases = {row["graph"]: row for row in measured(rows, work=base.name)}
    found = named([row for work in works for row in measured(rows, work=work.name) if row["graph"] in bases])
    shares = {title: ratio(row, bases[row["graph"]]) for title, row in found.items()}
    if not shares:
        return Verdict(None, f"{works[0].name} and {base.name} were not measured")
    return by_row(shares, lambda share: share >= least, said)


SUITES = {
    "relations": Suite(
        "with a fanout for each relation, neighbors are drawn at .7 of the rate without relations, at least, and "
        "mini-batches at half of it; walks along metapaths take steps at .8 of the rate of uniform walks",
        relations_rows,
        relations_verdict,
    ),
}
