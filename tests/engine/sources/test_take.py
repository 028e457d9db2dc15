"""Sources that a GPU counts itself are those that the host would send it."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine.api.registry import build
from csaw.engine.sources import sources as module
from csaw.engine.sources.sources import Sources


def counting():
    """A module of arrays that notes what it was asked for."""
    asked = []

    def arange(*bounds, **kind):
        asked.append(bounds)
        return np.arange(*bounds, **kind)

    return SimpleNamespace(arange=arange, asked=asked)


WORKS = {
    "deepwalk": ({"num_walks": 3}, True),
    "neighbor": ({"fanout": (2,)}, False),
    "layer": ({"frontier_size": 4}, False),
}


@pytest.mark.parametrize("algo", WORKS)
@pytest.mark.parametrize("span", [(0, 40), (13, 250), (251, 900)], ids=["begin", "around", "beyond"])
def test_a_gpu_counts_the_sources_that_the_host_would_send(tmp_path, monkeypatch, algo, span):
    options, flat = WORKS[algo]
    store, xp = random_store(tmp_path / "g.zarr", vertices=200), counting()
    sources = Sources(store, build(algo, options), "all")
    expected = sources.take(*span, flat, xp)
    assert not xp.asked, "few are sent"
    monkeypatch.setattr(module, "MANY", 1)
    found = sources.take(*span, flat, xp)
    assert xp.asked, "many are counted"
    assert found.dtype == expected.dtype == np.int64
    assert found.tolist() == expected.tolist()


def test_a_list_and_drawn_sources_are_sent(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MANY", 1)
    store, xp = random_store(tmp_path / "g.zarr", vertices=200), counting()
    ids = store.original_ids(np.arange(200)) if hasattr(store, "original_ids") else np.arange(200)
    for given in (ids[:7], "random:9"):
        sources = Sources(store, build("deepwalk", {}), given)
        assert sources.take(3, 60, True, xp).tolist() == sources.take(3, 60, True).tolist()
    assert not xp.asked
