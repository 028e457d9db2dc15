"""Links with negatives on a GPU have the bytes of those on a CPU: of a relation, of lists, and streamed."""

import numpy as np
import pytest
from helpers.gpu import dense_store, device_or_skip, hub_store, repeated_store
from helpers.graphs import arrays_of, random_store
from helpers.invariance import assert_same
from helpers.relations import random_graph

import csaw

device_or_skip()

WAYS = [
    {"relation": "b-to_b-b"},
    {"relation": "a-to_b-b", "negative_bias": "degree"},
    {"relation": "rev_to_c", "sources": "all", "num_negatives": 1},
    {"relation": "b-to_b-b", "residency": "streamed", "in_flight": 500},
]


@pytest.mark.parametrize("options", WAYS)
def test_links_of_a_relation_are_the_same(tmp_path, options):
    graph = random_graph(tmp_path, partitions=4)
    given = {"num_negatives": 4, "instances": 5000, "seed": 2, "skip_full": True} | options
    here = {name: value for name, value in given.items() if name not in ("residency", "in_flight")}
    expected = arrays_of(graph, tmp_path / "s.zarr", "links", **here)
    assert_same(expected, arrays_of(graph, tmp_path / "t.zarr", "links", device="cuda", **given))


@pytest.mark.parametrize("bias", ["none", "degree"])
@pytest.mark.parametrize("made", [dense_store, repeated_store, lambda path: hub_store(path, False)])
def test_rows_with_most_vertices_leave_the_same_ones(tmp_path, made, bias):
    store = made(tmp_path / "g.zarr")
    options = {"num_negatives": 9, "instances": 5000, "seed": 2, "skip_full": True, "negative_bias": bias}
    expected = arrays_of(store, tmp_path / "s.zarr", "links", **options)
    assert_same(expected, arrays_of(store, tmp_path / "t.zarr", "links", device="cuda", **options))


def test_batches_on_the_device_are_those_of_the_store(tmp_path):
    import cupy

    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=30_000)
    options = {"num_negatives": 5, "instances": 20_000, "seed": 4}
    expected = arrays_of(store, tmp_path / "s.zarr", "links", **options)
    parts = [
        {name: cupy.asnumpy(array) for name, array in batch.on_device().items()}
        for batch in csaw.stream(store, algo="links", device="cuda", in_flight=3000, **options)
    ]
    for name in ("links", "negatives"):
        found = np.concatenate([part[name] for part in parts]).astype(np.int64)
        assert (found == expected[name]).all()
