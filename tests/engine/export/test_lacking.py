"""Exports have the weights of layers, and the seeds of disjoint mini-batches, in every format with named columns, and
say what they leave out.
"""

import csv

import networkx
import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import csaw
from csaw.cli.commands.export import export as command
from csaw.engine.export import formats
from csaw.engine.stores.export import export

IDS = {"numbers": [7, 8, 9, 10, 11], "words": ["a", "b", "c", "d", "e"]}
EDGES = ((0, 1, 0.5), (1, 2, 1), (2, 0, 2), (0, 2, 1), (3, 0, 4), (2, 3, 0.25), (4, 4, 1))


@pytest.fixture(scope="module", params=IDS)
def graph(request, tmp_path_factory):
    folder, ids = tmp_path_factory.mktemp("layers"), IDS[request.param]
    (folder / "edges.txt").write_text("".join(f"{ids[u]} {ids[v]} {w}\n" for u, v, w in EDGES))
    return csaw.partition(folder / "edges.txt", folder / "g.zarr")


@pytest.fixture(scope="module", params=["ladies", "fastgcn"])
def layers(request, graph, tmp_path_factory):
    run = {"layer_sizes": (3, 2), "frontier_size": 2, "instances": 5, "seed": 1}
    return csaw.sample(graph.path, tmp_path_factory.mktemp("drawn") / "s.zarr", request.param, **run)


@pytest.fixture(scope="module")
def seeds(graph, tmp_path_factory):
    return csaw.sample(graph.path, tmp_path_factory.mktemp("drawn") / "s.zarr", "mvs", seeds_per_batch=2)


@pytest.fixture(scope="module")
def disjoint(graph, tmp_path_factory):
    run = {"seeds_per_batch": 3, "fanout": (2, 2), "disjoint": True, "epochs": 2, "seed": 3}
    return csaw.sample(graph.path, tmp_path_factory.mktemp("drawn") / "s.zarr", "minibatch", **run)


def edges_of(samples):
    """(instance, src, dst, depth, weight) of each edge, from the arrays of the store."""
    named = samples.names if samples.words is not None else np.asarray
    instance = np.repeat(np.arange(samples.instances), np.diff(samples["instance_ptr"][:]))
    columns = [instance, *(named(samples[n][:]) for n in ("src", "dst")), samples["depth"][:], samples["weight"][:]]
    rows = list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))
    assert rows
    return rows


