"""Layer sampling: a fixed number of neighbors for the whole frontier (Gao et al., KDD 2018; C-SAW, section II), and of
all layers (NextDoor).
"""

from csaw.engine.algorithm import ChosenBias, InTime, Traversal, against_option, every_hop, option, unique_option
from csaw.partition.errors import OptionError


class Layer(InTime, ChosenBias, Traversal):
    """At each depth, the frontier as a whole selects NEIGHBOR_SIZE of its edges to unvisited vertices, without
    replacement. With a time strategy, it selects only from the edges that its vertices may select.
    """

    paper = "Gao et al., KDD 2018"
    collective = True
    depth: int | None = option(
        2,
        help="number of layers after the sources; none: until an instance has --total vertices, or nothing new "
        "is reached",
        low=0,
        high=65535,
        none="no limit",
    )
    neighbor_size: int = option(10, help="edges that the frontier selects at each depth", low=0)
    frontier_size: int = option(1, help="number of sources in an instance", low=1)
    unique: bool = unique_option()
    time_against: str = against_option()
    total: int | None = option(
        None,
        kind=int,
        help="number of vertices, including sources, at which an instance draws no further layer; none: only "
        "--depth ends it, or nothing new is reached",
        low=1,
        none="no such number",
    )

    def __init__(self, **values):
        super().__init__(**values)
        if self.total is not None and self.total <= self.frontier_size:
            raise OptionError(
                f"--total: expected more than the {self.frontier_size} sources of --frontier-size, found {self.total}"
            )

    def sizes(self):
        sizes = every_hop(self.neighbor_size, self.depth)
        # Each layer has a vertex that is new, or the instance ends.
        return sizes if self.total is None else sizes[: self.total - self.frontier_size]
