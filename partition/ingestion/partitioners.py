"""Partitioners: which partition a vertex is in, and a store whose vertices are numbered so that each partition has a
range of them.

range            the order of the ids of the input, cut into ranges; nothing is numbered anew
random           a random order, cut into equal parts
biased-random    vertices in a random order, each to a random partition, with chances by the number of its neighbors
                 there (Pan, Wang, Wu, Yang and Owens,
                 Multi-GPU Graph Analytics, IPDPS 2017)
metis, lp        few edges between partitions: partition/graph/clusters.py has the methods
degree           vertices of many edges first, cut into parts of equal edges: what measures read most lies together
                 (docs/explanation/measuring.md has what they gain)
"""

import numpy as np

from csaw.partition.arrays.replace import Draft
from csaw.partition.arrays.words import Words
from csaw.partition.base.stages import PARTITIONING, REWRITING, stage
from csaw.partition.graph.attributes import EDGE_IDS
from csaw.partition.graph.clusters import SLACK, make_clusters, random_words, shuffled
from csaw.partition.graph.edge_ids import read_edge_ids
from csaw.partition.graph.parts import Graph, cut_points, partition_count
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import MakeClusters


def partitioned(
    plain: GraphStore, out: Draft, options: IngestOptions, count_for: int, clusters: MakeClusters | None
) -> GraphStore:
    """The graph of ``plain`` as the store ``out``, in the partitions of ``options.partitioner``.

    The whole graph is in memory meanwhile.

    Dense ids go through the partitions in turn, and within one through the ids of the input as they rise (by degree,
    through vertices of fewer and fewer entries); original ids stay what they are. ``count_for``:
    most bytes of a partition, where the options do not give their number. ``clusters``: as of ``StoreWriter.finish``.
    """
    item = plain.id_dtype.itemsize + 4 * plain.weighted
    count = partition_count(plain.edges, plain.vertices, item, options.partitions, count_for)
    count = min(count, max(plain.vertices, 1))
    if options.partitioner == "degree":
        order, parts = by_degree(plain, count)
    else:
        with stage(PARTITIONING):
            parts = partition_of(plain, count, options.partitioner, options.partitioner_seed)
        order = np.argsort(parts, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    graph = plain.load(plain.further_columns)
    numbers = read_edge_ids(plain) if options.edge_ids else None
    with (
        stage(REWRITING),
        StoreWriter(
            out,
            vertices=plain.vertices,
            weighted=plain.weighted,
            compression=options.compression,
            input_rows=plain.attributes.get(EDGE_IDS),
            edge_columns=plain.further_columns,
        ) as writer,
    ):
        for members in np.split(order, np.flatnonzero(np.diff(parts[order])) + 1):
            indptr, indices, places = _renumbered(graph, members, ranks)
            beside = [None if array is None else array[places] for array in (graph.weights, numbers)]
            columns = {name: values[places] for name, values in graph.columns.items()}
            writer.extend(indptr, indices, beside[0], numbers=beside[1], columns=columns)
            writer.end_partition()
        return writer.finish(
            directed=plain.directed,
            vertex_ids=_ids(plain, order),
            report=plain.report,
            clusters=clusters,
            partitioner={"method": options.partitioner, "seed": options.partitioner_seed},
        )


def by_degree(store: GraphStore, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices by the number of their entries, and the partition of each vertex, int64 [V] both.

    Most entries come first, and of equal ones the smallest vertex.
    """
    degrees = np.diff(store.read_indptr())
    order = np.argsort(-degrees, kind="stable")
    cuts = cut_points(np.concatenate([[0], np.cumsum(degrees[order])]), count)
    parts = np.empty_like(order)
    parts[order] = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))
    return order, parts


def partition_of(store: GraphStore, count: int, partitioner: str, seed: int) -> np.ndarray:
    """int32 [V]: the partition of each vertex by dense id, from 0 to ``count`` - 1.

    METIS may leave some unused. Errors as of ``make_clusters``.
    """
    if partitioner != "biased-random":
        return make_clusters(store, count, partitioner, seed)
    from csaw.partition.graph.cluster_kernels import place_biased  # brings Numba

    graph, parts = store.load(), np.full(store.vertices, -1, np.int32)
    most = max(int(SLACK * store.vertices / count), -(-store.vertices // count))
    chances = (random_words(store.vertices, seed) >> np.uint64(11)) * 2.0**-53
    place_biased(
        graph.indptr, graph.indices, shuffled(store.vertices, seed), chances, parts, np.zeros(count, np.int64), most
    )
    return parts


def _renumbered(graph: Graph, members: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR of the rows of ``members`` with ``ranks`` in place of their entries, and where each entry comes from.

    Repeats stay in their order.
    """
    sizes = graph.indptr[members + 1] - graph.indptr[members]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(graph.indptr[members] - indptr[:-1], sizes) + np.arange(indptr[-1])
    indices = ranks[graph.indices[places]]
    sorted_rows = np.lexsort((indices, np.repeat(np.arange(members.size), sizes)))
    return indptr, indices[sorted_rows], places[sorted_rows]


def _ids(plain: GraphStore, order: np.ndarray) -> np.ndarray | Words:
    ids = plain.stored_ids()
    if isinstance(ids, Words):
        return ids.take(order)
    return order if ids is None else ids[order]
