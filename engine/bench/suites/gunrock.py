"""Gunrock's experiments: its measures on one to all GPUs, and three ways to count triangles.

The suite ``gunrock``: measures of a graph on one to all GPUs, or threads, as in figures 2 and 5 of the paper on several
GPUs (Pan, Wang, Wu, Yang and Owens, IPDPS 2017). Figure 5 is scaling on R-MAT graphs: strong, of one graph; weak in
edges, of graphs whose edges a vertex grow with the number of devices; and weak in vertices, of graphs whose vertices
do, for powers of two. Figures 4 and 6 are geometric means of speed-ups over the paper's graphs, which are not computed
here: each row is of one graph. Tables III to V are in the suite traversal.

Rates are entries of rows in a second, of PageRank those of an iteration, of searches and betweenness those of a source;
``efficiency`` is the share of the rate of one device times their number. Every GPU has the rows before the clock
starts. Works that csaw leaves to the first GPU are measured there with any number: they are no faster on more.

Figure 2 is how the partitioner changes searches and PageRank of a graph that is spread over all GPUs: random,
biased-random, and METIS where pymetis is installed, each beside one GPU that has the graph. ``crossing`` is the share
of entries that lead to another GPU's vertices. The paper's is of four GPUs, of kron_g500-logn21, soc-orkut and uk-2002,
with searches that only push beside those that also pull; csaw's choose by themselves. Figure 3 compares ways to
allocate frontiers, which csaw does not have: its arrays have a place for each vertex.

The suite ``triangle-ways``: three ways to count triangles, compared with one thread, as in figures 5 and 6 of Wang and
others (IA3 2016). All three ways run on the device that is measured. Figure 5 shows the speed-up of each way over a
sequential baseline: here one thread of the CPU that intersects, whose time stands in the notes. Figure 6 shows times
over the sum of the squares of degrees, so it needs several graphs: ``--graphs gunrock``, or R-MAT graphs of rising
scales. Rates count undirected edges a second.
"""

import tempfile
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from csaw.datasets.spec import Rmat
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.triangles import METHODS
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.spread import Range
from csaw.engine.bench.bench_row import Row, Verdict, gap, measured
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph, by_partitioner, copied, given
from csaw.engine.bench.machine import timed
from csaw.engine.bench.networks import beside_one, network_of, on_the_host, spread_over, with_gpus
from csaw.engine.bench.suites.measures import (
    BETWEENNESS,
    BFS,
    COMPONENTS,
    OF_TRIANGLES,
    PAGERANK,
    RANKING,
    SSSP,
    TOP_DOWN,
    TRAVERSAL,
    TRIANGLES,
    Starts,
    count,
    measured_row,
    starts_of,
)
from csaw.engine.bench.suites.papers import counts
from csaw.partition import GraphStore
from csaw.partition.errors import CsawError, OptionError

GOALS = {PAGERANK: 1.7, TRIANGLES: 1.7, BFS: 1.4, COMPONENTS: 1.5, SSSP: 1.3}
LARGE = 1 << 30  # entries of rows from which on a search is to be faster
SOURCES = 8
WORKS = (BFS, TOP_DOWN, COMPONENTS, BETWEENNESS, SSSP, PAGERANK, TRIANGLES)
STRONG, IN_EDGES, IN_VERTICES = "strong", "weak in edges", "weak in vertices"
WEAK = {"cuda": Rmat(scale=19, edge_factor=256), "cpu": Rmat(scale=14, edge_factor=32), "quick": Rmat(scale=8)}
PARTITIONERS = ("random", "biased-random", "metis")
PARTITIONED = 1 << 28  # most entries of a graph that is partitioned: METIS takes minutes for them


def gunrock_rows(context: Context) -> Iterator[Row]:
    numbers = counts(len(context.devices) or context.threads)
    for graph in context.graphs():
        yield from _series(context, STRONG, graph.label, ((number, graph) for number in numbers))
        yield from _partitioned(context, graph)
    base = WEAK["quick" if context.quick else "cuda" if context.on_gpu else "cpu"]
    for kind in (IN_EDGES, IN_VERTICES):
        specs = [(number, _grown(base, kind, number)) for number in numbers]
        graphs = ((number, _opened(context, spec)) for number, spec in specs if spec is not None)
        yield from _series(context, kind, f"{kind}, from {base}", graphs)


