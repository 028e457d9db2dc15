"""Faults that mini-batches may have are planted, and csaw verify finds each of them."""

import numpy as np
import pytest
from helpers.faults import plant
from helpers.graphs import arrays_of, random_store

from csaw.engine.sources.seeds import SeedOrder
from csaw.engine.stores.verify import verify

OPTIONS = {"fanout": (4, 3), "seeds_per_batch": 20, "epochs": 60, "weighted": False, "shuffle": True, "seed": 5}
# name: (options, file of kernels, right, wrong, the check that finds it)
FAULTS = {
    "the first of the row": (
        {},
        "by_time.py",
        "int64(below(word, uint64(top + 1)))",
        "int64(j)",
        "neighbors, pooled",
    ),
    "with replacement": ({}, "by_time.py", "return low + top\n", "return place\n", "repeats"),
    "all nodes by one draw": (
        {"replace": True},
        "hops.py",
        "0, wanted, slot, row_begin",
        "0, wanted, 0, row_begin",
        "neighbors",
    ),
    "one neighbor fewer": ({}, "hops.py", "if size < 0 else size\n", "if size < 0 else size - 1\n", "sizes"),
    "seeds that share their nodes": (
        {"disjoint": True},
        "hops.py",
        "else int64(owner[node])",
        "else int64(0)",
        "nodes",
    ),
    "an edge to the node before": ({}, "hops.py", "row[k] = node", "row[k] = max(node - 1, 0)", "edges"),
    "edges the other way round": ({}, "hops.py", "col[k] = node", "col[k] = end - 1 - (node - begin)", "hops"),
}


def failed(path, graph):
    """The names of the checks that found a fault."""
    return {check.name for check in verify(path, graph).checks if not check.ok}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_mini_batch_is_found(tmp_path, fault, monkeypatch):
    more, file, right, wrong, found_by = FAULTS[fault]
    store = random_store(tmp_path / "g.zarr")
    with monkeypatch.context() as during:
        plant(during, file, right, wrong)
        arrays_of(store, tmp_path / "s.zarr", "minibatch", **OPTIONS, **more)
    assert found_by in failed(tmp_path / "s.zarr", store.path)


@pytest.mark.parametrize("sources", ["all", "random:70"])
def test_epochs_of_one_order_are_found(tmp_path, sources, monkeypatch):
    store = random_store(tmp_path / "g.zarr")
    right = SeedOrder.permutation
    with monkeypatch.context() as during:
        during.setattr(SeedOrder, "permutation", lambda self, epoch: right(self, 0))
        arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=sources, **OPTIONS | {"epochs": 2})
    assert failed(tmp_path / "s.zarr", store.path) == {"seeds"}


def test_another_list_of_sources_is_found(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr")
    with monkeypatch.context() as during:
        during.setattr("csaw.engine.sources.sources.Sources._seeds", _seeds_of_other_vertices)
        arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=np.arange(50, 90), **OPTIONS)
    assert failed(tmp_path / "s.zarr", store.path) == {"seeds"}


def _seeds_of_other_vertices(self, positions):
    return np.stack([np.where(positions < 0, -1, positions), positions], axis=-1)


@pytest.mark.parametrize(
    "options", [{}, {"disjoint": True}, {"replace": True}, {"bias": "degree"}, {"fanout": (-1, 2)}]
)
def test_a_right_mini_batch_passes(tmp_path, options):
    store = random_store(tmp_path / "g.zarr")
    for sources in ("all", np.arange(40) % 7):
        arrays_of(store, tmp_path / "s.zarr", "minibatch", sources=sources, **OPTIONS | {"epochs": 5} | options)
        report = verify(tmp_path / "s.zarr", store.path)
        assert report.ok, [check for check in report.checks if not check.ok]
