"""Loops of computations that go through the rows of a network again and again, the same on every device, and the
numbers of all vertices in pieces, so that temporary arrays are of a few of them.

The functions that they are given launch the kernels of a device.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.rows_in_memory import Block, Wanted
from csaw.engine.plan.contracts import Array
from csaw.partition.base.flags import any_set

STEP, SOME = 0.1, 1 << 16  # of R-MAT graphs, steps of 0.05 to 0.25 take about the same time
CHUNK = 4096  # vertices of a flag, where one source is searched from
FIRST = 2  # neighbors of each vertex that join most of a graph (Afforest, section IV)
FEW = 256  # a range with fewer than a vertex in so many is too short: the next is twice as long


def any_active(active: np.ndarray, chunk: int = 1) -> Wanted:
    """Make a function that says whether a range of vertices has an active one, by the flags of chunks of vertices."""
    return lambda first, last: bool(active[first // chunk : -(-last // chunk)].any())


def level_blocks(network: Network, found: np.ndarray) -> Iterator[tuple[Block, int, int]]:
    """The blocks that have any of the rising vertices ``found``, each with the range of its own among them."""

    def own(first: int, last: int) -> tuple[int, int]:
        low, high = np.searchsorted(found, np.array([first, last], found.dtype)).tolist()  # other types: all are copied
        return low, high

    def has_own(first: int, last: int) -> bool:
        low, high = own(first, last)
        return low < high

    for block in network.blocks(wanted=has_own):
        yield (block, *own(block.first, block.last))


def search_by_blocks(network: Network, source: int, chunk: int, push: Callable[[Block, int, Array], object]) -> None:
    """Search in breadth from ``source``: a level reads the blocks that have a vertex of its frontier.

    ``push(block, level, reached)`` reaches the neighbors of the vertices of the level before, and sets the flag of each
    one's chunk in ``reached``, uint8.
    """
    level, active = 0, np.zeros(-(-network.vertices // chunk), np.uint8)
    active[source // chunk] = 1
    while active.any():
        level, reached = level + 1, network.xp.zeros(active.size, "uint8")
        for block in network.blocks(wanted=any_active(active, chunk)):
            push(block, level, reached)
        active = on_host(reached)


def until_none_is_active(network: Network, active: Array, lower: Callable[[Block, Array, Array], object]) -> int:
    """Go through the blocks that have an active vertex, as long as there is one; returns the number of passes.

    ``active``: a flag for each vertex, uint8 or bool. ``lower(block, active, following)`` marks the vertices of the
    next pass in ``following``, an array of the same type.
    """
    passes = 0
    while any_set(active):
        following = network.xp.zeros_like(active)
        for block in network.blocks(wanted=any_active(active)):
            lower(block, active, following)
        active, passes = following, passes + 1
    return passes


def stacked(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Put tables [n, levels] below each other, with zeros where one has fewer levels than another."""
    levels = max(table.shape[1] for table in tables)
    return np.concatenate([np.pad(table, ((0, 0), (0, levels - table.shape[1]))) for table in tables])


def first_step(network: Network) -> float:
    """Choose the first range of distances, which decides the time alone: STEP times the mean weight of some edges."""
    block = next(network.blocks(weights=True))
    assert block.weights is not None
    weights = on_host(block.weights[:SOME]).astype(np.float64)
    return STEP * float(weights.mean()) if weights.size and weights.any() else float("inf")


def settle_ranges(
    vertices: int,
    step: float,
    choose: Callable[[int, float, float], tuple[int, float]],
    settle: Callable[[int, float], int],
) -> None:
    """Settle distances range after range, as delta-stepping does, until there is none beyond.

    ``step``: the length of the first range. ``choose(number, floor, limit)`` lets the vertices of a range be of the
    round ``number``, and returns how many there are and the least distance beyond. ``settle(number, limit)`` goes
    through rows until no distance below ``limit`` changes, and returns the number of the next round.
    """
    number, floor = 0, 0.0
    while floor < np.inf:
        limit = floor + step
        chosen, least = choose(number, floor, limit)
        if chosen:
            number = settle(number, limit)
        floor = limit if chosen else least
        if chosen < vertices // FEW or limit == floor:
            step *= 2


# Searches from 64 sources together, a bit of a word each.

WORD, CHUNK_OF_WORDS = 64, 512  # sources of a word, vertices of a flag


def search_levels(sources: np.ndarray, entries: int, edges: int, advance: Callable[[int, int], Array]) -> np.ndarray:
    """Search from a word of sources, level by level: int64 [levels, 64], the vertices that each reaches at each.

    ``entries``: of the sources' rows. ``advance(entries, rest)`` does a level, whose frontier's rows have ``entries``
    entries where those of vertices that some source has not reached have ``rest``; it returns the 66 numbers of
    ``settle`` in engine/analytics/cpu/kernels/reach.py.
    """
    counts, rest = [(np.arange(WORD) < sources.size).astype(np.int64)], edges
    while entries:
        found = advance(entries, rest)
        entries, rest = int(found[WORD]), rest - int(found[WORD + 1])
        counts.append(found[:WORD])
    return np.array(counts)


def one_table(found: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """Put the tables [levels, 64] of words together to one [sources, levels]. ``sizes``: sources of each word."""
    table: np.ndarray = np.zeros((sum(sizes), max((len(one) for one in found), default=1)), np.int64)
    for first, size, one in zip(np.cumsum([0, *sizes]), sizes, found, strict=False):
        table[first : first + size, : len(one)] = one[:, :size].T
    levels = 1 + int(np.flatnonzero(table.sum(0)).max(initial=0))  # the last level of a search finds nothing
    return table[:, :levels]


PIECES, LEAST = 8, 1 << 12  # at most so many, of at least so many vertices but the last


def spans(count: int) -> list[tuple[int, int]]:
    """Cut 0 .. count - 1 into ranges (low, high)."""
    size = max(-(-count // PIECES), LEAST)
    return [(low, min(low + size, count)) for low in range(0, count, size)]


def occurrences(found: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Put together what values occur in pieces, and how often: the rising values, and int64 counts.

    found: values and counts of each piece, as ``np.unique`` returns them; there is at least one piece.
    """
    values, counts = zip(*found, strict=True)
    together, place = np.unique(np.concatenate(values), return_inverse=True)
    often = np.zeros(together.size, np.int64)
    np.add.at(often, place, np.concatenate(counts))
    return together, often


def within(upto: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Cut items into ranges, first .. last - 1, of at most ``most``, or of one item that has more.

    ``upto``: int64 [items + 1], how much all items before each have together.
    """
    first = 0
    while first < upto.size - 1:
        last = max(first + 1, int(np.searchsorted(upto, upto[first] + most, side="right")) - 1)
        yield first, last
        first = last
