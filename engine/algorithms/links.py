"""Links with negatives: edges or given pairs, each with vertices that its source has no edge to."""

from csaw.engine.algorithm import LinksWithNegatives


class Links(LinksWithNegatives):
    """An instance is a link, source and destination, and NUM_NEGATIVES vertices that its source has no edge to."""

    paper = "bias by degree: Mikolov et al., NeurIPS 2013"

    def edge_bias(self, e):
        return 1.0
