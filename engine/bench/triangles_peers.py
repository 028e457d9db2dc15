"""Triangles of networkit and igraph, where they are installed, on the graph that csaw measures."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from csaw.engine.bench.networks import ends_of

NETWORKIT, IGRAPH = "networkit", "igraph"
TOTAL, EACH = "triangles", "triangles of each vertex"
Call = Callable[[], Any]


def calls(graph: Any) -> Iterator[tuple[str, str, Call]]:
    """(peer, work, call) for each work of suites/triangles.py that a peer does. ``graph``: rows of a simple undirected graph in memory."""
    ends, vertices = ends_of(graph, False), graph.indptr.size - 1
    if find_spec(NETWORKIT):
        yield from _networkit(ends, vertices)
    if find_spec(IGRAPH):
        made = import_module(IGRAPH).Graph(vertices, np.stack(ends, axis=1))
        yield IGRAPH, TOTAL, made.transitivity_undirected
        yield IGRAPH, EACH, made.transitivity_local_undirected


def _networkit(ends: tuple, vertices: int) -> Iterator[tuple[str, str, Call]]:
    nk = import_module(NETWORKIT)
    graph = nk.GraphFromCoo(ends, n=vertices)
    graph.indexEdges()
    yield NETWORKIT, TOTAL, lambda: nk.sparsification.TriangleEdgeScore(graph).run()
    yield NETWORKIT, EACH, lambda: nk.centrality.LocalClusteringCoefficient(graph, True).run()
