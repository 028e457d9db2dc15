"""FastGCN: layers of vertices, drawn from the whole graph by squared columns (Chen et al., ICLR 2018, section 3.2)."""

from csaw.engine.algorithm import LayerEntries, Traversal


class Fastgcn(LayerEntries, Traversal):
    """Each layer consists of vertices drawn with replacement from the whole graph, in proportion to the squared norm of
    their column of the adjacency matrix.
    """

    paper = "Chen et al., ICLR 2018"
    draws_from = "vertices"
    replace = True
