"""A batch whose instances end as induced subgraphs: all edges among the vertices that another batch has reached
(``--induced``).

The vertices of an instance are sorted, its edges are in order of source and place in the row, so nothing depends on the
order in which rows came to memory.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import cast

import numpy as np

from csaw.engine.batches.traversals import fresh, in_pieces
from csaw.engine.plan.contracts import Array, Batch, Members, WaitingBatch
from csaw.engine.plan.footprint import LISTED_EDGES
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.schedule import crowds

# A batch whose instances are sets of clusters: all of their vertices, before ``Induced`` finds the edges (Chiang et
# al., KDD 2019).


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


# Instances that end as induced subgraphs.


class Induced:
    """Ends ``inner``, a batch of ``instances`` that has begun, and then finds the edges."""

    def __init__(self, backend: Backend, inner: Batch, instances: int) -> None:
        self.backend, self.xp, self.instances = backend, backend.xp, instances
        self.inner = cast(
            WaitingBatch, inner
        )  # which it is on a streamed graph; elsewhere nobody asks what it waits for
        self.vertices, self.dtype = backend.store.vertices, np.dtype(backend.store.id_dtype)
        self.met: Array | None = None  # instance * vertices + vertex of each vertex, ascending, once all have been met
        self.parts: list[
            tuple[Array, Array, Array]
        ] = []  # entries (numbers of vertices in ``met``), edges of each, and the neighbors that these lead to
        self.samples: dict[str, Array] = {}

    # Waiting

    @property
    def comes_back(self) -> bool:
        return self.met is None and self.inner.comes_back

    def wants(self) -> np.ndarray:
        if self.met is None:
            return self.inner.wants()
        return crowds(self.xp, self.backend.partitions, self.needs())

    def needs(self) -> tuple[Array, ...]:
        """The vertices whose rows are still to be listed; before that, what the other batch needs."""
        if self.met is None:
            return self.inner.needs()
        return (self.met[self.pending] % self.vertices,)

    def bytes_in_place(self, wants: np.ndarray) -> tuple[float, float]:
        if self.met is None:
            return self.inner.bytes_in_place(wants)
        [vertices] = self.needs()
        edges = int(self.backend.graph.degrees(vertices).sum())
        return (self.backend.bytes_in_place(vertices.size, edges, edges),) * 2

    # Drawing

    def advance(self) -> None:
        """Advance the other batch to its end, then list the rows that are in memory."""
        if self.met is None:
            self.inner.advance()
            if self.backend.streamed and self.inner.wants().size:
                return
            self.backend.wait()
            self._meet()
        for entries, vertices, degree in self._pieces(self._ready()):
            self._list(entries, vertices, degree)
        if not self.pending.size:
            self.samples = self._samples()

    def _meet(self) -> None:
        """Note the distinct vertices of each instance, and its sources."""
        xp, arrays = self.xp, {name: self.xp.asarray(array) for name, array in self.inner.on_device().items()}
        met = [local * self.vertices + vertex for local, vertex in _members(xp, arrays, self.instances, self.dtype)]
        keys = xp.sort(xp.concatenate(met))
        self.met = keys[fresh(xp, keys)]
        self.pending = xp.arange(self.met.size)
        self.source_counts, self.sources = _sources(xp, arrays, self.instances)

    def _ready(self) -> Array:
        """Take the entries whose rows are in memory; the others stay pending."""
        ready = self.pending
        mask = (
            self.backend.partitions.can_read(*self.needs()) if self.backend.streamed else self.xp.ones(ready.size, bool)
        )
        self.pending = ready[~mask]
        return ready[mask]

    def _pieces(self, entries: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Entries with their vertices and degrees, so few at a time that their edges fit the memory."""
        assert self.met is not None
        vertices = self.met[entries] % self.vertices
        degree = self.backend.graph.degrees(vertices)
        for some in in_pieces(self.xp, degree, LISTED_EDGES):
            yield entries[some], vertices[some], degree[some]

    def _list(self, entries: Array, vertices: Array, degree: Array) -> None:
        """Keep the edges of these entries that lead to a vertex of their instance."""
        assert self.met is not None
        self.parts.append((entries, *self.backend.list_members(self.met, entries, vertices, degree)))

    # Samples

    def _samples(self) -> dict[str, Array]:
        """The arrays of a sample store, in order of instance."""
        assert self.met is not None
        xp, instances = self.xp, self.instances
        owner, vertex = self.met // self.vertices, (self.met % self.vertices).astype(self.dtype)
        dst, edges = xp.zeros(0, self.dtype), xp.zeros(self.met.size, np.int64)  # edges: of each vertex
        if self.parts:
            entries, counts, dst = (xp.concatenate(column) for column in zip(*self.parts, strict=True))
            self.parts = []
            edges[entries] = counts
            if self.backend.streamed:  # rows came to memory in another order
                dst = dst[xp.argsort(xp.repeat(entries, counts), kind="stable")]
        upto = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(edges)])
        ends = upto[xp.searchsorted(owner, xp.arange(instances + 1))]  # of the edges of instances
        return {
            "counts": xp.diff(ends),
            "src": xp.repeat(vertex, edges),
            "dst": dst,
            "depth": xp.zeros(dst.size, np.int64),
            "source_counts": self.source_counts,
            "sources": self.sources.astype(self.dtype),
            "vertex_counts": xp.bincount(owner, minlength=instances),
            "vertices": vertex,
        }

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return int(self.samples["src"].size)

    def dead_ends(self) -> int:
        return self.inner.dead_ends()


