"""DeepWalk: a first-order walk along edges in proportion to their weight (Perozzi et al., KDD 2014)."""

from csaw.engine.algorithm import Walk


class Deepwalk(Walk):
    """Random walk: uniform, or in proportion to the weights of a weighted graph."""

    paper = "Perozzi et al., KDD 2014"
