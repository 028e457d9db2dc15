"""The contract between a scheduler and a graph whose partitions come and go."""

from typing import Any

import numpy as np


class Partitions:
    """What a scheduler sees of a graph: ``loaded`` uint8 [P], sizes, load and evict; and what few graphs can do besides."""

    reads_in_place = False  # whether it can be read without being loaded
    fetches = False  # whether it can be loaded beside what runs without slowing that down

    def sizes(self) -> np.ndarray:
        """Bytes that each partition takes while it is loaded."""
        raise NotImplementedError

    def load(self, number: int) -> None:
        raise NotImplementedError

    def evict(self, number: int) -> None:
        raise NotImplementedError

    def costs(self) -> np.ndarray:
        """What bringing each partition takes, in bytes copied."""
        return self.sizes()

    def fetch(self, number: int) -> None:
        """Begin to load a partition into free room; ``load`` ends it."""

    def ahead(self, waiting: dict[int, int]) -> None:
        """What is waited for now, by how many: to be read ahead."""

    def room_to_reach(self, batch: Any) -> float:
        """Bytes of memory that reading in place takes for what a batch waits for."""
        return 0

    @property
    def in_place_bytes(self) -> int:
        """Bytes of memory that what was read in place takes now."""
        return 0

    def reach(self, batch: Any, room: float) -> bool:
        """Make readable where it is what a batch waits for, or as much of it as ``room`` bytes hold; whether it can go on."""
        raise NotImplementedError

    def leave(self) -> None:
        """Only what is loaded can be read again."""


def crowds(xp: Any, graph: Any, needs: tuple[Any, ...]) -> np.ndarray:
    """What instances wait for: int64 [m, 3] of a partition, the other one it is needed with, and how many wait for both.

    ``needs`` is the vertex whose row each of them needs, and the one whose row it needs beside that, if any: arrays of ``xp`` (NumPy or its like
    on a GPU).
    """
    parts, numbers = graph.loaded.size, [graph.partition_of(vertices) for vertices in needs]
    pairs, count = xp.unique(numbers[0].astype(np.int64) * parts + numbers[-1], return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()
