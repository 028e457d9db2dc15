"""PageRank, core numbers and assortativity of networkit and igraph, where they are installed, on the graph that csaw measures."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from csaw.engine.bench.networks import ends_of

NETWORKIT, IGRAPH = "networkit", "igraph"
Call = Callable[[], Any]


def calls(graph: Any, directed: bool, damping: float, tolerance: float) -> Iterator[tuple[str, str, Call]]:
    """(peer, work, call) for each work of ranking.py that a peer does. ``graph``: CSR in memory. Cores and assortativity are of undirected graphs alone."""
    ends = ends_of(graph, directed)
    if find_spec(NETWORKIT):
        yield from _networkit(ends, graph.indptr.size - 1, directed, damping, tolerance)
    if find_spec(IGRAPH):
        yield from _igraph(ends, graph.indptr.size - 1, directed, damping)


def _networkit(ends: tuple, vertices: int, directed: bool, damping: float, tolerance: float) -> Iterator[tuple[str, str, Call]]:  # fmt: skip
    nk = import_module(NETWORKIT)
    graph = nk.GraphFromCoo(ends, n=vertices, directed=directed)

    def pagerank() -> None:
        ranks = nk.centrality.PageRank(graph, damping, tolerance)
        ranks.norm = nk.centrality.Norm.L1_NORM
        ranks.run()

    yield NETWORKIT, "PageRank", pagerank
    if not directed:
        graph.removeSelfLoops()
        yield NETWORKIT, "core numbers", lambda: nk.centrality.CoreDecomposition(graph).run()


def _igraph(ends: tuple, vertices: int, directed: bool, damping: float) -> Iterator[tuple[str, str, Call]]:
    graph = import_module(IGRAPH).Graph(vertices, np.stack(ends, axis=1), directed=directed)
    yield IGRAPH, "PageRank", lambda: graph.pagerank(damping=damping)
    if not directed:
        yield IGRAPH, "core numbers", graph.coreness
        yield IGRAPH, "assortativity", graph.assortativity_degree
