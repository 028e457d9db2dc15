"""Samples as graphs, of the edges that were drawn or of all among the sampled vertices, whose ids are those of the
graph that they were sampled from; and visits of vertices.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

import numpy as np

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.network import Network
from csaw.engine.api.rules import ENDS, SOURCES, STEPS, VISITED
from csaw.engine.plan.contracts import Store
from csaw.engine.samples import Samples
from csaw.engine.samples.edges import dense_ids, edges_between
from csaw.partition import GraphStore
from csaw.partition.base.sorting import distinct
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import drawn_from


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


MOST = 3_037_000_499
"""Vertices of a graph up to which a pair of them is one integer of 64 bits."""


class Sampled(NamedTuple):
    """A sample as a graph.

    ``network``: of the sampled vertices, numbered anew; ``vertices`` int64 [n]: their dense ids in the graph,
    ascending.
    """

    network: HostNetwork
    vertices: np.ndarray


class Held(NamedTuple):
    """The edges and vertices of some instances in dense ids, int64.

    ``src`` and ``dst`` [edges]: the ends of the edges; ``vertices`` [n]: all vertices, ascending.
    """

    src: np.ndarray
    dst: np.ndarray
    vertices: np.ndarray


def check(samples: Samples, store: GraphStore) -> None:
    """StoreError unless ``samples`` are of ``store``."""
    wanted = samples.manifest.get("request", {}).get("fingerprint")
    if wanted != store.fingerprint:
        place = drawn_from(base := store.base, wanted)
        such = "" if place is base else f", {place}"
        raise StoreError(
            f"{samples.path} was sampled from a graph with the fingerprint {wanted}, but {store.path} has "
            f"{store.fingerprint}; give the graph that was sampled{such}"
        )


def pieces(samples: Samples, *, each: bool) -> Iterator[tuple[int, int]]:
    """Ranges of instances that are evaluated together: every one by itself, or all of them."""
    return ((k, k + 1) for k in range(samples.instances)) if each else iter([(0, samples.instances)])


def held(samples: Samples, network: HostNetwork, first: int, last: int) -> Held:
    """Collect the edges and vertices of the instances first .. last - 1.

    Steps of a walk along no edge of the graph, such as jumps, are no edges of the sample.
    """
    store = network.store
    if store.vertices > MOST:
        raise OptionError(
            f"{store.path}: graphs of samples can be made from graphs with up to {MOST:,} vertices, found "
            f"{store.vertices:,}; use --as visits"
        )
    edges: list[np.ndarray] = []
    vertices: list[np.ndarray] = []
    for start in range(first, last, samples.group_size):
        stop = min(start + samples.group_size, last)
        found = edges_between(samples, start, stop)
        src, dst = (dense_ids(samples, store, found[name]) for name in ("src", "dst"))
        edges.append(distinct(src * store.vertices + dst))
        arrays = samples.group(start, stop)
        seen = [_visited(samples, arrays), *([arrays["sources"]] if "sources" in arrays else [])]
        vertices += [distinct(dense_ids(samples, store, some)) for some in seen]  # sources without an edge, too
    keys = distinct(np.concatenate([np.empty(0, np.int64), *edges]))
    ends = np.column_stack(np.divmod(keys, store.vertices)) if keys.size else np.empty((0, 2), np.int64)
    if samples.has_walks:
        ends = ends[_are_edges(ends, network)]
    met = distinct(np.concatenate([np.empty(0, np.int64), *vertices, ends.ravel()]))
    return Held(ends[:, 0], ends[:, 1], met)


def _are_edges(ends: np.ndarray, network: HostNetwork) -> np.ndarray:
    """bool [n]: whether each pair of vertices, sorted by the first, is an edge of the graph."""
    from csaw.engine.analytics.cpu.kernels import adjacency

    src, dst, found = ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(len(ends), np.bool_)
    for block in network.blocks(wanted=lambda first, last: _any_within(src, first, last)):
        low, high = np.searchsorted(src, (block.first, block.last)).tolist()
        adjacency.are_edges(src, dst, low, high, block.first, block.indptr, block.indices, found)
    network.forget_blocks()
    return found


def _any_within(rising: np.ndarray, first: int, last: int) -> bool:
    return bool(np.searchsorted(rising, first) < np.searchsorted(rising, last))


def visits_between(samples: Samples, store: GraphStore, start: int, stop: int, skipped: int = 0) -> np.ndarray:
    """int64: the dense id of each visited vertex, as often as it was visited, of instances start .. stop - 1.

    Of walks all their vertices but the first ``skipped``, of frontier sampling the vertices that its steps lead to; of
    neighbor samples all entries; of mini-batches their nodes; of subgraphs the vertices that the sample keeps, or the
    sources and the vertices that edges lead to, and both ends of edges where all vertices are sources.
    """
    return dense_ids(samples, store, _visited(samples, samples.group(start, stop), skipped))


def _visited(samples: Samples, arrays: dict[str, np.ndarray], skipped: int = 0) -> np.ndarray:
    taken = samples.layout.visits(arrays, samples.fill, skipped)
    return _of_subgraphs(samples, arrays, skipped) if taken is None else taken


def _of_subgraphs(samples: Samples, arrays: dict[str, np.ndarray], skipped: int) -> np.ndarray:
    visited = samples.manifest.get("visited")
    if visited == STEPS:
        return arrays["dst"][arrays["depth"] >= max(skipped - 1, 0)]
    if visited == SOURCES:
        return arrays["sources"]
    if visited not in VISITED:
        raise OptionError(
            f"--as visits: {samples.path} does not say which vertices an instance visited, as samples of this csaw do; "
            "draw it again, or use --as drawn or --as induced"
        )
    return np.concatenate([arrays["src" if visited == ENDS else "sources"], arrays["dst"]])


def drawn(found: Held, network: Network) -> Sampled:
    """The graph of the edges that were drawn: directed as the graph is."""
    return _named(_numbered(found.vertices, found.src, found.dst, directed=network.directed), network, found.vertices)


def induced(found: Held, network: HostNetwork) -> Sampled:
    """The graph of all edges among the vertices that were sampled."""
    from csaw.engine.analytics.cpu.kernels import adjacency

    vertices = found.vertices
    counts, rows = np.zeros(vertices.size + 1, np.int64), []
    for block in network.blocks(wanted=lambda first, last: _any_within(vertices, first, last)):
        low, high = np.searchsorted(vertices, (block.first, block.last))
        counts[low + 1 : high + 1], some = adjacency.induced_rows(
            vertices, int(low), int(high), block.first, block.indptr, block.indices
        )
        rows.append(some)
    network.forget_blocks()
    indices = np.concatenate([np.empty(0, np.int64), *rows])
    made = HostNetwork.of_arrays(np.cumsum(counts), indices, directed=network.directed, like=network)
    made.suffices = None  # which is said of the graph
    return _named(made, network, vertices)


def _numbered(vertices: np.ndarray, src: np.ndarray, dst: np.ndarray, *, directed: bool) -> HostNetwork:
    """The graph of edges, each once, among ``vertices``; without direction each stands in both rows."""
    src, dst = np.searchsorted(vertices, src), np.searchsorted(vertices, dst)
    if not directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    keys = distinct(src * np.int64(max(vertices.size, 1)) + dst)
    src, dst = keys // max(vertices.size, 1), keys % max(vertices.size, 1)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=vertices.size))]).astype(np.int64)
    return HostNetwork.of_arrays(indptr, dst, directed=directed)


def _named(made: HostNetwork, network: Network, vertices: np.ndarray) -> Sampled:
    """The sample whose vertices have the ids that they have in the graph."""
    made.store = cast(GraphStore, Members(made.store, network.store, vertices))
    return Sampled(made, vertices)
