"""Graphs with clusters grow: vertices keep their cluster, and new ones join that of most of their neighbors."""

import random

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition import open_graph
from csaw.partition.errors import StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.clusters import joined_clusters


def by_hand(clusters, count, edges, vertices):
    """The same as sets of neighbors, one new vertex after the other."""
    found = dict(enumerate(clusters))
    for v in range(len(clusters), vertices):
        votes = [found[b] for a, b in [*edges, *((b, a) for a, b in edges)] if a == v and b in found]
        sizes = [list(found.values()).count(one) for one in range(count)]
        most = max(map(votes.count, votes), default=0)
        found[v] = min(one for one in votes if votes.count(one) == most) if votes else sizes.index(min(sizes))
    return [found[v] for v in range(vertices)]


@pytest.mark.parametrize("seed", range(30))
def test_new_vertices_join_the_cluster_of_most_neighbors(seed):
    rng = random.Random(seed)
    count, old = rng.randrange(1, 5), rng.randrange(1, 8)
    clusters, vertices = [rng.randrange(count) for _ in range(old)], old + rng.randrange(1, 8)
    edges = [(rng.randrange(vertices), rng.randrange(vertices)) for _ in range(rng.randrange(20))]
    ends = np.array([edge for edge in edges if max(edge) >= old], np.int64).reshape(-1, 2).T
    held = np.array(clusters, np.int32)
    assert joined_clusters(held, count, ends, vertices).tolist() == by_hand(clusters, count, edges, vertices)
    assert held.tolist() == clusters


METHODS = ["metis", "lp", "random"]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_clusters_stay_and_cluster_gcn_verifies(tmp_path, method, directed):
    if method == "metis":
        need_package("pymetis")
    rng = random.Random(2)
    (tmp_path / "old.txt").write_text("".join(f"{rng.randrange(7, 67)} {rng.randrange(7, 67)}\n" for _ in range(300)))
    how = {"num_clusters": 6, "clustering": method, "directed": directed}
    base = csaw.partition(tmp_path / "old.txt", tmp_path / "g.zarr", progress=False, **how)
    before = base.read_clusters()
    csaw.sample(base, tmp_path / "s.zarr", algo="cluster-gcn", clusters_per_batch=2, seed=3)
    edges = [(k, rng.randrange(7, 67)) for k in range(70, 80) for _ in range(3)] + [(90, 91), (8, 9), (13, 40)]
    (tmp_path / "new.txt").write_text("".join(f"{u} {v}\n" for u, v in edges))
    store = csaw.append(tmp_path / "g.zarr", edges if directed else tmp_path / "new.txt")
    assert np.array_equal(store.read_clusters()[: base.vertices], before)
    dense = {int(one): number for number, one in enumerate(store.original_ids(np.arange(store.vertices)))}
    wanted = by_hand(before.tolist(), 6, [(dense[a], dense[b]) for a, b in edges], store.vertices)
    assert store.read_clusters().tolist() == wanted
    assert (store.clusters.count, store.clusters.method, store.clusters.seed) == (6, method, base.clusters.seed)
    assert [found for found in check_store(store) if not found.ok] == []
    assert csaw.verify(tmp_path / "s.zarr").ok
    csaw.sample(tmp_path / "g.zarr", tmp_path / "t.zarr", algo="cluster-gcn", clusters_per_batch=2, seed=3)
    assert csaw.verify(tmp_path / "t.zarr").ok
    again = csaw.refresh(tmp_path / "s.zarr", tmp_path / "r.zarr")
    assert "clusters" in again.results["refreshed"]["why"]
    assert csaw.verify(tmp_path / "r.zarr").ok
    gone = csaw.append(tmp_path / "g.zarr", [(70, 8), (8, 9)], remove=True)
    assert np.array_equal(gone.read_clusters(), store.read_clusters())
    assert open_graph(tmp_path / "g.zarr", version=0).clusters.digest == base.clusters.digest


@pytest.mark.parametrize("duplicates", ["first", "last"])
def test_repeated_rows_are_one_edge_to_the_clusters(tmp_path, duplicates):
    (tmp_path / "old.txt").write_text("".join(f"{k} {k}\n" for k in range(6)))
    base = csaw.partition(tmp_path / "old.txt", tmp_path / "g.zarr", num_clusters=2, clustering="random")
    near = [int(np.flatnonzero(base.read_clusters() == which)[0]) for which in (0, 1)]
    rows = [(near[0], 9), *[(near[1], 9)] * 3]  # a tie, which is for the first
    grown = csaw.append(tmp_path / "g.zarr", rows, duplicates=duplicates)
    assert grown.read_clusters()[-1] == 0


def test_clusters_that_have_changed_are_refused(tmp_path):
    (tmp_path / "old.txt").write_text("0 1\n1 2\n2 3\n")
    store = csaw.partition(tmp_path / "old.txt", tmp_path / "g.zarr", num_clusters=2, clustering="lp", progress=False)
    file = next(path for path in (store.path / "clusters").rglob("*") if path.is_file() and path.name != "zarr.json")
    file.write_bytes(bytes([1]) + file.read_bytes()[1:])
    with pytest.raises(StoreError, match="clusters"):
        csaw.append(tmp_path / "g.zarr", [(0, 9)])
    assert not (tmp_path / "g.zarr" / "versions").exists()
