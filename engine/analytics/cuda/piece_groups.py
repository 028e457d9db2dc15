"""Pieces of lists in groups: those that stay on a GPU, and those that pass by together."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Group(NamedTuple):
    """Pieces ``low`` .. ``high`` - 1, and their bytes on a GPU."""

    low: int
    high: int
    bytes: int


def grouped(given: Iterable[Group], most: int) -> list[Group]:
    """Neighbors of ``given`` together, as long as they have at most ``most`` bytes."""
    groups = list[Group]()
    for one in given:
        if groups and groups[-1].bytes + one.bytes <= most:
            groups[-1] = Group(groups[-1].low, one.high, groups[-1].bytes + one.bytes)
        else:
            groups.append(one)
    return groups


def lookups(sizes: np.ndarray) -> np.ndarray:
    """Estimate the lookups to count the triangles of each piece: a half of the squares of its lists' lengths.

    ``sizes``: int64 [pieces, 3], the numbers of lists, of units of four hubs, and of others. Lists of a piece have
    about the same length. Returns float64 [pieces].
    """
    lists, units, others = sizes.T.astype(np.float64)
    return (4 * units + others) ** 2 / (2 * np.maximum(lists, 1))


def divided(sizes: np.ndarray, bytes_of: np.ndarray, most: int, works: int) -> list[Group]:
    """Group pieces into works for GPUs that take the next one when they are done: those that take longest come first.

    A group of several pieces has at most ``most`` bytes, of which each piece has ``bytes_of`` [pieces], and at most one
    part of ``works`` of all lookups.
    """
    found, filled, taken = list[Group](), 1.0, lookups(sizes)
    shares = np.maximum(bytes_of / most, taken * works / max(taken.sum(), 1.0))
    for piece, share in enumerate(shares.tolist()):
        if found and filled + share <= 1:
            found[-1] = Group(found[-1].low, piece + 1, found[-1].bytes + int(bytes_of[piece]))
            filled += share
        else:
            found.append(Group(piece, piece + 1, int(bytes_of[piece])))
            filled = share
    return sorted(found, key=lambda one: -taken[one.low : one.high].sum())
