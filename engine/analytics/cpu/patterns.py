"""Matches of small patterns in a simple undirected network, exact, on the CPU and in memory."""

from collections import Counter
from collections.abc import Sequence
from math import comb, prod

import numpy as np

from csaw.engine.analytics import pattern
from csaw.engine.analytics.cpu.kernels import oriented
from csaw.engine.analytics.cpu.kernels import patterns as kernels
from csaw.engine.analytics.cpu.network import HostNetwork, equal_ranges
from csaw.engine.analytics.pattern import ANY, NOWHERE, Asked
from csaw.partition.errors import BudgetError

TASKS_OF_THREAD = 64  # first vertices are shared in this many ranges; their work differs
NO_LABELS = np.empty(0, np.int32)


def compute(network: HostNetwork, *, asked: Sequence[Asked], labels: np.ndarray | None = None) -> list[int]:
    """Count the matches of each pattern of analytics/pattern.py, in their order.

    ``labels``: int32 [V], the number of the label of each vertex, where patterns ask for labels. BudgetError for a
    graph that memory does not hold twice.
    """
    rows = None
    found = []
    for one in asked:
        if NOWHERE in one.labels:
            found.append(0)
        elif (center := pattern.star_center(one.name)) is not None:
            found.append(stars(network, one, center, labels))
        else:
            rows = renumbered(network) if rows is None else rows
            indptr, indices, number = rows
            own = labels_by_number(labels, number) if one.labels else NO_LABELS
            found.append(matches(network, one, indptr, indices, own, np.empty(0, np.int64)))
    return found


def stars(network: HostNetwork, asked: Asked, center: int, labels: np.ndarray | None) -> int:
    """Count stars by the neighbors of each vertex, of which each leaf is one.

    Leaves that ask for the same label are chosen among the neighbors that have it, and at last those that ask for none
    among all others.
    """
    wanted = Counter(label for v, label in enumerate(asked.wanted) if v != center)
    free, of_label = wanted.pop(ANY, 0), sorted(wanted)
    if labels is None or not asked.labels:
        held, of_label = network.degrees[:, None], []
    else:
        counts = np.zeros((network.vertices, len(of_label)), np.int64)
        for block in network.blocks() if of_label else ():
            network.over_rows(kernels.count_labels, block, labels, np.array(of_label), counts)
        held = np.column_stack([network.degrees, counts])
        if asked.labels[center] != ANY:
            held = held[labels == asked.labels[center]]
    rows, often = np.unique(held, axis=0, return_counts=True)
    taken = sum(wanted.values())
    return sum(
        n
        * comb(max(degree - taken, 0), free)
        * prod(comb(have, wanted[label]) for have, label in zip(have_of, of_label, strict=True))
        for (degree, *have_of), n in zip(rows.tolist(), often.tolist(), strict=True)
    )


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
    number = (network.vertices - 1 - rank.astype(np.int64)).astype(network.id_dtype)
    indptr = np.zeros(network.vertices + 1, np.int64)
    np.cumsum(network.degrees[order[::-1]], out=indptr[1:])
    indices = np.empty(network.edges, network.id_dtype)
    for block in network.blocks():
        network.over_rows(kernels.renumber, block, number, indptr, indices)
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
    return sum(map(int, network.each(kernels.count_matches, tasks, *given)))
