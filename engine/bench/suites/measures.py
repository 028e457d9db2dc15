"""Measures of a graph in memory: PageRank and core numbers, searches and components, triangles, as one table of works.

The bytes that must move are the entries of rows, each once (of PageRank, once an iteration), and what is read and
written of each vertex, at the rate of copies in the memory that holds them. networkit and igraph are measured beside
the CPU where they are installed or ``--peer networkit=PYTHON`` names an interpreter.

Of several GPUs (``--device cuda:0,1``), each has the rows already: works are measured as csaw divides them by itself.
So are all on the graph spread over these GPUs (pooled), each of which has the rows of its own vertices alone.

The suite ``ranking``: PageRank ends when an iteration changes ranks by 1e-4 in all, as GAP's does, and sums 64-bit
integers; networkit's ends by the same norm, and igraph's by one of its own. Rates are entries of rows in a second, and
of PageRank those of each iteration.

The suite ``traversal``, tables III to V of Gunrock's multi-GPU paper: rates are edges in a second, of an undirected
graph each once. Searches begin at random vertices that have edges, and a time is that of one source, or of 64 together.
A search may move fewer bytes than it must: a vertex that is reached needs no more of its row. On the CPU, a search
that pushes at all levels is measured beside the one that chooses a direction at each. On several GPUs searches
and shortest paths are also measured with all levels divided, where a vertex that was reached is sent to its owner alone
(selective) or to all GPUs (broadcast), which Pan and others compare (IPDPS 2017).

The suite ``triangles``: exact, all in, in total, of each vertex, and by the three ways of Gunrock's paper (Wang and
others, IA3 2016, figures 5 and 6). Rates are undirected edges in a second. Ranks, orientation and sorting are part of
the time. The candidates are those for the third vertex, one for each wedge of the oriented graph, of 2 bytes. GroupTC
is measured beside it with ``--peer grouptc=FOLDER``, where its program is.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.measure import find
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.bench import network_peers
from csaw.engine.bench.bench_row import Row, figure, gap, measured
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.machine import timed
from csaw.engine.bench.networks import (
    GAP,
    beside_goal,
    beside_one,
    copy_rate,
    goal_verdict,
    least_seconds,
    network_of,
    on_the_host,
    spread_over,
    timed_row,
    waiting,
    with_gpus,
)
from csaw.engine.bench.peers import PeerError, check_folder
from csaw.engine.plan.gpu_memory import require_reach
from csaw.partition import GraphStore
from csaw.partition.errors import CsawError

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork

DAMPING, TOLERANCE = 0.85, 1e-4
SOURCES = 16
MANY = 64  # sources of one search
PAGERANK, CORES, ASSORTATIVITY = "PageRank, an iteration", "core numbers", "assortativity"
COMPONENTS, BFS, HOPS = "components", "BFS, a source", f"hops, {MANY} sources"
TOP_DOWN = "BFS top-down, a source"
SSSP, BETWEENNESS = "SSSP, a source", "betweenness, a source"
TRIANGLES, OF_EACH = "triangles", "triangles of each vertex"


class Starts(NamedTuple):
    """The vertices at which searches begin: each for itself, and many together."""

    each: list[int]
    many: np.ndarray


NOWHERE = Starts([], np.zeros(0, np.int64))


class MeasureWork(NamedTuple):
    """A row of the table: ``compute`` does the work on a network, from some vertices, and returns columns of its row.

    A time is that of an iteration, if the columns have ``iterations``, or of a source, if the name says so.
    ``of_vertex``: bytes that are read and written of each vertex; ``goals``: the rate to be reached by kind of device.
    ``shared``: csaw divides it over several GPUs of which each has all rows, and not only from 2^30 entries on;
    ``exchanges``: so it does by more than one way to exchange levels. ``alone``: it needs one device that has all rows.
    ``on_host``: only a CPU does it.
    """

    compute: Callable[[Network, Starts], Row]
    of_vertex: int
    goals: dict[str, float] | None = None
    shared: bool = True
    exchanges: bool = False
    alone: bool = False
    weighted: bool = False
    on_host: bool = False

    def is_for(self, network: Network) -> bool:
        """Whether it can be done on a network."""
        return (network.weighted or not self.weighted) and (network.device == "cpu" or not self.on_host)


def _pagerank(network: Network, starts: Starts) -> Row:
    nowhere = network.xp.zeros(0, "int64")
    done = network.compute("pagerank", damping=DAMPING, tolerance=TOLERANCE, sources=nowhere)
    return {"iterations": done.iterations}


def _findings(what: str, network: Network, starts: Starts) -> Row:
    find(what)().findings(network)
    return {}


def _search(what: str, network: Network, starts: Starts, **options: bool) -> Row:
    for source in starts.each:
        network.compute(what, source=source, **options)
    return {}


def _together(what: str, network: Network, starts: Starts) -> Row:
    network.compute(what, sources=starts.many if what == "hops" else np.array(starts.each))
    return {}


def _components(network: Network, starts: Starts) -> Row:
    network.compute("components")
    return {}


def count(what: str, network: Network, starts: Starts | None = None, *, each: bool = False) -> Row:
    """The number of triangles, and those of each vertex."""
    return {"triangles": network.compute(what, each=each)[0]}


# Goals are at R-MAT scale 24 on a GPU and 20 on a CPU: entries of rows, or edges, and the seconds that they may take.
RANKING = {
    PAGERANK: MeasureWork(_pagerank, 56, {"cuda": 520_769_780 / 4.5e-3, "cpu": 31_401_342 / (1.1 * 29e-3)}),
    CORES: MeasureWork(partial(_findings, "core"), 16),
    ASSORTATIVITY: MeasureWork(partial(_findings, "assortativity"), 24),
}
TRAVERSAL = {
    COMPONENTS: MeasureWork(_components, 12, shared=False),
    BFS: MeasureWork(
        partial(_search, "bfs"), 12, {"cuda": 150e9, "cpu": 31_401_342 / 2 / (1.2 * 9.4e-3)}, exchanges=True
    ),
    TOP_DOWN: MeasureWork(partial(_search, "bfs", top_down=True), 12, shared=False, on_host=True),
    HOPS: MeasureWork(partial(_together, "hops"), 96),
    SSSP: MeasureWork(partial(_search, "sssp"), 24, shared=False, exchanges=True, weighted=True),
    BETWEENNESS: MeasureWork(partial(_together, "betweenness"), 64),
}
OF_TRIANGLES = {
    TRIANGLES: MeasureWork(partial(count, "triangles"), 40, {"cuda": 260_384_890 / 50e-3, "cpu": 15_700_671 / 1.4}),
    OF_EACH: MeasureWork(partial(count, "triangles", each=True), 40),
    f"{TRIANGLES}, masked product": MeasureWork(partial(count, "masked_product"), 40, alone=True),
    f"{TRIANGLES}, matching": MeasureWork(partial(count, "matched_triangles"), 40, alone=True),
}
Works = dict[str, MeasureWork]
Runs = dict[str, tuple[str, Callable[[], Row]]]
"""By the title of its row, the name of a work and what does it."""


def _half(graph: Network | GraphStore) -> float:
    """The edges of a graph, of an undirected one each once."""
    return graph.edges if graph.directed else graph.edges / 2


def starts_of(network: Network, count: int = SOURCES) -> Starts:
    """Random vertices that have edges, the same for all that are compared."""
    able = np.flatnonzero(on_host(network.degrees))
    each = np.random.default_rng(1).choice(able, count).tolist() if able.size else [0]
    return Starts(each, np.random.default_rng(2).choice(network.vertices, MANY))


def runs_on(network: Network, works: Works, starts: Starts, where: str = "") -> Runs:
    """The works that a network can do, with ``where`` behind their names."""
    able = {name: work for name, work in works.items() if work.is_for(network)}
    return {f"{name}{where}": (name, partial(work.compute, network, starts)) for name, work in able.items()}


def _runs(context: Context, works: Works, network: Network, pooled: "DeviceNetwork | None", starts: Starts) -> Runs:
    """The works on one device, on all GPUs that were given, and on the graph that is spread over these."""
    found = runs_on(network, {name: work for name, work in works.items() if network.resident or not work.alone}, starts)
    on_several = {name: work for name, work in works.items() if not work.alone}
    where = f", {len(context.devices)} GPUs"
    if len(context.devices) > 1:
        several = with_gpus(network, context.devices[1:])
        found |= runs_on(several, {name: work for name, work in on_several.items() if work.shared}, starts, where)
        if network.resident and any(work.exchanges for work in works.values()):
            several.among(len(context.devices), weights=network.weighted)
            for exchange in Exchange:
                found |= _by_exchange(several, works, starts, where, exchange)
    if pooled is not None:  # which takes the other exchange by itself
        found |= runs_on(pooled, on_several, starts, f"{where}, pooled")
        found |= _by_exchange(pooled, works, starts, f"{where}, pooled", Exchange.BROADCAST)
    return found


def _by_exchange(network: "DeviceNetwork", works: Works, starts: Starts, where: str, exchange: Exchange) -> Runs:
    """The searches of which all GPUs do all levels, and tell each other by this exchange."""

    def told(compute: Callable[[Network, Starts], Row], network: Network, starts: Starts) -> Row:
        gpus = cast("DeviceNetwork", network)
        require_reach((gpus.gpu, *gpus.others))
        gpus.exchange = exchange
        try:
            return compute(network, starts)
        finally:
            gpus.exchange = None

    told_by = {
        name: work._replace(compute=partial(told, work.compute)) for name, work in works.items() if work.exchanges
    }
    return runs_on(network, told_by, starts, f"{where}, {exchange}")


class Measures(NamedTuple):
    """The content of a suite of measures: works, how many edges a time of one counts, and peers.

    ``columns`` of each row, by the network and the bytes/s of copies, with more limits. ``simple``: the works are done
    on the simple undirected graph.
    """

    works: Works
    edges: Callable[[Network | GraphStore], float]
    peers: Callable[[Context, Graph, Network, Starts], Iterator[Row]]
    columns: Callable[[Network, float], Row] = lambda network, bandwidth: {"limits": {}}
    simple: bool = False

    def rows(self, context: Context) -> Iterator[Row]:
        bandwidth = copy_rate(context)
        for graph in context.graphs():
            whole, spread = network_of(context, graph), spread_over(context, graph)
            network = whole.undirected if self.simple else whole
            pooled = spread.undirected if self.simple and spread is not None else spread
            starts = starts_of(network) if BFS in self.works else NOWHERE
            columns, found = self.columns(network, bandwidth), dict[str, Row]()
            for title, (name, run) in _runs(context, self.works, network, pooled, starts).items():
                if context.only in title:
                    work = self.works[name]
                    found[title] = measured_row(context, network, title, run, self.edges(network))
                    more = (
                        beside_one(found[title], found.get(name)) if title != name else _beside_goal(found[title], work)
                    )
                    limits = {"the bytes that must move": least_seconds(network, work.of_vertex, bandwidth)}
                    yield context.on(graph) | found[title] | more | columns | {"limits": limits | columns["limits"]}
            yield from (context.on(graph) | row for row in self.peers(context, graph, network, starts))
            for one in (whole, spread):
                if one is not None:
                    one.close()


def measured_row(
    context: Context, network: Network, title: str, run: Callable[[], Row], edges: float, sources: int = SOURCES
) -> Row:
    """The row of a work by what does it, with the columns that this returns; ``sources`` of a search for each one."""
    found: list[Row] = []
    try:
        seconds = timed(lambda: found.append(run()), context.repeats, waiting(context))
    except CsawError as error:
        return gap(title, error)
    turns = found[0].get("iterations", sources if "a source" in title else 1)
    return timed_row(title, [taken / turns for taken in seconds], edges) | found[0] | {"ran_on": network.device}


def _beside_goal(row: Row, work: MeasureWork) -> Row:
    return beside_goal(row, work.goals[row["ran_on"]]) if work.goals and "rate" in row else {}


def _ranking_peers(context: Context, graph: Graph, network: Network, starts: Starts) -> Iterator[Row]:
    """The whole of each work by a peer: how many are done in a second."""
    if context.on_gpu:
        return
    store, how = graph.store, {"damping": DAMPING, "tolerance": TOLERANCE}
    works = ("PageRank",) if store.directed else ("PageRank", CORES, ASSORTATIVITY)
    for row, seconds in network_peers.measured(context, store.load(), works, directed=store.directed, **how):
        yield row | (figure([1 / taken for taken in seconds], "graphs/s") if seconds else {})


def _traversal_peers(context: Context, graph: Graph, network: Network, starts: Starts) -> Iterator[Row]:
    """The rows of the works that peers do."""
    if context.on_gpu:
        return
    store, works = graph.store, (COMPONENTS, BFS)
    found = network_peers.measured(context, store.load(), works, directed=store.directed, sources=starts.each)
    for row, seconds in found:
        turns = SOURCES if row["work"].startswith(BFS) else 1
        yield row | (timed_row(row["work"], [taken / turns for taken in seconds], _half(store)) if seconds else {})


def _triangles_peers(context: Context, graph: Graph, network: Network, starts: Starts) -> Iterator[Row]:
    """The rows of the works that peers do, and GroupTC's."""
    if not context.on_gpu and network.resident:
        found = network_peers.measured(context, next(network.blocks()), (TRIANGLES, OF_EACH), directed=False)
        for row, seconds in found:
            yield row | (timed_row(row["work"], seconds, _half(network)) if seconds else {})
    if network_peers.GROUP_TC in context.peers and context.only in BY_GROUPS:
        yield by_groups(context, network)


