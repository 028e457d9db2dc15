"""Mini-batches by budgets: the bytes of the CPU, wherever the GPU keeps the graph."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import arrays_of
from helpers.invariance import assert_same
from helpers.relations import SEEDS, graph_in_time, partitioned, random_graph

import csaw
from csaw.engine.stores.verify import verify

device_or_skip()

OPTIONS = {
    "num_samples": {"a": (7, 4), "b": (10, 8), "c": (2, 1)},
    "seeds_per_batch": 16,
    "sources": "type:b",
    "seed": 5,
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_graph(tmp_path_factory.mktemp("typed"), partitions=4)


@pytest.mark.parametrize(
    "options", [{}, {"in_flight": 3}, {"num_samples": (40, 0, 300)}, {"shuffle": True, "epochs": 2}]
)
@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
def test_mini_batches_by_budgets_are_those_of_the_cpu(tmp_path, store, options, residency):
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS | options)
    found = arrays_of(store, tmp_path / "s.zarr", "hgt", device="cuda", residency=residency, **OPTIONS | options)
    assert_same(expected, found)


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("timed"), partitions=4)


IN_TIME = [
    {"start_time": 25},
    {"start_time": 25, "time_order": "strict", "in_flight": 3},
    {"start_time": 25, "time_window": 7},
    {"sources": SEEDS, "seeds_per_batch": 1, "shuffle": True},
]


@pytest.mark.parametrize("options", IN_TIME)
@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
def test_mini_batches_in_time_are_those_of_the_cpu(tmp_path, timed, options, residency):
    given = OPTIONS | {"time_strategy": "uniform"} | options
    expected = arrays_of(timed, tmp_path / "s.zarr", "hgt", **given)
    assert_same(expected, arrays_of(timed, tmp_path / "s.zarr", "hgt", device="cuda", residency=residency, **given))


def test_a_hub_and_its_neighbors_have_the_same_bytes(tmp_path):
    """Rows of very different lengths, and budgets that come in several pieces."""
    draw = np.random.default_rng(2)
    rows = "".join(f"0 {v}\n{v % 50} {w}\n" for v, w in enumerate(draw.integers(0, 30_000, 30_000)))
    store = partitioned(tmp_path, {"x-to-y": rows}, reverse_relations=True)
    options = {"num_samples": (64, 64), "seeds_per_batch": 8, "seed": 3, "sources": "type:x"}
    expected = arrays_of(store, tmp_path / "s.zarr", "hgt", **options)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "hgt", device="cuda", **options))


def test_verify_finds_no_fault(tmp_path, store):
    csaw.sample(store, tmp_path / "s.zarr", algo="hgt", device="cuda", progress=False, epochs=3, **OPTIONS)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report


def test_batches_in_the_memory_of_the_gpu_have_the_vertices_of_the_graph(tmp_path, store):
    stored = arrays_of(store, tmp_path / "s.zarr", "hgt", **OPTIONS)
    with csaw.stream(store, algo="hgt", device="cuda", on_device=True, **OPTIONS) as stream:
        [batch] = stream
        arrays = {name: array.get() for name, array in batch.on_device().items() if name in stored}
    assert {"n_id", "e_id", "relation"} <= set(arrays)
    assert_same(
        {name: np.asarray(array, stored[name].dtype) for name, array in arrays.items()}, {n: stored[n] for n in arrays}
    )
