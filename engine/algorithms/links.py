"""Batches of links with negatives: edges or given pairs, each with vertices that its source has no edge to."""

from csaw.engine.algorithm import Traversal, option


class Links(Traversal):
    """An instance is a link, source and destination, and NUM_NEGATIVES destinations that its source has no edge to."""

    paper = "negatives by degree: Mikolov et al., NeurIPS 2013"
    layout = "links"
    sources_from = "links"
    frontier_size = 2
    visited_once = False
    relation: str | None = option(
        None,
        kind=str,
        help="relation of the links, of a graph of several types: only its edges count",
        none="edges of any relation",
    )
    num_negatives: int = option(1, help="number of negatives of a link", low=1, high=2**31 - 1)
    negative_bias: str = option(
        "none",
        help="bias of a negative: none (all equally likely), or the number of edges that lead to it to the power of "
        "0.75 (degree)",
        choices=("none", "degree"),
    )
    allow_self: bool = option(False, help="let a negative be the source itself, if it has no edge to itself")
    skip_full: bool = option(
        False,
        help="leave links whose source has an edge to every possible destination without negatives, which is an "
        "error otherwise",
    )

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return ()
