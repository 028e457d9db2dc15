"""FastGCN: layers of vertices, drawn from the whole graph by squared columns (Chen et al., ICLR 2018, section 3.2)."""

from csaw.engine.algorithm import LayerEntries, Traversal


class Fastgcn(LayerEntries, Traversal):
    """Each layer is a number of vertices, drawn with replacement from all vertices by the squared norms of their
    columns of the matrix.
    """

    paper = "Chen et al., ICLR 2018"
    draws_from = "vertices"
    replace = True
