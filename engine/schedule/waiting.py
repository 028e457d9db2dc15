"""The partitions that a batch waits for, and how many instances wait for each."""

from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array, Partitions


def rows_of(count: np.ndarray) -> np.ndarray:
    """Return the waits of instances where one partition at a time serves them.

    They are like ``crowds``, each partition needed with itself.

    ``count`` [partitions]: instances that each would serve; one that either of two serves is counted at both.
    """
    part = np.flatnonzero(count)
    return np.stack([part, part, count[part]], axis=1)


def crowds(xp: ModuleType, graph: Partitions, needs: tuple[Array, ...]) -> np.ndarray:
    """Return the waits of instances, int64 [m, 3].

    Each is a partition, the other one it is needed with, and how many wait for both.

    ``needs`` is the vertex whose row each of them needs, and the one whose row it needs beside that, if any: arrays of
    ``xp`` (NumPy or its like on a GPU).
    """
    parts, numbers = graph.loaded.size, [graph.partition_of(vertices) for vertices in needs]
    pairs, count = xp.unique(numbers[0].astype(np.int64) * parts + numbers[-1], return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()
