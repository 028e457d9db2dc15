"""Random numbers that one instance has of another are found in every algorithm, and right samples never fail for them,
however likely their instances are to be equal.
"""

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.remade import chosen, remade

import csaw
from csaw.engine.stores import open_samples
from csaw.engine.verify.instance_chances import bound
from csaw.partition.graph.write import write_graph

COPIED = {
    "deepwalk": {"walk_length": 12, "num_walks": 6},
    "node2vec": {"walk_length": 12, "num_walks": 6, "p": 0.5, "q": 2},
    "metropolis-hastings": {"walk_length": 20, "num_walks": 6},
    "restart": {"walk_length": 20, "num_walks": 6},
    "jump": {"walk_length": 12, "num_walks": 6},
    "ppr": {"num_walks": 40, "termination_prob": 0.05},
    "neighbor": {"fanout": (3, 3), "instances": 240},
    "minibatch": {"fanout": (3, 3), "seeds_per_batch": 8, "epochs": 6},
    "snowball": {"neighbor_size": 3, "depth": 2, "instances": 240},
    "layer": {"neighbor_size": 5, "depth": 3, "instances": 240},
    "ladies": {"layer_sizes": (8, 8), "frontier_size": 8, "instances": 30},
    "fastgcn": {"layer_sizes": (8, 8), "frontier_size": 8, "instances": 30},
    "multidimensional": {"walk_length": 30, "instances": 60},
    "labor": {"fanout": (4, 3), "frontier_size": 8, "instances": 30},
    "temporal": {"walk_length": 12, "num_walks": 20, "time_order": "monotone"},
    "random-node": {"frontier_size": 12, "instances": 60},
    "random-edge": {"neighbor_size": 20, "instances": 60},
    "saint-walk": {"frontier_size": 12, "walk_length": 2, "instances": 60},
    "saint-edge": {"frontier_size": 12, "instances": 60},
    "links": {"num_negatives": 12, "instances": 60},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = random_store(tmp_path_factory.mktemp("graph") / "r.zarr", vertices=40, edges=400)
    graph, ends = store.load(), np.repeat(np.arange(40), np.diff(store.load().indptr))
    times = (ends + graph.indices) * 7919 % 50  # of both directions
    path = store.path.with_name("g.zarr")
    return write_graph(
        path, graph.indptr, graph.indices, graph.weights, directed=False, edge_columns={"time": times.astype(np.int64)}
    )


def checks_of(path):
    return {check.name: check for check in csaw.verify(path).checks}


@pytest.mark.parametrize("algo", COPIED)
def test_a_second_half_that_is_a_copy_of_the_first_is_found(store, tmp_path, algo):
    csaw.sample(store, tmp_path / "s.zarr", algo, seed=3, **COPIED[algo])
    samples = open_samples(tmp_path / "s.zarr")
    half = samples.instances // 2
    assert checks_of(samples.path)["reuse"].ok
    copied = np.tile(np.arange(half), 2)
    found = checks_of(remade(samples.path, tmp_path / "t.zarr", lambda _: chosen(samples, copied)))
    assert not found["reuse"].ok, found["reuse"]


def test_one_copied_walk_of_many_is_found(store, tmp_path):
    csaw.sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=40, num_walks=50)
    samples = open_samples(tmp_path / "s.zarr")
    numbers = np.arange(samples.instances)
    numbers[1007] = 1007 - 40 * 13
    assert not checks_of(remade(samples.path, tmp_path / "t.zarr", lambda _: chosen(samples, numbers)))["reuse"].ok


@pytest.mark.parametrize("edges", [[(0, 1, 1)], [(0, 1, 1), (1, 2, 1)], [(0, 1, 1), (0, 2, 1), (1, 2, 1), (2, 3, 5)]])
@pytest.mark.parametrize("algo", ["deepwalk", "neighbor", "snowball", "ppr", "random-node", "random-edge"])
def test_instances_that_are_likely_to_be_equal_may_be(tmp_path, edges, algo):
    store = store_of(tmp_path / "g.zarr", edges, directed=False)
    options = {"random-node": {"frontier_size": 1}, "random-edge": {"neighbor_size": 1}, "neighbor": {"fanout": (1, 2)}}
    for seed in range(6):
        csaw.sample(store, tmp_path / "s.zarr", algo, seed=seed, instances=400, overwrite=True, **options.get(algo, {}))
        assert csaw.verify(tmp_path / "s.zarr").ok


def test_the_p_value_of_repeats_is_one_for_what_chance_gives():
    """Balls into boxes that are all as likely."""
    draw, boxes, balls = np.random.default_rng(1), 500, 100
    p = []
    for _ in range(2000):
        times = np.bincount(draw.integers(0, boxes, balls))
        p.append(min(1.0, bound([(1 / boxes, int(n) - 1) for n in times if n > 1], balls * (balls - 1) / 2)))
    for level in (0.5, 0.1, 0.01):
        assert np.mean(np.array(p) <= level) <= level
