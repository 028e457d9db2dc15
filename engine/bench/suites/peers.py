"""csaw compared with other samplers on the same graph and work, drawing in turns, each in a separate process.

Peers are the samplers that this interpreter has, and those named with ``--peer NAME=PATH``: a Python interpreter, or
the folder of a sampler's programs. A peer is measured only if its draws of the work on a graph of five vertices follow
the law; where that cannot be tested, its row says so. All run on the device that is measured, with the graph loaded. A
rate is that of the call that returns the sample, including the allocation of its memory, and of programs what their own
clock says. On a GPU samples stay in its memory.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import GraphView, next_law
from csaw.engine.bench.bench_row import Row, Verdict, beside, by_row, figure, gap, named
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.peers import FIRST, TOOLS, Child, PeerError, check_folder
from csaw.engine.verify.statistics import chi_square, holm
from csaw.engine.verify.time_laws import ENDED, TimeLaws, TimeRows, follow
from csaw.engine.verify.walks_in_time import rule_of
from csaw.partition import open_graph, write_graph
from csaw.partition.graph.edge_columns import NO_TIME, TIME
from csaw.partition.graph.parts import Graph
from csaw.partition.graph.store import GraphStore

WORKS: dict[str, Row] = {
    "uniform walk": {},
    "node2vec p=2 q=.5": {"p": 2.0, "q": 0.5},
    "weighted walk": {"weighted": True},
    "neighbors 25 x 10": {"fanout": [25, 10]},
    "node2vec p=.25 q=4": {"p": 0.25, "q": 4.0},
    "GraphSAINT walks 3000 x 2": {"roots": 3000, "depth": 2, "subgraphs": 64},
    "mini-batches 25 x 10": {"fanout": [25, 10], "merged": True},
    "PPR .15 from a hub": {"ends": 0.15},
    "walk by degree 4000 x 2000": {"by_degree": True, "weighted": True, "walks": 4000, "length": 2000},
    "multidimensional, frontier 2000": {
        "walkers": 2000,
        "steps": 20_000,
        "instances": 2000,
        "instances_on_cpu": 500,
    },
    "MultiRW, 100 roots": {"walkers": 100, "steps": 100, "subgraphs": 2000},
    "layers of 1000 until 2000 vertices": {"layer": 1000, "total": 2000, "instances": 100},
    "temporal walk": {"time_bias": "uniform"},
    "temporal walk, linear": {"time_bias": "linear"},
    "temporal walk by rank": {"time_bias": "exponential-rank"},
}
UNTESTED = {  # the reason, by what a work is told
    "roots": "the law of subgraphs is not tested",
    "ends": "the law of ends is not tested",
    "subgraphs": "the law of subgraphs is not tested",
    "walkers": "the law of walkers that move in turns is not tested",
    "layer": "the law of layers is not tested",
}
QUICK = ("uniform walk", "neighbors 25 x 10")
NAMES = tuple(TOOLS)
SOURCES, TOGETHER, LENGTH = 100_000, 1024, 80
MOST_EDGES = 1 << 27


def rows(context: Context) -> Iterator[Row]:
    for peer, path in context.peers.items():
        check_folder(peer, path, TOOLS[peer].programs if peer in TOOLS else ())
    there = [name for name in NAMES if context.kind.split(":")[0] in TOOLS[name].devices]
    titles = [title for title in WORKS if context.only in title and (not context.quick or title in QUICK)]
    pythons = _pythons(context, there)
    for graph in context.graphs() if titles else ():
        if why := _unfit(graph.store):
            yield context.on(graph) | gap("peers", why)
            continue
        for name in (name for name in there if name not in pythons):
            place = (
                "FOLDER names that of its programs"
                if TOOLS[name].programs
                else "PYTHON names an interpreter that has it"
            )
            why = f"it is not installed here; --peer {name}={place}"
            yield context.on(graph) | gap(name, why)
        with tempfile.TemporaryDirectory(dir=context.out) as name:
            whole, small = Path(name, "whole"), Path(name, "small")
            timed = [] if graph.store.time is None else [graph.store.time]
            for folder, arrays in ((whole, graph.store.load(timed)), (small, small_graph())):
                _write(arrays, folder, text="ensmallen" in pythons, timed=any("time_bias" in WORKS[t] for t in titles))
            for title in titles:
                if why := _too_small(graph.store, title):
                    yield context.on(graph) | gap(title, why)
                elif graph.store.weighted or not _reads_weights(title):
                    for row in _measured(context, title, pythons, whole, small):
                        yield context.on(graph) | row


def _unfit(store: GraphStore) -> str:
    """The reason why peers cannot be measured on a graph; empty if they can."""
    if store.directed:
        return "the graph is directed, and some peers take undirected graphs only; use an undirected graph"
    if store.edges > MOST_EDGES:
        return (
            f"the graph has {store.edges:,} edges, and a copy for every peer needs more memory than most "
            f"machines have; use one of at most {MOST_EDGES:,}"
        )
    return ""


def _too_small(store: GraphStore, title: str) -> str:
    """The reason why a graph has no place for a work of so many walks; empty if it has."""
    walks = WORKS[title].get("walks", 0)
    few = f"{walks:,} walks begin at different vertices, and the graph has {store.vertices:,}"
    return few if store.vertices < walks else ""


def _write(graph: Graph, folder: Path, *, text: bool, timed: bool) -> None:
    """Write the graph in the formats that peers read: CSR arrays, a store, and for some a text of edges.

    The text has each edge once. ``timed``: with times, and another store that has them.
    """
    folder.mkdir()
    weights = np.ones(graph.indices.size, np.float32) if graph.weights is None else graph.weights
    rows = graph.indptr, graph.indices
    times = {TIME.name: _times(graph)} if timed else {}
    np.savez(folder / "csr.npz", indptr=rows[0], indices=rows[1], weights=weights, times=times.get(TIME.name, []))
    write_graph(folder / "graph.zarr", *rows, weights, directed=False)
    if timed:
        write_graph(folder / "timed.zarr", *rows, directed=False, edge_columns=times)
    if text:
        src = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr))
        once = src <= graph.indices
        table = np.column_stack([src[once], graph.indices[once], weights[once]])
        np.savetxt(folder / "edges.tsv", table, fmt=("%d", "%d", "%.9g"), delimiter="\t")


def _times(graph: Graph) -> np.ndarray:
    """int64 [E]: the times of a graph's edges, or random ones below their number, the same in both directions."""
    if TIME.name in graph.columns:
        return graph.columns[TIME.name]
    source = np.repeat(np.arange(graph.indptr.size - 1, dtype=np.uint64), np.diff(graph.indptr))
    ends = np.minimum(source, graph.indices), np.maximum(source, graph.indices)
    pair = ends[0] * np.uint64(graph.indptr.size - 1) + ends[1]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64's mixing of bits
        pair = (pair ^ (pair >> np.uint64(shift))) * np.uint64(factor)
    return (pair % np.uint64(max(graph.indices.size, 1))).astype(np.int64)


