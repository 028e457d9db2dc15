"""What a graph store holds besides what its fingerprint has follows from the rest of it, and verify says where it does
not.
"""

import numpy as np
import pytest
from helpers.forged_graphs import edited, failed, replaced
from helpers.graphs import random_store

import csaw
from csaw.engine import prepare
from csaw.engine.plan.choices import Method
from csaw.engine.verify import verify_graph
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph import check as numbering
from csaw.partition.graph.write import write_graph


@pytest.fixture
def store(tmp_path):
    """A graph with times and clusters."""
    plain = random_store(tmp_path / "r.zarr", vertices=60, edges=400)
    graph = plain.load()
    owner = np.repeat(np.arange(60), np.diff(graph.indptr))
    times = (owner + graph.indices.astype(np.int64)) * 31 % 17
    path = tmp_path / "g.zarr"
    write_graph(path, graph.indptr, graph.indices, directed=False, partitions=3, edge_columns={"time": times})
    return path


def test_rows_of_one_side_are_refused_when_they_are_written(tmp_path):
    with pytest.raises(StoreError, match="found 0 -> 1 more often than 1 -> 0; add the other direction"):
        write_graph(tmp_path / "g.zarr", np.array([0, 1, 1]), np.array([1]), directed=False)
    assert not (tmp_path / "g.zarr").exists()
    assert write_graph(tmp_path / "g.zarr", np.array([0, 1, 1]), np.array([1]), directed=True).edges == 1
    twice = np.array([0, 2, 3]), np.array([1, 1, 0])
    with pytest.raises(StoreError, match="0 -> 1 more often than 1 -> 0"):
        write_graph(tmp_path / "h.zarr", *twice, directed=False)
    assert write_graph(tmp_path / "h.zarr", np.array([0, 1, 2]), np.array([0, 1]), directed=False).edges == 2  # loops


def test_a_directed_graph_that_says_it_is_not_fails(tmp_path):
    path = random_store(tmp_path / "g.zarr", vertices=60, edges=400, directed=True, partitions=4).path
    assert failed(path) == set()
    edited(path, lambda said: said.update(directed=False))
    assert failed(path) == {"symmetry"}


def test_an_order_by_time_that_is_not_that_of_the_times_fails(store):
    assert failed(store) == set()
    replaced(store, "partitions/00001/time_order", lambda order: np.zeros_like(order))
    assert failed(store) == {"time order"}


def weighted(path, weights):
    write_graph(path, np.array([0, 3, 4, 4, 4]), np.array([1, 2, 3, 0]), np.array(weights), directed=True)
    return path


@pytest.mark.parametrize("weights", [[1e30, 1e-8, 2e-8, 1], [1, 2, 3, 4], [0, 1, 0, 0]])
def test_weights_above_0_whose_range_is_not_said_fail_and_are_drawn_as_any_may_be(tmp_path, weights):
    path = weighted(tmp_path / "g.zarr", weights)
    assert failed(path) == set()
    edited(path, lambda said: said.pop("weight_range"))
    assert failed(path) == {"weights above 0"}
    assert prepare(path, "neighbor", fanout=2, device="cpu").plan.request.select is Method.KEYS
    with pytest.raises(OptionError, match="--select its .* weights are 0 to inf, too far apart"):
        prepare(path, "neighbor", fanout=2, select="its", device="cpu")


def test_weights_of_0_have_no_range(tmp_path):
    path = weighted(tmp_path / "g.zarr", [0, 0, 0, 0])
    assert failed(path) == set()
    edited(path, lambda said: said.update(weight_range=[1.0, 2.0]))
    assert failed(path) == {"weights above 0"}
    unweighted = random_store(tmp_path / "r.zarr", vertices=60, edges=400, weighted=False).path
    assert failed(unweighted) == set()
    edited(unweighted, lambda said: said.update(weight_range=[1.0, 2.0]))
    assert failed(unweighted) == {"weights above 0"}


