"""Frontier sampling: many dependent walkers, the one to move chosen by degree (Ribeiro and Towsley, IMC 2010, section
5).

Drawn as its equivalent: walker w waits at v for an exponential time of rate vertex_bias(v); events are taken in order
of time.
"""

from csaw.engine.algorithm import Traversal, option


class Multidimensional(Traversal):
    """At each step, one of many walkers moves to a random neighbor; a walker is chosen by the degree of its vertex."""

    paper = "Ribeiro and Towsley, IMC 2010"
    sources_from = "random"
    visits = "degree"
    visited_once = False
    clocks = True
    walk_length: int = option(
        80, help="number of steps of an instance, by all of its walkers together", low=0, high=2**31 - 2
    )
    frontier_size: int = option(10, help="number of walkers of an instance", low=1)

    def vertex_bias(self, v):
        return v.degree

    def sizes(self):
        return (1,)  # at every step
