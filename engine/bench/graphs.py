"""Graphs to measure: the user's, or those of a paper's table, from disk or as generated stand-ins."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.datasets.catalog import BY_HAND, ENTRIES, ByHand, Entry
from csaw.datasets.generate import edge_times
from csaw.datasets.resolve import on_disk, resolve
from csaw.datasets.spec import Grid, Integers, Model, Rgg, Rmat, Road, Shape, parse_rmat
from csaw.engine.plan.plan import Plan
from csaw.partition import open_graph
from csaw.partition.arrays.files import GRAPH
from csaw.partition.arrays.replace import Draft
from csaw.partition.graph.clusters import Clusters, digest_of, make_clusters
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.parts import cut_points
from csaw.partition.graph.store import INDICES, GraphStore
from csaw.partition.graph.types import RELATION, Relation, Types
from csaw.partition.graph.views import Coalesced, Recut
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.partitioners import partitioned

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

PAPERS = {"c-saw": "C-SAW", "nextdoor": "NextDoor", "gsampler": "gSampler", "gunrock": "Gunrock"}
# from [1, 5); integers, as Gunrock's shortest paths have
WEIGHTS: dict[str, int | Integers] = {"nextdoor": 5, "gunrock": Integers(0, 64)}
# Graphs of a paper that are R-MAT themselves: Gunrock's have 2^29 draws each, and its generator's noise.
MADE = {"gunrock": tuple(Rmat(scale=s, edge_factor=1 << (29 - s), noise=0.05) for s in range(20, 26))}
GOAL_DEVICE, GOAL_GRAPH = "NVIDIA H200", "rmat:scale=25,edge_factor=32,weights=1"  # for which works have goals
CPU_GRAPH = "rmat:scale=20,edge_factor=16,weights=1"
QUICK_GRAPH = "rmat:scale=10,edge_factor=8,weights=1"
EDGE_BYTES = 40  # of an edge on a GPU, in the widest layout with all arrays beside it
CPU_EDGES = 1 << 24  # most edges of a stand-in on a CPU, unless --max-edges says otherwise


class Graph(NamedTuple):
    """An open graph, and its name in bench rows."""

    label: str
    store: GraphStore


@dataclass(frozen=True)
class Named:
    """A graph that can be opened.

    With a GPU (``gpu`` is not None), R-MAT graphs without times are made in its memory.
    """

    label: str
    source: str | Path

    def open(self, gpu: "Device | None") -> Graph:
        source = str(self.source)
        if gpu is not None and source.startswith("rmat:") and not Path(source).exists():
            from csaw.engine.bench.rmat import DeviceRmat

            if (rmat := parse_rmat(source)).times is None:
                return Graph(self.label, DeviceRmat(source, rmat, gpu))
        return Graph(self.label, open_graph(resolve(str(self.source))))


def given(graph: str) -> Named:
    """The graph that an argument of the command line names."""
    return Named(graph, graph)


def default_graph(gpu: "Device | None", quick: bool) -> str:
    """The spec of an R-MAT graph far larger than every cache.

    It has a size for a CPU, or is the largest whose layouts fit the GPU, up to 2 G edges.
    """
    if quick:
        return QUICK_GRAPH
    if gpu is None:
        return CPU_GRAPH
    scale = next((s for s in range(25, 16, -1) if (64 << s) * EDGE_BYTES <= gpu.free_bytes), 16)
    return f"rmat:scale={scale},edge_factor=32,weights=1"


def of_paper(paper: str, gpu: "Device | None", max_edges: int | None, *, weighted: bool = True) -> list[Named]:
    """The graphs of a paper's table: those on disk, or stand-ins.

    On disk are those that ``csaw datasets fetch`` or an earlier run left in the cache, or that stand as NAME.zarr in
    the current folder. ``weighted``: stand-ins have the weights that the paper gives to its graphs; of the papers here,
    NextDoor's and Gunrock's do.
    """
    most = max_edges or (CPU_EDGES if gpu is None else gpu.free_bytes // EDGE_BYTES)
    known: list[Entry | ByHand] = [*ENTRIES, *BY_HAND]
    entries = [e for e in sorted(known, key=lambda e: e.name.lower()) if PAPERS[paper] in e.papers.split(", ")]
    weights = WEIGHTS.get(paper, 0) if weighted else 0
    return [
        *(Named(e.name, found) if (found := on_disk(e)) else stand_in(e, most, weights) for e in entries),
        *(_made(rmat, most, weights) for rmat in MADE.get(paper, ())),
    ]


def _made(rmat: Rmat, most: int, weights: int | Integers) -> Named:
    """The R-MAT graph of a paper, or, where it may have more than ``most`` edges, one of fewer vertices."""
    scale, fits = rmat.scale, replace(rmat, weights=weights)
    while fits.scale > 1 and fits.draws * (1 + fits.undirected) > most:
        fits = replace(fits, scale=fits.scale - 1)
    reduced = "" if fits.scale == scale else f", {100 / 2 ** (scale - fits.scale):.2g} % of its vertices"
    return Named(f"rmat_n{scale}_{rmat.edge_factor}{reduced}: {fits}", str(fits))


def stand_in(entry: Entry | ByHand, most: int, weights: int | Integers = 0) -> Named:
    """A generated graph like the entry: road: for road networks, rgg: for random geometric graphs, a grid: cut into
    triangles for triangulations, and for others the R-MAT graph nearest to its vertices and average degree.

    It has fewer vertices if it would have more than ``most`` edges. ``weights``: see Model.
    """
    stored = entry.edges * (1 if entry.directed else 2)
    share = min(1.0, most / stored)
    vertices, degree = entry.vertices * share, stored / entry.vertices
    square = Shape([max(2, round(math.sqrt(vertices)))] * 2)
    spec: Model
    if entry.name.startswith("road"):
        spec = Road(shape=square, degree=round(min(max(degree, 2.0), 4.0), 2))
    elif entry.name.startswith("rgg"):
        spec = Rgg(vertices=max(2, round(vertices)))
    elif entry.name.startswith("delaunay"):
        spec = Grid(shape=square, diagonals=1)
    else:
        spec = nearest(vertices, degree, undirected=not entry.directed)
    spec = replace(spec, weights=weights)
    reduced = "" if share == 1.0 else f", {100 * share:.2g} % of its vertices"
    return Named(f"stand-in for {entry.name}{reduced}: {spec}", str(spec))


def nearest(vertices: float, degree: float, *, undirected: bool) -> Rmat:
    """The R-MAT graph of this average degree with the nearest number of vertices.

    Scales are powers of two, so the number is up to 1.5 times off.
    """
    first = max(1, round(math.log2(vertices)) - 1)
    found = [
        Rmat(scale=s, edge_factor=_factor(s, degree, undirected), undirected=int(undirected))
        for s in range(first, min(first + 5, 32))
    ]
    return min(found, key=lambda rmat: abs(math.log(expected(rmat)[0] / vertices)))


def _factor(scale: int, degree: float, undirected: bool) -> int:
    """The edge factor whose average degree, of the vertices that have edges, is nearest."""
    low, high = 1, 2
    while _degree(scale, high, undirected) < degree and high < 1 << min(scale, 18):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _degree(scale, middle, undirected) >= degree else (middle, high)
    return min((low, high), key=lambda factor: abs(math.log(_degree(scale, factor, undirected) / degree)))


def _degree(scale: int, factor: int, undirected: bool) -> float:
    vertices, edges = expected(Rmat(scale=scale, edge_factor=factor, undirected=int(undirected)))
    return edges / vertices


def expected(rmat: Rmat) -> tuple[float, float]:
    """Vertices with an edge, and stored edges without repeats, that an R-MAT graph has on average.

    A vertex with k one-bits is an end of a drawn edge with chance 2 (a + b)^(s - k) (c + d)^k; a pair of vertices, with
    the chance of its bits.
    """
    s, draws = rmat.scale, rmat.draws
    ones = np.arange(s + 1)
    ends = 2 * (rmat.a + rmat.b) ** (s - ones) * (rmat.c + rmat.d) ** ones
    vertices = (_choose(s, ones) * -np.expm1(-draws * ends)).sum()
    i, j, k = np.ogrid[: s + 1, : s + 1, : s + 1]
    i, j, k = (x[i + j + k <= s] for x in np.broadcast_arrays(i, j, k))
    chance = rmat.a**i * rmat.b**j * rmat.c**k * rmat.d ** (s - i - j - k)
    pairs = _choose(s, i) * _choose(s - i, j) * _choose(s - i - j, k)
    return float(vertices), float((pairs * -np.expm1(-draws * chance * (1 + rmat.undirected))).sum())


def _choose(n: np.ndarray | int, k: np.ndarray) -> np.ndarray:
    from scipy.special import comb

    return comb(n, k)


# A graph in a given number of partitions, however it is stored: the papers use four, of which two fit.
#
# Or in those of a partitioner, however its vertices are numbered.

PARTITION_BYTES = 256 << 20  # most bytes of a partition, as csaw partition makes them


def in_partitions(store: GraphStore, count: int, folder: Path) -> GraphStore:
    """The store with its partitions merged into ``count``, or a copy of it in ``folder`` that has ``count``."""
    if len(store.partitions) == count:
        return store
    if len(store.partitions) > count:
        return Coalesced(store, count)
    return copied(store, count, folder)


def copied(store: GraphStore, count: int, folder: Path) -> GraphStore:
    """Copy the store to ``folder`` with ``count`` partitions, or fewer if a row is longer than one.

    Holds one partition of the store at a time.
    """
    indptr = store.read_indptr()
    cuts = cut_points(indptr, count)
    with StoreWriter(folder / "parted.zarr", vertices=store.vertices, weighted=store.weighted) as writer:
        for part in store.partitions:
            indices = np.empty(part.edges, store.id_dtype)
            weights = np.empty(part.edges, np.float32) if store.weighted else None
            store.read_partition(part.number, indices, weights)
            inner = cuts[(cuts > part.first_vertex) & (cuts < part.last_vertex)].tolist()
            for a, b in pairwise([part.first_vertex, *inner, part.last_vertex]):
                span = slice(indptr[a] - part.first_edge, indptr[b] - part.first_edge)
                rows = indptr[a : b + 1] - indptr[a]
                writer.extend(rows, indices[span], None if weights is None else weights[span])
                if b in cuts:
                    writer.end_partition()
        return writer.finish(directed=store.directed, vertex_ids=None, report={})


def by_partitioner(plain: GraphStore, partitioner: str, count: int, folder: Path) -> tuple[GraphStore, np.ndarray]:
    """Copy a store, whose original ids are its dense ones, to ``folder`` in the ``count`` partitions of a partitioner.

    Errors as of ``csaw partition --partitioner``. Returns the copy, and the number of each vertex there, int64 [V].
    """
    options = IngestOptions(partitioner=partitioner, partitions=count)
    with Draft(folder / f"{partitioner}.zarr", GRAPH, overwrite=False) as draft:
        made = partitioned(plain, draft, options, PARTITION_BYTES, None)
    return made, np.argsort(made.original_ids(np.arange(made.vertices)))


def room_for(plan: Plan, store: GraphStore, count: int) -> int:
    """Bytes of memory of a plan for a streamed graph while ``count`` of the store's partitions are loaded."""
    edge = plan.needs.edge
    each = edge.in_partition(plan.graph_layout) if plan.device == "cpu" else edge.piece
    return plan.fixed_bytes + plan.batch_bytes + count * store.largest_partition * each


