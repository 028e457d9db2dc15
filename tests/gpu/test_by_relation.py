"""Mini-batches and neighbors that select from each relation by itself: the bytes of the CPU, wherever the GPU keeps the
graph.
"""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import arrays_of
from helpers.invariance import assert_same
from helpers.relations import (
    FANOUT,
    SEEDS,
    TIMED,
    TIMED_HOPS,
    WAYS,
    WAYS_OF_HOPS,
    WAYS_OF_SUBGRAPHS,
    graph_in_time,
    random_graph,
)

import csaw

device_or_skip()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_graph(tmp_path_factory.mktemp("typed"), partitions=4)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", WAYS)
def test_mini_batches_by_relation_are_those_of_the_cpu(tmp_path, store, how, residency):
    options = {"seeds_per_batch": 16, "sources": "type:b", "seed": 5} | WAYS[how]
    expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", **options)
    found = arrays_of(store, tmp_path / "s.zarr", "minibatch", device="cuda", residency=residency, **options)
    assert_same(expected, found)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", TIMED)
def test_mini_batches_in_time_are_those_of_the_cpu(tmp_path, how, residency):
    store = graph_in_time(tmp_path, partitions=4)
    options = {"seeds_per_batch": 16, "sources": SEEDS, "disjoint": True, "seed": 5} | TIMED[how]
    expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", **options)
    found = arrays_of(store, tmp_path / "s.zarr", "minibatch", device="cuda", residency=residency, **options)
    assert_same(expected, found)


def test_batches_in_the_memory_of_the_gpu_have_the_vertices_of_the_graph(tmp_path, store):
    options = {"seeds_per_batch": 16, "sources": "type:b", "seed": 5} | WAYS["uniform"]
    stored = arrays_of(store, tmp_path / "s.zarr", "minibatch", **options)
    with csaw.stream(store, algo="minibatch", device="cuda", on_device=True, **options) as stream:
        [batch] = stream
        arrays = {name: array.get() for name, array in batch.on_device().items() if name in stored}
    assert {"n_id", "e_id", "relation"} <= set(arrays)
    assert_same(
        {name: np.asarray(array, stored[name].dtype) for name, array in arrays.items()}, {n: stored[n] for n in arrays}
    )


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
def test_labor_by_relation_is_that_of_the_cpu(tmp_path, store, residency):
    options = {"sources": "type:b", "frontier_size": 30, "fanout": FANOUT, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", "labor", **options)
    assert "relation" in expected
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "labor", device="cuda", residency=residency, **options))


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", [{}, {"time_against": "previous", "time_window": 20}], ids=str)
def test_labor_in_time_by_relation_is_that_of_the_cpu(tmp_path, how, residency):
    store = graph_in_time(tmp_path, partitions=4)
    options = {"sources": SEEDS, "frontier_size": 30, "fanout": FANOUT, "seed": 5, "time_strategy": "uniform"} | how
    expected = arrays_of(store, tmp_path / "s.zarr", "labor", **options)
    assert {"relation", "src_time"} <= expected.keys()
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "labor", device="cuda", residency=residency, **options))


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", WAYS_OF_HOPS)
def test_neighbors_by_relation_are_those_of_the_cpu(tmp_path, store, how, residency):
    options = {"sources": "type:b", "seed": 5} | WAYS_OF_HOPS[how]
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    found = arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", residency=residency, **options)
    assert_same(expected, found)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", WAYS_OF_SUBGRAPHS)
def test_subgraphs_by_relation_are_those_of_the_cpu(tmp_path, store, how, residency):
    options = {"sources": "type:b", "seed": 5} | WAYS_OF_SUBGRAPHS[how]
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    assert "relation" in expected
    found = arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", residency=residency, **options)
    assert_same(expected, found)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("how", [*TIMED_HOPS, "all"])
def test_neighbors_in_time_are_those_of_the_cpu(tmp_path, how, residency):
    store = graph_in_time(tmp_path, partitions=4)
    options = {"sources": SEEDS, "seed": 5} | (TIMED_HOPS | {"all": TIMED["uniform"]})[how]
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    found = arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", residency=residency, **options)
    assert_same(expected, found)


def test_all_vertices_are_sources_on_the_gpu_too(tmp_path, store):
    options = {"seed": 5} | WAYS_OF_HOPS["uniform"]
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", **options))


def test_neighbors_in_the_memory_of_the_gpu_have_the_vertices_of_the_graph(tmp_path, store):
    options = {"sources": "type:b", "seed": 5} | WAYS_OF_HOPS["uniform"]
    stored = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    with csaw.stream(store, algo="neighbor", device="cuda", on_device=True, **options) as stream:
        [batch] = stream
        arrays = {name: array.get() for name, array in batch.on_device().items()}
    assert {"hop_2", "relation_2"} <= set(arrays)
    assert_same(
        {name: np.asarray(array, stored[name].dtype) for name, array in arrays.items()}, {n: stored[n] for n in arrays}
    )