def _grown(base: Rmat, kind: str, number: int) -> Rmat | None:
    """The graph of so many devices; None where vertices would not be a power of two."""
    if kind == IN_EDGES:
        return replace(base, edge_factor=base.edge_factor * number)
    return None if number & (number - 1) else replace(base, scale=base.scale + number.bit_length() - 1)


def _opened(context: Context, spec: Rmat) -> Graph:
    return given(str(spec)).open(context.device)


def _series(context: Context, kind: str, named: str, graphs: Iterator[tuple[int, Graph]]) -> Iterator[Row]:
    """The rows of each work with each number of devices, beside those of one."""
    alone: dict[str, float] = {}
    what = "GPU(s)" if context.on_gpu else "thread(s)"
    for number, graph in graphs:
        first = network_of(context, graph)
        network, starts = _on(context, first, number), starts_of(first, SOURCES)
        for work, call in _works(network, starts).items():
            name = f"{work}, {kind}, {number} {what}"
            if context.only in name:
                row = _row(context, network, name, call, starts)
                one = alone.setdefault(work, row.get("rate", 0.0)) if number == 1 else alone.get(work, 0.0)
                share = {"efficiency": row["rate"] / (number * one)} if one and "rate" in row else {}
                about = {"graph": named, "series": f"{work}, {kind}", "kind": kind, "measure": work, "gpus": number}
                yield context.on(graph) | about | row | share
        network.close()
        first.close()
        if kind != STRONG:  # a graph of this suite alone
            graph.store.release()


def _on(context: Context, network: Network, number: int) -> Network:
    """The network on so many GPUs, each of which has the rows; or on so many threads."""
    if isinstance(network, HostNetwork):
        network.threads = number
        return network
    several = with_gpus(network, context.devices[1:number])
    if number > 1 and several.resident:
        several.among(number, backward=True, weights=network.weighted)
    return several


def _partitioned(context: Context, graph: Graph) -> Iterator[Row]:
    """The rows of the works on a graph that is spread over all GPUs by each partitioner, beside those of one GPU."""
    gpus = len(context.devices)
    names = {(how, work): f"{work}, {how}, {gpus} GPUs, pooled" for how in PARTITIONERS for work in (BFS, PAGERANK)}
    wanted = {one: name for one, name in names.items() if gpus > 1 and context.only in name}
    if not wanted:
        return
    if graph.store.edges > PARTITIONED:
        found = f"expected at most {PARTITIONED:,} entries of rows to partition, found {graph.store.edges:,}"
        yield from (context.on(graph) | gap(name, OptionError(found)) for name in wanted.values())
        return
    first = network_of(context, graph)
    starts = starts_of(first, SOURCES)
    works = _works(first, starts)
    alone = {work: _row(context, first, work, works[work], starts) for work in {work for _, work in wanted}}
    first.close()
    with tempfile.TemporaryDirectory(dir=context.out) as folder:
        plain = copied(graph.store, 1, Path(folder))
        for (how, work), row in _spread_rows(context, wanted, plain, starts):
            yield context.on(graph) | {"partitioner": how, "measure": work} | row | _noted(row, alone[work])


def _noted(row: Row, alone: Row) -> Row:
    """A note how many times as fast a row is as one GPU, and how many entries lead to another GPU."""
    if "crossing" not in row:
        return {}
    crossing = f"{100 * row['crossing']:.0f} % of entries lead to another GPU"
    return {"note": "; ".join([*beside_one(row, alone).values(), crossing])}


def _spread_rows(
    context: Context, wanted: dict[tuple[str, str], str], plain: GraphStore, starts: Starts
) -> Iterator[tuple[tuple[str, str], Row]]:
    """The row of each of ``wanted``, a partitioner and a work, on the graph of ``plain``."""
    for how in dict.fromkeys(how for how, _ in wanted):
        of_how = {one: name for one, name in wanted.items() if one[0] == how}
        try:
            store, numbers = by_partitioner(plain, how, len(context.devices), plain.path.parent)
            network = spread_over(context, Graph(how, store))
            if network is None:
                raise OptionError("expected GPUs that read each other's memory")
        except CsawError as error:
            yield from ((one, gap(name, error)) for one, name in of_how.items())
            continue
        there = starts._replace(each=numbers[starts.each].tolist())
        works, crossing = _works(network, there), {"crossing": crossing_share(store, network.shares)}
        for one, name in of_how.items():
            yield one, _row(context, network, name, works[one[1]], there) | crossing
        network.close()