BY_GROUPS = f"{TRIANGLES}, {network_peers.GROUP_TC}"


def by_groups(context: Context, network: Network) -> Row:
    """The row of GroupTC, on the GPU that csaw is measured on."""
    named: Row = {"work": BY_GROUPS, "peer": network_peers.GROUP_TC, "ran_on": "cuda"}
    if not context.on_gpu:
        return named | {"not_measured": "it runs on a GPU, and this run is of the CPU; run with --device cuda"}
    device = context.devices[0].number
    rows, programs = next(on_the_host(network).blocks()), context.peers[network_peers.GROUP_TC]
    try:
        runs = network_peers.group_tc(programs, rows, device=device, repeats=context.repeats, out=context.out)
    except PeerError as error:
        return named | {"not_measured": str(error)}
    mine, other = network.compute("triangles", each=False)[0], runs[0].triangles
    if other != mine:
        return named | {"not_measured": f"it counts {other:,} triangles, csaw {mine:,}"}
    return named | {
        "triangles": other,
        **figure([network.edges / 2 / run.seconds for run in runs]),
        "seconds": median(run.seconds for run in runs),
        "note": f"its kernel alone {1e3 * median(run.kernel_seconds for run in runs):.3g} ms",
    }


def _candidates(network: Network, bandwidth: float) -> Row:
    """The columns of the candidates for third vertices, which are the wedges of the oriented graph."""
    from csaw.engine.analytics.cpu.oriented import orient

    with closing(orient(on_the_host(network))) as oriented:
        lengths = oriented.begin[1:] - oriented.begin[:-1]
        candidates = int(lengths @ (lengths - 1)) // 2
    return {"limits": {"candidates of 2 bytes": 2 * candidates / bandwidth}, "candidates": candidates}


