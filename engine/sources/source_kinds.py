"""The kind of a run's sources, the clusters that they may be, and the sets that they must be."""

from math import gcd

import numpy as np

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.starts import SourceKind
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError
from csaw.partition.graph.clusters import Clusters

CHECKED = 1 << 20  # sources that are compared at a time


def kind_of_sources(by_itself: SourceKind, given: object, at_random: bool) -> SourceKind:
    """The kind of sources of an algorithm that has this one ``by_itself``, for what was given."""
    kind = by_itself
    if isinstance(given, str) and given == "all":
        kind = by_itself if by_itself is SourceKind.EVERY else SourceKind.ALL
    elif given is not None:
        kind = SourceKind.LIST
    return SourceKind.RANDOM if at_random and kind is SourceKind.ALL else kind


def refuse_given(algorithm: Algorithm, kind: SourceKind, instances: int | None) -> None:
    """OptionError where sources of this ``kind`` are given to an algorithm that draws from the whole graph; and where
    those that are drawn from edges are counted otherwise than by ``instances``.
    """
    by_itself = algorithm.sources_from
    if by_itself == SourceKind.EDGES and (
        kind != by_itself or not (instances or getattr(algorithm, "num_walks", 1) == 1)
    ):
        flag = "--num-walks" if kind == by_itself else "--sources"
        raise OptionError(f"{flag}: expected none where walks start at edges that are drawn; pass --instances")
    if by_itself not in (SourceKind.EVERY, SourceKind.CLUSTERS) or kind == by_itself:
        return
    if by_itself == SourceKind.CLUSTERS:
        what = "clusters of"
    else:
        what = f"its {'edges' if getattr(algorithm, 'draws_from', '') == 'edges' else 'vertices'} from"
    raise OptionError(f"--sources: {algorithm.name()} draws {what} the whole graph; run without --sources")


def instances_of(wanted: int | None, each: int, flag: str, rounds: int) -> int:
    """The number of instances of so many ``rounds`` of ``each``, or as many as are ``wanted``.

    OptionError where ``flag``, which says how many rounds, and ``wanted`` do not agree.
    """
    if wanted is not None and rounds != 1 and wanted != each * rounds:
        raise OptionError(
            f"--instances: expected {each * rounds:,}, which are {each:,} for each of {flag} {rounds:,}, found "
            f"{wanted:,}; run without {flag}, or without --instances"
        )
    return wanted or each * rounds


def clusters_of(store: GraphStore, wanted: int) -> Clusters:
    """The clusters of a graph store. OptionError where it has none, or fewer than are ``wanted`` for an instance."""
    if store.clusters is None:
        raise OptionError(f"{store.path} has no clusters; make it with csaw partition FILE OUT --clusters N")
    if wanted > store.clusters.count:
        raise OptionError(
            f"--clusters-per-batch: expected at most the graph's {store.clusters.count} clusters, found {wanted}"
        )
    return store.clusters


def require_room(algorithm: Algorithm, store: GraphStore, size: int) -> None:
    """OptionError where a graph has fewer vertices than the ``size`` different ones that an instance draws."""
    if size > store.vertices:
        flag = "--frontier-size" if getattr(algorithm, "pool_size", None) is None else "--pool-size"
        raise OptionError(f"{flag}: expected at most the graph's {store.vertices} vertices, found {size}")


def are_sets(algorithm: Algorithm, kind: SourceKind) -> bool:
    """Whether the sources of an instance are different vertices, because it meets each vertex once.

    A pool may begin with a vertex several times. Algorithms that begin with clusters take no vertices.
    """
    once = getattr(algorithm, "only_new", False) and getattr(algorithm, "pool_size", None) is None
    return once and kind is not SourceKind.EVERY and algorithm.sources_from != SourceKind.CLUSTERS


def require_sets(listed: np.ndarray | None, count: int, size: int, instances: int) -> None:
    """OptionError where an instance, which is a set of ``size`` vertices, might have one of its sources twice.

    ``listed``: int64, the dense ids of the ``count`` sources; None where all are different. ``instances``: those that
    take them in turn; 0 where they are drawn.
    """
    if size > count:
        raise OptionError(
            f"--sources: expected at least {size:,} vertices, because an instance begins with so many different ones, "
            f"found {count:,}; give more sources, or ask for fewer in an instance (--frontier-size)"
        )
    if listed is None or np.unique(listed).size == count:  # a part of them has each once
        return
    if not instances:
        raise OptionError("--sources: expected different vertices, found one of them twice; give each once")
    sets, at_once = min(instances, count // gcd(size, count)), max(1, CHECKED // size)  # after which they begin again
    for first in range(0, sets, at_once):
        numbers = np.arange(first, min(first + at_once, sets))
        rows = np.sort(listed[(numbers[:, None] * size + np.arange(size)) % count], axis=1)
        if (twice := (rows[:, 1:] == rows[:, :-1]).any(axis=1)).any():
            raise OptionError(
                f"--sources: expected {size:,} different vertices for each instance, found one of them twice for "
                f"instance {first + int(twice.argmax()):,}; give each once"
            )