def crossing_share(store: GraphStore, ranges: list[Range]) -> float:
    """The share of entries of rows that lead from a vertex of one range to one of another."""
    graph, crossing = store.load(), 0
    for low, high in ranges:
        own = graph.indices[graph.indptr[low] : graph.indptr[high]]
        crossing += int(np.count_nonzero((own < low) | (own >= high)))
    return crossing / max(store.edges, 1)


def _works(network: Network, starts: Starts) -> dict[str, Callable[[], Row]]:
    """The works that a network can do, by name."""
    works = TRAVERSAL | RANKING | OF_TRIANGLES
    able = [name for name in WORKS if works[name].is_for(network)]
    found = {name: partial(works[name].compute, network, starts) for name in able}
    return found | {TRIANGLES: lambda: works[TRIANGLES].compute(network.undirected, starts)}


def _row(context: Context, network: Network, name: str, call: Callable[[], Row], starts: Starts) -> Row:
    return measured_row(context, network, name, call, network.edges, len(starts.each))


def gunrock_verdict(rows: list[Row]) -> Verdict:
    found: dict[str, float] = {}
    for row in measured(rows, kind=STRONG, gpus=2):
        work = row["measure"]
        wanted = work in GOALS and "GPU" in row["work"] and "efficiency" in row
        if wanted and (work != BFS or row["stored_edges"] >= LARGE):
            found[work] = min(found.get(work, np.inf), 2 * row["efficiency"])
    if not found:
        return Verdict(None, "nothing was measured on two GPUs")
    holds = all(times >= GOALS[work] for work, times in found.items())
    return Verdict(holds, "; ".join(f"{work} {times:.3g} times as fast" for work, times in found.items()))


INTERSECT = "intersection"
WAYS = {INTERSECT: METHODS["intersect"], "masked product": METHODS["matrix"], "matching": METHODS["match"]}


def ways_rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        network = network_of(context, graph)
        simple = network.undirected
        degrees = on_host(simple.degrees)
        alone = _alone(context, simple)
        for way, what in WAYS.items():
            if context.only in way:
                row = measured_row(context, simple, way, partial(count, what, simple), simple.edges / 2)
                if "seconds" in row:
                    row["note"] = f"{alone / row['seconds']:.3g} x one thread of the CPU ({alone:.3g} s)"
                yield context.on(graph) | {"series": way, "degree_squares": int(degrees @ degrees)} | row
        network.close()


def _alone(context: Context, network: Network) -> float:
    """Return the seconds that one thread of the CPU takes to intersect, the median of the repeats."""
    host = copy(on_the_host(network))
    host.threads = 1
    seconds = timed(partial(count, WAYS[INTERSECT], host), context.repeats)
    return sorted(seconds)[len(seconds) // 2]


def ways_verdict(rows: list[Row]) -> Verdict:
    found = []
    for row in measured(rows, work=INTERSECT):
        others = [one["rate"] for way in WAYS for one in measured(rows, work=way, graph=row["graph"]) if one is not row]
        if others:
            found.append(row["rate"] / max(others))
    if not found:
        return Verdict(None, "no two ways were measured")
    return Verdict(min(found) >= 1, f"{min(found):.3g} to {max(found):.3g} times as fast as the next")


SUITES = {
    "gunrock": Suite(
        "two GPUs are 1.7 times as fast as one in an iteration of PageRank and in triangles, 1.4 in a search of 2^30 "
        "entries and more, 1.5 in components and 1.3 in shortest paths",
        gunrock_rows,
        gunrock_verdict,
        over="gpus",
    ),
    "triangle-ways": Suite(
        "of three ways to count triangles, intersecting sets of neighbors is the fastest",
        ways_rows,
        ways_verdict,
        over="degree_squares",
    ),
}
