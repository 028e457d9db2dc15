"""Biases near the ends of float64: those whose times would be infinite are refused, and all others keep their law."""

import math
from collections import Counter

import numpy as np
import pytest

import csaw
from csaw.engine.algorithm import Traversal, option
from csaw.engine.api import registry
from csaw.engine.draws.portable import exponential
from csaw.engine.verify.sets import _expected
from csaw.partition.errors import BiasError, OptionError

LEAVES = (1, 2, 3, 4, 5)
WAYS = [
    ("neighbor", {"fanout": (1,), "select": "keys"}),
    ("neighbor", {"fanout": (1,), "select": "its"}),
    ("layer", {"depth": 1, "neighbor_size": 1}),
    ("deepwalk", {"walk_length": 1}),
    ("minibatch", {"fanout": (2,)}),
    ("snowball", {"depth": 1, "neighbor_size": 2}),
]


@pytest.fixture(scope="module")
def star():
    return csaw.graph([(0, leaf) for leaf in LEAVES] + [(leaf, 0) for leaf in LEAVES])


def drawn(star, algo, bias, instances=3000, **options):
    if algo == "minibatch":
        options |= {"seeds_per_batch": 1}
    return csaw.sample(star, algo=algo, sources=[0], instances=instances, seed=6, edge_bias=bias, **options)


@pytest.mark.parametrize(("algo", "options"), WAYS)
@pytest.mark.parametrize("bias", ["e.dst * 1e-310", "e.dst * 1e-320", "math.exp(e.dst - 713)"])
def test_biases_whose_times_may_be_infinite_are_refused(star, algo, options, bias):
    with pytest.raises(BiasError, match="a bias must be 0, or a finite number from 1e-300 on"):
        drawn(star, algo, bias, 3, **options)


@pytest.mark.parametrize(("algo", "options"), WAYS[:4])
@pytest.mark.parametrize("scale", ["1e-300", "1e299"])
def test_the_smallest_and_the_largest_biases_keep_their_law(star, algo, options, scale):
    samples = drawn(star, algo, f"e.dst * {scale}", **options)
    ends = samples.walks[:, 1] if samples.has_walks else samples.hops[1][:, 0] if "hop_1" in samples else samples.dst[:]
    found = Counter(ends.tolist())
    for leaf in LEAVES:
        mean = 3000 * leaf / sum(LEAVES)
        assert abs(found[leaf] - mean) < 5 * math.sqrt(mean)


class Waiting(Traversal):
    """Walkers whose clocks would stand still."""

    sources_from = "random"
    visited_once = False
    clocks = True
    walk_length: int = option(3, help="steps", low=0)
    frontier_size: int = option(2, help="walkers", low=1)

    def vertex_bias(self, v):
        return v.degree * 1e-310

    def sizes(self):
        return (1,)


def test_clocks_that_would_stand_still_are_refused(star):
    with pytest.raises(BiasError, match="from 1e-300 on"):
        csaw.sample(star, algo=Waiting, instances=2)


def test_an_exponential_is_0_only_where_float64_has_nothing_else():
    for x in (-700.0, -708.5, -720.0, -744.0):
        assert exponential(x) == pytest.approx(math.exp(x), rel=1e-2 if x < -740 else 1e-12)
    assert exponential(-745.1) > 0.0
    assert exponential(-745.2) == exponential(-1e300) == 0.0


@pytest.mark.parametrize("number", ["int(1e300)", "round(1e300)", "math.floor(1e300)", "int(1e19)", "int(-1e300)"])
def test_integers_of_constants_that_64_bits_do_not_hold_are_0(star, number):
    ends = Counter(drawn(star, "deepwalk", f"{number} + e.dst", walk_length=1).walks[:, 1].tolist())
    for leaf in LEAVES:
        mean = 3000 * leaf / sum(LEAVES)
        assert abs(ends[leaf] - mean) < 5 * math.sqrt(mean)


def test_verify_expects_picks_among_biases_of_any_size():
    assert 0.0 < _expected([1e-300, 1.0], [1e-200, 1e300], 2) < 2.0
    assert _expected([1.0], [1.0], 1) == pytest.approx(0.5, rel=1e-6)
    assert _expected([1e300], [1e300], 1) == pytest.approx(0.5, rel=1e-6)
    assert _expected([1e308], [1e308] * 3, 1) == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("algo", registry.names())
def test_a_graph_without_vertices_has_no_source(algo):
    with pytest.raises(OptionError):
        csaw.sample(csaw.graph(indptr=[0], indices=[]), algo=algo)


def test_a_graph_without_vertices_has_no_spectrum():
    rows = csaw.evaluate(csaw.graph(indptr=[0], indices=[]), measures="spectrum").rows()
    assert all(row.graph is None or np.isnan(row.graph) or row.graph == 0 for row in rows)
