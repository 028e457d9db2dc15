"""DeepWalk: a first-order walk along edges in proportion to their weight (Perozzi et al., KDD 2014)."""

from csaw.engine.algorithm import Walk


class Deepwalk(Walk):
    """The walk moves to a neighbor chosen uniformly, or by the weight of its edge in a weighted graph."""

    paper = "Perozzi et al., KDD 2014"
    visits = "strength"