def _measured(context: Context, title: str, pythons: dict[str, str], whole: Path, small: Path) -> list[Row]:
    """Measure peers round after round, one after the other; one bench row each."""
    vertices = open_graph(whole / "graph.zarr").vertices
    listed = np.random.default_rng(0).choice(vertices, min(SOURCES, vertices), replace=False)
    shape = {"length": LENGTH, "rounds": 1, "listed": listed.tolist(), "together": TOGETHER}
    how = shape | WORKS[title] | _where(whole, context, title)
    children: dict[str, Child] = {}
    said: dict[str, list[dict[str, float]]] = {}
    cannot: dict[str, str] = {}
    with ExitStack() as stack:
        for name, python in pythons.items():
            if title in _works(name, context.kind):
                place = {"programs": context.peers.get(name, "")}
                try:
                    if not _unchecked(name, title):
                        _check_law(name, python, WORKS[title] | _where(small, context, title) | place)
                    children[name], said[name] = Child(name, python, how | place), []
                    stack.callback(children[name].end)
                except PeerError as error:
                    cannot[name] = str(error)
        for _ in range(context.repeats):
            for name in [name for name in children if name not in cannot]:
                try:
                    said[name].append(children[name].ask())
                except PeerError as error:
                    cannot[name] = str(error)
    return [
        *_figures(title, {n: drawn for n, drawn in said.items() if n not in cannot}),
        *(gap(f"{title}, {name}", why) | {"peer": name} for name, why in cannot.items()),
    ]


