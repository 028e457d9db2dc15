"""Exports of neighbors in time have the time of each edge beside it, in every format that has columns."""

import csv
import re

import numpy as np
import pyarrow.parquet
import pytest
from helpers.temporal import TIED

import csaw
from csaw.engine.samples.edges import ALONE, numbered_edges
from csaw.engine.stores.export import export

NAMES = "ABCDE"
RUNS = {
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("neighbor", {"fanout": (-1, 2)}),
    "labor": ("labor", {"fanout": (3, 2), "frontier_size": 3}),
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


def columns_of(samples):
    further = [name for name in ("src_time", "dst_time", "batch") if name in samples]
    return ["instance", "src", "dst", "depth", "time", *further]


def rows_of(samples):
    """(instance, src, dst, depth, time) of each edge, the times of its ends where they have copies, and its seed where
    mini-batches are disjoint; (instance, src) of each vertex without one.
    """
    edges = numbered_edges(samples, 0, samples.instances)
    named = {
        n: samples.names(edges[n]).tolist() if samples.words is not None else edges[n].tolist() for n in ("src", "dst")
    }
    columns = [named[name] if name in named else edges[name].tolist() for name in columns_of(samples)]
    rows = list(zip(*columns, strict=True))
    assert any(row[3] != ALONE for row in rows)
    return [row if row[3] != ALONE else row[:2] for row in rows]


def test_csv_has_a_column_of_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == columns_of(samples)
    assert [[cell for cell in row if cell] for row in rows] == [list(map(str, row)) for row in rows_of(samples)]


def test_parquet_has_a_column_of_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.schema.names == columns_of(samples)
    found = zip(*(table[name].to_pylist() for name in table.schema.names), strict=True)
    assert [tuple(cell for cell in row if cell is not None) for row in found] == rows_of(samples)


def test_records_of_numpy_have_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.npy")
    found = np.load(tmp_path / "out.npy")
    assert found.dtype.names == tuple(columns_of(samples))
    edges = numbered_edges(samples, 0, samples.instances)
    for name in columns_of(samples)[4:]:
        assert found[name].tolist() == edges[name].tolist()


def test_graphml_has_the_time_of_each_edge(tmp_path, samples):
    export(samples.path, tmp_path / "out.graphml")
    text = (tmp_path / "out.graphml").read_text()
    assert re.search('<key id="time" for="edge" attr.name="time" attr.type="long"', text)
    for place, name in enumerate(columns_of(samples)[4:], 4):
        found = re.findall(f'<data key="{name}">([-0-9]+)</data>', text)
        assert list(map(int, found)) == [row[place] for row in rows_of(samples) if len(row) > 2]


def test_text_has_times_behind_each_edge(tmp_path, samples):
    export(samples.path, tmp_path / "out.txt")
    width = None if "batch" not in samples else -1  # which text has no column for
    rows = [row[:width] for row in rows_of(samples)]
    assert (tmp_path / "out.txt").read_text() == "".join(" ".join(map(str, row)) + "\n" for row in rows)


def test_batches_of_pyg_have_the_times_of_edges_and_seeds(tmp_path, samples):
    export(samples.path, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as file:
        found = dict(file)
    assert found["edge_time"].size == found["edge_index"].shape[1]
    assert sorted(found["edge_time"].tolist()) == sorted(row[4] for row in rows_of(samples) if len(row) > 2)
    assert found["seed_time"].tolist() == [-9, 0, 2] * 5
    if "src_time" in samples:
        drawn, into = (found["node_time"][ends] for ends in found["edge_index"])
        ends = [row[5:] for row in rows_of(samples) if len(row) > 2]
        assert sorted(zip(into.tolist(), drawn.tolist(), strict=True)) == sorted(ends)
        assert (found["edge_time"] <= into).all()
        nodes = np.stack([found[name] for name in ("batch", "n_id", "node_time")])
        assert np.unique(nodes, axis=1).shape == nodes.shape
    else:
        assert (found["edge_time"] <= found["seed_time"][found["batch"][found["edge_index"][1]]]).all()


def test_neither_threads_nor_pieces_change_a_batch_of_pyg(tmp_path, samples, monkeypatch):
    export(samples.path, tmp_path / "whole.npz", threads=1)
    for piece in (1, 24):
        monkeypatch.setattr("csaw.engine.samples.ahead.PIECE", piece)
        export(samples.path, tmp_path / "out.npz", threads=3, overwrite=True)
        assert (tmp_path / "out.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
