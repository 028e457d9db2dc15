"""A graph in a given number of partitions, however it is stored: the papers use four, of which two fit.

Or in those of a partitioner, however its vertices are numbered.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from csaw.engine.plan.plan import Plan
from csaw.partition import GraphStore
from csaw.partition.arrays.replace import GRAPH, Draft
from csaw.partition.graph.cuts import cut_points
from csaw.partition.graph.views import Coalesced
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.partitioners import partitioned

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