def _where(folder: Path, context: Context, title: str) -> Row:
    graph = str(folder / ("timed.zarr" if "time_bias" in WORKS[title] else "graph.zarr"))
    return {"folder": str(folder), "graph": graph, "threads": context.threads, "device": context.kind}


def _pythons(context: Context, there: list[str]) -> dict[str, str]:
    """The interpreter of every peer ``there`` that is installed, by name."""
    here = [name for name in there if name == FIRST or find_spec(name.replace("-", "_")) is not None]
    return {
        name: sys.executable if TOOLS[name].programs else context.peers.get(name, sys.executable)
        for name in there
        if name in here or name in context.peers
    }


def _works(name: str, device: str) -> tuple[str, ...]:
    """The works that a peer draws on a device."""
    return (TOOLS[name].on_gpu if device != "cpu" else ()) or TOOLS[name].works or tuple(WORKS)


def _reads_weights(title: str) -> bool:
    """Whether a work needs a graph with weights; those by degree make theirs."""
    return bool(WORKS[title].get("weighted")) and "by_degree" not in WORKS[title]


def _unchecked(name: str, title: str) -> str:
    """The reason why the law of a peer's draws is not tested; empty where it is."""
    untested = (why for told, why in UNTESTED.items() if told in WORKS[title])
    return TOOLS[name].unchecked or next(untested, "")


def _check_law(name: str, python: str, how: Row) -> None:
    """PeerError if a peer's draws of the work on the small graph do not follow the law."""
    listed = np.repeat(np.arange(small_graph().indptr.size - 1), DRAWS).tolist()
    shape = {"length": 4, "rounds": DRAWS, "listed": listed, "together": 1, "keep": True} | (
        {"fanout": [1]} if "fanout" in how else {"walks": len(listed)} if "walks" in how else {}
    )
    child = Child(name, python, how | shape)
    out = f"{how['folder']}/{name}.npy"
    try:
        child.ask(out)
    finally:
        child.end()
    if (p := chance_of_law(out, how)) < REJECT:
        raise PeerError(f"it draws from another law (p = {p:.1g} on a graph of five vertices)")


def _figures(title: str, said: dict[str, list[dict[str, float]]]) -> Iterator[Row]:
    base = median(one["rate"] for one in said[FIRST]) if FIRST in said else None
    for name, drawn in said.items():
        row = {
            "work": f"{title}, {name}",
            "peer": name,
            **figure([one["rate"] for one in drawn]),
            **{what: drawn[-1][what] for what in ("peak_mib",) if what in drawn[-1]},
        }
        note = _unchecked(name, title) if name != FIRST else ""
        yield row | beside(row, base, FIRST) | ({"note": note} if note else {})


# The law: many draws on a graph of five vertices, with a chi-square test of each situation.
EDGES = ((0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4), (0, 2, 5), (3, 4, 0.5))  # with weights
TIMES = (1, 2, 2, 3, 2, 4)  # of these edges: two of vertex 2 at once
DRAWS = 4000  # from every vertex
REJECT = 1e-6


def small_graph() -> Graph:
    """The graph of EDGES, with five vertices."""
    timed = [(*edge, time) for edge, time in zip(EDGES, TIMES, strict=True)]
    rows = sorted([*timed, *((v, u, *rest) for u, v, *rest in timed)])
    indptr = np.cumsum(np.bincount([u + 1 for u, *_ in rows], minlength=6))
    _, targets, weights, times = zip(*rows, strict=True)
    columns = {TIME.name: np.array(times, np.int64)}
    return Graph(indptr, np.array(targets, np.uint32), np.array(weights, np.float32), columns)


