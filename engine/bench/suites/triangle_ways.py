"""Three ways to count triangles, compared with one thread: figures 5 and 6 of Wang and others (IA3 2016, Gunrock).

All three ways run on the device that is measured. Figure 5 shows the speed-up of each way over a sequential baseline:
here one thread of the CPU that intersects, whose time stands in the notes. Figure 6 shows times over the sum of the
squares of degrees, so it needs several graphs: ``--graphs gunrock``, or R-MAT graphs of rising scales. Rates count
undirected edges a second.
"""

from collections.abc import Iterator
from copy import copy

from csaw.engine.analytics.measures.triangles import METHODS
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.bench.bench_row import Row, Verdict, gap, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.networks import network_of, on_the_host, timed, timed_row, waiting
from csaw.partition.errors import BudgetError

CLAIM = "of three ways to count triangles, intersecting sets of neighbors is the fastest"
X = "degree_squares"
INTERSECT = "intersection"
WAYS = {INTERSECT: METHODS["intersect"], "masked product": METHODS["matrix"], "matching": METHODS["match"]}


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        network = network_of(context, graph)
        simple = network.undirected
        degrees = on_host(simple.degrees)
        alone = _alone(context, simple)
        for way, what in WAYS.items():
            if context.only in way:
                row = _row(context, simple, way, what)
                if "seconds" in row:
                    row["note"] = f"{alone / row['seconds']:.3g} x one thread of the CPU ({alone:.3g} s)"
                yield context.on(graph) | {"series": way, X: int(degrees @ degrees)} | row
        network.close()


def _alone(context: Context, network: Network) -> float:
    """Return the seconds that one thread of the CPU takes to intersect, the median of the repeats."""
    host = copy(on_the_host(network))
    host.threads = 1
    seconds = timed(lambda: host.compute(WAYS[INTERSECT], each=False), context.repeats)
    return sorted(seconds)[len(seconds) // 2]


def _row(context: Context, network: Network, way: str, what: str) -> Row:
    try:
        seconds = timed(lambda: network.compute(what, each=False), context.repeats, waiting(context))
        total, _ = network.compute(what, each=False)
    except BudgetError as error:
        return gap(way, error)
    return timed_row(way, seconds, network.edges / 2) | {"triangles": total, "ran_on": network.device}


def verdict(rows: list[Row]) -> Verdict:
    found = []
    for row in measured(rows, work=INTERSECT):
        others = [one["rate"] for way in WAYS for one in measured(rows, work=way, graph=row["graph"]) if one is not row]
        if others:
            found.append(row["rate"] / max(others))
    if not found:
        return Verdict(None, "no two ways were measured")
    return Verdict(min(found) >= 1, f"{min(found):.3g} to {max(found):.3g} times as fast as the next")
