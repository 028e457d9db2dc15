"""Breadth-first search: how far every vertex is from one."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics.evaluation.start import LARGEST, Search, begun, start_vertex, vertex_of
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore


class Bfs(Search):
    """Distances from a source to each vertex in edges, along the directions of a directed graph.

    The column ``bfs`` has the distances, -1 where there is no path. The eccentricity is the largest of them. With
    ``predecessors``, the column ``bfs predecessor`` is a tree of shortest paths.
    """

    KEEPS: ClassVar = {"cpu": Footprint(32, ids=2, fixed=FIXED), "cuda": Footprint(48, ids=2, fixed=FIXED)}
    paper = "Beamer, Asanovic and Patterson, SC 2012"
    by_default = False

    bfs_source: int | str | None = option(
        None,
        kind=object,
        help=f"id of the vertex from which to measure distances [default: {LARGEST}]",
        none=LARGEST,
    )

    def check(self, store: GraphStore) -> None:
        if self.bfs_source is not None:
            vertex_of(store, self.bfs_source, "--bfs-source")

    def findings(self, network: Network) -> Findings:
        source = start_vertex(network, self.bfs_source, "--bfs-source")
        distance, method = on_host(network.compute("bfs", source=source)), begun(network, source)
        counts = np.bincount(distance[distance >= 0])
        found = Distribution(np.arange(counts.size), counts, "edges from the source", method)
        return {
            "distance from source": found,
            "reached": Number(int(counts.sum()), method),
            "share reached": Number(float(counts.sum() / network.vertices), method),
            "eccentricity": Number(counts.size - 1, method),
            "bfs": Column(distance, method, "value", none=-1),
            **self.tree(network, source, distance, method),
        }