def _triangles_rows(context: Context) -> Iterator[Row]:
    if network_peers.GROUP_TC in context.peers:
        folder = context.peers[network_peers.GROUP_TC]
        check_folder(network_peers.GROUP_TC, folder, network_peers.GROUP_TC_PROGRAMS)
    yield from Measures(OF_TRIANGLES, _half, _triangles_peers, _candidates, simple=True).rows(context)


SUITES = {
    "ranking": Suite(
        "an iteration of PageRank takes at most 8.6 ps an entry of a row on a GPU (4.5 ms at R-MAT scale 24), "
        "and 1.02 ns on two cores (1.1 times GAP's 29 ms at scale 20)",
        Measures(RANKING, lambda graph: graph.edges, _ranking_peers).rows,
        lambda rows: goal_verdict(
            measured(rows, work=PAGERANK),
            "no iteration of PageRank was measured",
            lambda row: f"{1e12 / row['rate']:.3g} ps an entry",
        ),
        published=(GAP,),
        peers=network_peers.NAMES,
    ),
    "traversal": Suite(
        "a search reaches 150 G edges in a second on a GPU (R-MAT scale 24), and 1.39 G on two cores (1.2 times "
        "the 9.4 ms of GAP at scale 20)",
        Measures(TRAVERSAL, _half, _traversal_peers).rows,
        lambda rows: goal_verdict(
            measured(rows, work=BFS), "no search was measured", lambda row: f"{row['rate'] / 1e9:.3g} G edges/s"
        ),
        published=(GAP,),
        peers=network_peers.NAMES,
    ),
    "triangles": Suite(
        "triangles are counted, all in, at 5.2 G edges in a second on a GPU (50 ms at R-MAT scale 24), and at 11.2 "
        "M on two cores (1.4 s at scale 20)",
        _triangles_rows,
        lambda rows: goal_verdict(
            measured(rows, work=TRIANGLES),
            "no triangles were counted",
            lambda row: f"{row['rate'] / 1e6:.3g} M edges/s",
        ),
        peers=(*network_peers.NAMES, network_peers.GROUP_TC),
    ),
}