def test_csv_has_the_weight_of_each_edge(tmp_path, layers):
    export(layers.path, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["instance", "src", "dst", "depth", "weight"]
    found = [(*row[:4], np.float32(row[4])) for row in rows if row[4]]
    assert found == [(*map(str, row[:4]), np.float32(row[4])) for row in edges_of(layers)]
    assert all(row[2:] == ["", "", ""] for row in rows if not row[4])


def test_parquet_has_the_weight_of_each_edge(tmp_path, layers):
    export(layers.path, tmp_path / "out.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [tuple(row.values()) for row in table if row["weight"] is not None] == edges_of(layers)
    assert all(row["dst"] is None for row in table if row["weight"] is None)


def test_records_of_numpy_have_the_weight_of_each_edge(tmp_path, layers):
    export(layers.path, tmp_path / "out.npy")
    found = np.load(tmp_path / "out.npy")
    edges = found[found["depth"] >= 0]
    assert edges.tolist() == edges_of(layers)
    assert np.array_equal(np.isnan(found["weight"]), found["depth"] < 0)


def test_graphml_has_the_weight_of_each_edge(tmp_path, layers):
    export(layers.path, tmp_path / "out.graphml")
    graph = networkx.read_graphml(tmp_path / "out.graphml", force_multigraph=True)
    ends = ((u.partition(":"), v.partition(":"), data) for u, v, data in graph.edges(data=True))
    found = [(int(u[0]), u[2], v[2], data["depth"], np.float32(data["weight"])) for u, v, data in ends]
    wanted = [(i, str(u), str(v), depth, np.float32(weight)) for i, u, v, depth, weight in edges_of(layers)]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("format", sorted(formats()))
def test_what_layers_have_beyond_weights_is_left_out_by_name(tmp_path, layers, format):
    said = export(layers.path, tmp_path / "out", format)["left_out"]
    assert said.keys() == {"layer", "probability"} | ({"weight"} if format == "text" else set())


@pytest.mark.parametrize("format", sorted(formats()))
def test_chances_of_seeds_are_left_out_by_name_where_seeds_are_no_column(tmp_path, seeds, format):
    said = export(seeds.path, tmp_path / "out", format)["left_out"]
    assert said.keys() == (set() if format in ("pyg", "torch") else {"probability"})


def seeds_of(samples):
    """(instance, src, dst, depth, batch) of each edge, mini-batch by mini-batch."""
    rows = []
    for number in range(samples.instances):
        one = samples.minibatch(number)
        named = np.asarray(samples.names(one["n_id"])).tolist()
        depths = np.repeat(np.arange(2), one["num_sampled_edges"]).tolist()
        for row, col, depth in zip(one["row"].tolist(), one["col"].tolist(), depths, strict=True):
            assert one["batch"][row] == one["batch"][col]
            rows.append((number, named[col], named[row], depth, int(one["batch"][col])))
    assert len({row[-1] for row in rows}) == 3
    return rows


def test_tables_have_the_seed_of_each_edge_of_disjoint_mini_batches(tmp_path, disjoint):
    wanted = seeds_of(disjoint)
    for suffix in ("csv", "parquet", "npy", "graphml"):
        assert export(disjoint.path, tmp_path / f"out.{suffix}")["left_out"] == {}
    with open(tmp_path / "out.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["instance", "src", "dst", "depth", "batch"]
    assert rows == [list(map(str, row)) for row in wanted]
    assert [tuple(row.values()) for row in pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()] == wanted
    assert np.load(tmp_path / "out.npy").tolist() == wanted
    graph = networkx.read_graphml(tmp_path / "out.graphml", force_multigraph=True)
    ends = ((*u.split(":"), v.split(":")[1], data["depth"], data["batch"]) for u, v, data in graph.edges(data=True))
    assert sorted(ends) == sorted((str(i), str(u), str(v), depth, seed) for i, u, v, depth, seed in wanted)


@pytest.mark.parametrize("format", sorted(formats()))
def test_seeds_of_disjoint_mini_batches_are_left_out_of_text_by_name(tmp_path, disjoint, format):
    said = export(disjoint.path, tmp_path / "out", format)["left_out"]
    assert said == ({"batch": "csv, parquet, npy and graphml have that of each edge"} if format == "text" else {})


def test_the_command_names_what_the_file_lacks(tmp_path, seeds):
    said = CliRunner().invoke(command, [str(seeds.path), str(tmp_path / "out.csv")])
    assert "without probability: pyg and torch have it, for each seed" in said.output


def test_reasons_name_arguments_in_python_and_the_graph_may_be_in_memory(tmp_path):
    graph = csaw.graph(np.array([[0, 1], [1, 2]]))
    samples = csaw.sample(graph, None, "neighbor", fanout=(1,))
    assert export(samples, tmp_path / "out.npz")["left_out"]["e_id"].endswith("; give it with graph")
    assert export(samples, tmp_path / "all.npz", graph=graph)["left_out"] == {}
    assert np.load(tmp_path / "all.npz")["e_id"].tolist() == [0, 1]


DEAD_END = 6


@pytest.mark.parametrize("format", sorted(formats()))
@pytest.mark.parametrize(
    ("algorithm", "given", "alone"),
    [
        ("neighbor", {}, "2 sources have no edge; pyg, torch and graphml have them"),
        ("minibatch", {"batch_size": 4}, "1 source has no edge; pyg, torch and graphml have it"),
        ("minibatch", {"batch_size": 4, "disjoint": True}, "2 sources have no edge; pyg, torch and graphml have them"),
        ("snowball", {}, ""),  # subgraphs have rows of them
        ("deepwalk", {}, ""),  # and walks a row each
    ],
)
def test_sources_without_an_edge_are_left_out_of_tables_by_number(tmp_path, format, algorithm, given, alone):
    graph = csaw.graph(np.array([[0, 4], [1, 2], [2, 1], [5, DEAD_END]]))
    samples = csaw.sample(graph, tmp_path / "s.zarr", algorithm, sources=[0, 4, 1, DEAD_END], **given)
    said = export(samples, tmp_path / "out", format, graph=graph if format in ("pyg", "torch") else None)["left_out"]
    is_table = format in ("arrow", "csv", "npy", "parquet", "text")
    said.pop("batch", None)
    assert said == ({"sources": alone} if alone and is_table else {})
