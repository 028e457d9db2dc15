"""The papers' laws worked out from lists of neighbors and no code of the engine, and the check
of walks against them.
"""

from collections import Counter
from itertools import combinations, permutations

import numpy as np

from helpers.stats import assert_drawn_from

END = -1  # the fill of samples: no vertex


def edge_law(row, bias):
    chances = {}
    for v, w in row:
        chances[v] = chances.get(v, 0.0) + bias(v, w)
    total = sum(chances.values())
    return {v: c / total for v, c in chances.items()} if total > 0 else {}


def first_order(bias):
    return lambda rows, before, here, source: edge_law(rows[here], lambda v, w: bias(rows, v, w)) or {END: 1}


def by_weight(rows, v, w):
    return w


def node2vec(p, q):
    def law(rows, before, here, source):
        near = {v for v, _ in rows[before]} if before is not None else None

        def bias(v, w):
            if near is None:
                return w
            return w / p if v == before else w if v in near else w / q

        return edge_law(rows[here], bias) or {END: 1}

    return law


def metropolis(rows, before, here, source):
    moves = edge_law(rows[here], lambda v, w: 1)
    if not moves:
        return {END: 1}
    law = {v: c * min(1, len(rows[here]) / len(rows[v])) if rows[v] else c for v, c in moves.items()}
    law[here] = law.get(here, 0) + 1 - sum(law.values())
    return {v: c for v, c in law.items() if c > 1e-12}


def jump(rows, before, here, source):
    moves = edge_law(rows[here], lambda v, w: w)
    chance = 0.25 if moves else 1
    return {v: chance / len(rows) + (1 - chance) * moves.get(v, 0) for v in range(len(rows))}


def restart(rows, before, here, source):
    moves = edge_law(rows[here], lambda v, w: w)
    if not moves:
        return {END: 1} if here == source else {source: 1}
    return {v: 0.75 * moves.get(v, 0) + 0.25 * (v == source) for v in {*moves, source}}


def ppr(rows, before, here, source):
    moves = edge_law(rows[here], lambda v, w: w)
    return {v: 0.75 * c for v, c in moves.items()} | {END: 0.25} if moves else {END: 1}


def assert_walks_follow(walks, rows, law):
    """Every step of the walks, given the source and the two vertices before it, is drawn from the law."""
    walks = walks.astype(np.int64)
    for step in range(walks.shape[1] - 1):
        context = walks[:, [0, step - 1 if step else 0, step]]
        for source, before, here in np.unique(context, axis=0).tolist():
            then = walks[(context == (source, before, here)).all(axis=1), step + 1]
            if here < 0:
                assert (then == END).all()
            elif then.size > 1000:
                chances = law(rows, before if step else None, here, source)
                counts = [np.sum(then == v) for v in chances]
                assert sum(counts) == then.size, f"went from {here} to one of {set(then.tolist()) - set(chances)}"
                if then.size * min(c for c in chances.values() if c > 0) > 10:
                    assert_drawn_from(counts, list(chances.values()))


def successive(biases, k):
    """Chance of each ordered selection of k without replacement."""
    law = {}
    for order in permutations(range(len(biases)), k):
        left, chance = float(sum(biases)), 1.0
        for i in order:
            chance *= biases[i] / left
            left -= biases[i]
        law[order] = chance
    return law


def assert_picks_are_successive(picks, biases):
    """Rows of distinct pool positions are ordered selections without replacement."""
    base = len(biases) ** np.arange(picks.shape[1])
    law = successive(biases, picks.shape[1])
    codes = picks @ base
    counts = [np.sum(codes == np.dot(order, base)) for order in law]
    assert sum(counts) == len(picks), "selected one twice"
    assert_drawn_from(counts, list(law.values()))


def assert_picks_are_independent(picks, *biases):
    """Each column is drawn by its biases, whatever the other columns hold."""
    joint, sizes = np.ones(1), [len(b) for b in biases]
    for one in biases:
        joint = np.outer(joint, one).ravel()
    assert_drawn_from(np.bincount(np.ravel_multi_index(picks.T, sizes), minlength=joint.size), joint)


def assert_sets_are_equally_likely(picks, size):
    """Rows are sets of 0 .. size - 1, every one of their number as likely as another."""
    picks = np.sort(picks, axis=1)
    assert (picks[:, 1:] > picks[:, :-1]).all(), "selected one twice"
    every = np.array(list(combinations(range(size), picks.shape[1])))
    base = size ** np.arange(picks.shape[1])
    found = np.bincount(picks @ base, minlength=size ** picks.shape[1])
    assert_drawn_from(found[every @ base], np.ones(len(every)))


def assert_fires_are_geometric(burnt, chance, most):
    """Successes of ``chance`` before the first failure, at most ``most``."""
    law = [(1 - chance) * chance**k for k in range(most)] + [chance**most]
    assert_drawn_from(np.bincount(burnt, minlength=most + 1), law)


def assert_frontier_walks_follow(drawn, rows, start):
    """Two steps of a few walkers: one chosen by degree moves by weight (Ribeiro and Towsley, algorithm 1)."""
    law = {}

    def step(frontier, path, chance):
        if len(path) == 2:
            law[tuple(path)] = law.get(tuple(path), 0) + chance
            return
        total = sum(len(rows[v]) for v in frontier)
        for i, v in enumerate(frontier):
            for u, w in rows[v]:
                moved = chance * len(rows[v]) / total * w / sum(w for _, w in rows[v])
                step([*frontier[:i], u, *frontier[i + 1 :]], [*path, (v, u)], moved)

    step(start, [], 1.0)
    moves = list(zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True))
    found = Counter(zip(moves[::2], moves[1::2], strict=True))
    assert set(found) <= set(law)
    assert_drawn_from([found[path] for path in law], list(law.values()))
