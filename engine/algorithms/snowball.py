"""Snowball sampling: all neighbors, hop by hop (Goodman, Ann. Math. Stat. 1961; C-SAW, section II)."""

from csaw.engine.algorithm import DEPTH_HELP, Traversal, every_hop, option, unique_option


class Snowball(Traversal):
    """Every vertex that is reached selects all of its unvisited neighbors, or NEIGHBOR_SIZE of them, up to DEPTH hops
    from the source.
    """

    paper = "Goodman, Annals of Mathematical Statistics 1961"
    depth: int | None = option(2, help=DEPTH_HELP, low=0, high=65535, none="no limit")
    neighbor_size: int = option(-1, help="neighbors that a vertex selects; -1 selects all", low=-1)

    unique: bool = unique_option()

    def sizes(self):
        return every_hop(self.neighbor_size, self.depth)
