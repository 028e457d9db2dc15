"""Triangles are those that sets of neighbors have, of the whole graph and of each vertex, whatever the method, the
threads and the memory.
"""

import tracemalloc
from math import comb, isnan

import numpy as np
import pytest
from helpers.graphs import TROUBLED, WideStore, random_store, store_of
from helpers.machine import need_data
from helpers.networks import least as least_of_rows
from helpers.networks import neighbors_of, same
from scipy.sparse import csr_array

from csaw.datasets.resolve import resolve
from csaw.engine.analytics.cpu import oriented
from csaw.engine.analytics.cpu.footprints import scratch
from csaw.engine.analytics.cpu.kernels import triangles as kernels
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measure import Number
from csaw.engine.analytics.measures.triangles import METHODS, Triangles
from csaw.partition import IngestOptions, ingest, open_graph, write_graph
from csaw.partition.errors import BudgetError

PUBLISHED = {  # triangles, mean clustering, mean clustering of degree 2 and more
    "snap/ca-GrQc.txt.gz": (48_260, 0.5296, 0.6865),
    "snap/wiki-Vote.txt.gz": (608_389, 0.1409, 0.2089),
    "snap/email-Enron.txt.gz": (727_044, 0.4970, 0.7156),
    "snap/as20000102.txt": (6_584, 0.2522, 0.3992),
    "snap/facebook_combined.txt.gz": (1_612_010, 0.6055, 0.6170),
    "converted/cnr-2000.txt.gz": (20_977_629, 0.4529, 0.6088),
}


