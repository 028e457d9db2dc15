"""Which partitions are in memory when: workload-aware scheduling, written once for every backend (C-SAW, section V-B).

The partition with the most waiting instances is loaded next and stays until nobody waits for it; what the budget has left goes to
the next busiest. All instances of a batch share the schedule, so one transfer serves them all.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Counters:
    """What scheduling did."""

    rounds: int = 0
    loads: int = 0
    evictions: int = 0


def run_batch(batch, graph, capacity_bytes: int | None, counters: Counters) -> None:
    """Advance a batch to its end; ``capacity_bytes`` of partitions fit at once (None: all are loaded already)."""
    batch.advance()
    while capacity_bytes is not None and (wants := batch.wants()).size:
        counters.rounds += 1
        _make_room(wants, graph, capacity_bytes, counters)
        batch.advance()


def _make_room(wants: np.ndarray, graph, capacity: int, counters: Counters) -> None:
    parts = graph.loaded.size
    size = np.array([p.edges for p in graph.store.partitions], np.int64) * graph.edge_bytes()
    pairs, crowd = np.unique(wants[:, 0] * parts + wants[:, 1], return_counts=True)
    busiest = int(pairs[np.argmax(crowd)])
    keep = list(dict.fromkeys([busiest // parts, busiest % parts]))
    waiting = np.bincount(wants.ravel(), minlength=parts)
    rest = sorted((p for p in range(parts) if waiting[p] and p not in keep), key=lambda p: (-waiting[p], p))
    room = capacity - sum(int(size[p]) for p in keep)
    for part in rest:
        if size[part] <= room:
            keep.append(part)
            room -= int(size[part])
    for part in np.flatnonzero(graph.loaded).tolist():
        if part not in keep:
            graph.evict(part)
            counters.evictions += 1
    for part in keep:
        if not graph.loaded[part]:
            graph.load(part)
            counters.loads += 1
