"""Triangles by three ways beside one thread: figures 5 and 6 of Gunrock's paper on them (Wang and others, IA3 2016).

Figure 5 has the speed-up of each way over a sequential baseline, here intersection by one thread of the CPU, which the
notes have; figure 6 has times over the sum of the squares of degrees, the axis of the plot, where several graphs are
given: ``--graphs gunrock``, or R-MAT graphs of rising scales. A GPU intersects; the other two ways have no kernels
there, and are measured on the CPU with all threads. Rates are undirected edges in a second, all in.
"""

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial

from csaw.engine.analytics.network import Network, on_host
from csaw.engine.bench.bench_row import Row, Verdict, gap, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.networks import network_of, on_the_host, timed, timed_row, waiting
from csaw.partition.errors import BudgetError

CLAIM = "of three ways to count triangles, intersecting sets of neighbors is the fastest"
X = "degree_squares"
INTERSECT, ALONE = "intersection", "intersection, one thread"
OTHERS = {"masked product": "masked_product", "matching": "matched_triangles"}
Works = dict[str, Callable[[], tuple[int, object]]]


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        network = network_of(context, graph)
        simple = network.undirected
        degrees, alone = on_host(simple.degrees), 0.0
        for work, call in _works(simple).items():
            if context.only in work or work == ALONE:  # others stand beside it
                row = _row(context, simple, work, call)
                alone = row.get("seconds", 0.0) if work == ALONE else alone
                if alone and work != ALONE and "seconds" in row:
                    row["note"] = f"{alone / row['seconds']:.3g} x one thread"
                yield context.on(graph) | {"series": work, X: int(degrees @ degrees)} | row
        network.close()


def _works(network: Network) -> Works:
    """Each way by its name; one thread first."""
    host = on_the_host(network)
    single = copy(host)
    single.threads = 1
    works: Works = {
        ALONE: partial(single.compute, "triangles", each=False),
        INTERSECT: partial(network.compute, "triangles", each=False),
    }
    return works | {way: partial(host.compute, what, each=False) for way, what in OTHERS.items()}


def _row(context: Context, network: Network, work: str, call: Callable[[], tuple[int, object]]) -> Row:
    try:
        seconds = timed(call, context.repeats, waiting(context))
    except BudgetError as error:
        return gap(work, error)
    return timed_row(work, seconds, network.edges / 2) | {"triangles": call()[0]}


def verdict(rows: list[Row]) -> Verdict:
    found = []
    for row in measured(rows, work=INTERSECT):
        others = [one["rate"] for way in OTHERS for one in measured(rows, work=way, graph=row["graph"])]
        if others:
            found.append(row["rate"] / max(others))
    if not found:
        return Verdict(None, "no two ways were measured")
    return Verdict(min(found) >= 1, f"{min(found):.3g} to {max(found):.3g} times as fast as the next")
