"""PageRank, core numbers and assortativity of a graph in memory, beside the bytes that must move, and beside peers.

The peers are networkit and igraph, where they are installed or ``--peer networkit=PYTHON`` names an interpreter.
PageRank ends when an iteration changes ranks by 1e-4 in all, as GAP's does, and sums 64-bit integers; networkit's ends
by the same norm, and igraph's by one of its own. Rates are entries of rows in a second, and of PageRank those of each
iteration. The bytes that must move are the entries of rows, each once an iteration, and what is kept of each vertex, at
the rate of copies in the memory that holds them.
"""

from collections.abc import Callable, Iterator

from csaw.engine.analytics.measure import find
from csaw.engine.analytics.network import Network
from csaw.engine.bench import network_peers
from csaw.engine.bench.bench_row import Row, Verdict, figure, measured
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

CLAIM = (
    "an iteration of PageRank takes at most 8.6 ps an entry of a row on a GPU (4.5 ms at R-MAT scale 24), "
    "and 1.02 ns on two cores (1.1 times GAP's 29 ms at scale 20)"
)
PUBLISHED = (GAP,)
PEER_NAMES = network_peers.NAMES
ITERATION = "PageRank, an iteration"
GOALS = {"cuda": 520_769_780 / 4.5e-3, "cpu": 31_401_342 / (1.1 * 29e-3)}  # entries of rows in a second
DAMPING, TOLERANCE = 0.85, 1e-4
OF_VERTEX = {ITERATION: 56, "core numbers": 16, "assortativity": 24}  # bytes that are read and written of each


def rows(context: Context) -> Iterator[Row]:
    bandwidth = copy_rate(context)
    for graph in context.graphs():
        network = network_of(context, graph)
        pooled = spread_over(context, graph)
        works = _works(network) | _works_of_several(context, network)
        works |= {} if pooled is None else _named(_works(pooled), f"{len(context.devices)} GPUs, pooled")
        rows = (_row(context, network, work, call, bandwidth) for work, call in works.items() if context.only in work)
        for row in with_ratios(rows, OF_VERTEX):
            yield context.on(graph) | row
        for one in (network, pooled):
            if one is not None:
                one.close()
        if not context.on_gpu:
            yield from _peers(context, graph)


def _works(network: Network) -> dict[str, Callable[[], int]]:
    """Each work by its name; it returns how many times it has gone through all rows, where that is known."""

    def pagerank() -> int:
        nowhere = network.xp.zeros(0, "int64")
        return network.compute("pagerank", damping=DAMPING, tolerance=TOLERANCE, sources=nowhere).iterations

    def once(name: str) -> Callable[[], int]:
        return lambda: bool(find(name)().findings(network))

    return {ITERATION: pagerank, "core numbers": once("core"), "assortativity": once("assortativity")}


def _works_of_several(context: Context, network: Network) -> dict[str, Callable[[], int]]:
    """The works on all GPUs that were given, if there are several."""
    if len(context.devices) < 2:
        return {}
    return _named(_works(with_gpus(network, context.devices[1:])), f"{len(context.devices)} GPUs")


def _named(works: dict[str, Callable[[], int]], where: str) -> dict[str, Callable[[], int]]:
    return {f"{work}, {where}": call for work, call in works.items()}


def _row(context: Context, network: Network, work: str, call: Callable[[], int], bandwidth: float) -> Row:
    turns = call()
    seconds = [taken / turns for taken in timed(call, context.repeats, waiting(context))]
    least = least_seconds(network, OF_VERTEX[of_one(work, OF_VERTEX)], bandwidth)
    row = timed_row(work, seconds, network.edges) | {"limits": {"the bytes that must move": least}}
    row["ran_on"] = network.device
    if work == ITERATION:
        row |= {"iterations": turns} | beside_goal(row, GOALS[network.device])
    return row


def _peers(context: Context, graph: Graph) -> Iterator[Row]:
    """The whole of each work by a peer: how many are done in a second."""
    store, how = graph.store, {"damping": DAMPING, "tolerance": TOLERANCE}
    works = ("PageRank",) if store.directed else ("PageRank", "core numbers", "assortativity")
    for row, seconds in network_peers.measured(context, store.load(), works, directed=store.directed, **how):
        yield context.on(graph) | row | (figure([1 / taken for taken in seconds], "graphs/s") if seconds else {})


def verdict(rows: list[Row]) -> Verdict:
    found, none = measured(rows, work=ITERATION), "no iteration of PageRank was measured"
    return goal_verdict(found, none, lambda row: f"{1e12 / row['rate']:.3g} ps an entry")