A_TIME = [{"name": "time", "dtype": "float64", "units": "1"}]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"time_ordered": True}, "time_ordered: expected true, with an edge column time of int64, found True"),
        ({"time_ordered": False}, "time_ordered: expected true"),
        ({"time_ordered": True, "edge_columns": A_TIME, "format_version": 4}, "time_ordered: expected true"),
        ({"edge_columns": []}, "edge_columns: expected a list of columns"),
        ({"edge_columns": [], "format_version": 4}, "edge_columns: expected a list of columns"),
        ({"edge_columns": A_TIME}, "format_version: expected 4"),
        ({"partitioner": {"method": "lp"}}, "format_version: expected 3"),
        ({"format_version": 3}, "format_version: expected 2"),
        ({"format_version": 4}, "format_version: expected 2"),
        ({"format_version": 1}, "format_version: expected 2"),
        ({"checksums": {"arrays": {}, "block_bytes": 5}}, "checksums.block_bytes: expected 4096, found 5"),
        ({"checksums": {"arrays": {}, "block": "CRC32"}}, "checksums.block: expected XXH64"),
    ],
)
def test_attributes_that_contradict_each_other_are_refused(tmp_path, change, wrong):
    path = random_store(tmp_path / "g.zarr", vertices=9, edges=20).path
    edited(path, lambda said: said.update(change))
    with pytest.raises(StoreError, match=f"zarr.json: {wrong}"):
        open_graph(path)
    with pytest.raises(StoreError, match=wrong):
        csaw.verify(path)


@pytest.mark.parametrize("degree", [2**62, 10_000])
def test_a_degree_beyond_the_edges_is_refused(store, degree):
    edited(store, lambda said: said.update(max_degree=degree))
    with pytest.raises(StoreError, match="max_degree: expected at most the [0-9,]+ edges"):
        verify_graph(store)


def test_sizes_of_partitions_are_those_of_their_arrays(store):
    edited(store, lambda said: said["partitions"][1].__setitem__(4, 7))
    assert failed(store) == {"bytes"}


def test_clusters_at_random_are_those_of_their_seed(tmp_path):
    rows = "".join(f"{a} {a * 7 % 50}\n" for a in range(50))
    (tmp_path / "g.txt").write_text(rows)
    csaw.partition(tmp_path / "g.txt", tmp_path / "g.zarr", num_clusters=5, clustering="random")
    assert failed(tmp_path / "g.zarr") == set()
    edited(tmp_path / "g.zarr", lambda said: said["clusters"].update(seed=7))
    assert failed(tmp_path / "g.zarr") == {"clusters"}


@pytest.mark.parametrize(("count", "method"), [(4, "random"), (6, "random"), (4, "given"), (6, "given"), (6, "lp")])
def test_clusters_are_as_many_as_is_said(tmp_path, count, method):
    rows = "".join(f"{a} {a * 7 % 50}\n" for a in range(50))
    (tmp_path / "g.txt").write_text(rows)
    made_by = "lp" if method == "lp" else "random"
    csaw.partition(tmp_path / "g.txt", tmp_path / "g.zarr", num_clusters=5, clustering=made_by)
    edited(tmp_path / "g.zarr", lambda said: said["clusters"].update(method=method))
    assert failed(tmp_path / "g.zarr") == set()
    edited(tmp_path / "g.zarr", lambda said: said["clusters"].update(count=count))
    assert failed(tmp_path / "g.zarr") == {"clusters" if count > 5 else "checksums"}


@pytest.fixture(params=[2**30, 64])
def numbered(request, tmp_path, monkeypatch):
    """Make a store of rows with loops and repeats that keeps their numbers, for checks in one pass or several."""
    monkeypatch.setattr(numbering, "WINDOW", request.param)
    rows = np.random.default_rng(4).integers(0, 20, (300, 2))
    np.savetxt(tmp_path / "e.txt", rows, "%d")

    def make(**options):
        options = {"partitions": 3, "edge_ids": True} | options
        return ingest(tmp_path / "e.txt", tmp_path / "g.zarr", IngestOptions(**options))

    return make


