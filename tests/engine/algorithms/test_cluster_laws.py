"""ClusterGCN's instances are different clusters, each set of them equally likely, with all
edges among their vertices.
"""

import json
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.rates import pin_row_bytes
from helpers.stats import assert_drawn_from

from csaw.cli.commands.verify import verify as command
from csaw.engine import execute, open_samples, prepare, sample
from csaw.engine.batches.induced import ClusterSets
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.sources.sources import Sources
from csaw.partition import write_graph
from csaw.partition.errors import OptionError, StoreError

ALGO = "cluster-gcn"
MANY = 20_000


def drawn_clusters(store, drawn):
    """The clusters of each instance, ascending."""
    clusters, begins = store.read_clusters(), drawn["vertices_ptr"][1:-1]
    return [tuple(np.unique(clusters[some]).tolist()) for some in np.split(drawn["vertices"].astype(np.int64), begins)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_set_of_clusters_is_equally_likely(tmp_path, size):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=90, clusters=7)
    found = drawn_clusters(store, arrays_of(store, tmp_path / "s.zarr", ALGO, clusters_per_batch=size, instances=MANY))
    sets = list(combinations(range(7), size))
    assert set(found) <= set(sets)
    assert_drawn_from([found.count(one) for one in sets], [1.0] * len(sets))


def test_an_instance_is_whole_clusters_and_all_edges_among_them(tmp_path):
    store = random_store(tmp_path / "g.zarr", directed=True)
    drawn, rows, clusters = (
        arrays_of(store, tmp_path / "s.zarr", ALGO, clusters_per_batch=4, instances=50),
        rows_of(store, False),
        store.read_clusters(),
    )
    ends, begins = drawn["instance_ptr"][1:-1], drawn["vertices_ptr"][1:-1]
    edges = zip(np.split(drawn["src"], ends), np.split(drawn["dst"], ends), strict=True)
    for chosen, vertices, (src, dst) in zip(
        drawn_clusters(store, drawn), np.split(drawn["vertices"], begins), edges, strict=True
    ):
        members = [v for v in range(store.vertices) if clusters[v] in chosen]
        assert vertices.tolist() == members
        expected = [(u, v) for u in members for v, _ in rows[u] if v in set(members)]
        assert list(zip(src.tolist(), dst.tolist(), strict=True)) == expected
    assert len({len(one) for one in drawn_clusters(store, drawn)}) == 1


def test_threads_batches_partitions_and_residencies_change_nothing(tmp_path, monkeypatch):
    one, many = (
        random_store(tmp_path / "g.zarr", edges=6000),
        random_store(tmp_path / "h.zarr", edges=6000, partitions=7),
    )
    options = {"clusters_per_batch": 3, "instances": 40}
    assert_request_decides(one, many, tmp_path / "s.zarr", ALGO, **options)
    pin_row_bytes(monkeypatch, 1 << 30)
    resident = arrays_of(many, tmp_path / "r.zarr", ALGO, **options)
    assert_same(resident, arrays_of(many, tmp_path / "d.zarr", ALGO, residency="disk", **options))


def test_other_clusters_are_another_sample(tmp_path):
    stores = [random_store(tmp_path / f"{n}.zarr", clusters=n) for n in (5, 6)]
    assert stores[0].fingerprint == stores[1].fingerprint
    one, other = (prepare(store, ALGO, clusters_per_batch=2).plan.request for store in stores)
    assert one.sources != other.sources
    job = prepare(stores[0], ALGO, clusters_per_batch=2, instances=300)
    execute(job, tmp_path / "s.zarr")
    with pytest.raises(StoreError, match="was sampled with sources = clusters"):
        execute(prepare(stores[1], ALGO, clusters_per_batch=2, instances=300), tmp_path / "s.zarr", resume=True)
    done = CliRunner().invoke(command, [str(tmp_path / "s.zarr"), "--graph", str(stores[1].path)])
    assert isinstance(done.exception, StoreError)
    assert "expected the clusters that were sampled" in str(done.exception)


def test_a_virtual_sample_has_the_same_bytes(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    stored = sample(store, tmp_path / "s.zarr", ALGO, clusters_per_batch=3, instances=20, device="cpu")
    commit_virtual(prepare(store, ALGO, clusters_per_batch=3, instances=20, device="cpu"), tmp_path / "v.zarr")
    virtual = open_samples(tmp_path / "v.zarr")
    assert all(
        np.array_equal(getattr(stored, name)[:], getattr(virtual, name)[:])
        for name in ("src", "dst", "vertices", "vertices_ptr")
    )


def test_graphs_without_clusters_and_wishes_that_cannot_be_are_refused(tmp_path):
    plain = write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0], np.uint32), directed=False)
    with pytest.raises(
        OptionError, match="has no clusters; make a store with clusters: csaw partition FILE OUT --num-clusters N"
    ):
        sample(plain, tmp_path / "s.zarr", ALGO)
    store = store_of(tmp_path / "h.zarr", SQUARE, directed=False, clusters=3)
    with pytest.raises(OptionError, match="at most the graph's 3 clusters, found 4"):
        sample(store, tmp_path / "s.zarr", ALGO, clusters_per_batch=4)
    with pytest.raises(OptionError, match="cluster-gcn draws clusters of the whole graph; leave out --sources"):
        sample(store, tmp_path / "s.zarr", ALGO, clusters_per_batch=2, sources=[0])


def failed(path):
    done = CliRunner().invoke(command, [str(path), "--json"])
    return {check["name"] for check in json.loads(done.output)["checks"] if not check["ok"]}


def test_wrong_sets_of_clusters_are_found(tmp_path, monkeypatch):
    """Planted: a vertex left out, one cluster preferred, clusters drawn in runs."""
    store = random_store(tmp_path / "g.zarr")
    options = {"clusters_per_batch": 3, "instances": 3000}
    arrays_of(store, tmp_path / "s.zarr", ALGO, **options)
    assert failed(tmp_path / "s.zarr") == set()
    whole, take = ClusterSets.advance, Sources._frontiers

    def without_the_first(self):
        whole(self)
        if self.samples["vertices"].size:
            self.samples["vertices"][0] = self.samples["vertices"][1]

    def preferred(self, first, last, xp=np):
        return np.sort(
            np.concatenate([[[0]] * (last - first), 1 + take(self, first, last)[:, 1:] % 19], axis=1), axis=1
        )

    def runs(self, first, last, xp=np):
        return (take(self, first, last)[:, :1] + np.arange(3)) % 20

    for place, name, fault, check in (
        (ClusterSets, "advance", without_the_first, "sources"),
        (Sources, "_frontiers", preferred, "clusters"),
        (Sources, "_frontiers", runs, "sets"),
    ):
        with monkeypatch.context() as planted:
            planted.setattr(place, name, fault)
            arrays_of(store, tmp_path / "s.zarr", ALGO, **options)
        assert check in failed(tmp_path / "s.zarr")
