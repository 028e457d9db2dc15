"""Shortest paths by weight: how far every vertex is from one."""

from typing import ClassVar

import numpy as np

from csaw.engine.analytics import passes
from csaw.engine.analytics.evaluation.start import LARGEST, Search, begun, start_vertex, vertex_of
from csaw.engine.analytics.measure import FIXED, Column, Distribution, Findings, Number
from csaw.engine.analytics.network import Network, on_host
from csaw.engine.api.option import option
from csaw.engine.plan.footprint import Footprint
from csaw.partition import GraphStore
from csaw.partition.errors import OptionError


class Sssp(Search):
    """The smallest sum of weights on a path from a source to each vertex, along the directions of edges.

    Sums are float64, added from the source on, so that they are the same on every device. The column ``sssp`` has them,
    infinite where there is no path. With ``predecessors``, the column ``sssp predecessor`` is a tree of shortest paths.
    """

    KEEPS: ClassVar = {"cpu": Footprint(44, fixed=FIXED), "cuda": Footprint(56, fixed=FIXED)}
    paper = "Meyer and Sanders, Journal of Algorithms 49(1), 2003 (delta-stepping)"
    by_default = False
    reads_weights = True

    sssp_source: int | str | None = option(
        None,
        kind=object,
        help=f"id of the vertex from which to measure sums of weights [default: {LARGEST}]",
        none=LARGEST,
    )

    def check(self, store: GraphStore) -> None:
        if not store.weighted:
            raise OptionError(
                f"sssp: expected a graph with weights to add, found none in {store.path}; pass --measures bfs, which "
                "counts edges"
            )
        if self.sssp_source is not None:
            vertex_of(store, self.sssp_source, "--sssp-source")

    def findings(self, network: Network) -> Findings:
        source = start_vertex(network, self.sssp_source, "--sssp-source")
        distance, method = on_host(network.compute("sssp", source=source)), begun(network, source)
        reached = (
            part[np.isfinite(part)] for part in (distance[low:high] for low, high in passes.spans(distance.size))
        )
        values, counts = passes.occurrences(np.unique(part, return_counts=True) for part in reached)
        return {
            "weight from source": Distribution(values, counts, "weight of the path from the source", method),
            "reached by weight": Number(int(counts.sum()), method),
            "largest weight from source": Number(float(values[-1]), method),
            "sssp": Column(distance, method, "value"),
            **self.tree(network, source, distance, method),
        }
