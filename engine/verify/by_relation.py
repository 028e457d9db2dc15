"""The rows from which samples select by relation: a row for each vertex and each relation.

They are made here from the relations of all edges, apart from the graph that such samples are drawn from.
"""

import numpy as np

from csaw.engine.api.option import ByRelation
from csaw.engine.plan.by_relation import fanouts_by_hop
from csaw.partition import Graph
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.types import RELATION, Types


class RowsByRelation:
    """Vertex v and relation r have the row v * relations + r; the ends of its edges have the number of their own row of
    relation 0.

    Attributes:
        graph: the rows.
        relations: their number.
        sizes: int64 [hops + 1, relations], what a vertex selects at each hop; 0 after the last.
        sources: the first vertex that each relation leaves, and the one after the last, int64 [relations, 2].
        place: int64 [E], where each edge of the graph itself is in the rows.
        relation: of each edge of the graph itself.
    """

    def __init__(self, graph: Graph, types: Types, fanouts: ByRelation) -> None:
        """``fanouts``: of all relations, in the order of their numbers."""
        self.relations, self.relation = len(types.relations), graph.columns[RELATION.name]
        self.sizes = np.vstack([fanouts_by_hop(fanouts), np.zeros(self.relations, np.int64)])
        self.sources = np.array([types.span(one.source) for one in types.relations], np.int64)
        vertices = graph.indptr.size - 1
        row = np.repeat(np.arange(vertices), np.diff(graph.indptr)) * self.relations + self.relation
        order = np.argsort(row, kind="stable")
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        indptr = np.append(0, np.cumsum(np.bincount(row, minlength=vertices * self.relations)))
        weights = None if graph.weights is None else graph.weights[order]
        columns = {TIME.name: graph.columns[TIME.name][order]} if TIME.name in graph.columns else {}
        self.graph = Graph(indptr, graph.indices[order].astype(np.int64) * self.relations, weights, columns)

    def offsets(self, hop: int) -> np.ndarray:
        """Where the picks of each relation begin among those of a vertex at a hop: after those of relations before it
        that leave the same type.
        """
        return np.array(
            [
                self.sizes[hop, :relation][(self.sources[:relation] == span).all(axis=1)].sum()
                for relation, span in enumerate(self.sources)
            ]
        )

    def selecting(self, vertex: np.ndarray, hop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes that select, by the ``vertex`` and the ``hop`` of each, and the relations that they select from;
        node by node.
        """
        leaves = (vertex[:, None] >= self.sources[:, 0]) & (vertex[:, None] < self.sources[:, 1])
        node, relation = np.nonzero(leaves & (self.sizes[hop] != 0))
        return node, relation
