"""A view of a graph store with fewer, larger partitions: neighboring ones are read together, so that each transfer is worth its start."""

import numpy as np

from csaw.partition.graph.recut import Recut
from csaw.partition.graph.store import GraphStore


class Coalesced(Recut):
    """``store`` with its partitions merged into at most ``count``, of about equal edges. No data are copied."""

    def __init__(self, store: GraphStore, count: int) -> None:
        firsts = np.array([p.first_edge for p in store.partitions] + [store.edges])
        cuts = np.searchsorted(firsts, np.linspace(0, store.edges, count + 1)[1:-1])
        cuts = np.unique([0, *np.clip(cuts, 1, None)])
        begins = [store.partitions[k] for k in cuts.tolist() if k < len(store.partitions)]
        super().__init__(store, [(part.first_vertex, part.first_edge) for part in begins])
