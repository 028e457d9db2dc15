"""Matches of small patterns in a simple undirected network, exact, on the CPU and in memory."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from csaw.engine.analytics import pattern
from csaw.engine.analytics.cpu.footprints import renumbered_bytes
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.kernels import patterns as pattern_kernels
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.engine.analytics.pattern import Asked, count_each

TASKS_OF_THREAD = 64  # first vertices are shared in this many ranges; their work differs
NO_LABELS = np.empty(0, np.int32)


def patterns(network: HostNetwork, *, asked: Sequence[Asked], labels: np.ndarray | None = None) -> list[int]:
    """Count the matches of each pattern of analytics/pattern.py, in their order.

    ``labels``: int32 [V], the number of the label of each vertex, where patterns ask for labels. BudgetError for a
    graph that memory does not hold twice.
    """
    rows = cache(lambda: renumbered(network))

    def matched(one: Asked) -> int:
        indptr, indices, number = rows()
        own = labels_by_number(labels, number) if one.labels else NO_LABELS
        return matches(network, one, indptr, indices, own, np.empty(0, np.int64))

    return count_each(network, asked, labels, matched)


def labels_by_number(labels: np.ndarray | None, number: np.ndarray) -> np.ndarray:
    """The labels [V] of vertices by the numbers that they have in renumbered rows."""
    assert labels is not None
    out = np.empty_like(labels)
    out[number] = labels
    return out


def renumbered(network: HostNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, indices and the numbers of the graph's vertices there, which rise with degrees.

    Then few neighbors of a vertex have a higher number.
    """
    needed = renumbered_bytes(network, network.edges)
    if needed > network.budget:
        least = network.kept_bytes + needed
        raise network.refusal(least, f"patterns are matched in memory, which takes {least:,} bytes")
    rank, order = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
    oriented.rank_by_degree(network.indptr, rank, order)
    number = (network.vertices - 1 - rank.astype(np.int64)).astype(network.id_dtype)
    indptr = np.zeros(network.vertices + 1, np.int64)
    np.cumsum(network.degrees[order[::-1]], out=indptr[1:])
    indices = np.empty(network.edges, network.id_dtype)
    for block in network.blocks():
        network.over_rows(pattern_kernels.renumber, block, number, indptr, indices)
    return indptr, indices, number


def matches(
    network: HostNetwork, asked: Asked, indptr: np.ndarray, indices: np.ndarray, labels: np.ndarray, each: np.ndarray
) -> int:
    """Count the matches of a pattern in renumbered rows.

    Those of each vertex are added to ``each``, by its number there, unless that is empty. ``labels``: int32 [V] by
    these numbers, or empty where the pattern asks for none.
    """
    tasks = equal_ranges(indptr, network.threads * TASKS_OF_THREAD)[::-1]  # hubs first, which take longest
    given = (indptr, indices, *pattern.plan(asked), labels, each)
    return sum(map(int, network.each(pattern_kernels.count_matches, tasks, *given)))


# Triangles by subgraph matching: candidates are filtered by degree, and joined edge by edge. It is one of the three
# ways of Gunrock's paper (Wang and others, IA3 2016).


def matched_triangles(network: HostNetwork, *, each: bool = True) -> tuple[int, np.ndarray | None]:
    """Count triangles as engine/analytics/cpu/triangles.py does, in memory alone.

    BudgetError for a graph that memory does not hold twice.
    """
    indptr, indices, number = renumbered(network)
    counts = np.zeros(network.vertices if each else 0, np.int64)
    total = matches(network, Asked("triangle"), indptr, indices, NO_LABELS, counts)
    return total, counts[number] if each else None
