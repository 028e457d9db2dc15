"""A batch whose instances are sets of clusters: all of their vertices, before induced.py finds the edges (Chiang et
al., KDD 2019).
"""

import numpy as np

from csaw.engine.plan.contracts import Array, Members
from csaw.engine.schedule.backend import ALL, Backend


def members_of(backend: Backend) -> Members:
    """The vertices of the backend's graph by cluster, in its memory."""
    store = backend.store
    clusters = store.read_clusters()
    assert store.clusters is not None
    sizes = np.bincount(clusters, minlength=store.clusters.count)
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    vertices = np.argsort(clusters, kind="stable").astype(np.int64)
    return Members(backend.xp.asarray(begins), backend.xp.asarray(vertices))


class ClusterSets:
    """A batch of instances of the clusters ``sources``, int64 [instances, clusters], different in an instance.

    ``first`` does not count: nothing is drawn here.
    """

    comes_back = False

    def __init__(self, backend: Backend, first: int, sources: Array) -> None:
        self.backend, self.xp, self.drawn = backend, backend.xp, backend.xp.asarray(sources, np.int64)
        self.samples: dict[str, Array] = {}

    def wants(self) -> np.ndarray:
        """No partition: no row is read."""
        return np.zeros((0, 3), np.int64)

    def needs(self) -> tuple[Array, ...]:
        return (self.xp.zeros(0, np.int64),)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        return 0.0, 0.0

    def advance(self) -> None:
        """List the vertices of the clusters."""
        xp, none = self.xp, self.xp.zeros(0, self.backend.store.id_dtype)
        if self.backend.members is None:
            self.backend.members = members_of(self.backend)
        members = self.backend.members
        chosen = self.drawn.ravel()
        sizes = members.begins[chosen + 1] - members.begins[chosen]
        skipped = members.begins[chosen] - (xp.cumsum(sizes) - sizes)
        place = xp.arange(int(sizes.sum())) + xp.repeat(skipped, sizes)
        nothing = xp.zeros(self.drawn.shape[0], np.int64)
        self.samples = {
            "counts": nothing,
            "src": none,
            "dst": none,
            "source_counts": nothing,
            "sources": none,
            "vertex_counts": sizes.reshape(self.drawn.shape).sum(axis=1),
            "vertices": members.vertices[place].astype(self.backend.store.id_dtype),
        }

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return 0

    def dead_ends(self) -> int:
        return 0
