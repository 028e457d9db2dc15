"""The contract between the scheduler and a graph whose partitions are loaded and evicted."""

from typing import Any

import numpy as np


class Partitions:
    """A graph of P partitions as the scheduler sees it. ``loaded``, uint8 [P], says which of them are in memory.

    Every graph has ``sizes``, ``load`` and ``evict``. The other methods are for graphs that can load a partition while others are sampled (``fetches``), or can
    read rows without loading their partitions (``reads_in_place``).
    """

    reads_in_place = False  # whether rows can be read without loading their partitions
    fetches = False  # whether a partition can be loaded while others are sampled, without slowing that down

    def sizes(self) -> np.ndarray:
        """Bytes of memory that each partition takes while it is loaded, int64 [P]."""
        raise NotImplementedError

    def load(self, number: int) -> None:
        raise NotImplementedError

    def evict(self, number: int) -> None:
        raise NotImplementedError

    def costs(self) -> np.ndarray:
        """Cost of loading each partition, as the number of bytes that are copied in the same time [P]."""
        return self.sizes()

    def fetch(self, number: int) -> None:
        """Begin to load partition ``number`` into free memory; ``load`` waits for the end."""

    def ahead(self, waiting: dict[int, int]) -> None:
        """Note the partitions that are waited for and may be read ahead, each with the number of waiting instances."""

    def room_to_reach(self, batch: Any) -> float:
        """Bytes of memory that the rows that ``batch`` waits for would take, read without their partitions."""
        return 0

    @property
    def in_place_bytes(self) -> int:
        """Bytes of memory that single rows take now."""
        return 0

    def reach(self, batch: Any, room: float) -> bool:
        """Make the rows that ``batch`` needs readable without loading partitions, in at most ``room`` bytes. False: the batch cannot advance."""
        raise NotImplementedError

    def leave(self) -> None:
        """End reading in place: from here on, only rows of loaded partitions can be read."""


def crowds(xp: Any, graph: Any, needs: tuple[Any, ...]) -> np.ndarray:
    """Count the instances that wait for each pair of partitions.

    ``needs``: for each waiting instance the vertex whose row it needs, and for second-order biases a second array with the vertex whose row it needs as well;
    both are arrays of ``xp``, NumPy or CuPy. Returns int64 [m, 3] in host memory: a partition, the second one (the same where there is none), and the number
    of instances that wait for both.
    """
    parts, numbers = graph.loaded.size, [graph.partition_of(vertices) for vertices in needs]
    pairs, count = xp.unique(numbers[0].astype(np.int64) * parts + numbers[-1], return_counts=True)
    both = xp.stack([pairs // parts, pairs % parts, count], axis=1)
    return both if xp is np else both.get()
