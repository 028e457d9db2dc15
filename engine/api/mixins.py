"""Biases that several algorithms share, as mixins with the options that choose them."""

from collections.abc import Mapping
from typing import ClassVar

from csaw.engine.api.algorithm import Algorithm
from csaw.engine.api.in_time import BESIDE
from csaw.engine.api.option import option
from csaw.engine.api.views import EdgeView


def unique_option() -> bool:
    """Declare the option of traversals that may select each vertex once at a depth."""
    said = (
        "select different vertices at a depth: an edge to a vertex that is selected already is drawn again, as "
        "long as there is another one"
    )
    return option(False, help=said, is_later=True)


def bias_option(default: str) -> str:
    """Declare the option of ChosenBias with another default."""
    said = (
        "bias of an edge: its weight, the degree of the vertex that it leads to, or none, which makes all "
        "equally likely"
    )
    return option(default, help=said, choices=("weight", "degree", "none"))


class ChosenBias(Algorithm):
    """Mixin of algorithms with an option that chooses the bias of an edge: ``class Mine(ChosenBias, Traversal)``."""

    bias: str = bias_option("weight")

    def edge_bias(self, e: EdgeView) -> float:
        if self.bias == "degree":
            return e.dst_degree
        if self.bias == "weight":
            return e.weight
        return 1.0


def normalize_option(default: str) -> str:
    """Declare the option of MatrixEntries with another default."""
    said = (
        "matrix whose entries count: the adjacency, normalized by the degrees of both ends or of the row, or as it is"
    )
    return option(default, help=said, choices=("symmetric", "row", "none"))


class MatrixEntries(Algorithm):
    """Mixin of samplers that draw vertices.

    The bias of an edge is the square of its entry in the normalized adjacency matrix.

    An edge v -> u of weight w (1 in an unweighted run) has the entry w / sqrt(d(v) d(u)) where the matrix is symmetric,
    w / d(v) where its rows are normalized, and w where nothing is. d counts edges. Self loops count where the graph has
    them.
    """

    collective = True
    visited_once = False
    normalize: str = normalize_option("symmetric")

    def edge_bias(self, e: EdgeView) -> float:
        if self.normalize == "symmetric":
            return e.weight * e.weight / (e.src_degree * e.dst_degree) if e.dst_degree > 0 else 0.0
        if self.normalize == "row":
            return e.weight * e.weight / (e.src_degree * e.src_degree)
        return e.weight * e.weight


class LayerEntries(MatrixEntries):
    """Mixin of samplers of layers: ``class Mine(LayerEntries, Traversal)``."""

    lacks: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("time_strategy", *BESIDE),
        ", because it draws by the entries of one matrix, and the degrees in these would be others at each time: labor "
        "and layer draw in time, and csaw.evaluate(graph, until=T).store is the graph until a time",
    )

    layer_sizes: tuple = option((512, 512), help="vertices to draw for each layer, separated by commas", low=0)
    frontier_size: int = option(512, help="number of sources of an instance, its batch", low=1)

    def sizes(self) -> tuple[int, ...]:
        return self.layer_sizes
