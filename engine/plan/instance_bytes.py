"""Bytes of an instance: in the stored sample, and in memory while it is drawn."""

import math
from itertools import accumulate
from operator import mul

import numpy as np

from csaw.engine.api.algorithm import Algorithm, Traversal, Walk
from csaw.engine.api.option import flag_of
from csaw.engine.api.rules import BudgetLayers, NonNeighbors, SharedNumbers, VertexLayer
from csaw.engine.api.termination import is_unlimited, planned_steps
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.costs import expanding, mean_coins, met_row
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.selection import tries
from csaw.engine.samples.layouts import SampleLayout
from csaw.engine.samples.layouts.hops import Hops
from csaw.engine.sources.sources import Sources
from csaw.partition.errors import BudgetError

SPREAD = (
    4  # room for a fire, as a multiple of the mean: those of a batch are far from it together only where most die early
)
MEETINGS = 2  # times that a traversal meets a vertex, about
LARGEST_SAMPLE = 1 << 50  # bytes
TIME_BYTES = 8  # of the time of a step, or of an edge
UNLIMITED_ROOM = 3  # times the mean steps of a walk without a limit: those of its rounds, and a copy in one piece
LISTED_BYTES = 100  # of an edge among which the vertices of a layer are drawn
SIZED_BY = (  # options
    "fanout",
    "layer_sizes",
    "num_samples",
    "neighbor_size",
    "frontier_size",
    "seeds_per_batch",
    "subgraph_nodes",
    "pool_size",
    "depth",
    "walk_length",
    "num_negatives",
)
LINK_BYTES = 56  # of a link while its negatives are drawn, at most: its source, its edge, and how these were drawn
FRONTIER_BYTES = 150  # of a frontier entry while its neighbors are selected


def instance_bytes(
    store: Store,
    algorithm: Algorithm,
    sizes: tuple[int, ...],
    layout: SampleLayout,
    sources: Sources,
    needs: Needs,
    induced: bool = False,
) -> tuple[int, int]:
    """Return the bytes of an instance in the sample, and its bytes in memory while it is drawn.

    The former are exact for hops and walks with a limit, else an estimate.
    """
    item = needs.edge.id
    if isinstance(algorithm, Walk):
        row, memory = _of_walk(algorithm, item)
        if needs.timed:
            row, memory = (
                row + TIME_BYTES * planned_steps(algorithm),
                memory + TIME_BYTES * (planned_steps(algorithm) + 2),
            )
        return _with_vertices(row, memory, planned_steps(algorithm) + 1, item) if induced else (row, memory)
    assert isinstance(algorithm, Traversal)
    rule = algorithm.rule
    if isinstance(rule, NonNeighbors):
        row = of_link(algorithm, item)
        return row, row + LINK_BYTES
    nowhere = needs.everywhere or (rule.everywhere and isinstance(rule, VertexLayer))
    width: float = 0 if nowhere else sources.width
    if rule.by_steps:
        entries, widest, listed = width + planned_steps(algorithm), width, 0.0
    else:
        entries, widest, listed = _of_traversal(store, algorithm, sizes, width, needs)
    spread = SPREAD if rule.coins else 1
    met, listed_bytes = math.ceil(spread * entries), math.ceil(listed) * LISTED_BYTES
    each = item if isinstance(layout, Hops) else 3 * item + 24  # also of a node with its edge in a mini-batch
    of_copies = rule.together and not isinstance(rule, BudgetLayers)
    copies = of_copies or isinstance(rule, SharedNumbers)  # whose times are beside that of the edge
    each += TIME_BYTES * needs.timed * (3 if copies else 1)
    row = max(1, met * each)  # part of the request, by which samples of earlier versions are resumed
    memory = listed_bytes + _in_flight(algorithm, store.vertices, spread * entries, spread * widest, each)
    return _with_vertices(row, memory, met, item) if induced else (row, memory)


