"""The test that a peer draws a work by its law: many draws on a graph of five vertices.

Every situation has a chi-square test.
"""

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import GraphView, next_law
from csaw.engine.bench.bench_row import Row
from csaw.engine.verify.statistics import chi_square, holm
from csaw.partition.graph.store import Graph

EDGES = ((0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4), (0, 2, 5), (3, 4, 0.5))  # with weights
DRAWS = 4000  # from every vertex
REJECT = 1e-6


def small_graph() -> Graph:
    """The graph of EDGES, with five vertices."""
    rows = sorted([*EDGES, *((v, u, w) for u, v, w in EDGES)])
    indptr = np.cumsum(np.bincount([u + 1 for u, _, _ in rows], minlength=6))
    return Graph(indptr, np.array([v for _, v, _ in rows], np.uint32), np.array([w for *_, w in rows], np.float32))


def of_degree(graph: Graph) -> Graph:
    """The graph with the degree of each edge's neighbor as its weight."""
    degrees = np.diff(graph.indptr)[graph.indices]
    return Graph(graph.indptr, graph.indices, degrees.astype(np.float32))


def chance_of_law(samples: str, how: Row) -> float:
    """The smallest p-value of a peer's samples over all situations, times their number.

    A situation is (previous vertex, vertex).
    """
    walks = np.load(samples).astype(np.int64)
    view = GraphView(of_degree(small_graph()) if how.get("by_degree") else small_graph(), bool(how.get("weighted")))
    walk = registry.build("node2vec", {"p": how.get("p", 1.0), "q": how.get("q", 1.0)})
    assert isinstance(walk, Walk)
    found: dict[tuple[int, int], dict[int, int]] = {}
    for step in range(walks.shape[1] - 1):
        before = walks[:, step - 1] if step else np.full(len(walks), -1)
        rows, counts = np.unique(np.column_stack([before, walks[:, step : step + 2]]), axis=0, return_counts=True)
        for (prev, v, then), count in zip(rows.tolist(), counts.tolist(), strict=True):
            outcomes = found.setdefault((prev, v), {})
            outcomes[then] = outcomes.get(then, 0) + count
    tested = [chi_square(seen, next_law(view, walk, v, prev=prev)) for (prev, v), seen in found.items()]
    return holm([p for p in tested if p is not None])
