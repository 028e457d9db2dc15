"""Traversals with a pool of their own, as a user writes them, and a slow reference of what they select."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from math import log

import numpy as np

from csaw.engine.draws.random import draw64, frontier_word

CLASSES = '''
from csaw.engine.algorithm import Traversal, option


class Chosen(Traversal):
    """A few vertices of a pool expand at a depth; the others wait. Biases read all that they can; some are 0."""

    pool_size: int = option(3, help="sources of an instance", low=1)
    frontier_size: int = option(2, help="vertices that expand at a depth", low=1)
    frontier_replace: bool = option(False, help="draw them with replacement")
    once: bool = option(True, help="a vertex enters the pool once")

    @property
    def visited_once(self):
        return self.once

    def vertex_bias(self, v):
        return v.id % 3 * (1 + v.depth) + (0.5 if v.prev == v.source else 0.0) + 1 / (v.degree - v.degree + 4)

    def sizes(self):
        return (-1,) * 4

    def update(self, e):
        return -1 if e.dst % 5 == 4 else e.dst


class Picks(Traversal):
    """Two neighbors by weight of each of three."""

    pool_size = 4
    frontier_size = 3

    def vertex_bias(self, v):
        return v.degree if v.id % 7 else 0.0

    def sizes(self):
        return (2,) * 5


class Again(Picks):
    """The same with replacement, and vertices that come back."""

    frontier_replace = True
    visited_once = False
    chance: float = option(0.3, help="chance to go back to the source", low=0.0, high=1.0)

    def update(self, e):
        return e.source if e.random() < self.chance else e.dst


class Together(Picks):
    """One pool of edges for the vertices that are selected."""

    collective = True
    total = 12


class Evenly(Together):
    """The same, and all edges and vertices are alike."""

    def edge_bias(self, e):
        return 1.0

    def vertex_bias(self, v):
        return 1.0


class Apart(Picks):
    """What a depth selects are different vertices."""

    unique = True


class Burning(Picks):
    """Each vertex lights a random number of neighbors."""

    frontier_replace = True

    def geometric(self):
        return 0.6

    def sizes(self):
        return (-1,) * 5


class Unending(Picks):
    """Until the pool is empty."""

    depth = None
    frontier_size = 40
'''
NAMES = ("Chosen", "Picks", "Again", "Together", "Evenly", "Apart", "Burning", "Unending")


def selected(pool, biases, size, replace, address):
    """Numbers of the entries of a pool [(slot, vertex, prev)] that a depth selects, in order.

    Without replacement the smallest -log(u) / bias, with it by where u falls in the sum of biases, in fractions.
    """
    seed, instance, depth = (np.uint64(part) for part in address)
    if replace:
        upto = list(accumulate(Fraction(bias) for bias in biases))
        words = [int(frontier_word(seed, instance, depth, np.uint64(n))) for n in range(size)] if any(biases) else []
        return sorted(bisect_right(upto, Fraction(word, 2**64) * upto[-1]) for word in words)
    draw = np.uint64((15 << 28) + int(depth))
    words = [int(draw64(seed, instance, np.uint64(slot), draw)) for slot, *_ in pool]
    times = {n: -log(((words[n] >> 12) + 0.5) / 2**52) / bias for n, bias in enumerate(biases) if bias > 0}
    return sorted(sorted(times, key=times.get)[:size])


def chosen_edges(rows, sources, instance, *, seed, size, replace, once):
    """The edges (depth, src, dst) that the class Chosen samples of a graph given as lists of neighbors."""
    pool, met, slot, edges = [(n, v, -1) for n, v in enumerate(sources)], set(sources), len(sources), []
    for depth in range(4):
        biases = [v % 3 * (1 + depth) + (0.5 if prev == sources[0] else 0) + 0.25 for _, v, prev in pool]
        numbers = selected(pool, biases, size, replace, (seed, instance, depth))
        if not numbers:
            break
        known = set(met) if once else set()
        drawn = [(pool[n][1], dst) for n in numbers for dst in rows[pool[n][1]] if dst not in known]
        pool = [entry for n, entry in enumerate(pool) if n not in numbers]
        for src, dst in drawn:
            if dst % 5 != 4 and not (once and dst in met):
                pool.append((slot, dst, src))
                met.add(dst)
            slot += 1
        edges += [(depth, *edge) for edge in drawn]
    return edges


def frontiers_law(rows, pool, bias, size, replace, depths):
    """Chance of each sequence of frontiers, sorted, where each vertex that is selected leads to all of its neighbors.

    By every sequence of single draws: by bias, of what is left or with replacement of all.
    """
    law = {}

    def go(pool, left, done, frontier, chance):
        if len(frontier) == size or not any(map(bias, left)):
            done = (*done, tuple(sorted(pool[n] for n in frontier)))
            if len(done) == depths:
                law[done] = law.get(done, 0.0) + chance
                return
            rest = [v for n, v in enumerate(pool) if n not in frontier]
            arrived = rest + [u for n in frontier for u in rows[pool[n]]]
            go(arrived, arrived, done, [], chance)
            return
        total = sum(map(bias, left))
        for n, v in enumerate(pool):
            if left[n] >= 0 and bias(v):
                then = left if replace else [*left[:n], -1, *left[n + 1 :]]
                go(pool, then, done, [*frontier, n], chance * bias(v) / total)

    go(pool, pool, (), [], 1.0)
    return law
