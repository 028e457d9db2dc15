"""Walks and neighbors in time beside those without, on a graph whose edges get times at random.

A step in time has fewer edges to draw from than one without, and most walks end after some steps, because each step
leaves half of what is later: rates count the steps that were taken. Walks of 20 steps write less of what comes after
the end of a walk than walks of 80. Seeds of neighbors are later than all edges, as those of today are, or half way, so
that half of the edges are before them. Bringing edges into the order by time pays where a run has about a step for each
edge, and a run on a CPU with fewer searches in each row: ``--instances`` of a fifth of the edges show its rate.
"""

from collections.abc import Iterator

from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, gap, measured, named, rate_of, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.timed import SPAN, with_times
from csaw.engine.bench.work import Work

CLAIM = "uniform walks in time take steps at half the rate of walks without time, at least"
SHARE = 0.5
MOST_EDGES = 1 << 29  # which are brought into the order by time on the host, a hundred nanoseconds each
MANY, WALKS = 4_000_000, {"walk_length": 20}
FANOUT = {"fanout": (25, 10)}
STATIC = Work("uniform walk, without time", "deepwalk", MANY, WALKS)
UNIFORM = Work("uniform walk in time", "temporal", MANY, WALKS | {"layout": "events"})
NEIGHBORS = Work("25 x 10, without time", "neighbor", 1_000_000, FANOUT)
LATEST = FANOUT | {"start_time": SPAN, "layout": "events"}
SEARCHED = UNIFORM.having("uniform walk in time, by search", layout="csr")
OF_WALKS = (
    UNIFORM,
    UNIFORM.having("uniform walk in time, backward", direction="backward"),
    UNIFORM.having("uniform walk in time, window of a quarter", time_window=SPAN // 4),
    UNIFORM.having("linear walk in time", time_bias="linear"),
    UNIFORM.having("exponential walk in time", time_bias="exponential", time_scale=SPAN / 16),
)
OF_TODAY = (
    Work("25 x 10 in time, uniform", "neighbor", 1_000_000, LATEST | {"time_strategy": "uniform"}),
    Work("25 x 10 in time, last", "neighbor", 1_000_000, LATEST | {"time_strategy": "last"}),
)
OF_NEIGHBORS = (*OF_TODAY, *(work.having(f"{work.name}, seeds half way", start_time=SPAN // 2) for work in OF_TODAY))


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        if graph.store.edges > MOST_EDGES:
            yield context.on(graph) | gap(UNIFORM.name, f"it gives times to at most {MOST_EDGES:,} edges")
            continue
        timed = Graph(f"{graph.label}, times at random", with_times(graph.store))
        of_walks = (*OF_WALKS, SEARCHED) if context.on_gpu else OF_WALKS  # on a CPU no option says so
        for static, works in ((STATIC, of_walks), (NEIGHBORS, OF_NEIGHBORS)):
            found = list(context.measure(timed, (static, *works)))
            base = rate_of(found, static.name)
            yield from (row if row["work"] == static.name else row | beside(row, base, static.name) for row in found)


def verdict(rows: list[Row]) -> Verdict:
    found, base = measured(rows, work=UNIFORM.name), {row["graph"]: row for row in measured(rows, work=STATIC.name)}
    shares = {title: ratio(row, base[row["graph"]]) for title, row in named(found).items() if row["graph"] in base}
    if not shares:
        return Verdict(None, f"{UNIFORM.name} and {STATIC.name} were not measured")
    return by_row(shares, lambda share: share >= SHARE, f"times the rate of a {STATIC.name}")
