"""Which partitions are in memory when: workload-aware scheduling, written once for every backend (C-SAW, section V-B).

The partition with the most waiting instances is loaded next and stays until nobody waits for it; what the budget has left goes to
the next busiest. All instances of a batch share the schedule, so one transfer serves them all.
"""

from dataclasses import dataclass
from typing import Any

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


def crowds(xp: Any, here: Any, before: Any, parts: int) -> np.ndarray:
    """What instances wait for: int64 [m, 3] of a partition, the other one it is needed with, and how many wait for both.

    ``here`` and ``before`` are one entry an instance, arrays of ``xp`` (NumPy or its like on a GPU).
    """
    pairs, count = xp.unique(here.astype(np.int64) * parts + before, return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()


def _make_room(wants: np.ndarray, graph: Any, capacity: int, counters: Counters) -> None:
    parts = graph.loaded.size
    size = graph.sizes()
    keep = list(dict.fromkeys(wants[np.argmax(wants[:, 2]), :2].tolist()))
    waiting = np.bincount(wants[:, :2].ravel(), np.repeat(wants[:, 2], 2), minlength=parts)
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
