"""The test that a peer draws a work by its law: many draws on a graph of five vertices.

Every situation has a chi-square test.
"""

import numpy as np

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Walk
from csaw.engine.api.law import GraphView, next_law
from csaw.engine.bench.bench_row import Row
from csaw.engine.verify.statistics import chi_square, holm
from csaw.engine.verify.time_laws import ENDED, TimeLaws, TimeRows, follow
from csaw.engine.verify.walks_in_time import rule_of
from csaw.partition.graph.edge_columns import NO_TIME, TIME
from csaw.partition.graph.parts import Graph

EDGES = ((0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4), (0, 2, 5), (3, 4, 0.5))  # with weights
TIMES = (1, 2, 2, 3, 2, 4)  # of these edges: two of vertex 2 at once
DRAWS = 4000  # from every vertex
REJECT = 1e-6


def small_graph() -> Graph:
    """The graph of EDGES, with five vertices."""
    timed = [(*edge, time) for edge, time in zip(EDGES, TIMES, strict=True)]
    rows = sorted([*timed, *((v, u, *rest) for u, v, *rest in timed)])
    indptr = np.cumsum(np.bincount([u + 1 for u, *_ in rows], minlength=6))
    _, targets, weights, times = zip(*rows, strict=True)
    columns = {TIME.name: np.array(times, np.int64)}
    return Graph(indptr, np.array(targets, np.uint32), np.array(weights, np.float32), columns)


def of_degree(graph: Graph) -> Graph:
    """The graph with the degree of each edge's neighbor as its weight."""
    degrees = np.diff(graph.indptr)[graph.indices]
    return Graph(graph.indptr, graph.indices, degrees.astype(np.float32))


def chance_of_law(samples: str, how: Row) -> float:
    """The smallest p-value of a peer's samples over all situations, times their number.

    A situation is (previous vertex, vertex), or in time (vertex, time of the step before, whether it is the first).
    """
    walks = np.load(samples).astype(np.int64)
    if "time_bias" in how:
        return _chance_in_time(walks, how)
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


def _chance_in_time(found: np.ndarray, how: Row) -> float:
    """``chance_of_law`` of walks in time, which stand before the times of their steps."""
    steps = (found.shape[1] - 1) // 2
    walks, times = np.ascontiguousarray(found[:, : steps + 1]), np.ascontiguousarray(found[:, steps + 1 :])
    lengths = (walks >= 0).sum(axis=1) - 1
    times[np.arange(steps) >= lengths[:, None]] = NO_TIME
    walk = registry.build("temporal", {"per": "time", "time_bias": how["time_bias"]})
    assert isinstance(walk, Walk)
    view = GraphView(small_graph(), False)
    rows, rule, faults = TimeRows.of(view), rule_of(walk), np.zeros(4, np.int64)
    places = np.empty(times.shape, np.int64)
    follow(rows, walks, times, lengths, rule, True, places, faults)
    if faults.any():
        return 0.0
    row, step = np.nonzero(places >= ENDED)
    now = np.where(step > 0, times[row, step - 1], rule.start)
    situations = np.column_stack([walks[row, step], now, step == 0])
    laws = TimeLaws(view, walk, rows, rule, ("at", "previous_time", "first"))
    tested = []
    for situation in np.unique(situations, axis=0):
        outcomes, counts = np.unique(places[row, step][(situations == situation).all(axis=1)], return_counts=True)
        seen = dict(zip(outcomes.tolist(), counts.tolist(), strict=True))
        tested.append(chi_square(seen, laws(*situation.tolist())))
    return holm([p for p in tested if p is not None])
