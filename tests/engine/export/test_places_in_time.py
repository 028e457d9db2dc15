"""Times tell repeated edges apart: batches of samples in time say where each edge is in the rows of the graph."""

import numpy as np
import pytest
from helpers.temporal import TIED

import csaw
from csaw.engine.stores.export import export
from csaw.partition.errors import RepeatedEdgesError
from csaw.partition.graph.edge_columns import TIME

LATE = {"start_time": 99, "time_strategy": "uniform"}
RUNS = {
    "hops": ("neighbor", {"fanout": (9, 9)} | LATE),
    "subgraphs": ("neighbor", {"fanout": (-1, 2)} | LATE),
    "labor": ("labor", {"fanout": (3, 2), "frontier_size": 3} | LATE),
    "layer": ("layer", {"depth": 2, "neighbor_size": 4, "frontier_size": 2} | LATE),
    "walks": ("temporal", {"walk_length": 4, "num_walks": 9}),
}


def store_of(folder, events, ids=range(-2, 3), **options):
    (folder / "events.txt").write_text("".join(f"{ids[u]} {ids[v]} {t}\n" for u, v, t in events))
    return csaw.partition(folder / "events.txt", folder / "g.zarr", time_column=3, **options)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("options", [{}, {"partitions": 3}, {"directed": False}], ids=str)
def test_the_place_of_an_edge_has_its_ends_and_its_time(tmp_path, run, options):
    apart = {(min(u, v), max(u, v), t): (u, v, t) for u, v, t in TIED}  # even where edges go both ways
    store, (algo, given) = store_of(tmp_path, apart.values(), **options), RUNS[run]
    assert store.multigraph
    samples = csaw.sample(store.path, tmp_path / "s.zarr", algo, seed=3, **given)
    assert export(samples, tmp_path / "out.npz")["left_out"] == {}
    found, graph = np.load(tmp_path / "out.npz"), store.load([TIME])
    rows = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    places, (into, of) = found["e_id"], found["edge_index"]
    assert places.size > 5
    assert np.array_equal(store.original_ids(rows[places]), found["n_id"][of])
    assert np.array_equal(store.original_ids(graph.indices[places]), found["n_id"][into])
    assert np.array_equal(graph.columns["time"][places], found["edge_time"])


def test_edges_of_one_time_between_the_same_ends_leave_e_id_open(tmp_path):
    store = store_of(tmp_path, TIED, "ABCDE")
    samples = csaw.sample(store.path, tmp_path / "s.zarr", "neighbor", fanout=(50,), **LATE)
    why = r"g\.zarr has several edges D -> C of the time 3, and only mini-batches \(algo minibatch\) say which"
    with pytest.raises(RepeatedEdgesError, match=why):
        export(samples, tmp_path / "out.npz", graph=store.path)
    assert not (tmp_path / "out.npz").exists()
    left_out = export(samples, tmp_path / "out.npz")["left_out"]
    assert left_out.keys() == {"e_id"}
    assert "several edges D -> C of the time 3" in left_out["e_id"]
    assert "e_id" not in np.load(tmp_path / "out.npz").files
    (tmp_path / "sources.txt").write_text("A\nB\n")
    others = csaw.sample(store.path, algo="neighbor", fanout=(50,), sources=str(tmp_path / "sources.txt"), **LATE)
    assert others.pyg(graph=store)["e_id"].size == len([one for one in TIED if one[0] < 2])
