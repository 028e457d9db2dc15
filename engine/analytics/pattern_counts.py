"""Counts of patterns, the same on every device: stars by the neighbors of each vertex, others one by one."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import comb, prod

import numpy as np

from csaw.engine.analytics.network import Network, on_host
from csaw.engine.analytics.pattern import ANY, NOWHERE, Asked, star_center


def count_each(
    network: Network, asked: Sequence[Asked], labels: np.ndarray | None, matches: Callable[[Asked], int]
) -> list[int]:
    """Count each pattern, those that are no stars with ``matches``.

    ``labels``: int32 [V], the number of the label of each vertex, where patterns ask for labels.
    """
    found = []
    for one in asked:
        if NOWHERE in one.labels:
            found.append(0)
        elif (center := star_center(one.name)) is None:
            found.append(matches(one))
        else:
            found.append(_stars(network, one, center, labels))
    return found


def _stars(network: Network, asked: Asked, center: int, labels: np.ndarray | None) -> int:
    """Count stars: the ways to choose the leaves among the neighbors of each vertex.

    Leaves that ask for the same label are chosen among the neighbors that have it, and at last those that ask for none
    among all others.
    """
    wanted = Counter(label for v, label in enumerate(asked.wanted) if v != center)
    free, taken = wanted.pop(ANY, 0), sum(wanted.values())
    held, often = _alike(network, sorted(wanted), asked.wanted[center], labels)
    return sum(
        n * comb(max(degree - taken, 0), free) * prod(map(comb, of_label, (wanted[one] for one in sorted(wanted))))
        for (degree, *of_label), n in zip(held.tolist(), often.tolist(), strict=True)
    )


def _alike(
    network: Network, leaves: list[int], center: int, labels: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Say which degrees, and numbers of neighbors with each of the labels ``leaves``, vertices have, and how often.

    Of the vertices with the label ``center``, if it is one. Returns int64 [kinds, 1 + leaves] and [kinds].
    """
    degrees = network.degrees
    if labels is None:
        values, often = network.xp.unique(degrees, return_counts=True)
        return on_host(values)[:, None], on_host(often)
    columns = [on_host(degrees)]
    for label in leaves:
        marked = network.xp.asarray((labels == label).astype(np.int64))
        columns.append(on_host(network.compute("neighbor_sums", values=marked)))
    held = np.column_stack(columns)
    return np.unique(held if center == ANY else held[labels == center], axis=0, return_counts=True)
