"""Components, searches and betweenness of networkit and igraph, where they are installed, on the graph that csaw measures."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from csaw.engine.bench.networks import ends_of

NETWORKIT, IGRAPH = "networkit", "igraph"
Call = Callable[[], Any]


def calls(graph: Any, directed: bool, sources: list[int]) -> Iterator[tuple[str, str, Call]]:
    """(peer, work, call) for each work of suites/traversal.py that a peer does. ``graph``: CSR in memory; ``sources``: where searches begin, one after the other."""
    ends, vertices = ends_of(graph, directed), graph.indptr.size - 1
    if find_spec(NETWORKIT):
        yield from _networkit(ends, vertices, directed, sources)
    if find_spec(IGRAPH):
        yield from _igraph(ends, vertices, directed, sources)


def _networkit(ends: tuple, vertices: int, directed: bool, sources: list[int]) -> Iterator[tuple[str, str, Call]]:
    nk = import_module(NETWORKIT)
    graph = nk.GraphFromCoo(ends, n=vertices, directed=directed)
    kind = nk.components.WeaklyConnectedComponents if directed else nk.components.ConnectedComponents
    yield NETWORKIT, "components", lambda: kind(graph).run()
    yield NETWORKIT, "BFS, a source", lambda: [nk.distance.BFS(graph, s, storePaths=False).run() for s in sources]


def _igraph(ends: tuple, vertices: int, directed: bool, sources: list[int]) -> Iterator[tuple[str, str, Call]]:
    graph = import_module(IGRAPH).Graph(vertices, np.stack(ends, axis=1), directed=directed)
    yield IGRAPH, "components", lambda: graph.connected_components(mode="weak")
    yield IGRAPH, "BFS, a source", lambda: [graph.distances(source, mode="out") for source in sources]
