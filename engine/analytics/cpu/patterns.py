"""Matches of small patterns in a simple undirected network, exact, on the CPU and in memory."""

from math import comb

import numpy as np

from csaw.engine.analytics import pattern
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.kernels import patterns as kernels
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.partition.errors import BudgetError

TASKS_OF_THREAD = 64  # first vertices are shared in this many ranges; their work differs


def compute(network: HostNetwork, *, names: tuple[str, ...]) -> list[int]:
    """Count the matches of each pattern of analytics/pattern.py, in their order.

    BudgetError for a graph that memory does not hold twice.
    """
    rows = None
    found = []
    for name in names:
        if leaves := pattern.star_leaves(name):
            degrees, often = np.unique(network.degrees, return_counts=True)
            found.append(sum(comb(d, leaves) * n for d, n in zip(degrees.tolist(), often.tolist(), strict=True)))
            continue
        rows = relabelled(network)[:2] if rows is None else rows
        found.append(matches(network, name, *rows, np.empty(0, np.int64)))
    return found


def relabelled(network: HostNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, indices and labels of the graph, where labels rise with degrees.

    Then few neighbors of a vertex have a higher label.
    """
    held = 1 if network.resident else 2  # the graph, or two blocks of it, the larger of which is all of it at most
    needed = (1 + held) * network.edges * network.id_dtype.itemsize
    if needed > network.room:
        least = network.memory - network.room + needed
        raise BudgetError(
            f"{network.store.path}: patterns are matched in memory, which takes {least:,} bytes, and "
            f"{network.memory:,} are allowed; raise --memory to {least:,}"
        )
    rank, order = (np.empty(network.vertices, network.id_dtype) for _ in range(2))
    oriented.rank_by_degree(network.indptr, rank, order)
    label = (network.vertices - 1 - rank.astype(np.int64)).astype(network.id_dtype)
    indptr = np.zeros(network.vertices + 1, np.int64)
    np.cumsum(network.degrees[order[::-1]], out=indptr[1:])
    indices = np.empty(network.edges, network.id_dtype)
    for block in network.blocks():
        network.over_rows(kernels.relabel, block, label, indptr, indices)
    return indptr, indices, label


def matches(network: HostNetwork, name: str, indptr: np.ndarray, indices: np.ndarray, each: np.ndarray) -> int:
    """Count the matches of a pattern in relabelled rows.

    Those of each vertex are added to ``each``, by label, unless that is empty.
    """
    tasks = equal_ranges(indptr, network.threads * TASKS_OF_THREAD)[::-1]  # hubs first, which take longest
    given = (indptr, indices, *pattern.plan(name), each)
    return sum(map(int, network.each(kernels.count_matches, tasks, *given)))
