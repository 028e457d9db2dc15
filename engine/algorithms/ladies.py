"""LADIES: layers of vertices, drawn from the neighbors of the layer before by squared entries (Zou et al., NeurIPS
2019, algorithm 1).
"""

from csaw.engine.algorithm import LayerEntries, Traversal, option


class Ladies(LayerEntries, Traversal):
    """Each layer consists of vertices drawn from the neighbors of the previous layer, in proportion to the sum of the
    squared entries of the adjacency matrix for the edges that lead to them.
    """

    paper = "Zou et al., NeurIPS 2019"
    draws_from = "neighbors"
    replace: bool = option(
        True, help="draw a layer with replacement, as in the paper; without it, as in the authors' code"
    )
