"""Snowball sampling: all neighbors, hop by hop (Goodman, Ann. Math. Stat. 1961; C-SAW, section II)."""

from csaw.engine.algorithm import Traversal, option


class Snowball(Traversal):
    """Every unvisited neighbor of every vertex reached, DEPTH hops far; or at most NEIGHBOR_SIZE of them."""

    paper = "Goodman, Annals of Mathematical Statistics 1961"
    depth: int = option(2, help="hops from the source", low=0, high=65535)
    neighbor_size: int = option(-1, help="neighbors of a vertex; -1 is all", low=-1)

    def sizes(self):
        return (self.neighbor_size,) * self.depth
