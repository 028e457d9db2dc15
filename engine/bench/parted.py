"""A graph as so many partitions, whatever it was stored as: the papers use four of which two fit."""

from pathlib import Path
from typing import Any

from csaw.partition import write_graph
from csaw.partition.coalesced import Coalesced


def in_partitions(store: Any, count: int, folder: Path) -> Any:
    """The store itself, seen with fewer partitions, or a copy of it in ``folder`` that has so many."""
    if len(store.partitions) == count:
        return store
    if len(store.partitions) > count:
        return Coalesced(store, count)
    return copied(store, count, folder)


def copied(store: Any, count: int, folder: Path) -> Any:
    """A copy of the store in ``folder``, with so many partitions."""
    graph = store.load()
    return write_graph(
        folder / "parted.zarr", graph.indptr, graph.indices, graph.weights, directed=store.directed, partitions=count
    )


def room_for(plan: Any, store: Any, count: int) -> int:
    """Bytes that a plan needs with so many of the store's partitions loaded at once."""
    each = plan.graph_bytes // max(store.edges, 1)
    return plan.fixed_bytes + plan.batch_bytes + count * store.largest_partition * each
