"""Walks follow the law of their paper."""

import numpy as np
import pytest
from helpers.graphs import SQUARE, TROUBLED, arrays_of, rows_of, store_of
from helpers.laws import END, assert_walks_follow, by_weight, first_order, jump, metropolis, node2vec, ppr, restart
from helpers.stats import assert_drawn_from

MANY = 20_000


CASES = {
    "deepwalk": ("deepwalk", {}, first_order(by_weight)),
    "deepwalk its": ("deepwalk", {"select": "its"}, first_order(by_weight)),
    "biased by degree": ("biased", {"bias": "degree"}, first_order(lambda rows, v, w: len(rows[v]))),
    "biased by nothing": ("biased", {"bias": "none"}, first_order(lambda rows, v, w: 1)),
    "expression": (
        "deepwalk",
        {"edge_bias": "e.weight * (e.dst_degree + 1) ** -0.5"},
        first_order(lambda rows, v, w: w * (len(rows[v]) + 1) ** -0.5),
    ),
    "node2vec 2 .5": ("node2vec", {"p": 2.0, "q": 0.5}, node2vec(2, 0.5)),
    "node2vec .25 4": ("node2vec", {"p": 0.25, "q": 4.0}, node2vec(0.25, 4)),
    "node2vec .5 1": ("node2vec", {"p": 0.5, "q": 1.0}, node2vec(0.5, 1)),
    "node2vec .25 4 its": ("node2vec", {"p": 0.25, "q": 4.0, "select": "its"}, node2vec(0.25, 4)),
    "metropolis-hastings": ("metropolis-hastings", {}, metropolis),
    "jump": ("jump", {"jump_prob": 0.25}, jump),
    "restart": ("restart", {"restart_prob": 0.25}, restart),
    "ppr": ("ppr", {"termination_prob": 0.25}, ppr),
}


UNDIRECTED = ("deepwalk", "node2vec 2 .5", "node2vec .25 4")  # what has a path of its own there
LIKE_DIRECTED = pytest.mark.slow(
    reason="the law is checked on a directed graph, and has no other path on an undirected one"
)


UNWEIGHTED = ("deepwalk", "deepwalk its", "node2vec .25 4", "metropolis-hastings")  # whose kernels are others then
LIKE_WEIGHTED = pytest.mark.slow(reason="the law is checked with weights, and a quick case has this path without them")


def cases():
    """(name of the case, graph, whether weights are read), each with its mark."""
    for case in CASES:
        for graph in ("troubled", "square"):
            for weighted in (True, False):
                name, marks = f"{case}-{graph}-{'weighted' if weighted else 'unweighted'}", []
                if graph == "square" and case not in UNDIRECTED:
                    marks = [LIKE_DIRECTED]
                elif not weighted and case not in UNWEIGHTED:
                    marks = [LIKE_WEIGHTED]
                yield pytest.param(case, graph, weighted, id=name, marks=marks)


@pytest.mark.parametrize(("case", "graph", "weighted"), list(cases()))
def test_every_transition_follows_the_law(tmp_path, case, graph, weighted):
    algo, options, law = CASES[case]
    edges, directed = (TROUBLED, True) if graph == "troubled" else (SQUARE, False)
    store = store_of(tmp_path / "g.zarr", edges, directed=directed, vertices=7 if directed else 5)
    walks = arrays_of(
        store, tmp_path / "s.zarr", algo, num_walks=MANY, walk_length=3, seed=11, weighted=weighted, **options
    )["walks"]
    assert_walks_follow(walks, rows_of(store, weighted), law)


def test_zero_weights_are_never_taken_and_dead_ends_are_filled(tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True, vertices=7)
    drawn = arrays_of(store, tmp_path / "s.zarr", "deepwalk", num_walks=2000, walk_length=5)
    assert not ((drawn["walks"][:, :-1] == 0) & (drawn["walks"][:, 1:] == 3)).any()
    for walk, length in zip(drawn["walks"].tolist(), drawn["lengths"].tolist(), strict=True):
        assert END not in walk[: length + 1]
        assert set(walk[length + 1 :]) <= {END}
        assert length == 5 or walk[length] in (4, 5, 6)


def test_a_hub_of_many_neighbors_is_uniform(tmp_path):
    edges = [(0, v, 1) for v in range(1, 100_001)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    sources = np.zeros(400_000, np.int64)
    walks = arrays_of(store, tmp_path / "s.zarr", "deepwalk", sources=sources, walk_length=1)["walks"]
    assert_drawn_from(np.bincount((walks[:, 1] - 1) // 1000, minlength=100), np.ones(100))
