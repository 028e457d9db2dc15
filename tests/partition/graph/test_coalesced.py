"""Partitions read together hold what they held apart."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition.graph.views import Coalesced


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 20])
def test_merged_partitions_hold_the_whole_graph_in_order(tmp_path, count):
    store = random_store(tmp_path / "g.zarr", partitions=9)
    merged = Coalesced(store, count)
    assert 1 <= len(merged.partitions) <= min(count, 9)
    graph, whole = merged.load(), store.load()
    assert np.array_equal(graph.indptr, whole.indptr)
    assert np.array_equal(graph.indices, whole.indices)
    assert np.array_equal(graph.weights, whole.weights)
    assert merged.partitions[0].first_vertex == 0
    assert merged.partitions[-1].last_vertex == store.vertices
    for one, other in zip(merged.partitions, merged.partitions[1:], strict=False):
        assert one.last_vertex == other.first_vertex
        assert one.first_edge + one.edges == other.first_edge


def test_merged_partitions_have_about_as_many_edges(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=40, edges=6000)
    sizes = [p.edges for p in Coalesced(store, 4).partitions]
    assert max(sizes) < 2 * min(sizes)


def test_a_graph_without_edges_can_be_merged(tmp_path):
    from helpers.graphs import store_of

    store = store_of(tmp_path / "g.zarr", [], directed=False, vertices=6, partitions=3)
    assert Coalesced(store, 2).load().indptr.tolist() == [0] * 7
