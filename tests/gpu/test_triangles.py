"""Triangles on a GPU are those of the host, resident and streamed, of hubs, of many and of few neighbors."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip

gpu = device_or_skip()

from helpers.graphs import WideStore, random_store
from helpers.networks import GRAPHS, same
from helpers.triangles import FEW_RANKED, KINDS_OF_VERTICES, limit_kinds

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import footprints, oriented, triangles
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.measures.triangles import Triangles
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, DeviceError

SMALL = GRAPHS | FEW_RANKED
STORES = SMALL | {
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "dense": lambda path: random_store(path, vertices=3000, edges=1_500_000, weighted=False),
}


@pytest.mark.parametrize("name", STORES)
def test_findings_are_those_of_the_host(name, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    wanted = Triangles().findings(HostNetwork(store))
    network = DeviceNetwork(store, gpu, derived=tmp_path)
    assert same(Triangles().findings(network), wanted)
    total, vertices = network.undirected.compute("triangles", each=False)
    assert (total, vertices) == (wanted["triangles"].value, None)
    network.close()


@pytest.mark.parametrize("name", STORES)
def test_clusterings_that_the_gpu_finds_are_those_of_the_host(name, tmp_path, monkeypatch):
    """It leaves those of a small graph to the host."""
    monkeypatch.setattr(triangles, "ON_HOST", 1)
    store = STORES[name](tmp_path / "g.zarr")
    network = DeviceNetwork(store, gpu, derived=tmp_path)
    assert same(Triangles().findings(network), Triangles().findings(HostNetwork(store)))
    network.close()


def check_counts(store, gpu_memory, wanted):
    network = DeviceNetwork(store, gpu, gpu_memory=gpu_memory)
    found = network.compute("triangles")
    assert found[0] == wanted[0]
    assert np.array_equal(found[1].get(), wanted[1])
    assert network.compute("triangles", each=False)[0] == wanted[0]
    network.close()


@pytest.mark.parametrize("residency", [Residency.HOST, Residency.DISK])
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_that_are_streamed(name, residency, tmp_path, monkeypatch):
    """In one block, and in many of which some have no vertex with two neighbors."""
    monkeypatch.setattr(footprints, "LEAST_BLOCK", 1 << 14)
    store = SMALL[name](tmp_path / "g.zarr")
    wanted = Triangles().findings(HostNetwork(store))
    for gpu_memory in (None, STATE_BYTES * store.vertices + (1 << 17)):
        network = DeviceNetwork(store, gpu, residency=residency, gpu_memory=gpu_memory, derived=tmp_path)
        assert same(Triangles().findings(network), wanted)
        assert network.undirected.compute("triangles", each=False) == (wanted["triangles"].value, None)
        network.close()


@pytest.mark.parametrize(("hubs", "many", "long", "dense"), KINDS_OF_VERTICES)
def test_each_kernel_finds_all(hubs, many, long, dense, tmp_path, monkeypatch):
    limit_kinds(monkeypatch, hubs, many, long, dense)
    for name in ("larger", "dense", "wide leaves"):
        store = STORES[name](tmp_path / f"{name}.zarr")
        wanted = HostNetwork(store).compute("triangles")
        for gpu_memory in (
            None,
            footprints.RANKED_BYTES * store.vertices + max(2 * store.edges, footprints.LEAST_BLOCK),
        ):
            check_counts(store, gpu_memory, wanted)


def test_counts_are_the_same_in_any_memory_of_the_gpu(tmp_path):
    store = STORES["larger"](tmp_path / "g.zarr")
    wanted = HostNetwork(store).compute("triangles")
    with pytest.raises(BudgetError) as refusal:
        DeviceNetwork(store, gpu, gpu_memory=footprints.RANKED_BYTES * store.vertices + 8 * store.max_degree).compute(
            "triangles"
        )
    least = int(str(refusal.value).rpartition("raise --gpu-memory to ")[2].replace(",", ""))
    for gpu_memory in (least, least + 100_000, least + 1_000_000):
        check_counts(store, gpu_memory, wanted)


@pytest.mark.parametrize("wide", [False, True])
def test_a_streamed_graph_stays_within_the_memory_of_the_gpu(wide, tmp_path):
    import cupy

    store = random_store(tmp_path / "g.zarr", vertices=30_000, edges=4_000_000, weighted=False)
    store = WideStore(store) if wide else store
    wanted = HostNetwork(store).compute("triangles", each=False)
    pool, gpu_memory = cupy.cuda.MemoryPool(), 24 << 20  # that of other tests may hold a block for a few bytes
    assert 4 * store.edges > gpu_memory - STATE_BYTES * store.vertices
    pool.set_limit(size=int(1.2 * gpu_memory))  # CuPy rounds sizes up
    cupy.cuda.set_allocator(pool.malloc)
    try:
        assert DeviceNetwork(store, gpu, gpu_memory=gpu_memory).compute("triangles", each=False) == wanted
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


@pytest.mark.parametrize(("wide", "of_edge"), [(False, 20), (True, 28)])
def test_twenty_bytes_an_edge_hold_a_graph(wide, of_edge, tmp_path):
    """Twenty-eight with ids of 64 bits."""
    import cupy

    from csaw.datasets.generate import generate

    store = generate("rmat:scale=18,edge_factor=32,seed=1", tmp_path / "g.zarr")
    store = WideStore(store) if wide else store
    network, pool = DeviceNetwork(store, gpu), cupy.get_default_memory_pool()
    network.compute("triangles")  # compiles
    network.close()
    pool.free_all_blocks()
    before = pool.used_bytes()
    network = DeviceNetwork(store, gpu)
    network.compute("triangles")
    network.held.clear()
    assert pool.total_bytes() - before <= of_edge * store.edges // 2 + 160 * store.vertices
    network.close()


@pytest.mark.parametrize("residency", [None, Residency.HOST])
@pytest.mark.parametrize("name", ["leaves", "wide leaves"])
def test_vertices_with_two_neighbors_that_32_bits_do_not_number_are_refused(name, residency, tmp_path, monkeypatch):
    store = STORES[name](tmp_path / "g.zarr")
    wanted, ranked = HostNetwork(store).compute("triangles"), int((np.diff(store.read_indptr()) > 1).sum())
    network = DeviceNetwork(store, gpu, residency=residency)
    monkeypatch.setattr(oriented, "MOST_RANKED", ranked - 1)
    refusal = rf"fewer than 2\^32 vertices with two neighbors or more, found {ranked:,}, .* pass --device cpu"
    with pytest.raises(DeviceError, match=refusal):
        network.compute("triangles")
    monkeypatch.setattr(oriented, "MOST_RANKED", ranked)
    assert network.compute("triangles")[0] == wanted[0]
    network.close()


def test_ranks_go_by_degree_and_ids_however_many_neighbors_a_vertex_has(tmp_path):
    import cupy

    network = DeviceNetwork(STORES["leaves"](tmp_path / "g.zarr"), gpu)
    degrees = np.random.default_rng(6).integers(0, 5, network.vertices)
    degrees[[3000, 4000, 8000]] = 2**32 - 2, 2**40, 2**32 + 1
    network.indptr = cupy.asarray(np.cumsum([0, *degrees]))
    for least in (1, 2):
        rank, order = (found.get() for found in oriented.rank_by_degree(network, least))
        wanted = np.lexsort((np.arange(degrees.size), -degrees.clip(max=2**32 - 1)))[: (degrees >= least).sum()]
        assert np.array_equal(order, wanted)
        assert np.array_equal(rank[wanted], np.arange(wanted.size))
        assert (np.delete(rank, wanted) == 2**32 - 1).all()
    network.close()
