"""Kinds of sources: the vertices where instances start."""

from enum import StrEnum
from typing import Any, Self


class SourceKind(StrEnum):
    """A kind of sources, under the name that algorithms declare as ``sources_from`` and requests keep."""

    said: str
    """The words of reports for it."""

    ALL = "all", "every vertex, one after the other"
    RANDOM = "random", "random vertices"
    CONNECTED = "connected", "random vertices that have neighbors"
    DISTINCT = "distinct", "random vertices, all different"
    EVERY = "every", "all vertices at once"
    CLUSTERS = "clusters", "random clusters, all different"
    EDGES = "edges", "where random edges begin"
    LIST = "list", "a list of vertices"

    def __new__(cls, name: str, said: str) -> Self:
        made = str.__new__(cls, name)
        made._value_, made.said = name, said
        return made

    @property
    def in_turn(self) -> bool:
        """Whether instances take their sources from a list, one after the other, rather than by themselves."""
        return self in (SourceKind.ALL, SourceKind.LIST)

    @property
    def without_repeats(self) -> bool:
        """Whether the sources of an instance are a set that is drawn at once."""
        return self in (SourceKind.DISTINCT, SourceKind.CLUSTERS)


def sources_each(algorithm: Any) -> int:
    """Number of sources of an instance: those that its pool begins with, or its whole frontier."""
    pool = getattr(algorithm, "pool_size", None)
    return int(getattr(algorithm, "frontier_size", 1) if pool is None else pool)
