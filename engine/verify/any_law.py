"""Checks of samples whose law is not known here, because csaw does not ship their algorithm and nobody has named its
file: vertices and edges, which need no law.
"""

import numpy as np

from csaw.engine.api import recorded
from csaw.engine.samples import UNKNOWN, Samples
from csaw.engine.samples.layouts import VERTEX, kind_of
from csaw.engine.verify.checks import Checks
from csaw.engine.verify.course import passed
from csaw.engine.verify.kernels import DenseIds, multiplicity
from csaw.partition import Graph
from csaw.partition.errors import StoreError
from csaw.partition.graph.store import GraphStore


def verify_without_law(samples: Samples, store: GraphStore, graph: Graph, checks: Checks) -> None:
    """Check that all vertices are vertices of the graph, and that drawn edges are edges of it.

    Steps of walks may lead elsewhere, where their algorithm has them do so.
    """
    ids = store.stored_ids()
    dense = DenseIds(samples, ids if isinstance(ids, np.ndarray) else None, store.vertices)
    strange, missing, drawn = 0, 0, 0
    for _, arrays in passed(samples):
        strange += sum(
            int((dense(array) == UNKNOWN).sum()) for name, array in arrays.items() if kind_of(name) == VERTEX
        )
        edges = samples.layout.edges(arrays, samples.fill)
        ends = [np.ascontiguousarray(dense(edges[name])) for name in ("src", "dst")]
        copies = np.empty(ends[0].size, np.int64)
        multiplicity(graph.indptr, graph.indices, *ends, copies)
        missing, drawn = missing + int((copies == 0).sum()), drawn + copies.size
    checks.count("vertices", strange, "entries that are no vertices of the graph")
    if samples.has_walks and missing:
        checks.not_tested("edges", f"{missing:,} of {drawn:,} steps along no edge, which the algorithm may take")
    else:
        checks.count("edges", missing, f"of {drawn:,} sampled edges that are not in the graph")
    try:
        recorded.named(samples.path, samples.manifest["request"], None)
    except StoreError as why:
        checks.not_tested("law", str(why), testable=True)
