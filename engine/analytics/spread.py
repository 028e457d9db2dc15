"""Graphs that are spread over several GPUs: who owns which vertices, whether it fits, and when it is done.

Each GPU owns the vertices of a range and has their rows, so that an edge is in the memory of one GPU. The numbers that
a measure keeps of vertices are there for all vertices on each GPU: duplicate-all, as Pan, Wang, Wu, Yang and Owens call
it (Multi-GPU Graph Analytics, IPDPS 2017). So kernels find them by the ids of vertices, the same as on one GPU.
"""

import logging
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from csaw.engine.plan.choices import Residency
from csaw.engine.plan.gpu_memory import require_reach
from csaw.engine.plan.limits import Gpu
from csaw.partition import GraphStore
from csaw.partition.errors import BudgetError, CsawError

log = logging.getLogger(__name__)
Range = tuple[int, int]
"""The vertices from the first number to before the second."""
One = TypeVar("One", bound=Gpu)
STATE_BYTES = 64  # set aside on a GPU for each vertex before a measure says what it keeps
FREE_SHARE = 0.9  # of the free memory of a GPU that is used if the user does not say
GRAIN = 32  # a range begins at a multiple, so that no two GPUs write a word of a bitmap
UNEVEN = 1.25  # times the entries of an even share that the largest one of a partitioner may have
BLOCK_SHARE = 8  # blocks of others' rows have room for one part of this many of the largest share


class Spread(NamedTuple):
    """The range of vertices that each GPU owns, in order, and the most entries of rows in one of them."""

    ranges: list[Range]
    entries: int

    @classmethod
    def of(cls, offsets: np.ndarray, gpus: int) -> "Spread":
        """Cut the vertices into a range for each GPU, of about as many entries of rows, and so of bytes, each.

        ``offsets``: int64 [V + 1], where each row begins among all entries. Ranges begin at multiples of GRAIN; those
        of a graph of few vertices may be empty.
        """
        vertices, edges = offsets.size - 1, int(offsets[-1])
        begins = np.arange(0, vertices + 1, GRAIN)
        cuts = [0]
        for number in range(1, gpus):
            wanted = edges * number // gpus
            after = int(np.searchsorted(offsets[begins], wanted))
            near = begins[max(after - 1, 0) : after + 1]
            cuts.append(max(cuts[-1], int(near[np.abs(offsets[near] - wanted).argmin()])))
        return cls._between([*cuts, vertices], offsets)

    @classmethod
    def of_store(cls, store: GraphStore, offsets: np.ndarray, gpus: int) -> "Spread":
        """Cut where the partitions of a partitioner begin, if there is one for each GPU; else as ``of`` does.

        Cuts are moved to the nearest multiple of GRAIN. Partitioners balance vertices: where the largest share would
        have more than UNEVEN times the entries of an even one, cuts are even.
        """
        even = cls.of(offsets, gpus)
        if store.partitioner == "range" or len(store.partitions) != gpus:
            return even
        most = store.vertices // GRAIN * GRAIN
        cuts = [min(round(part.first_vertex / GRAIN) * GRAIN, most) for part in store.partitions]
        found = cls._between([*cuts, store.vertices], offsets)
        return found if found.entries <= UNEVEN * even.entries else even

    @classmethod
    def _between(cls, cuts: list[int], offsets: np.ndarray) -> "Spread":
        ranges = list(pairwise(cuts))
        return cls(ranges, max(int(offsets[last] - offsets[first]) for first, last in ranges))

    def bytes_of_rows(self, store: GraphStore) -> int:
        """Bytes of the rows on a GPU: the largest share, and blocks in which others' rows pass by."""
        edge = edge_bytes(store)
        share = self.entries * edge
        return share + max(share // BLOCK_SHARE, 2 * edge * max(store.max_degree, 1))

    def require_room(self, store: GraphStore, memory: int, kept: int) -> None:
        """Raise BudgetError unless ``memory`` bytes of each GPU hold its rows, and ``kept``, those of all vertices."""
        needed = kept + self.bytes_of_rows(store)
        if needed > memory:
            raise BudgetError(
                f"{store.path}: {needed:,} bytes are needed on each of {len(self.ranges)} GPUs, for a share of "
                f"the rows and for the values of {store.vertices:,} vertices, but only {memory:,} are allowed; "
                f"raise --gpu-memory to {needed:,}, name more GPUs, or pass --residency {Residency.HOST}"
            )

    def begins(self, offsets: np.ndarray, most: int) -> list[tuple[int, int]]:
        """Return the first vertex and entry of blocks of at most ``most`` entries, each of one GPU's rows.

        ``most``: entries of the longest row at least.
        """
        found = []
        for first, last in self.ranges:
            vertex = first
            while vertex < last:
                entry = int(offsets[vertex])
                found.append((vertex, entry))
                vertex = min(int(np.searchsorted(offsets, entry + most, side="right")) - 1, last)
        return found


def edge_bytes(store: GraphStore) -> int:
    """Bytes of an entry of a row with its weight, if the graph has weights."""
    return store.id_dtype.itemsize + 4 * store.weighted


def memory_of(gpus: Sequence[Gpu], gpu_memory: int | None) -> int:
    """Bytes of each GPU that may be used: ``gpu_memory``, or nine tenths of what is free on all of them."""
    return int(min(gpu.free_bytes for gpu in gpus) * FREE_SHARE) if gpu_memory is None else gpu_memory


def place(
    store: GraphStore,
    offsets: Callable[[], np.ndarray],
    gpus: tuple[One, ...],
    *,
    more: Callable[[], tuple[One, ...]] = tuple,
    residency: Residency | None,
    gpu_memory: int | None,
) -> tuple[tuple[One, ...], Residency | None]:
    """Decide whether a graph is spread over GPUs: where it must be, or where it fits several together and no one alone.

    Args:
        store: the graph.
        offsets: reads where each row begins among all entries, int64 [V + 1]; called if that matters.
        gpus: the GPUs that the user named, or the first one.
        more: opens the GPUs that may be taken beside them.
        residency: where the graph must be, or None.
        gpu_memory: bytes that may be used of each GPU, or None for what is free.

    Returns:
        The GPUs, and where the graph must be, or None.

    Raises:
        OptionError: the graph must be pooled, and there is one GPU, or two that do not reach each other.
        BudgetError: it must be pooled, and does not fit.
    """
    must = residency is Residency.POOLED
    if residency not in (None, Residency.POOLED):
        return gpus, residency
    whole = STATE_BYTES * store.vertices + store.edges * edge_bytes(store)
    if not must and whole <= memory_of(gpus, gpu_memory):
        return gpus, None
    try:
        every = (*gpus, *more())
        if not must and len(every) == 1:
            return gpus, None
        require_reach(every)
        Spread.of_store(store, offsets(), len(every)).require_room(
            store, memory_of(every, gpu_memory), STATE_BYTES * store.vertices
        )
    except CsawError as error:
        if must:
            raise
        log.info("the graph is not spread over GPUs: %s", error)
        return gpus, None
    return every, Residency.POOLED
