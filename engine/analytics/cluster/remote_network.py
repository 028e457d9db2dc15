"""A graph whose analytics the workers of a cluster divide among them: sources of searches, and shares of triangles.

Integers are added as they come in the order of the tasks; floating-point numbers of each source by itself, in the order of the sources, as one process adds them. So
findings have the same bits, whatever the number of workers.
"""

from functools import cached_property
from typing import Any

import numpy as np

from csaw.engine.analytics.cluster import measurer
from csaw.engine.analytics.measure import Measure
from csaw.engine.analytics.unfinished import Unfinished
from csaw.engine.cluster.task_map import Spread
from csaw.partition import GraphStore

SOURCES = 64  # of a task: a word of those that search together
RESULT_BYTES = 8 << 20  # of a task of betweenness


class SpreadNetwork:
    """What measures read of a network, for the measure ``one`` of the run ``name``. ``kind``: "" for the graph, or undirected."""

    xp, device = np, "cpu"
    unfinished = Unfinished()  # keeps nothing

    def __init__(self, store: GraphStore, spread: Spread, name: str, one: Measure, kind: str = "") -> None:
        self.store, self.spread, self.asked = store, spread, (name, one, kind)
        self.vertices, self.directed = store.vertices, store.directed and not kind

    @cached_property
    def edges(self) -> int:
        """Entries of all rows."""
        return next(self.spread(measurer.count_edges, [self.asked])) if self.asked[2] else self.store.edges  # type: ignore[no-any-return]

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64 [V]: entries of each row."""
        return next(self.spread(measurer.find_degrees, [self.asked]))  # type: ignore[no-any-return]

    @cached_property
    def undirected(self) -> "SpreadNetwork":
        """The simple undirected graph."""
        return SpreadNetwork(self.store, self.spread, *self.asked[:2], "undirected")

    def compute(self, what: str, **options: Any) -> Any:
        """What ``compute`` of a network gives."""
        return getattr(self, f"_{what}")(**options)

    def _components(self) -> np.ndarray:
        return next(self.spread(measurer.find_components, [self.asked]))  # type: ignore[no-any-return]

    def _hops(self, sources: np.ndarray) -> np.ndarray:
        tasks = [(*self.asked, sources[k : k + SOURCES]) for k in range(0, sources.size, SOURCES)]
        parts = list(self.spread(measurer.hop_counts, tasks))
        levels = max(part.shape[1] for part in parts)
        return np.concatenate([np.pad(part, ((0, 0), (0, levels - part.shape[1]))) for part in parts])

    def _betweenness(self, sources: np.ndarray) -> np.ndarray:
        size = min(SOURCES, max(1, RESULT_BYTES // (8 * max(self.vertices, 1))))
        total = np.zeros(self.vertices)
        tasks = [(*self.asked, sources[k : k + size]) for k in range(0, sources.size, size)]
        for part in self.spread(measurer.betweenness_of_each, tasks):
            for one in part:
                total += one
        return total

    def _triangles(self, each: bool = True) -> tuple[int, np.ndarray | None]:
        shares = self.spread.workers
        tasks = [(*self.asked, each, (k, shares)) for k in range(shares)]
        parts = list(self.spread(measurer.triangles_of_share, tasks))
        if any(part is None for part in parts):
            return next(self.spread(measurer.all_triangles, [(*self.asked, each)]))  # type: ignore[no-any-return]
        return sum(part[0] for part in parts), sum(part[1] for part in parts) if each else None
