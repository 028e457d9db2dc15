"""Claims of a graph in memory: it is the graph that would be written, and rows know which edge each entry is."""

import numpy as np
import pytest
from helpers import graphs

from csaw.engine import sample
from csaw.partition import write_graph
from csaw.partition.errors import StoreError
from csaw.partition.graph.in_memory import InMemory, rows_of_edges


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("edges", "vertices"), [(graphs.TROUBLED, 7), (graphs.SQUARE, 5), ([], 3)])
def test_it_is_the_graph_that_would_be_written(tmp_path, edges, vertices, weighted):
    stored = graphs.store_of(tmp_path / "g.zarr", edges, directed=True, vertices=vertices, weighted=weighted)
    graph = stored.load()
    held = InMemory("here", graph.indptr, graph.indices, graph.weights)
    for name in (
        "vertices",
        "edges",
        "directed",
        "weighted",
        "multigraph",
        "max_degree",
        "id_dtype",
        "id_kind",
        "fingerprint",
    ):
        assert getattr(held, name) == getattr(stored, name), name
    again = held.load()
    assert np.array_equal(again.indptr, graph.indptr)
    assert np.array_equal(again.indices, graph.indices)
    assert again.weights is None if graph.weights is None else np.array_equal(again.weights, graph.weights)


@pytest.mark.parametrize(("algo", "options"), [("node2vec", {"p": 0.5, "q": 2.0}), ("neighbor", {"fanout": (3, 2)})])
@pytest.mark.parametrize("memory", [None, "300KiB"])
def test_a_sample_of_it_is_that_of_the_stored_graph(tmp_path, algo, options, memory):
    stored = graphs.random_store(tmp_path / "g.zarr", vertices=3000, edges=30000)
    graph = stored.load()
    held = InMemory("here", graph.indptr, graph.indices, graph.weights, directed=False)
    options = options | {"device": "cpu", "seed": 4, "instances": 300}
    a = sample(stored, tmp_path / "a.zarr", algo, **options)
    b = sample(held, tmp_path / "b.zarr", algo, **options | ({"memory": memory} if memory else {}))
    assert b.results["plan"]["residency"] == ("disk" if memory else "resident")
    for name, array in a.group(0, 300).items():
        assert np.array_equal(array, b.group(0, 300)[name])


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_edges_are_sorted_and_name_their_edges(seed):
    rng = np.random.default_rng(seed)
    vertices, edges = (1, 1) if seed == 0 else (9, int(rng.integers(0, 60)))
    owners, neighbors = rng.integers(0, vertices, (2, edges))
    indptr, indices, order = rows_of_edges(owners, neighbors, vertices)
    slow = sorted(range(edges), key=lambda k: (owners[k], neighbors[k], k))
    assert order.tolist() == slow
    assert indices.tolist() == [neighbors[k] for k in slow]
    assert indptr.tolist() == [sum(owners < v) for v in range(vertices + 1)]


def test_arrays_that_are_no_graph_are_refused():
    indptr, indices = np.array([0, 1, 2]), np.array([1, 0])
    for wrong in (np.nan, np.inf, -1.0):
        with pytest.raises(
            StoreError,
            match="weights: expected finite numbers of at least 0, found 1 others, the first of them .* at position 1",
        ):
            InMemory("here", indptr, indices, np.array([1.0, wrong]))
    with pytest.raises(StoreError, match="expected indices from 0 to 1"):
        InMemory("here", indptr, np.array([1, 2]))
    with pytest.raises(StoreError, match="expected a weight for each"):
        InMemory("here", indptr, indices, np.ones(3))


def test_rows_that_are_not_sorted_are_those_of_a_sorted_store(tmp_path):
    indptr, indices, weights = np.array([0, 3, 3, 4]), np.array([2, 0, 1, 0]), np.array([1.0, 2.0, 3.0, 4.0])
    held = InMemory("here", indptr, indices, weights)
    assert held.load().indices.tolist() == [0, 1, 2, 0]
    assert held.load().weights.tolist() == [2.0, 3.0, 1.0, 4.0]
    assert held.fingerprint == write_graph(tmp_path / "g.zarr", indptr, indices, weights, directed=True).fingerprint