def of_sets(sets):
    """Triangles of each vertex, from sets of neighbors."""
    return [sum(len(sets[v] & sets[u]) for u in sets[v]) // 2 for v in range(len(sets))]


def shapes(folder):
    """Hostile graphs: a name, and the store."""
    size = 40
    edges = {
        "one vertex": ([], 1),
        "no edges": ([], 9),
        "star": ([(0, v, 1) for v in range(1, size)], size),
        "clique": ([(u, v, 1) for u in range(size) for v in range(u + 1, size)], size),
        "bipartite": ([(u, v, 1) for u in range(8) for v in range(8, 30)], 30),
        "wheel": ([(0, v, 1) for v in range(1, size)] + [(v, v % (size - 1) + 1, 1) for v in range(1, size)], size),
        "square": ([(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 1)], 4),
    }
    for name, (rows, vertices) in edges.items():
        rows = rows or [(0, 0, 1)]
        yield name, store_of(folder / f"{name}.zarr", rows, directed=False, vertices=vertices)
    for directed in (True, False):
        yield "troubled", store_of(folder / f"t{directed}.zarr", TROUBLED, directed=directed, vertices=7)
        yield (
            "random",
            random_store(folder / f"r{directed}.zarr", vertices=400, edges=6000, directed=directed, partitions=3),
        )


def least(network):
    """The least memory that triangles can be counted in, by the refusal of less."""
    small = HostNetwork(network.store, memory=least_of_rows(network.store), threads=network.threads)
    with pytest.raises(BudgetError) as refusal:
        small.compute("triangles")
    return int(str(refusal.value).rpartition("raise --memory to ")[2].replace(",", ""))


@pytest.mark.parametrize("threads", [1, 3])
def test_counts_are_those_of_sets(tmp_path, threads):
    for name, store in shapes(tmp_path):
        expected = of_sets(neighbors_of(store))
        network = HostNetwork(store, threads=threads).undirected
        total, counts = network.compute("triangles")
        assert (name, total, counts.tolist()) == (name, sum(expected) // 3, expected)
        assert network.compute("triangles", each=False) == (total, None)


@pytest.mark.parametrize("method", ["matrix", "match"])
def test_all_methods_find_the_same(tmp_path, method):
    for name, store in shapes(tmp_path):
        network = HostNetwork(store, threads=2).undirected
        expected = network.compute("triangles")
        total, counts = network.compute(METHODS[method])
        assert (name, total, counts.tolist()) == (name, expected[0], expected[1].tolist())
        assert network.compute(METHODS[method], each=False) == (total, None)
        found, wanted = (Triangles(triangles=one).findings(network) for one in (method, "auto"))
        assert found["triangles"] == Number(wanted["triangles"].value, method)
        assert same({**found, "triangles": None}, {**wanted, "triangles": None})


def test_a_masked_product_is_the_same_in_any_memory(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=3000, edges=60_000, weighted=False, partitions=3)
    expected = HostNetwork(store, threads=2).compute("triangles")
    network = HostNetwork(store, memory=least(HostNetwork(store, threads=2)), threads=2, derived=tmp_path)
    total, counts = network.compute("masked_product")
    assert total == expected[0]
    assert np.array_equal(counts, expected[1])


@pytest.mark.parametrize("by", ["wedges", "edges"])
def test_estimates_are_unbiased_and_their_errors_true(tmp_path, by):
    """Over 400 seeds the mean is within 4 standard errors of the truth, and the errors that
    are stated are those seen.
    """
    store = random_store(tmp_path / "r.zarr", vertices=400, edges=3000)
    network = HostNetwork(store, threads=1)
    exact = Triangles().findings(network)
    found = [Triangles(approximate=300, approximate_by=by, seed=seed).findings(network) for seed in range(400)]
    assert len(found[0]) == (4 if by == "wedges" else 2)
    for name in found[0]:
        values = np.array([one[name].value for one in found])
        stated = np.mean([one[name].error for one in found])
        assert abs(values.mean() - exact[name].value) < 4 * stated / np.sqrt(len(found)), name
        assert values.std() == pytest.approx(stated, rel=0.15), name


@pytest.mark.parametrize("by", ["wedges", "edges"])
@pytest.mark.parametrize("what", ["few closed", "few open", "none"])
def test_twice_the_error_holds_the_truth_where_all_draws_say_the_same(tmp_path, by, what):
    """Graphs in which nearly all wedges are open, or closed, counted by hand: a few draws meet one kind alone, which is
    no certainty about the other.
    """
    star = [(0, v, 1) for v in range(1, 31)]
    clique = [(u, v, 1) for v in range(30) for u in range(v)]
    edges, triangles = {
        "few closed": ([*star, (1, 2, 1)], 1),
        "few open": ([*clique, (0, 30, 1)], 4060),
        "none": (star, 0),
    }[what]
    network = HostNetwork(store_of(tmp_path / "s.zarr", edges, directed=False), threads=1)
    found = [
        Triangles(approximate=40, approximate_by=by, seed=seed).findings(network)["triangles"] for seed in range(200)
    ]
    assert all(one.error > 0 for one in found)
    assert sum(abs(one.value - triangles) <= 2 * one.error for one in found) >= 180


def test_each_wedge_is_drawn_alike():
    """The wedge of every number is another one, and all there are."""
    from csaw.engine.analytics.cpu.kernels.triangles import pair_of

    found = [pair_of(number) for number in range(4950)]
    assert sorted(found) == sorted((i, j) for j in range(100) for i in range(j))
    for j in (2**20, 2**31, 3 * 10**9):
        first = j * (j - 1) // 2
        assert [pair_of(first - 1), pair_of(first), pair_of(first + j - 1)] == [(j - 2, j - 1), (0, j), (j - 1, j)]


@pytest.mark.parametrize("by", ["wedges", "edges"])
def test_estimates_are_the_same_in_any_memory(tmp_path, by):
    store = random_store(tmp_path / "r.zarr", vertices=3000, edges=60_000, weighted=False, partitions=3)
    measure = Triangles(approximate=5000, approximate_by=by, seed=7)
    expected = measure.findings(HostNetwork(store))
    small = HostNetwork(store, memory=least_of_rows(store), threads=2)
    assert measure.findings(small) == expected
    assert Triangles(approximate=5000, approximate_by=by, seed=8).findings(small) != expected


def test_estimates_of_graphs_without_wedges(tmp_path):
    store = store_of(tmp_path / "e.zarr", [(0, 1, 1)], directed=False, vertices=5)
    found = Triangles(approximate=10).findings(HostNetwork(store))
    assert found["triangles"].value == 0
    assert isnan(found["transitivity"].value)
    assert found["mean clustering"].value == 0
    for edges in ([(0, 1, 1)], []):
        store = store_of(tmp_path / f"{len(edges)}.zarr", edges, directed=False, vertices=5)
        found = Triangles(approximate=10, approximate_by="edges").findings(HostNetwork(store))
        assert found["triangles"].value == found["triangles"].error == 0
        assert isnan(found["transitivity"].value)


def test_an_edge_in_every_triangle_tells_its_number(tmp_path):
    """Of two vertices with 50 common neighbors, their edge has 50 triangles, the others one each: all are found with
    that of the fewest.
    """
    book = [(0, 1, 1), *((end, page, 1) for page in range(2, 52) for end in (0, 1))]
    network = HostNetwork(store_of(tmp_path / "b.zarr", book, directed=False))
    seen = network.compute("edge_triangles", count=20_000, seed=1)
    assert (seen.edges, seen.wedges) == (101, 50 + 2 * 51 * 50 // 2)
    mean = seen.triangles / 20_000
    assert abs(mean - 150 / 101) < 4 * ((seen.squares / 20_000 - mean**2) / 20_000) ** 0.5


def test_ids_of_64_bits(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=300, edges=4000)
    expected = HostNetwork(store).compute("triangles")
    found = HostNetwork(WideStore(store)).compute("triangles")
    assert found[0] == expected[0]
    assert np.array_equal(found[1], expected[1])


def test_counts_are_the_same_in_any_memory(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=3000, edges=60_000, weighted=False, partitions=3)
    whole = HostNetwork(store, threads=2)
    expected = whole.compute("triangles")
    low = least(whole)
    for memory in (low, low + 10_000, low + 100_000):
        network = HostNetwork(store, memory=memory, threads=2, derived=tmp_path)
        found = network.compute("triangles")
        assert found[0] == expected[0]
        assert np.array_equal(found[1], expected[1])
        assert network.compute("triangles", each=False)[0] == expected[0]
        shares = [network.compute("triangles", share=(k, 3)) for k in range(3)]
        assert sum(total for total, _ in shares) == expected[0]
        assert np.array_equal(sum(counts for _, counts in shares), expected[1])
        assert all(total for total, _ in shares)
    few = HostNetwork.of_arrays(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]), directed=False)
    assert sum(few.compute("triangles", share=(k, 9))[0] for k in range(9)) == 1
    assert not list(tmp_path.glob("csaw-*"))


def test_a_small_memory_makes_many_parts(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=3000, edges=60_000, weighted=False)
    network = HostNetwork(store, memory=least(HostNetwork(store, threads=1)), threads=1, derived=tmp_path)
    rows = oriented.SpooledRows(network, scratch(network))
    whole = oriented.orient(HostNetwork(store))
    assert len(list(rows.fixed(0, network.vertices))) > 2
    assert len(rows.cuts) > 10
    assert len(rows.runs) > 5
    read = [piece.entries.copy() for piece in rows.pieces(0)]
    assert np.array_equal(np.concatenate(read), whole.entries)
    rows.close()


def test_peak_of_memory_is_within_the_budget(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=9000, edges=300_000, weighted=False)
    memory = 3_000_000
    HostNetwork(store, memory=memory, threads=1, derived=tmp_path).compute("triangles")  # loads the kernels
    network = HostNetwork(store, memory=memory, threads=1, derived=tmp_path)
    tracemalloc.start()
    network.compute("triangles")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1_000_000 < peak <= memory + 256_000  # of Python's own objects


def test_vertices_beyond_the_hubs_count(tmp_path):
    """More vertices than 16 bits name, and triangles among those of low degree alone."""
    size = kernels.HUBS + 3000
    rng = np.random.default_rng(5)
    ends = np.sort(rng.integers(0, size, (400_000, 2)), axis=1)
    ring = np.column_stack([np.arange(size - 2), np.arange(2, size)])
    ends = np.unique(np.concatenate([ends[ends[:, 0] < ends[:, 1]], ring]), axis=0)
    both = np.concatenate([ends, ends[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    indptr = np.searchsorted(both[:, 0], np.arange(size + 1))
    store = write_graph(tmp_path / "r.zarr", indptr, both[:, 1].astype(np.uint32), None, directed=False)
    matrix = csr_array((np.ones(len(both), np.int64), both[:, 1], indptr), shape=(size, size))
    expected = np.asarray(((matrix @ matrix) * matrix).sum(axis=1)).ravel() // 2
    for memory in (None, 48 * size + 30_000_000):
        total, counts = HostNetwork(store, threads=2, memory=memory, derived=tmp_path).compute("triangles")
        assert total == expected.sum() // 3
        assert np.array_equal(counts, expected)
        assert (
            HostNetwork(store, threads=2, memory=memory, derived=tmp_path).compute("triangles", each=False)[0] == total
        )


def test_findings_follow_from_the_counts(tmp_path):
    for name, store in shapes(tmp_path):
        sets = neighbors_of(store)
        degrees, counts = [len(one) for one in sets], of_sets(sets)
        local = [t / comb(d, 2) if d > 1 else 0.0 for t, d in zip(counts, degrees, strict=True)]
        able = [c for c, d in zip(local, degrees, strict=True) if d > 1]
        found = Triangles().findings(HostNetwork(store))
        wedges = sum(comb(d, 2) for d in degrees)
        assert found["triangles"].value == sum(counts) // 3, name
        assert found["triangles of vertices"].values.tolist() == counts
        assert found["clustering of vertices"].values.tolist() == local
        assert found["mean clustering"].value == pytest.approx(sum(local) / len(local))
        assert found["clustering"].values.tolist() == sorted(set(able))
        assert found["clustering"].counts.tolist() == [able.count(value) for value in sorted(set(able))]
        curve = found["clustering by degree"]
        by_degree = {
            d: [c for c, e in zip(local, degrees, strict=True) if e == d] for d in sorted(set(degrees)) if d > 1
        }
        assert curve.x.tolist() == list(by_degree)
        assert curve.y.tolist() == pytest.approx([sum(some) / len(some) for some in by_degree.values()])
        if wedges:
            assert found["transitivity"].value == pytest.approx(sum(counts) / wedges)
            assert found["mean clustering, degree >= 2"].value == pytest.approx(sum(able) / len(able))
        else:
            assert isnan(found["transitivity"].value)
            assert isnan(found["mean clustering, degree >= 2"].value)


def test_a_triangle_counted_twice_is_seen(tmp_path, monkeypatch):
    """A planted fault: equal degrees that both ends take as lower."""
    store = random_store(tmp_path / "r.zarr", vertices=300, edges=3000)
    expected = HostNetwork(store).compute("triangles")[0]
    real = oriented.oriented.rank_by_degree

    def by_degree_alone(indptr, rank, order):
        real(indptr, rank, order)
        rank[:] = rank // 2 * 2

    monkeypatch.setattr("csaw.engine.analytics.cpu.kernels.oriented.rank_by_degree", by_degree_alone)
    assert HostNetwork(store).compute("triangles", each=False)[0] != expected


@pytest.mark.parametrize("file", PUBLISHED)
def test_published_counts(file, tmp_path):
    ingest(need_data(file), tmp_path / "g.zarr", IngestOptions())
    found = Triangles().findings(HostNetwork(open_graph(tmp_path / "g.zarr"), derived=tmp_path))
    triangles, mean, able = PUBLISHED[file]
    assert found["triangles"].value == triangles
    assert found["mean clustering"].value == pytest.approx(mean, abs=5e-5)
    assert found["mean clustering, degree >= 2"].value == pytest.approx(able, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "triangles"), [(16, 15_654_104), (18, 82_979_519)])
def test_counts_that_other_programs_found(scale, triangles):
    store = open_graph(resolve(f"rmat:scale={scale},edge_factor=16,seed=1"))
    assert HostNetwork(store).compute("triangles")[0] == triangles
