"""Sources that a GPU counts itself are those that the host would send it."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine.api.registry import build
from csaw.engine.sources import sources as module
from csaw.engine.sources.sources import Sources
from csaw.partition.errors import OptionError


def counting():
    """A module of arrays that notes what it was asked for."""
    asked = []

    def arange(*bounds, **kind):
        asked.append(bounds)
        return np.arange(*bounds, **kind)

    return SimpleNamespace(arange=arange, remainder=np.remainder, asked=asked)


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


@pytest.mark.parametrize(
    ("given", "size", "instances", "said"),
    [
        ([3, 4, 5, 4], 2, None, None),
        ([3, 4, 5], 2, 3, None),  # around the end: 3 4, 5 3, 4 5
        ([3, 4, 3], 2, 3, "found one of them twice for instance 1; give each once"),  # 3 4, 3 3
        ([3, 4, 3], 2, 1, None),
        ([7, 7], 2, None, "found one of them twice for instance 0"),
        (
            [7],
            2,
            None,
            (
                "--sources: expected at least 2 vertices, because an instance starts at that many different vertices, "
                "found 1"
            ),
        ),
        ("random:1", 2, None, "found 1; give more sources, or ask for fewer in an instance"),
        ("all", 201, None, "expected at least 201 vertices"),
        ("all", 199, 50, None),
    ],
)
def test_sources_of_a_set_are_different(tmp_path, given, size, instances, said):
    store, algorithm = random_store(tmp_path / "g.zarr", vertices=200), build("random-node", {"frontier_size": size})
    if said is None:
        sources = Sources(store, algorithm, given, instances)
        for row in sources.take(0, sources.instances, False):
            assert np.unique(row).size == size
    else:
        with pytest.raises(OptionError, match=said):
            Sources(store, algorithm, given, instances)


def test_random_sources_of_an_instance_that_meets_each_vertex_once_are_different(tmp_path):
    """Each pair is as likely as any other."""
    store = random_store(tmp_path / "g.zarr", vertices=5, edges=8)
    sources = Sources(store, build("layer", {"frontier_size": 2}), None, 5000, at_random=True)
    pairs, counts = np.unique(sources.take(0, 5000, False), axis=0, return_counts=True)
    assert len(pairs) == 10
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (np.abs(counts - 500) < 5 * np.sqrt(450)).all()
    listed = Sources(store, build("layer", {"frontier_size": 2}), [0, 3, 4], 100, at_random=True)
    assert len(np.unique(listed.take(0, 100, False), axis=0)) == 3
    with pytest.raises(OptionError, match="expected different vertices, found one of them twice"):
        Sources(store, build("layer", {"frontier_size": 2}), [0, 3, 3], 100, at_random=True)