def _of_traversal(
    store: Store, algorithm: Traversal, sizes: tuple[int, ...], width: float, needs: Needs
) -> tuple[float, float, float]:
    """Estimate the entries of a sample with ``width`` sources.

    About how many it has, how many its largest frontier has, and how many edges of whole rows are listed at a time.
    """
    mean = max(1, store.edges // max(store.vertices, 1))
    entries = widest = sources = width
    listed: float = 0.0
    neighbors = float(mean)  # of a vertex of the frontier: those behind edges are hubs more often than others
    waiting: float = 0  # in a pool, while others expand
    rule = algorithm.rule
    for size in sizes:
        waiting += width
        widest = max(widest, waiting)
        width = expanding(algorithm, waiting)
        waiting -= width
        if rule.together:
            width = max(size, 0)
            if isinstance(rule, BudgetLayers):
                width = min(width, store.vertices)  # all of a type if there are fewer
            widest = max(widest, tries(int(width)) if needs.in_pools else 0)
            if isinstance(rule, BudgetLayers):  # budgets last, and hubs have drawn attention to themselves
                listed += min(widest * neighbors, store.edges)
            elif isinstance(rule, VertexLayer) or rule.unique or needs.timed:
                listed = max(listed, widest * mean)
        else:
            listed = max(listed, widest * mean if rule.unique or isinstance(rule, SharedNumbers) else 0)
            width = min(width * _picks(algorithm, size, mean, neighbors), store.edges)
        if takes_all(algorithm, size):  # also edges to vertices that are there already
            entries += min(width * met_row(store), store.edges) if algorithm.is_unlimited else width
            if rule.only_new:  # and reads each row once at most
                width, entries = min(width, store.vertices), min(entries, store.edges + sources)
        else:
            if rule.only_new:  # a vertex enters once, and several may meet it in the same step
                width = min(width, max(MEETINGS * store.vertices - entries, 0))
            entries += width
        neighbors = met_row(store)
    return entries, widest, min(listed, store.edges)  # the rows of different vertices


def _in_flight(algorithm: Traversal, vertices: int, entries: float, widest: float, each: int) -> int:
    """The bytes of a traversal in memory.

    ``widest``: entries of its largest frontier; ``each``: bytes of an edge of its sample.
    """
    rule = algorithm.rule
    if rule.only_new and not rule.together:  # however far a fire is from the mean, it burns no vertex twice
        entries, widest = min(entries, MEETINGS * vertices), min(widest, vertices)
    return max(1, math.ceil(entries) * each) + math.ceil(widest) * FRONTIER_BYTES


def _of_walk(algorithm: Walk, item: int) -> tuple[int, int]:
    """The bytes of a walk, in the sample and in memory, with vertices of ``item`` bytes."""
    if is_unlimited(algorithm):
        return item * (planned_steps(algorithm) + 1) + 8, sampled_bytes(algorithm, item) + 8 * 7
    row = sampled_bytes(algorithm, item) + 8 * 5
    return row, row


def takes_all(algorithm: Traversal, size: int) -> bool:
    """Whether a frontier vertex selects all of its neighbors."""
    return size < 0 and not (algorithm.rule.coins or algorithm.rule.together)


def _picks(algorithm: Traversal, size: int, mean: float, neighbors: float) -> float:
    """Neighbors that a frontier vertex selects, on average; ``size`` -1: all, or as many as coins say.

    ``mean``: of the neighbors of a vertex; ``neighbors``: of one of the frontier.
    """
    if size >= 0:
        return size
    return min(mean, mean_coins(algorithm)) if algorithm.rule.coins else neighbors


def _with_vertices(row: int, memory: int, met: int, item: int) -> tuple[int, int]:
    """The same of an induced subgraph: ``met`` vertices of ``item`` bytes, with about as many edges among them."""
    stored = 32 + met * (3 * item + 4)
    return stored, row + memory + met * FRONTIER_BYTES


def sampled_bytes(algorithm: Algorithm, item: int) -> int:
    """Bytes of a walk's vertices, of ``item`` bytes each, while it is drawn in memory.

    Without a limit, they are about so many.
    """
    return item * (planned_steps(algorithm) + 1) * (UNLIMITED_ROOM if is_unlimited(algorithm) else 1)


def least_bytes(
    store: Store, algorithm: Algorithm, sizes: tuple[int, ...], layout: SampleLayout, sources: Sources
) -> int:
    """Least bytes of an instance in the sample."""
    item = np.dtype(store.id_dtype).itemsize
    if isinstance(algorithm, Walk):
        return item * (1 if is_unlimited(algorithm) else planned_steps(algorithm) + 1)
    if isinstance(layout, Hops):
        return item * sum(accumulate(sizes, mul, initial=sources.frontier_size))
    if isinstance(algorithm.rule, NonNeighbors):
        return of_link(algorithm, item)
    drawn = isinstance(algorithm.rule, VertexLayer) and algorithm.rule.replace
    return 8 + drawn * (item + 12) * sum(
        sizes
    )  # the offset of its edges, and the vertices of layers that can be of any size


def of_link(algorithm: Algorithm, item: int) -> int:
    """Bytes of a link and its negatives, and of its time if it has one, with ids of ``item`` bytes."""
    in_time = getattr(algorithm, "negative_time", None) is not None
    return item * (2 + int(getattr(algorithm, "num_negatives", 1))) + TIME_BYTES * in_time


def refuse_sizes(algorithm: Algorithm, each: int, instances: int, memory: int) -> None:
    """BudgetError if memory cannot hold one instance, or no disk can hold all of them.

    ``each``: bytes of an instance. ``memory``: bytes for one; for hops a quarter of the free memory, because each cell
    is in several arrays.
    """
    if each > memory:
        raise BudgetError(
            f"an instance takes {each:,} bytes, with room for every vertex that it may have, but only {memory:,} "
            f"are allowed; ask for smaller ones ({flags_of_size(algorithm)}), or raise --memory"
        )
    if each * instances > LARGEST_SAMPLE:
        raise BudgetError(
            f"{instances:,} instances take {each * instances:,} bytes or more, but a sample has at most "
            f"{LARGEST_SAMPLE:,}; ask for fewer (--instances, --num-walks), or draw several samples with "
            "different seeds"
        )


def flags_of_size(algorithm: Algorithm) -> str:
    """The options of an algorithm that its instances are as large as, or what decides their size."""
    flags = [flag_of(name) for name in SIZED_BY if name in algorithm.options()]
    return ", ".join(flags) or f"sizes of {algorithm.name()}"
