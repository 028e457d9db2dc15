"""Traversals with an ``update`` of their own, as a user writes them."""

CLASSES = '''
from csaw.engine.algorithm import Traversal, option


class Restarts(Traversal):
    """Each neighbor goes on, or with a chance the source does in its place."""

    visited_once = False
    chance: float = option(0.3, help="chance to go back to the source", low=0.0, high=1.0)

    def sizes(self):
        return (2, 2, 2)

    def update(self, e):
        return e.source if e.random() < self.chance else e.dst


class Jumps(Restarts):
    """Each neighbor goes on, or with a chance any vertex does; those of large degree end a path."""

    visited_once = True

    def sizes(self):
        return (3, 2, 2)

    def update(self, e):
        if e.dst_degree > 9:
            return -1
        if e.random() < self.chance:
            return e.random_vertex()
        return e.dst


class Turns(Restarts):
    """Vertices with even numbers are left out, and after depth 0 the vertex before goes on."""

    def update(self, e):
        if e.dst % 2 == 0:
            return -1
        return e.dst if e.depth == 0 else e.prev


class Layers(Jumps):
    """One pool for each instance."""

    collective = True

    def sizes(self):
        return (5, 5, 5)
'''
NAMES = ("Restarts", "Jumps", "Turns", "Layers")
