"""Walks follow the law of their paper, worked out from lists of neighbors and no code of the engine."""

import numpy as np
import pytest
from helpers.graphs import SQUARE, TROUBLED, arrays_of, rows_of, store_of
from helpers.stats import assert_drawn_from

NONE = 2**32 - 1
MANY = 20_000
END = -1


def edge_law(row, bias):
    chances = {}
    for v, w in row:
        chances[v] = chances.get(v, 0.0) + bias(v, w)
    total = sum(chances.values())
    return {v: c / total for v, c in chances.items()} if total > 0 else {}


def first_order(bias):
    return lambda rows, before, here, source: edge_law(rows[here], lambda v, w: bias(rows, v, w)) or {END: 1}


def node2vec(p, q):
    def law(rows, before, here, source):
        near = {v for v, _ in rows[before]} if before is not None else None

        def bias(v, w):
            if near is None:
                return w
            return w / p if v == before else w if v in near else w / q

        return edge_law(rows[here], bias) or {END: 1}

    return law  # fmt: skip


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


CASES = {
    "deepwalk": ("deepwalk", {}, first_order(lambda rows, v, w: w)),
    "deepwalk its": ("deepwalk", {"select": "its"}, first_order(lambda rows, v, w: w)),
    "biased by degree": ("biased", {"bias": "degree"}, first_order(lambda rows, v, w: len(rows[v]))),
    "biased by nothing": ("biased", {"bias": "none"}, first_order(lambda rows, v, w: 1)),
    "expression": ("deepwalk", {"edge_bias": "e.weight * (e.dst_degree + 1) ** -0.5"}, first_order(lambda rows, v, w: w * (len(rows[v]) + 1) ** -0.5)),
    "node2vec 2 .5": ("node2vec", {"p": 2.0, "q": 0.5}, node2vec(2, 0.5)),
    "node2vec .25 4": ("node2vec", {"p": 0.25, "q": 4.0}, node2vec(0.25, 4)),
    "node2vec .5 1": ("node2vec", {"p": 0.5, "q": 1.0}, node2vec(0.5, 1)),
    "node2vec .25 4 its": ("node2vec", {"p": 0.25, "q": 4.0, "select": "its"}, node2vec(0.25, 4)),
    "metropolis-hastings": ("metropolis-hastings", {}, metropolis),
    "jump": ("jump", {"jump_prob": 0.25}, jump),
    "restart": ("restart", {"restart_prob": 0.25}, restart),
    "ppr": ("ppr", {"termination_prob": 0.25}, ppr),
}  # fmt: skip


UNDIRECTED = (
    "deepwalk",
    "node2vec 2 .5",
    "node2vec .25 4",
)  # what has a path of its own there; the rest are slow checks


@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unweighted"])
@pytest.mark.parametrize(
    ("case", "graph"),
    [(case, "troubled") for case in CASES]
    + [pytest.param(case, "square", marks=[] if case in UNDIRECTED else [pytest.mark.slow]) for case in CASES],
)
def test_every_transition_follows_the_law(tmp_path, case, graph, weighted):
    algo, options, law = CASES[case]
    edges, directed = (TROUBLED, True) if graph == "troubled" else (SQUARE, False)
    store = store_of(tmp_path / "g.zarr", edges, directed=directed, vertices=7 if directed else 5)
    walks = arrays_of(
        store, tmp_path / "s.zarr", algo, num_walks=MANY, walk_length=3, seed=11, weighted=weighted, **options
    )["walks"]
    rows = rows_of(store, weighted)
    walks = walks.astype(np.int64)
    walks[walks == NONE] = END
    for step in (0, 1, 2):
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


def test_zero_weights_are_never_taken_and_dead_ends_are_filled(tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True, vertices=7)
    drawn = arrays_of(store, tmp_path / "s.zarr", "deepwalk", num_walks=2000, walk_length=5)
    assert not ((drawn["walks"][:, :-1] == 0) & (drawn["walks"][:, 1:] == 3)).any()
    for walk, length in zip(drawn["walks"].tolist(), drawn["lengths"].tolist(), strict=True):
        assert NONE not in walk[: length + 1]
        assert set(walk[length + 1 :]) <= {NONE}
        assert length == 5 or walk[length] in (4, 5, 6)


def test_a_hub_of_many_neighbors_is_uniform(tmp_path):
    edges = [(0, v, 1) for v in range(1, 100_001)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    sources = np.zeros(400_000, np.int64)
    walks = arrays_of(store, tmp_path / "s.zarr", "deepwalk", sources=sources, walk_length=1)["walks"]
    assert_drawn_from(np.bincount((walks[:, 1] - 1) // 1000, minlength=100), np.ones(100))
