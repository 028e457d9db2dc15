"""A view of a graph store with fewer, larger partitions: neighboring ones are read together, so that each transfer is worth its start."""

from itertools import pairwise
from typing import Any

import numpy as np

from csaw.partition.store import GraphStore, Partition
from csaw.partition.words import Words


class Coalesced(GraphStore):
    """``store`` with its partitions merged into at most ``count``, of about equal edges. No data are copied."""

    def __init__(self, store: GraphStore, count: int) -> None:
        super().__init__(store.path, store.attributes, store.checksums)
        self.store, self.id_dtype = store, store.id_dtype
        firsts = np.array([p.first_edge for p in store.partitions] + [store.edges])
        cuts = np.searchsorted(firsts, np.linspace(0, store.edges, count + 1)[1:-1])
        cuts = np.unique([0, *np.clip(cuts, 1, None), len(store.partitions)])
        self.parts = [store.partitions[a:b] for a, b in pairwise(cuts.tolist()) if a < b]
        self.partitions = [
            Partition(number, parts[0].first_vertex, parts[-1].last_vertex, parts[0].first_edge, sum(p.edges for p in parts), sum(p.nbytes for p in parts))
            for number, parts in enumerate(self.parts)
        ]  # fmt: skip

    @property
    def stored(self) -> GraphStore:
        return self.store.stored

    @property
    def is_plain(self) -> bool:  # type: ignore[override]
        return self.store.is_plain

    def read_indptr(self) -> np.ndarray:
        return self.store.read_indptr()

    def read_partition(self, number: int, indices_out: np.ndarray, weights_out: np.ndarray | None = None) -> None:
        at = 0
        for part in self.parts[number]:
            span = slice(at, at + part.edges)
            self.store.read_partition(
                part.number, indices_out[span], None if weights_out is None else weights_out[span]
            )
            at += part.edges

    def read_ahead(self, number: int, weights: bool) -> None:
        for part in self.parts[number]:
            self.store.read_ahead(part.number, weights)

    def stored_ids(self) -> np.ndarray | Words | None:
        return self.store.stored_ids()

    def dense_ids(self, originals: Any) -> np.ndarray:
        return self.store.dense_ids(originals)