def _members(
    xp: ModuleType, arrays: dict[str, Array], instances: int, dtype: np.dtype
) -> Iterator[tuple[Array, Array]]:
    """The instance and the vertex of each place of a sample, int64; vertices may repeat."""
    none = dtype.type(np.iinfo(dtype).max)
    for name, array in arrays.items():
        if (name == "walks" and array.ndim == 2) or name.removeprefix("hop_").isdigit():  # not hop_nodes
            row, column = xp.nonzero(array != none)
            yield row.astype(np.int64), array[row, column].astype(np.int64)
    for name, counts in (
        ("src", "counts"),
        ("dst", "counts"),
        ("sources", "source_counts"),
        ("vertices", "vertex_counts"),
        ("n_id", "node_counts"),
    ):
        if name in arrays:
            yield xp.repeat(xp.arange(instances), arrays[counts]), arrays[name].astype(np.int64)
    if "walks" in arrays and arrays["walks"].ndim == 1:
        yield xp.repeat(xp.arange(instances), arrays["lengths"].astype(np.int64) + 1), arrays["walks"].astype(np.int64)


def _sources(xp: ModuleType, arrays: dict[str, Array], instances: int) -> tuple[Array, Array]:
    """The number of sources of each instance, and the sources: of a sample of drawn vertices alone, these."""
    if "n_id" in arrays:
        nodes, seeds = arrays["node_counts"].astype(np.int64), arrays["seed_counts"].astype(np.int64)
        return seeds, arrays["n_id"][_first_of(xp, nodes, seeds)]
    if "walks" in arrays and arrays["walks"].ndim == 1:
        sizes, one = arrays["lengths"].astype(np.int64) + 1, xp.ones(instances, np.int64)
        return one, arrays["walks"][_first_of(xp, sizes, one)]
    if "walks" in arrays or "hop_0" in arrays:
        first = arrays["walks"][:, :1] if "walks" in arrays else arrays["hop_0"]
        return xp.full(instances, first.shape[1], np.int64), first.ravel()
    drawn = "vertices" in arrays and not arrays["sources"].size
    counts, sources = ("vertex_counts", "vertices") if drawn else ("source_counts", "sources")
    return arrays[counts].astype(np.int64), arrays[sources]


def _first_of(xp: ModuleType, sizes: Array, counts: Array) -> Array:
    """Positions of the first ``counts`` elements of each instance, which has ``sizes`` of them."""
    begin = xp.cumsum(sizes) - sizes
    return xp.repeat(begin - (xp.cumsum(counts) - counts), counts) + xp.arange(int(counts.sum()))
