"""Samples whose arrays lack what every instance has, or always have what chance leaves out: found, without an error."""

import numpy as np
import pytest
from helpers.forged import forged
from helpers.graphs import random_store
from helpers.remade import remade

import csaw
from csaw.engine.algorithm import Traversal

SUBGRAPHS = {
    "snowball": {"depth": 2, "neighbor_size": 2},
    "forest-fire": {"depth": 2},
    "layer": {"depth": 2, "neighbor_size": 3, "unique": True},
    "labor": {"fanout": (3, 2), "frontier_size": 3},
    "multidimensional": {"frontier_size": 3, "walk_length": 6},
    "ladies": {"frontier_size": 4, "layer_sizes": (4, 3)},
    "saint-edge": {"frontier_size": 4},
    "random-node": {"frontier_size": 4},
}
TO_NOBODY, TO_THE_NEIGHBOR = "to nobody", "to the instance before"


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", vertices=60, edges=300)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("way", [TO_NOBODY, TO_THE_NEIGHBOR])
@pytest.mark.parametrize("algo", SUBGRAPHS)
def test_an_instance_without_sources_is_a_failed_check(graph, tmp_path, algo, way):
    csaw.sample(graph, tmp_path / "s.zarr", algo, instances=30, seed=5, **SUBGRAPHS[algo])

    def change(arrays):
        count = int(arrays["source_counts"][-1])
        arrays["source_counts"][-1] = 0
        if way == TO_THE_NEIGHBOR:
            arrays["source_counts"][-2] += count
        else:
            arrays["sources"] = arrays["sources"][: arrays["sources"].size - count]
        return arrays

    remade(tmp_path / "s.zarr", tmp_path / "wrong.zarr", change)
    assert not csaw.verify(tmp_path / "wrong.zarr").ok


@pytest.mark.parametrize("weighted", [True, False])
def test_depths_that_never_meet_a_vertex_twice_are_found_where_chance_meets_some(graph, tmp_path, weighted):
    options = {"neighbor_size": 4, "depth": 2, "instances": 6000, "seed": 3, "weighted": weighted}
    for name, unique in (("right", False), ("never", True)):
        csaw.sample(graph, tmp_path / f"{name}.zarr", "layer", unique=unique, **options)
    right = csaw.verify(tmp_path / "right.zarr")
    assert right.ok
    assert "neighbors, met twice" in {check.name for check in right.checks if check.tested}
    request = csaw.open_samples(tmp_path / "right.zarr").manifest["request"]
    denied = csaw.verify(forged(tmp_path / "never.zarr", lambda a: a["manifest"].update(request=request)))
    assert {check.name for check in denied.checks if not check.ok} == {"neighbors, met twice"}


def test_how_often_a_vertex_is_met_twice_is_no_less_than_expected():
    from csaw.engine.verify.entries import Meetings

    draw, biases = np.random.default_rng(3), np.array([3.0, 1.0, 2.0, 5.0, 1.0])
    labels, meetings = [1, 11, 2, 12, 3], Meetings(10)  # edges 1 and 11 lead to vertex 1, 2 and 12 to vertex 2
    for _ in range(20_000):
        times = draw.exponential(1.0 / biases)
        picks = [labels[k] for k in np.argsort(times)[:2]]
        meetings.add(list(zip(labels, biases.tolist(), strict=True)), picks)
    assert abs(meetings.met - meetings.least) < 5 * np.sqrt(meetings.least)  # two picks: the bound is exact


class FromTheGraph(Traversal):
    """Vertices by all edges of the graph, which become the sources of an induced subgraph."""

    draws_from = "vertices"
    sources_from = "every"
    replace = True
    visited_once = False
    collective = True

    def sizes(self):
        return (3,)


@pytest.mark.parametrize("induced", [True, False])
def test_drawn_vertices_are_sources_where_the_request_asks_for_induced_subgraphs(tmp_path, induced):
    csaw.sample("karate", tmp_path / "s.zarr", algo=FromTheGraph, instances=20, induced=induced)
    report = csaw.verify(tmp_path / "s.zarr", algo=FromTheGraph)
    assert report.ok, str(report)