def of_degree(graph: Graph) -> Graph:
    """The graph with the degree of each edge's neighbor as its weight."""
    degrees = np.diff(graph.indptr)[graph.indices]
    return Graph(graph.indptr, graph.indices, degrees.astype(np.float32))


def chance_of_law(samples: str, how: Row) -> float:
    """The smallest p-value of a peer's samples over all situations, times their number.

    A situation is (previous vertex, vertex), or in time (vertex, time of the step before, whether it is the first).
    """
    walks = np.load(samples).astype(np.int64)
    if "time_bias" in how:
        return _chance_in_time(walks, how)
    view = GraphView(of_degree(small_graph()) if how.get("by_degree") else small_graph(), bool(how.get("weighted")))
    walk = registry.build("node2vec", {"p": how.get("p", 1.0), "q": how.get("q", 1.0)})
    assert isinstance(walk, Walk)
    found: dict[tuple[int, int], dict[int, int]] = {}
    for step in range(walks.shape[1] - 1):
        before = walks[:, step - 1] if step else np.full(len(walks), -1)
        rows, counts = np.unique(np.column_stack([before, walks[:, step : step + 2]]), axis=0, return_counts=True)
        for (prev, v, then), count in zip(rows.tolist(), counts.tolist(), strict=True):
            outcomes = found.setdefault((prev, v), {})
            outcomes[then] = outcomes.get(then, 0) + count
    tested = [chi_square(seen, next_law(view, walk, v, prev=prev)) for (prev, v), seen in found.items()]
    return holm([p for p in tested if p is not None])


def _chance_in_time(found: np.ndarray, how: Row) -> float:
    """``chance_of_law`` of walks in time, which stand before the times of their steps."""
    steps = (found.shape[1] - 1) // 2
    walks, times = np.ascontiguousarray(found[:, : steps + 1]), np.ascontiguousarray(found[:, steps + 1 :])
    lengths = (walks >= 0).sum(axis=1) - 1
    times[np.arange(steps) >= lengths[:, None]] = NO_TIME
    walk = registry.build("temporal", {"per": "time", "time_bias": how["time_bias"]})
    assert isinstance(walk, Walk)
    view = GraphView(small_graph(), False)
    rows, rule, faults = TimeRows.of(view), rule_of(walk), np.zeros(4, np.int64)
    places = np.empty(times.shape, np.int64)
    follow(rows, walks, times, lengths, rule, True, places, faults)
    if faults.any():
        return 0.0
    row, step = np.nonzero(places >= ENDED)
    now = np.where(step > 0, times[row, step - 1], rule.start)
    situations = np.column_stack([walks[row, step], now, step == 0])
    laws = TimeLaws(view, walk, rows, rule, ("at", "previous_time", "first"))
    tested = []
    for situation in np.unique(situations, axis=0):
        outcomes, counts = np.unique(places[row, step][(situations == situation).all(axis=1)], return_counts=True)
        seen = dict(zip(outcomes.tolist(), counts.tolist(), strict=True))
        tested.append(chi_square(seen, laws(*situation.tolist())))
    return holm([p for p in tested if p is not None])


def verdict(rows: list[Row]) -> Verdict:
    beside = [row for row in rows if row["peer"] != FIRST and "times" in row]
    if not beside:
        return Verdict(None, "no peer was measured")
    times = {name: 1 / row["times"] for name, row in named(rows).items() if row in beside}
    return by_row(
        times, lambda ratio: ratio > 1, f"times the rate of the peer in each of these rows: {'; '.join(times)}"
    )


SUITES = {
    "peers": Suite(
        "csaw samples faster than each peer that is measured beside it on the same device and draws from the same law",
        rows,
        verdict,
        peers=NAMES[1:],
    )
}
