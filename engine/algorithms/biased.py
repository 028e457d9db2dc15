"""Biased random walk: the bias of an edge is its weight, or the degree it leads to (C-SAW, SC 2020, section II)."""

from csaw.engine.algorithm import ChosenBias, Walk, bias_option


class Biased(ChosenBias, Walk):
    """The walk moves to a neighbor chosen by its degree or by the weight of its edge."""

    paper = "Pandey et al., SC 2020"
    bias: str = bias_option("degree")
