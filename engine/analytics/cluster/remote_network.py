"""A graph whose analytics the workers of a cluster divide: sources of searches, and shares of triangles.

Integers are added as they come in the order of the tasks; floating-point numbers of each source by itself, in the order
of the sources, as one process adds them. So findings have the same bits, whatever the number of workers.
"""

from functools import cached_property, reduce
from typing import Any

import numpy as np

from csaw.engine.analytics.cluster import measurer
from csaw.engine.analytics.cluster.measure_recipe import Sent
from csaw.engine.analytics.clusterings import Clusterings, of_arrays
from csaw.engine.analytics.passes import stacked
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.cluster.executor import Spread
from csaw.partition import GraphStore

SOURCES = 64  # of a task: a word of those that search together
RESULT_BYTES = 8 << 20  # of a task of betweenness


class SpreadNetwork:
    """A network, as measures read it, that is in the memory of workers: of the measure ``one`` in the run ``name``.

    ``kind``: "" for the graph as it is, or undirected.
    """

    xp, device = np, "cpu"
    unfinished = Unfinished()  # keeps nothing

    def __init__(self, store: GraphStore, spread: Spread, name: str, one: Sent, kind: str = "") -> None:
        self.store, self.spread, self.asked = store, spread, (name, one, kind)
        self.vertices, self.directed = store.vertices, store.directed and not kind

    @cached_property
    def edges(self) -> int:
        """Entries of all rows."""
        return next(self.spread(measurer.count_edges, [self.asked])) if self.asked[2] else self.store.edges

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]: entries of each row."""
        return next(self.spread(measurer.degrees_of, [self.asked]))

    @cached_property
    def undirected(self) -> "SpreadNetwork":
        """The simple undirected graph."""
        return SpreadNetwork(self.store, self.spread, *self.asked[:2], "undirected")

    def compute(self, what: str, **options: Any) -> Any:
        """Compute ``what`` of the workers' parts."""
        return getattr(self, f"_{what}")(**options)

    def _components(self) -> np.ndarray:
        return next(self.spread(measurer.computed, [(*self.asked, "components", {})]))

    def _hops(self, sources: np.ndarray) -> np.ndarray:
        words = [sources[k : k + SOURCES] for k in range(0, sources.size, SOURCES)]
        tasks = [(*self.asked, "hops", {"sources": word}) for word in words]
        return stacked(list(self.spread(measurer.computed, tasks)))

    def _betweenness(self, sources: np.ndarray) -> np.ndarray:
        size = min(SOURCES, max(1, RESULT_BYTES // (8 * max(self.vertices, 1))))
        total = np.zeros(self.vertices)
        tasks = [(*self.asked, sources[k : k + size]) for k in range(0, sources.size, size)]
        for part in self.spread(measurer.betweenness_of_each, tasks):
            for one in part:
                total += one
        return total

    def _clustering(self, triangles: np.ndarray) -> Clusterings:
        return of_arrays(self.degrees, triangles)

    def _triangles(self, each: bool = True) -> tuple[int, np.ndarray | None]:
        shares = self.spread.workers
        tasks = [(*self.asked, each, (k, shares)) for k in range(shares)]
        parts = list(self.spread(measurer.triangles_of_share, tasks))
        counted = [part for part in parts if part is not None]
        if len(counted) < len(parts):
            return next(self.spread(measurer.all_triangles, [(*self.asked, each)]))
        of_vertices = [counts for _, counts in counted if counts is not None]
        return sum(total for total, _ in counted), reduce(np.add, of_vertices) if each else None
