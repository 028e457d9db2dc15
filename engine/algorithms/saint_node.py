"""GraphSAINT's node sampler: vertices by the norms of their columns, and the edges among them (Zeng et al., ICLR 2020,
algorithm 2).
"""

from csaw.engine.algorithm import MatrixEntries, Traversal, normalize_option, option


class SaintNode(MatrixEntries, Traversal):
    """An instance is the subgraph of SUBGRAPH_NODES vertices, drawn in proportion to the squared norms of their
    columns of the adjacency matrix. The sources of the instance are these draws.
    """

    paper = "Zeng et al., ICLR 2020"
    draws_from = "vertices"
    sources_from = "every"
    replace = True
    ends_induced = True
    normalize: str = normalize_option("row")
    subgraph_nodes: int = option(6000, help="number of vertices to draw for an instance, with replacement", low=0)

    def sizes(self):
        return (self.subgraph_nodes,)