# A graph with clusters of vertices, for ClusterGCN, where its store was made without.

METHOD, SEED = "random", 0  # R-MAT graphs have no communities that another method could find
MEMBERS = 160  # mean vertices of a cluster: ogbn-products in 15,000 clusters


class Clustered(Recut):
    """``store`` with random clusters of about MEMBERS vertices, and at least ``fewest`` where it has as many vertices.

    Nothing is copied.
    """

    def __init__(self, store: GraphStore, fewest: int) -> None:
        super().__init__(store, [(part.first_vertex, part.first_edge) for part in store.partitions])
        count = min(max(fewest, store.vertices // MEMBERS), store.vertices)
        self.numbers = make_clusters(store, count, METHOD, SEED)
        self.clusters = Clusters(count, METHOD, SEED, digest_of(self.numbers))

    def read_clusters(self) -> np.ndarray:
        return self.numbers


def in_clusters(store: GraphStore, fewest: int) -> GraphStore:
    """The store itself if it has ``fewest`` clusters, or else a view of it with random ones."""
    if store.clusters is not None and store.clusters.count >= fewest:
        return store
    return Clustered(store, fewest)


MOST_EDGES = 1 << 29  # of a graph that gets times or types, on the host: about a hundred nanoseconds each
SPAN = 1 << 30


def with_times(store: GraphStore) -> InMemory:
    """A graph with times at random from 0 to SPAN - 1, as R-MAT graphs have them, in memory and without weights."""
    times = edge_times(1, 0, store.edges, Integers(0, SPAN - 1))
    return InMemory(
        str(store.path), store.read_indptr(), _neighbors(store), directed=True, edge_columns={TIME.name: times}
    )


AUTHOR, PAPER = "author", "paper"
RELATIONS = (  # by the types of both ends
    Relation(AUTHOR, "knows", AUTHOR),
    Relation(AUTHOR, "writes", PAPER),
    Relation(PAPER, "rev_writes", AUTHOR),
    Relation(PAPER, "cites", PAPER),
)


def with_types(store: GraphStore) -> InMemory:
    """A graph whose first half of vertices are authors and the others papers, in memory and without weights.

    The types of its ends give an edge one of four relations, two of which leave each type.
    """
    indptr, indices, half = store.read_indptr(), _neighbors(store), store.vertices // 2
    number = (indices >= half).astype(np.uint8)
    number[indptr[half] :] += 2
    counts = np.bincount(number, minlength=len(RELATIONS)).tolist()
    types = Types((AUTHOR, PAPER), (0, half, store.vertices), RELATIONS, tuple(counts))
    columns = {RELATION.text: number}
    return InMemory(str(store.path), indptr, indices, directed=True, edge_columns=columns, types=types)


def _neighbors(store: GraphStore) -> np.ndarray:
    """The neighbors of all vertices."""
    indices = np.empty(store.edges, store.id_dtype)
    for part in store.partitions:
        store.read_edges(part.number, {INDICES: indices[part.first_edge : part.first_edge + part.edges]})
    return indices
