"""Times for the edges of a graph that has none, so that sampling in time can be measured on any."""

import numpy as np

from csaw.datasets.rmat import edge_times
from csaw.datasets.spec import Integers
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.store import INDICES, GraphStore

SPAN = 1 << 30


def with_times(store: GraphStore) -> InMemory:
    """A graph with times at random from 0 to SPAN - 1, as R-MAT graphs have them, in memory and without weights."""
    indices = np.empty(store.edges, store.id_dtype)
    for part in store.partitions:
        store.read_edges(part.number, {INDICES: indices[part.first_edge : part.first_edge + part.edges]})
    times = edge_times(1, 0, store.edges, Integers(0, SPAN - 1))
    return InMemory(str(store.path), store.read_indptr(), indices, directed=True, edge_columns={TIME.name: times})
