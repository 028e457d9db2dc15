"""How much an instance takes: in the sample, and in memory while it is drawn."""

from itertools import accumulate
from operator import mul

import numpy as np

from csaw.engine.algorithm import Algorithm, Traversal, Walk
from csaw.engine.contracts import Store
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.selection import tries
from csaw.engine.sources import Sources
from csaw.partition.errors import BudgetError

LARGEST_SAMPLE = 1 << 50  # bytes
FRONTIER_BYTES = 150  # of an entry of a frontier, while its neighbors are selected


def instance_bytes(
    store: Store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources, needs: Needs
) -> tuple[int, int]:
    """Bytes of an instance's sample, exact for walks and hops and else an estimate; and what it takes while it is sampled."""
    item = needs.edge.id
    if isinstance(algorithm, Walk):
        row = item * (algorithm.walk_length + 1) + 8 * 5
        return row, row
    mean = max(1, store.edges // max(store.vertices, 1))
    assert isinstance(algorithm, Traversal)
    width = entries = widest = 0 if needs.everywhere else sources.frontier_size
    if algorithm.clocks:
        widest, entries = width, width + algorithm.walk_length  # type: ignore[attr-defined]
        sizes = ()
    for size in sizes:
        widest = max(widest, width)
        if algorithm.collective:
            width = max(size, 0)
            widest = max(widest, tries(width) if needs.in_pools else 0)
        else:
            width = min(width * (mean if size < 0 else size), store.edges)
        entries += width
    row = max(1, entries * (item if layout == "hops" else 3 * item + 24))
    return row, row + widest * FRONTIER_BYTES


def least_bytes(store: Store, algorithm: Algorithm, sizes: tuple[int, ...], layout: str, sources: Sources) -> int:
    """Bytes that an instance takes in a sample at least."""
    item = np.dtype(store.id_dtype).itemsize
    if isinstance(algorithm, Walk):
        return item * (algorithm.walk_length + 1)
    if layout == "hops":
        return item * sum(accumulate(sizes, mul, initial=sources.frontier_size))
    return 8  # where its edges begin


def refuse_sizes(each: int, instances: int, memory: int) -> None:
    """BudgetError about instances that memory cannot hold one of, or that no disk holds all of.

    ``memory`` is a quarter of what there is for hops, whose cells are there in each of selection's arrays, the hop and its copy for the disk.
    """
    if each > memory:
        raise BudgetError(
            f"an instance takes {each:,} bytes, with room for every neighbor that it may have, and {memory:,} are allowed; ask for fewer "
            f"neighbors (--fanout) or steps, or raise --memory"
        )
    if each * instances > LARGEST_SAMPLE:
        raise BudgetError(
            f"{instances:,} instances take {each * instances:,} bytes or more, and a sample is at most {LARGEST_SAMPLE:,}; "
            f"ask for fewer (--instances, --num-walks), or draw several samples with seeds of their own"
        )
