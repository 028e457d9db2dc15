"""Groups of sampled subgraphs in dense ids, with counts of their faults."""

from collections.abc import Iterator

import numpy as np

from csaw.engine.api.algorithm import MiniBatches
from csaw.engine.sources.drawn_seeds import order_of
from csaw.engine.verify.checks import Checks, Subject
from csaw.engine.verify.course import EDGES, passed
from csaw.engine.verify.kernels import pool_sizes
from csaw.engine.verify.trees import copies, count_missing
from csaw.engine.verify.updates import vertices_after

MOVED = "{} moved to one of some ranges of {}"


class Group:
    """The subgraphs of one group in dense ids; a key is instance * vertices + vertex."""

    def __init__(self, subject: Subject, start: int, arrays: dict[str, np.ndarray]) -> None:
        self.start, self.counts, self.source_counts = start, arrays["counts"], arrays["source_counts"]
        self.src, self.dst, self.sources = (subject.dense(arrays[name]) for name in ("src", "dst", "sources"))
        self.arrays = arrays
        self.depth = arrays["depth"].astype(np.int64)
        self.instance = np.repeat(np.arange(len(self.counts)), self.counts)
        self.source_instance = np.repeat(np.arange(len(self.counts)), self.source_counts)
        vertices = subject.view.vertices
        self.src_key, self.dst_key = self.instance * vertices + self.src, self.instance * vertices + self.dst
        self.source_key = self.source_instance * vertices + self.sources
        self.then = self.dst
        """The vertex that enters the frontier after each edge; -1: none."""
        self.frontier: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        """Of a pool: the key and the depth of all that is selected from it, ascending, and how often."""
        self.first_edge, self.first_source = (
            np.cumsum([0, *numbers]).tolist() for numbers in (self.counts, self.source_counts)
        )


def groups(subject: Subject, checks: Checks, wrong: dict[str, int], what: str = EDGES) -> Iterator[Group]:
    """Yield groups whose vertices exist; count edges that do not exist, and sources other than asked for."""
    for start, arrays in passed(subject.samples, what, subject.watch):
        group = Group(subject, start, arrays)
        wrong["edges"] += count_missing(subject, group.src, group.dst)
        wrong["sources"] += int((group.sources < 0).sum())
        if subject.starts_at_all:
            asked = _asked(subject, group)
            wrong["sources"] += (
                int((group.sources != asked).sum())
                if asked.size == group.sources.size
                else max(asked.size, group.sources.size)
            )
        if min(group.src.min(initial=0), group.dst.min(initial=0), group.sources.min(initial=0)) >= 0:
            group.then = vertices_after(subject, group) if subject.updates and not subject.pooled else group.dst
            yield group


def _asked(subject: Subject, group: Group) -> np.ndarray:
    """int64: the sources of a group's instances, one instance after the other, where all vertices are sources in turn;
    seeds of mini-batches in the order of their epoch.
    """
    if isinstance(subject.algorithm, MiniBatches):
        order = order_of(
            subject.algorithm, None, subject.view.vertices, int(subject.samples.manifest["request"]["seed"])
        )
        positions = order.positions(group.start, group.start + group.source_counts.size)
        return positions[positions >= 0]
    before = group.start * int(group.source_counts[0]) if group.source_counts.size else 0
    return (np.arange(group.sources.size) + before) % subject.view.vertices


def count(checks: Checks, wrong: dict[str, int]) -> None:
    said = {
        "edges": "sampled edges that are not in the graph",
        "sources": "sources missing or other than asked for",
        "depths": "edges that start at a vertex not in the frontier of their depth",
        "visits": "edges to vertices visited before",
        "repeats": "edges selected more often than they exist",
        "sizes": "frontier vertices or depths with another number of edges than asked for",
        "met": "vertices that cannot have been met, or whose selected edges are missing",
    }
    for name, count in wrong.items():
        checks.count(name, count, said[name])


def repeats(subject: Subject, group: Group, times: np.ndarray) -> int:
    """Number of edges of a group beyond those that the graph has. ``times`` [edges]: how often each may be selected."""
    order = np.lexsort((group.dst, group.depth, group.src_key))
    table = np.column_stack([group.src_key, group.depth, group.dst])[order]
    if not len(table):
        return 0
    fresh = np.concatenate([[True], (table[1:] != table[:-1]).any(axis=1)])
    start = np.flatnonzero(fresh)
    runs, first = np.diff(np.append(start, len(table))), order[start]
    allowed = np.maximum(copies(subject, group.src[first], group.dst[first]), 1) * times[first]
    return int(np.maximum(runs - allowed, 0).sum())


def edges_left_out(subject: Subject, group: Group, keys: np.ndarray) -> int:
    """Number of vertices of the sets ``keys`` whose sampled edges are not all those to vertices of their set."""
    view, zero = subject.view, np.zeros(keys.size, np.int64)
    outside = np.empty(keys.size, np.int64)
    pool_sizes(view.indptr, view.indices, keys, zero, keys, zero, True, outside)
    inside = subject.degree[keys % view.vertices] - outside
    selected = np.bincount(np.searchsorted(keys, group.src_key), minlength=keys.size)[: keys.size]
    return int((inside != selected).sum())


def neighboring_ids(vertices: int, keys: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Excess of pairs (v, v + 1) in sets of vertices, and its variance: a set of m has m less
    its runs of such pairs.
    """
    n, m = vertices, sizes.astype(float)
    pairs = int(((np.diff(keys) == 1) & (keys[1:] % n != 0)).sum())
    variance = m * (m - 1) * (n - m) * (n - m + 1) / (n * n * max(1, n - 1))
    return pairs - float((m * (m - 1) / n).sum()), float(variance.sum())
