"""Exports of walks in time have the time of each step beside its vertices."""

import csv

import networkx
import numpy as np
import pyarrow.parquet
import pytest
from helpers.temporal import TIED

import csaw
from csaw.engine.stores.export import export

NAMES = "ABCDE"


@pytest.fixture(scope="module", params=["numbers", "words"])
def samples(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    ids = NAMES if request.param == "words" else range(-2, 3)
    rows = "".join(f"{ids[u]} {ids[v]} {t - 3}\n" for u, v, t in TIED)
    (folder / "events.txt").write_text(rows)
    csaw.partition(folder / "events.txt", folder / "g.zarr", time_column=3)
    return csaw.sample(folder / "g.zarr", folder / "s.zarr", "temporal", walk_length=4, num_walks=9, seed=1)


def walks_of(samples):
    """(vertices, times) of each walk, from its arrays."""
    names = samples.names(samples.walks[:]) if samples.words is not None else samples.walks[:]
    rows = zip(np.asarray(names).tolist(), samples["times"][:].tolist(), samples.lengths[:].tolist(), strict=True)
    return [(walk[: n + 1], times[:n]) for walk, times, n in rows]


def test_csv_has_a_time_before_each_vertex(tmp_path, samples):
    export(samples.path, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["instance", "v0", "t1", "v1", "t2", "v2", "t3", "v3", "t4", "v4"]
    for number, (row, (walk, times)) in enumerate(zip(rows, walks_of(samples), strict=True)):
        steps = [str(one) for time, vertex in zip(times, walk[1:], strict=True) for one in (time, vertex)]
        assert [cell for cell in row if cell] == [str(number), str(walk[0]), *steps]


def test_parquet_has_a_list_of_times(tmp_path, samples):
    export(samples.path, tmp_path / "out.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert list(zip(table["walk"], table["times"], strict=True)) == walks_of(samples)


def test_text_is_the_walks_alone(tmp_path, samples):
    said = export(samples.path, tmp_path / "out.txt")
    assert said["left_out"] == {"times": "csv, parquet and graphml have those of each edge"}
    assert (tmp_path / "out.txt").read_text() == "".join(" ".join(map(str, w)) + "\n" for w, _ in walks_of(samples))


def test_graphml_has_the_time_of_each_edge(tmp_path, samples):
    assert export(samples.path, tmp_path / "out.graphml")["left_out"] == {}
    walks, graph = walks_of(samples), networkx.read_graphml(tmp_path / "out.graphml", force_multigraph=True)
    found = sorted((int(u.partition(":")[0]), data["depth"], data["time"]) for u, _, data in graph.edges(data=True))
    assert found == sorted((i, step, time) for i, (_, times) in enumerate(walks) for step, time in enumerate(times))


def test_batches_of_pyg_have_the_time_of_each_edge(tmp_path, samples):
    export(samples.path, tmp_path / "out.npz")
    found = np.load(tmp_path / "out.npz")
    wanted = sorted(
        (number, step, time) for number, (_, times) in enumerate(walks_of(samples)) for step, time in enumerate(times)
    )
    instance = found["batch"][found["edge_index"][1]]
    step = np.repeat(np.arange(found["num_sampled_edges"].size), found["num_sampled_edges"])
    assert sorted(zip(instance.tolist(), step.tolist(), found["edge_time"].tolist(), strict=True)) == wanted
