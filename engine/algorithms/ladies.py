"""LADIES: layers of vertices, drawn from the neighbors of the layer before by squared entries (Zou et al., NeurIPS
2019, algorithm 1).
"""

from csaw.engine.algorithm import LayerEntries, Traversal, option


class Ladies(LayerEntries, Traversal):
    """Each layer is a number of vertices, drawn from the neighbors of the layer before by the squares of the matrix
    entries that lead to them.
    """

    paper = "Zou et al., NeurIPS 2019"
    draws_from = "neighbors"
    replace: bool = option(
        True, help="draw a layer with replacement, as the paper does; without, as the code of its authors does"
    )
