"""Measures of the user's own beside csaw's of the same name, of a graph in memory: how much slower hooks in rounds are.

The classes are those of the guide on writing one's own (engine/bench/own_classes.py), the steps those of Gunrock (Wang
and others, PPoPP 2016). Rates are entries of rows in a second, of PageRank in all its rounds; hooks are compiled
before. A search begins at the vertex of largest degree, PageRank ends at a change of 1e-6, and the 3-core is beside all
core numbers. With several GPUs, each class is measured on all of them, too, and on the graph spread over them.
Those that csaw leaves to the first GPU are measured there.
"""

from collections.abc import Callable, Iterator
from functools import partial

from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.own_measure import Measure
from csaw.engine.bench import own_classes
from csaw.engine.bench.bench_row import Row, Verdict, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.networks import (
    beside_goal,
    beside_one,
    goal_verdict,
    network_of,
    spread_over,
    timed,
    timed_row,
    waiting,
    with_gpus,
)

TIMES = 3
CLAIM = f"a measure in Python's hooks takes at most {TIMES} times as long as csaw's own"
DAMPING, TOLERANCE = 0.85, 1e-6
Works = dict[str, tuple[type[Measure], Callable[[], object]]]


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        network = network_of(context, graph)
        several = _several(context, graph, network)
        for work, (kind, call) in _works(network).items():
            if context.only in work:
                *rows, own = _beside_own(context, network, work, kind(), call)
                for row in (*rows, own, *_on_several(context, several, kind(), own)):
                    yield context.on(graph) | row
        for one in (network, *several.values()):
            one.close()


def _works(network: Network) -> Works:
    """csaw's measure by its name, with the class that finds the same."""
    source, nowhere = int(on_host(network.degrees).argmax()), network.xp.zeros(0, "int64")
    ranks = {"damping": DAMPING, "tolerance": TOLERANCE, "sources": nowhere}
    works: Works = {
        "BFS": (own_classes.Distance, lambda: network.compute("bfs", source=source)),
        "components": (own_classes.Label, lambda: network.undirected.compute("components")),
        "PageRank": (own_classes.Rank, lambda: network.compute("pagerank", **ranks)),
        "core numbers": (own_classes.KCore, lambda: network.undirected.compute("core")),
    }
    if network.weighted:
        works["SSSP"] = (own_classes.WeightFrom, lambda: network.compute("sssp", source=source))
    return works


def _beside_own(
    context: Context, network: Network, work: str, one: Measure, call: Callable[[], object]
) -> Iterator[Row]:
    """The row of csaw's measure, and that of the user's own."""
    ran_on = {"ran_on": network.device}
    built_in = timed_row(work, timed(call, context.repeats, waiting(context)), network.edges) | ran_on
    yield built_in
    seconds = timed(lambda: one.computed(network), context.repeats, waiting(context))
    own = timed_row(f"{work}, {one.name()}", seconds, network.edges) | ran_on
    times = f"{own['seconds'] / built_in['seconds']:.2g} x csaw's own"
    yield own | beside_goal(own, built_in["rate"] / TIMES) | {"note": times}


def _several(context: Context, graph: Graph, network: Network) -> dict[str, Network]:
    """The network on all GPUs that were given, if there are several: each with all rows, and each with its own."""
    if len(context.devices) < 2:
        return {}
    where, pooled = f"{len(context.devices)} GPUs", spread_over(context, graph)
    spread = {} if pooled is None else {f"{where}, pooled": pooled}
    return {where: with_gpus(network, context.devices[1:]), **spread}


def _on_several(context: Context, several: dict[str, Network], one: Measure, alone: Row) -> Iterator[Row]:
    """The rows of the user's own on several GPUs, beside that of one GPU."""
    for where, network in several.items():
        seconds = timed(partial(one.computed, network), context.repeats, waiting(context))
        row = timed_row(f"{alone['work']}, {where}", seconds, network.edges) | {"ran_on": network.device}
        yield row | beside_one(row, alone)


def verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows) if "met" in row]
    return goal_verdict(found, "no measure of one's own was measured", lambda row: f"{row['work']} {row['note']}")
