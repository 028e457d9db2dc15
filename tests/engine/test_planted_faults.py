"""The tests of the tests: each fault that a sampler may have is planted, and the suite's own check and csaw verify find it."""

import pytest
from helpers.graphs import FIVE, SQUARE, arrays_of, rows_of, store_of
from helpers.laws import (
    assert_walks_follow,
    node2vec,
)

from csaw.engine.algorithms.node2vec import Node2vec
from csaw.engine.verify import verify

WALKS = 20_000  # from every vertex
PICKS = 60_000
BIASES = [w for *_, w in FIVE]


def caught(check, *arguments, **options):
    with pytest.raises(AssertionError):
        check(*arguments, **options)


def failed(path):
    return {check.name for check in verify(path).checks if not check.ok}


def without_p(self, e):
    if e.dst == e.prev or e.prev < 0 or e.is_neighbor(e.prev, e.dst):
        return e.weight
    return e.weight / self.q


def without_q(self, e):
    return e.weight / self.p if e.dst == e.prev else e.weight


def p_a_tenth_off(self, e):
    if e.dst == e.prev:
        return e.weight / (1.1 * self.p)
    if e.prev < 0 or e.is_neighbor(e.prev, e.dst):
        return e.weight
    return e.weight / self.q


def neighbors_are_far(self, e):
    if e.dst == e.prev:
        return e.weight / self.p
    return e.weight if e.prev < 0 else e.weight / self.q


def near_the_vertex_itself(self, e):
    """The neighborhood of the wrong vertex is asked."""
    if e.dst == e.prev:
        return e.weight / self.p
    if e.prev < 0 or e.is_neighbor(e.src, e.dst):
        return e.weight
    return e.weight / self.q


# name: (p and q, the wrong bias, the bias range that goes with it)
NODE2VEC = {
    "p ignored": (0.25, 4.0, without_p, lambda self: (0.25, 1.0, 1.0)),
    "p ignored, high": (2.0, 0.5, without_p, lambda self: (1.0, 2.0, 1.0)),
    "p ignored at q = 1": (0.5, 1.0, without_p, lambda self: (1.0, 1.0, 1.0)),
    "p a tenth off": (0.25, 4.0, p_a_tenth_off, lambda self: (0.25, 1.0, 1.0 / (1.1 * self.p))),
    "q ignored": (0.25, 4.0, without_q, lambda self: (1.0, 1.0, 4.0)),
    "q ignored, high": (2.0, 0.5, without_q, lambda self: (1.0, 1.0, 0.5)),
    "neighbors are far": (0.25, 4.0, neighbors_are_far, Node2vec.bias_range),
    "wrong neighborhood": (0.25, 4.0, near_the_vertex_itself, Node2vec.bias_range),
    "return edge never": (0.25, 4.0, Node2vec.edge_bias, lambda self: (0.25, 1.0, 0.0)),
}
SLOW = ("p ignored, high", "q ignored, high", "wrong neighborhood", "p ignored at q = 1")  # much like another one


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[pytest.mark.slow] if f in SLOW else []) for f in NODE2VEC])
def test_a_wrong_node2vec_is_found(tmp_path, fault, monkeypatch):
    p, q, bias, bounds = NODE2VEC[fault]
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=5)
    with monkeypatch.context() as planted:
        planted.setattr(Node2vec, "edge_bias", bias)
        planted.setattr(Node2vec, "bias_range", bounds)
        walks = arrays_of(store, tmp_path / "s.zarr", "node2vec", p=p, q=q, num_walks=WALKS, walk_length=3)["walks"]
    caught(assert_walks_follow, walks, rows_of(store, True), node2vec(p, q))
    assert failed(tmp_path / "s.zarr") & {"transitions", "transitions, pooled"}
