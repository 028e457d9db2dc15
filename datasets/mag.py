"""Graphs of several types of the shape of ogbn-mag (Hu et al., NeurIPS 2020): ``mag:scale=0.01,seed=1``.

There are as many papers, authors, institutions and fields of study as in ogbn-mag, times ``scale``, and as many edges
of each relation, all different; if that were more than a quarter of all pairs, a quarter. Only the shape is the same:
ends are drawn independently of each other. An end is vertex floor(n u^k) of n, for a uniform u in [0, 1): if k is 1,
all vertices are alike, and the larger it is, the more edges the first ones have.

Draw i of relation r reads Philox4x32-10 with key = seed and counter = (r, 3, i), 64 bits for each end. Draws that
repeat an edge, or lead from a vertex to itself, are skipped. Powers are products and square roots, which are the same
on any machine.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import uint64

from csaw.datasets.philox import LOW, SHIFT, philox
from csaw.datasets.spec import Mag, parse_mag
from csaw.partition.base.compile import njit
from csaw.partition.errors import BudgetError
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import RELATION, REVERSES, Relation, Types, prefix_of
from csaw.partition.ingestion.hetero_data import Edges, in_memory, words_of
from csaw.partition.ingestion.making import written

SIZES = {"author": 1_134_649, "field_of_study": 59_965, "institution": 8_740, "paper": 736_389}
EDGE_BYTES = 120  # of memory for an edge, in either direction, while the graph is made
SPARSE = 4  # pairs of vertices for each edge, at least


class Shape(NamedTuple):
    """A relation of ogbn-mag: its number of edges, and how unequal the sources and the targets are."""

    relation: Relation
    edges: int
    of_sources: float
    of_targets: float


SHAPES = (
    Shape(Relation("author", "affiliated_with", "institution"), 1_043_998, 1.0, 2.0),
    Shape(Relation("author", "writes", "paper"), 7_145_660, 1.5, 1.25),
    Shape(Relation("paper", "cites", "paper"), 5_416_271, 1.25, 2.0),
    Shape(Relation("paper", "has_topic", "field_of_study"), 7_505_078, 1.25, 2.5),
)
POWERS = {
    1.0: lambda u: u,
    1.25: lambda u: u * np.sqrt(np.sqrt(u)),
    1.5: lambda u: u * np.sqrt(u),
    2.0: lambda u: u * u,
    2.5: lambda u: u * u * np.sqrt(u),
}


def generate_mag(
    spec: str,
    out: str | Path,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> GraphStore:
    """Make the graph of ``spec`` and write it as the graph store ``out``; returns the open store."""
    mag = parse_mag(spec)
    _check_room(mag)
    edges = edges_of(mag, progress or (lambda done, total: None))
    held, _ = in_memory(edges, str(mag), words_of(edges.types))
    held.report.update({"duplicates_policy": "first", REVERSES: bool(mag.reverse)})
    return written(held, Path(out), {"partitions": partitions, "overwrite": overwrite})


def _check_room(mag: Mag) -> None:
    """BudgetError if memory has no room for a graph."""
    need = int(sum(shape.edges for shape in SHAPES) * mag.scale) * (1 + mag.reverse) * EDGE_BYTES
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if need > have:
        raise BudgetError(
            f"{mag}: making it takes about {need:,} bytes of memory, and this machine has {have:,}; choose a smaller "
            "scale"
        )


def edges_of(mag: Mag, progress: Callable[[int, int], None]) -> Edges:
    """The edges of a graph, relation after relation, and then their reverses. ``progress`` is told of relations."""
    sizes = {name: max(1, round(SIZES[name] * mag.scale)) for name in sorted(SIZES, key=prefix_of)}
    bounds = np.cumsum([0, *sizes.values()]).tolist()
    first = dict(zip(sizes, bounds, strict=False))
    ends, relations = list[tuple[np.ndarray, np.ndarray]](), [shape.relation for shape in SHAPES]
    for number, (relation, wanted, *powers) in enumerate(SHAPES):
        progress(number, len(SHAPES))
        span = sizes[relation.source], sizes[relation.target]
        count = min(round(wanted * mag.scale), span[0] * span[1] // SPARSE)
        source, target = distinct_edges(mag.seed, number, count, span, powers, relation.source == relation.target)
        ends.append((source + first[relation.source], target + first[relation.target]))
    if mag.reverse:
        ends += [(target, source) for source, target in ends]
        relations += [relation.reverse for relation in relations]
    counts = tuple(source.size for source, _ in ends)
    types = Types(tuple(sizes), tuple(bounds), tuple(relations), counts)
    number_of_each = np.repeat(np.arange(len(relations), dtype=RELATION.dtype), counts)
    source, target = (np.concatenate(column) for column in zip(*ends, strict=True))
    return Edges(types, source, target, number_of_each, None)


def distinct_edges(
    seed: int, relation: int, count: int, sizes: tuple[int, int], powers: list[float], same_type: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The first ``count`` different edges of a relation between types of these ``sizes``, in the order of their draws:
    int64 sources and targets. ``same_type``: whether both ends are of one type, so that self loops are left out.
    """
    key, drawn = np.zeros(0, np.int64), 0
    while key.size < count:
        more = count - key.size + count // 8 + 64
        words = np.empty((2, more), np.float64)
        _uniform(np.uint64(seed), relation, drawn, *words)
        source, target = (
            np.minimum((POWERS[power](u) * size).astype(np.int64), size - 1)
            for u, size, power in zip(words, sizes, powers, strict=True)
        )
        kept = source != target if same_type else slice(None)
        key, drawn = np.concatenate([key, (source * sizes[1] + target)[kept]]), drawn + more
        _, place = np.unique(key, return_index=True)
        key = key[np.sort(place)]
    return key[:count] // sizes[1], key[:count] % sizes[1]


@njit(nogil=True)
def _uniform(seed, relation, first, one, other):
    """Two numbers in [0, 1) of each draw from number ``first`` on, multiples of 2^-53."""
    k0, k1 = seed & LOW, seed >> SHIFT
    for i in range(one.size):
        draw = uint64(first + i)
        w0, w1, w2, w3 = philox(uint64(relation), uint64(3), draw & LOW, draw >> SHIFT, k0, k1)
        one[i] = float((w0 << SHIFT | w1) >> uint64(11)) / 2.0**53
        other[i] = float((w2 << SHIFT | w3) >> uint64(11)) / 2.0**53
