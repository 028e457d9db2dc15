"""Exports of neighbors in time have the time of each edge beside it, in every format that has columns."""

import csv
import re

import numpy as np
import pyarrow.parquet
import pytest
from helpers.temporal import TIED

import csaw
from csaw.engine.export import export
from csaw.engine.samples.edges import ALONE, numbered_edges

NAMES = "ABCDE"
RUNS = {
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("neighbor", {"fanout": (-1, 2)}),
    "batches": ("minibatch", {"fanout": (3, 2), "disjoint": True, "seeds_per_batch": 2}),
}


@pytest.fixture(scope="module", params=["numbers", "words"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    ids = NAMES if request.param == "words" else range(-2, 3)
    (folder / "events.txt").write_text("".join(f"{ids[u]} {ids[v]} {t - 3}\n" for u, v, t in TIED))
    (folder / "seeds.txt").write_text("".join(f"{ids[v]} {t}\n" for v in range(5) for t in (-9, 0, 2)))
    csaw.partition(folder / "events.txt", folder / "g.zarr", time_column=3)
    return folder


@pytest.fixture(params=RUNS)
def samples(request, folder, tmp_path):
    algo, options = RUNS[request.param]
    given = {"time_strategy": "uniform", "sources": str(folder / "seeds.txt")} | options
    return csaw.sample(folder / "g.zarr", tmp_path / "s.zarr", algo, **given)


def rows_of(samples):
    """(instance, src, dst, depth, time) of each edge, and (instance, src) of each vertex without one."""
    edges = numbered_edges(samples, 0, samples.instances)
    named = {
        n: samples.names(edges[n]).tolist() if samples.words is not None else edges[n].tolist() for n in ("src", "dst")
    }
    columns = [edges["instance"].tolist(), named["src"], named["dst"], edges["depth"].tolist(), edges["time"].tolist()]
    rows = list(zip(*columns, strict=True))
    assert any(row[3] != ALONE for row in rows)
    return [row if row[3] != ALONE else row[:2] for row in rows]


def test_csv_has_a_column_of_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["instance", "src", "dst", "depth", "time"]
    assert [[cell for cell in row if cell] for row in rows] == [list(map(str, row)) for row in rows_of(samples)]


def test_parquet_has_a_column_of_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.schema.names == ["instance", "src", "dst", "depth", "time"]
    found = zip(*(table[name].to_pylist() for name in table.schema.names), strict=True)
    assert [tuple(cell for cell in row if cell is not None) for row in found] == rows_of(samples)


def test_records_of_numpy_have_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.npy")
    found = np.load(tmp_path / "out.npy")
    assert found.dtype.names == ("instance", "src", "dst", "depth", "time")
    edges = numbered_edges(samples, 0, samples.instances)
    assert found["time"].tolist() == edges["time"].tolist()


def test_graphml_has_the_time_of_each_edge(tmp_path, samples):
    export(samples.path, tmp_path / "out.graphml")
    text = (tmp_path / "out.graphml").read_text()
    assert re.search('<key id="time" for="edge" attr.name="time" attr.type="long"', text)
    found = re.findall('<data key="time">([-0-9]+)</data>', text)
    assert list(map(int, found)) == [row[4] for row in rows_of(samples) if len(row) > 2]


def test_text_is_the_edges_alone(tmp_path, samples):
    export(samples.path, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "".join(" ".join(map(str, r[:4])) + "\n" for r in rows_of(samples))


def test_batches_of_pyg_have_the_times_of_edges_and_seeds(tmp_path, samples):
    export(samples.path, tmp_path / "out.npz")
    found = np.load(tmp_path / "out.npz")
    assert found["edge_time"].size == found["edge_index"].shape[1]
    assert sorted(found["edge_time"].tolist()) == sorted(row[4] for row in rows_of(samples) if len(row) > 2)
    assert found["seed_time"].tolist() == [-9, 0, 2] * 5
    assert (found["edge_time"] <= found["seed_time"][found["batch"][found["edge_index"][1]]]).all()
