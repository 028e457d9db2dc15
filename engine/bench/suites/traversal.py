"""Components, breadth-first search, hop counts, shortest paths by weight, and betweenness of a graph in memory.

Tables III to V of Gunrock's multi-GPU paper. Rates are edges in a second: of an undirected graph each once. Searches
begin at random vertices that have edges, and a time is that of one source, or of 64 together. The bytes that must move
are the entries of rows, each once, and what is read and written of each vertex, at the rate of copies in the memory
that holds them. A search may move fewer: a vertex that is reached needs no more of its row. networkit and igraph are
measured beside it where they are installed, or by the interpreter of ``--peer networkit=PYTHON``.

Of several GPUs (``--device cuda:0,1``), each has the rows already. Searches are measured as csaw divides them by
itself; and they and shortest paths with all levels divided, where a vertex that was reached is sent to its owner alone
(selective) or to all GPUs (broadcast), which Pan and others compare (IPDPS 2017). So are all works on the graph spread
over these GPUs (pooled), each of which has the rows of its own vertices alone.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.bench import network_peers
from csaw.engine.bench.bench_row import Row, Verdict, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.networks import (
    GAP,
    beside_goal,
    copy_rate,
    goal_verdict,
    least_seconds,
    network_of,
    of_one,
    spread_over,
    timed,
    timed_row,
    waiting,
    with_gpus,
    with_ratios,
)
from csaw.engine.plan.gpu_memory import require_reach
from csaw.partition import GraphStore

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork

CLAIM = (
    "a search reaches 150 G edges in a second on a GPU (R-MAT scale 24), and 1.39 G on two cores (1.2 times "
    "the 9.4 ms of GAP at scale 20)"
)
PUBLISHED = (GAP,)
PEER_NAMES = network_peers.NAMES
BFS, SSSP = "BFS, a source", "SSSP, a source"
GOALS = {"cuda": 150e9, "cpu": 31_401_342 / 2 / (1.2 * 9.4e-3)}
SOURCES = 16
# Bytes that are read and written of each vertex.
OF_VERTEX = {"components": 12, BFS: 12, "hops, 64 sources": 96, SSSP: 24, "betweenness, a source": 64}
Works = dict[str, Callable[[], object]]
ALONE = ("components", SSSP)  # what csaw leaves to the first of several GPUs, of graphs of less than 2^30 entries


def rows(context: Context) -> Iterator[Row]:
    bandwidth = copy_rate(context)
    for graph in context.graphs():
        network = network_of(context, graph)
        sources = _sources(network)
        pooled = spread_over(context, graph)
        works = _works(network, sources) | _works_of_several(context, network, sources)
        works |= {} if pooled is None else _works_of_pooled(pooled, f"{len(context.devices)} GPUs, pooled", sources)
        rows = (_row(context, network, work, call, bandwidth) for work, call in works.items() if context.only in work)
        for row in with_ratios(rows, OF_VERTEX):
            yield context.on(graph) | row
        for one in (network, pooled):
            if one is not None:
                one.close()
        if not context.on_gpu:
            yield from _peers(context, graph, sources)


def _sources(network: Network) -> list[int]:
    """Random vertices that have edges, the same for all that are compared."""
    able = np.flatnonzero(on_host(network.degrees))
    return np.random.default_rng(1).choice(able, SOURCES).tolist() if able.size else [0]


def _each(network: Network, what: str, sources: list[int]) -> Callable[[], object]:
    return lambda: [network.compute(what, source=source) for source in sources]


def _works(network: Network, sources: list[int]) -> Works:
    """Each work by its name. Those of one source go through all of them."""
    many = np.random.default_rng(2).choice(network.vertices, 64)
    works: Works = {
        "components": lambda: network.compute("components"),
        BFS: _each(network, "bfs", sources),
        "hops, 64 sources": lambda: network.compute("hops", sources=many),
    }
    if network.weighted:
        works[SSSP] = _each(network, "sssp", sources)
    return works | {
        "betweenness, a source": lambda: network.compute("betweenness", sources=np.array(sources)),
    }


def _works_of_several(context: Context, network: Network, sources: list[int]) -> Works:
    """The works that several GPUs share, on all that were given, and searches by each way to exchange levels.

    Nothing if there are not several.
    """
    if len(context.devices) < 2:
        return {}
    several, gpus = with_gpus(network, context.devices[1:]), f"{len(context.devices)} GPUs"
    works = {f"{work}, {gpus}": call for work, call in _works(several, sources).items() if work not in ALONE}
    if not network.resident:
        return works
    several.among(len(context.devices), weights=network.weighted)
    for exchange in Exchange:
        works |= _told(several, gpus, sources, exchange)
    return works


def _works_of_pooled(network: "DeviceNetwork", where: str, sources: list[int]) -> Works:
    """The works on a graph that is spread, and searches by the exchange that csaw does not take by itself."""
    works = {f"{work}, {where}": call for work, call in _works(network, sources).items()}
    return works | _told(network, where, sources, Exchange.BROADCAST)


def _told(network: "DeviceNetwork", where: str, sources: list[int], exchange: Exchange) -> Works:
    """The searches of which all GPUs do all levels, and tell each other by this exchange."""

    def by_exchange(call: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            require_reach((network.gpu, *network.others))
            network.exchange = exchange
            try:
                call()
            finally:
                network.exchange = None

        return run

    works = {BFS: "bfs"} | ({SSSP: "sssp"} if network.weighted else {})
    return {f"{work}, {where}, {exchange}": by_exchange(_each(network, what, sources)) for work, what in works.items()}


def _row(context: Context, network: Network, work: str, call: Callable[[], object], bandwidth: float) -> Row:
    turns = SOURCES if of_one(work, OF_VERTEX).endswith("a source") else 1
    seconds = [taken / turns for taken in timed(call, context.repeats, waiting(context))]
    least = least_seconds(network, OF_VERTEX[of_one(work, OF_VERTEX)], bandwidth)
    row = timed_row(work, seconds, _edges(network)) | {"limits": {"the bytes that must move": least}}
    row["ran_on"] = network.device
    return row | (beside_goal(row, GOALS[network.device]) if work == BFS else {})


def _edges(graph: Network | GraphStore) -> float:
    return graph.edges if graph.directed else graph.edges / 2


def _peers(context: Context, graph: Graph, sources: list[int]) -> Iterator[Row]:
    """The rows of the works that peers do."""
    store, works = graph.store, ("components", BFS)
    found = network_peers.measured(context, store.load(), works, directed=store.directed, sources=sources)
    for row, seconds in found:
        turns = SOURCES if row["work"].startswith(BFS) else 1
        rate = timed_row(row["work"], [taken / turns for taken in seconds], _edges(store)) if seconds else {}
        yield context.on(graph) | row | rate


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=BFS)
    return goal_verdict(found, "no search was measured", lambda row: f"{row['rate'] / 1e9:.3g} G edges/s")
