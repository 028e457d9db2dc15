"""The share of directed edges whose reverse is there too, estimated from evenly spread edges with at most two
partitions in memory.
"""

from functools import lru_cache, partial

import numpy as np

from csaw.partition.graph.parts import Partition
from csaw.partition.graph.store import GraphStore

MOST = 200_000  # edges that are looked at, of a graph that has more


def reciprocity(store: GraphStore, most: int = MOST) -> float | None:
    """The share of edges, 0 to 1, whose reverse is an edge too, from ``most`` of them or up to twice as many; None for
    an undirected graph, and for one without edges but self loops.
    """
    if not store.directed or store.edges == 0:
        return None
    stride = _stride(store.edges, most)
    rows = lru_cache(maxsize=1)(partial(_rows, store))  # of a store in one partition, that is read once
    ends = [_spread(part, rows(part.number), stride) for part in store.partitions]
    sources, targets = (np.concatenate(column) for column in zip(*ends, strict=True))
    found = sum(_found(part, rows(part.number), targets, sources) for part in reversed(store.partitions))
    return found / sources.size if sources.size else None


def self_loops(store: GraphStore) -> int:
    """How many vertices have an edge to themselves."""
    own = (np.arange(part.first_vertex, part.last_vertex) for part in store.partitions)
    return sum(_found(part, _rows(store, part.number), v, v) for part, v in zip(store.partitions, own, strict=True))


def looked_at(edges: int, most: int = MOST) -> int:
    """How many edges of a graph :func:`reciprocity` looks at."""
    return -(-edges // _stride(edges, most))


def _stride(edges: int, most: int) -> int:
    return max(1, edges // most)


def _rows(store: GraphStore, number: int) -> tuple[np.ndarray, np.ndarray]:
    part = store.partitions[number]
    indices = np.empty(part.edges, store.id_dtype)
    store.read_partition(number, indices)
    return store.read_offsets(number), indices


def _spread(part: Partition, rows: tuple[np.ndarray, np.ndarray], stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ``stride``-th entry of the whole store that lies in this partition and is no self loop."""
    indptr, indices = rows
    at = np.arange(-part.first_edge % stride, part.edges, stride)
    sources = np.searchsorted(indptr, at, side="right") - 1 + part.first_vertex
    targets = indices[at].astype(np.int64)
    keep = sources != targets
    return sources[keep], targets[keep]


def _found(part: Partition, csr: tuple[np.ndarray, np.ndarray], sources: np.ndarray, targets: np.ndarray) -> int:
    """How many of the pairs are entries of this partition."""
    from csaw.partition.graph.csr import count_present

    here = (sources >= part.first_vertex) & (sources < part.last_vertex)
    return int(count_present(*csr, sources[here] - part.first_vertex, targets[here]))
