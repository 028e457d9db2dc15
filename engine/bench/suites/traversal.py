"""Components, breadth-first search, hop counts of 64 sources, shortest ways by weight, and betweenness: tables III to V of Gunrock's multi-GPU paper, on a graph in memory.

Rates are edges in a second: of an undirected graph each once. Searches begin at random vertices that have edges, and a time is that of one source, or of 64 together.
The bytes that must move are the entries of rows, each once, and what is read and written of each vertex, at the rate of copies in the memory that holds them. A
search may move fewer: a vertex that is reached needs no more of its row. networkit and igraph are measured beside it where they are installed.

Of several GPUs (``--device cuda:0,1``), each has the rows already. Searches are measured as csaw divides them by itself; and they and shortest ways with all levels divided, where
what was reached is sent to its owner alone (selective) or to all GPUs (broadcast), which Pan and others compare (IPDPS 2017).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from csaw.engine.analytics.cuda.levels import Exchange
from csaw.engine.bench import traversal_peers
from csaw.engine.bench.bench_row import Row, Verdict, figure, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.networks import GAP, copy_rate, network_of, of_one, timed, waiting, with_gpus, with_ratios

CLAIM = "a search reaches 150 G edges in a second on a GPU (R-MAT scale 24), and 1.39 G on two cores (1.2 times the 9.4 ms of GAP at scale 20)"
PUBLISHED = (GAP,)
BFS, SSSP = "BFS, a source", "SSSP, a source"
GOALS = {"cuda": 150e9, "cpu": 31_401_342 / 2 / (1.2 * 9.4e-3)}
SOURCES = 16
OF_VERTEX = {
    "components": 12,
    BFS: 12,
    "hops, 64 sources": 96,
    SSSP: 24,
    "betweenness, a source": 64,
}  # bytes read and written of each
ALONE = ("components", SSSP)  # what csaw leaves to the first of several GPUs


def rows(context: Context) -> Iterator[Row]:
    bandwidth = copy_rate(context)
    for graph in context.graphs():
        network = network_of(context, graph)
        sources = _sources(network)
        works = _works(network, sources) | _works_of_several(context, network, sources)
        rows = (_row(context, network, work, call, bandwidth) for work, call in works.items() if context.only in work)
        for row in with_ratios(rows, OF_VERTEX):
            yield context.on(graph) | row
        network.close()
        if not context.on_gpu:
            yield from _peers(context, graph, sources)


def _sources(network: Any) -> list[int]:
    """The same vertices for all that are compared: random ones that have edges."""
    degrees = network.degrees if network.device == "cpu" else network.degrees.get()
    able = np.flatnonzero(degrees)
    return np.random.default_rng(1).choice(able, SOURCES).tolist() if able.size else [0]


def _each(network: Any, what: str, sources: list[int], **options: Any) -> Callable[[], Any]:
    return lambda: [network.compute(what, source=source, **options) for source in sources]


def _works(network: Any, sources: list[int]) -> dict[str, Callable[[], Any]]:
    """Each work by its name. Those of one source go through all of them."""
    many = np.random.default_rng(2).choice(network.vertices, 64)
    works: dict[str, Callable[[], Any]] = {
        "components": lambda: network.compute("components"),
        BFS: _each(network, "bfs", sources),
        "hops, 64 sources": lambda: network.compute("hops", sources=many),
    }
    if network.weighted:
        works[SSSP] = _each(network, "sssp", sources)
    return works | {
        "betweenness, a source": lambda: network.compute("betweenness", sources=np.array(sources)),
    }


def _works_of_several(context: Context, network: Any, sources: list[int]) -> dict[str, Callable[[], Any]]:
    """What several GPUs share on all that were given, if there are several, and searches by each way in which they exchange levels."""
    if len(context.devices) < 2:
        return {}
    several, gpus = with_gpus(network, context.devices[1:]), f"{len(context.devices)} GPUs"
    works = {f"{work}, {gpus}": call for work, call in _works(several, sources).items() if work not in ALONE}
    if not network.resident:
        return works
    several.among(len(context.devices), weights=network.weighted)
    for exchange in Exchange:
        works[f"{BFS}, {gpus}, {exchange}"] = _each(several, "bfs", sources, exchange=exchange)
        if network.weighted:
            works[f"{SSSP}, {gpus}, {exchange}"] = _each(several, "sssp", sources, exchange=exchange)
    return works


def _row(context: Context, network: Any, work: str, call: Callable[[], Any], bandwidth: float) -> Row:
    turns = SOURCES if of_one(work, OF_VERTEX).endswith("a source") else 1
    seconds = sorted(taken / turns for taken in timed(call, context.repeats, waiting(context)))
    least = (
        network.id_dtype.itemsize * network.edges + OF_VERTEX[of_one(work, OF_VERTEX)] * network.vertices
    ) / bandwidth
    row: Row = {"work": work, "seconds": seconds[len(seconds) // 2], "limits": {"the bytes that must move": least}}
    row |= figure([_edges(network) / taken for taken in seconds])
    return row | ({"goal": GOALS[network.device], "met": row["rate"] >= GOALS[network.device]} if work == BFS else {})


def _edges(network: Any) -> float:
    return network.edges if network.directed else network.edges / 2


def _peers(context: Context, graph: Graph, sources: list[int]) -> Iterator[Row]:
    """The same by a peer."""
    edges = graph.store.edges if graph.store.directed else graph.store.edges / 2
    for peer, work, call in traversal_peers.calls(graph.store.load(), graph.store.directed, sources):
        name, turns = f"{work}, {peer}", SOURCES if work == BFS else 1
        if context.only in name:
            seconds = sorted(taken / turns for taken in timed(call, context.repeats))
            row = {"work": name, "peer": peer, "seconds": seconds[len(seconds) // 2]}
            yield context.on(graph) | row | figure([edges / taken for taken in seconds])


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=BFS)
    if not found:
        return Verdict(None, "no search was measured")
    said = "; ".join(f"{row['rate'] / 1e9:.3g} G edges/s on {row['graph']}" for row in found)
    return Verdict(all(row["met"] for row in found), said)
