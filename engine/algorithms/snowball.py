"""Snowball sampling: all neighbors, hop by hop (Goodman, Ann. Math. Stat. 1961; C-SAW, section II)."""

from csaw.engine.algorithm import Traversal, option


class Snowball(Traversal):
    """Every vertex reached selects all of its unvisited neighbors, or NEIGHBOR_SIZE of them, up to DEPTH hops from the source."""

    paper = "Goodman, Annals of Mathematical Statistics 1961"
    depth: int = option(2, help="number of hops from the source", low=0, high=65535)
    neighbor_size: int = option(-1, help="neighbors that a vertex selects; -1 selects all", low=-1)

    def sizes(self):
        return (self.neighbor_size,) * self.depth
