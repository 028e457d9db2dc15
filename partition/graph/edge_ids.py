"""The edge column of the rows of the input that the edges of a store come from, which ``csaw partition --edge-ids``
keeps: ``partitions/00000/edge_ids``, int64.
"""

import numpy as np

from csaw.partition.base import arguments
from csaw.partition.base.python_names import reading
from csaw.partition.errors import StoreError
from csaw.partition.graph.attributes import EDGE_IDS
from csaw.partition.graph.store import GraphStore

STORE = arguments.instance(GraphStore, "an open graph store, as csaw.open_graph returns it")


@reading({"store": STORE, "e_id": arguments.maybe(arguments.ids)})
def read_edge_ids(store: GraphStore, e_id: np.ndarray | None = None) -> np.ndarray:
    """Return the rows of the input from which stored edges come, to look up attributes of edges in a table.

    Edges of the input are numbered from 0, in the order of its files and lines; comments, blank lines and rows that
    were skipped as malformed do not count. Both directions of an undirected edge have the same number; an edge that
    replaces repeated ones has that of the first.

    Args:
        store: a graph store made by ``csaw partition --edge-ids``.
        e_id: positions of edges in the rows of the store, such as those in mini-batches, integers of any shape; None,
            all edges in order. One partition at a time is in memory.

    Returns:
        int64, in the shape of ``e_id``, or [E].

    Raises:
        OptionError: ``store`` is not an open store, or positions are not integers.
        StoreError: the store does not have these numbers or positions, or a file has changed.
    """
    store = store.stored
    if EDGE_IDS not in store.attributes:
        raise StoreError(
            f"{store.path} does not store which rows its edges come from; make it with csaw partition --edge-ids"
        )
    if e_id is None:
        every = np.empty(store.edges, np.int64)
        for part in store.partitions:
            every[part.first_edge : part.first_edge + part.edges] = read_part_ids(store, part.number)
        return every
    wanted = e_id
    if wanted.size and not 0 <= int(wanted.min()) <= int(wanted.max()) < store.edges:
        raise StoreError(
            f"e_id: {store.path}: expected positions of edges from 0 to {store.edges - 1:,}, found "
            f"{wanted.min()} to {wanted.max()}"
        )
    out = np.empty(wanted.shape, np.int64)
    for part in store.partitions:
        here = (wanted >= part.first_edge) & (wanted < part.first_edge + part.edges)
        if here.any():
            out[here] = read_part_ids(store, part.number)[wanted[here] - part.first_edge]
    return out


def read_part_ids(store: GraphStore, number: int) -> np.ndarray:
    """Read the numbers in the input of the edges of a partition, int64; StoreError where the file has changed, or has
    numbers that the input lacks.
    """
    out = np.empty(store.partitions[number].edges, np.int64)
    store.read_edges(number, {EDGE_IDS: out})
    return out
