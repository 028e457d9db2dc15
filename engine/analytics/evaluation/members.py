"""The ids of a sample's vertices: those of the graph that they were sampled from."""

from collections.abc import Iterable

import numpy as np

from csaw.engine.plan.contracts import Store
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError


class Members:
    """``store``, the vertices of a sample numbered anew, with the original ids of ``graph``.

    ``vertices`` int64 [n]: their dense ids there, ascending.
    """

    def __init__(self, store: GraphStore, graph: Store, vertices: np.ndarray) -> None:
        self.store, self.graph, self.vertices = store, graph, vertices
        self.id_kind = graph.id_kind

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)

    def original_ids(self, dense: np.ndarray) -> np.ndarray:
        """The original ids of some vertices; -1 stands for none."""
        at = np.asarray(dense, np.int64)
        return self.graph.original_ids(np.where(at < 0, at, self.vertices[at]))

    def dense_ids(self, originals: Iterable[int | str]) -> np.ndarray:
        """The vertices with these original ids; OptionError names the first that was not sampled."""
        wanted = np.asarray(self.graph.dense_ids(originals), np.int64)
        found = np.searchsorted(self.vertices, wanted)
        missing = np.flatnonzero(np.append(self.vertices, -1)[found] != wanted)
        if missing.size:
            one = self.graph.original_ids(wanted[missing[:1]])[0]
            raise OptionError(
                f"vertex {one} is in {self.graph.path}, but not among the {self.vertices.size:,} vertices of the "
                "sample; choose a source that was sampled, or evaluate only the graph"
            )
        return found
