"""Samples of another law than their request says, whose graphs have hardly a situation twice, or few vertices."""

import numpy as np
import pytest
from helpers.forged import forged

import csaw

REPEATED = {"seeds_per_batch": 8, "epochs": 40}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A graph in which a sample meets few situations again, with weights that are far apart."""
    draw, path = np.random.default_rng(1), tmp_path_factory.mktemp("large") / "g.zarr"
    edges = draw.integers(0, 4000, (40_000, 2))
    return csaw.partition((edges[:, 0], edges[:, 1], draw.choice([0.1, 1, 10, 100], 40_000)), path, directed=False)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    draw, path = np.random.default_rng(3), tmp_path_factory.mktemp("small") / "g.zarr"
    edges = draw.integers(0, 40, (300, 2))
    return csaw.partition((edges[:, 0], edges[:, 1], draw.choice([1, 2, 5], 300)), path, directed=False)


def failed(path):
    return {check.name for check in csaw.verify(path).checks if not check.ok}


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("deepwalk", {"walk_length": 3}),
        ("neighbor", {"fanout": (3,)}),
        ("minibatch", {"fanout": (3,)}),
        ("forest-fire", {"depth": 1}),
        ("snowball", {"neighbor_size": 3, "depth": 1}),
        ("layer", {"neighbor_size": 3, "depth": 1}),
        ("layer", {"neighbor_size": 3, "depth": 1, "unique": True}),
        ("neighbor", {"fanout": (3,), "unique": True}),
    ],
)
def test_weights_that_a_request_denies_are_seen(large, tmp_path, algo, options):
    csaw.sample(large, tmp_path / "right.zarr", algo, seed=5, weighted=False, **options)
    assert not failed(tmp_path / "right.zarr")
    csaw.sample(large, tmp_path / "s.zarr", algo, seed=5, **options)
    assert not failed(tmp_path / "s.zarr")
    assert failed(forged(tmp_path / "s.zarr", lambda a: a["manifest"]["request"].update(weighted=False)))


def test_degrees_that_a_request_denies_are_seen_beside_weights(large, tmp_path):
    csaw.sample(large, tmp_path / "s.zarr", "neighbor", seed=5, fanout=(3,), bias="degree")
    denied = forged(tmp_path / "s.zarr", lambda a: a["manifest"]["request"]["parameters"].update(bias="none"))
    assert failed(denied) == {"neighbors, pooled"}


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("minibatch", {"fanout": (2,), **REPEATED}),
        ("minibatch", {"fanout": (2,), "bias": "none", **REPEATED}),
        ("minibatch", {"fanout": (2, 2), "disjoint": True, **REPEATED}),
        ("neighbor", {"fanout": (2,), "instances": 2000}),
    ],
    ids=["by weight", "uniform", "disjoint", "neighbors"],
)
def test_repeats_that_are_missing_with_replacement_are_seen(small, tmp_path, algo, options):
    csaw.sample(small, tmp_path / "right.zarr", algo, seed=5, replace=True, **options)
    assert not failed(tmp_path / "right.zarr")
    csaw.sample(small, tmp_path / "s.zarr", algo, seed=5, **options)
    assert not failed(tmp_path / "s.zarr")
    assert failed(forged(tmp_path / "s.zarr", lambda a: a["manifest"]["request"]["parameters"].update(replace=True)))