UNDIRECTED = [{"directed": False}, {"directed": False, "duplicates": "keep"}]
NUMBERED = [*UNDIRECTED, {"directed": False, "self_loops": "drop"}, {}, {"reverse": True}, {"duplicates": "keep"}]


@pytest.mark.parametrize("options", NUMBERED)
def test_a_number_of_an_edge_that_another_one_has_fails(numbered, options):
    path = numbered(**options).path
    assert failed(path) == set()
    replaced(path, "partitions/00001/edge_ids", np.zeros_like)
    assert failed(path) == {"edge ids"}


@pytest.mark.parametrize("options", NUMBERED)
def test_numbers_that_are_all_0_fail(numbered, options):
    store = numbered(**options)
    for part in store.partitions:
        replaced(store.path, f"partitions/{part.number:05d}/edge_ids", np.zeros_like)
    assert failed(store.path) == {"edge ids"}


@pytest.mark.parametrize("options", UNDIRECTED)
def test_two_numbers_exchanged_in_one_row_alone_fail(numbered, options):
    store = numbered(**options)
    row = int(np.flatnonzero(np.diff(store.read_offsets(1)) > 2)[0])
    begin = int(store.read_offsets(1)[row])
    apart = np.flatnonzero(np.diff(store.load().indices[store.partitions[1].first_edge + begin :]))[0] + begin

    def exchanged(numbers):
        numbers[[apart, apart + 1]] = numbers[[apart + 1, apart]]
        return numbers

    replaced(store.path, "partitions/00001/edge_ids", exchanged)
    assert failed(store.path) == {"edge ids"}


@pytest.mark.parametrize("more", [1, 2**40])
def test_edges_of_the_input_are_as_many_as_its_report_says(numbered, more):
    path = numbered(directed=False).path
    edited(path, lambda said: said.update(edge_ids=said["edge_ids"] + more))
    assert failed(path) == {"edge ids"}


@pytest.mark.parametrize("what", ["weights", "a column", "parallel edges"])
def test_an_undirected_edge_has_the_same_numbers_in_both_rows(tmp_path, what):
    """Walks take either row: others would draw other walks by where a graph lies."""
    indptr, indices = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1])
    given = {"weights": np.array([1, 2, 1, 3, 2, 3], np.float32), "edge_columns": {"score": np.arange(6) * 0.0}}
    if what == "parallel edges":
        indptr, indices = np.array([0, 2, 4]), np.array([1, 1, 0, 0])
        given = {"weights": np.array([1, 2, 2, 1], np.float32)}
    write_graph(tmp_path / "right.zarr", indptr, indices, directed=False, **given)
    assert failed(tmp_path / "right.zarr") == set()
    changed = given["edge_columns"]["score"] if what == "a column" else given["weights"]
    changed[2] = 7
    with pytest.raises(StoreError, match="same weights and edge columns in both rows"):
        write_graph(tmp_path / "wrong.zarr", indptr, indices, directed=False, **given)
    write_graph(tmp_path / "wrong.zarr", indptr, indices, directed=True, **given)
    edited(tmp_path / "wrong.zarr", lambda said: said.update(directed=False))
    assert failed(tmp_path / "wrong.zarr") == {"numbers"}


@pytest.mark.parametrize("ids", [[1, 1, 2], [3, 2, 1], ["b", "a", "b"], [1, 2], ["a", "b"]])
def test_ids_of_several_vertices_are_refused(tmp_path, ids):
    given = np.array([0, 1, 2, 2]), np.array([1, 0])
    with pytest.raises(StoreError, match="vertex_ids: expected"):
        write_graph(tmp_path / "g.zarr", *given, directed=False, vertex_ids=np.array(ids))
