"""Networkit and igraph, where they are installed, on the graph that csaw measures.

Each function yields (peer, work, call) for the works of a suite that a peer does; a call does the work once. ``graph``:
the rows of a graph in memory.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from csaw.engine.bench.networks import Rows, ends_of
from csaw.engine.plan.contracts import Array

NETWORKIT, IGRAPH = "networkit", "igraph"
TOTAL, EACH = "triangles", "triangles of each vertex"
Work = tuple[str, str, Callable[[], object]]
PeerGraph = Array  # of networkit or igraph, which have no types


def triangles(graph: Rows) -> Iterator[Work]:
    """Works of suites/triangles.py. ``graph`` is simple and undirected."""
    if found := _networkit(graph, False):
        nk, one = found
        one.indexEdges()
        yield NETWORKIT, TOTAL, lambda: nk.sparsification.TriangleEdgeScore(one).run()
        yield NETWORKIT, EACH, lambda: nk.centrality.LocalClusteringCoefficient(one, True).run()
    if other := _igraph(graph, False):
        yield IGRAPH, TOTAL, other.transitivity_undirected
        yield IGRAPH, EACH, other.transitivity_local_undirected


def traversal(graph: Rows, directed: bool, sources: list[int]) -> Iterator[Work]:
    """Works of suites/traversal.py. ``sources``: where searches begin, one after the other."""
    if found := _networkit(graph, directed):
        nk, one = found
        kind = nk.components.WeaklyConnectedComponents if directed else nk.components.ConnectedComponents
        yield NETWORKIT, "components", lambda: kind(one).run()
        yield NETWORKIT, "BFS, a source", lambda: [nk.distance.BFS(one, s, storePaths=False).run() for s in sources]
    if other := _igraph(graph, directed):
        yield IGRAPH, "components", lambda: other.connected_components(mode="weak")
        yield IGRAPH, "BFS, a source", lambda: [other.distances(source, mode="out") for source in sources]


def ranking(graph: Rows, directed: bool, damping: float, tolerance: float) -> Iterator[Work]:
    """Works of suites/ranking.py. Cores and assortativity are of undirected graphs alone."""
    if found := _networkit(graph, directed):
        nk, one = found

        def pagerank() -> None:
            ranks = nk.centrality.PageRank(one, damping, tolerance)
            ranks.norm = nk.centrality.Norm.L1_NORM
            ranks.run()

        yield NETWORKIT, "PageRank", pagerank
        if not directed:
            one.removeSelfLoops()
            yield NETWORKIT, "core numbers", lambda: nk.centrality.CoreDecomposition(one).run()
    if other := _igraph(graph, directed):
        yield IGRAPH, "PageRank", lambda: other.pagerank(damping=damping)
        if not directed:
            yield IGRAPH, "core numbers", other.coreness
            yield IGRAPH, "assortativity", other.assortativity_degree


def _networkit(graph: Rows, directed: bool) -> tuple[ModuleType, PeerGraph] | None:
    """The module of networkit and its graph; None where it is not installed."""
    if not find_spec(NETWORKIT):
        return None
    nk = import_module(NETWORKIT)
    return nk, nk.GraphFromCoo(ends_of(graph, directed), n=graph.indptr.size - 1, directed=directed)


def _igraph(graph: Rows, directed: bool) -> PeerGraph | None:
    """The graph of igraph; None where it is not installed."""
    if not find_spec(IGRAPH):
        return None
    edges = np.stack(ends_of(graph, directed), axis=1)
    return import_module(IGRAPH).Graph(graph.indptr.size - 1, edges, directed=directed)
