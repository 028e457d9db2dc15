"""Measures that several GPUs share find what one GPU and the host find.

A machine with one GPU pretends to have it twice.
"""

import json

import numpy as np
import pytest
from helpers.gpu import device_or_skip, hub_store, need_gpus

FIRST = device_or_skip()

import cupy
from helpers.graphs import WideStore, random_store
from helpers.networks import GRAPHS, pairs_of, same, stores, sums_of_values
from helpers.triangles import FEW_RANKED, KINDS_OF_VERTICES, limit_kinds

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import bfs, components, footprints, sssp
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.measure import find
from csaw.engine.analytics.measures.triangles import Triangles
from csaw.engine.analytics.network import on_host
from csaw.engine.analytics.passes import CHUNK
from csaw.engine.cuda.device import open_device
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError

COUNT = need_gpus(1)
OTHERS = tuple(open_device(number) for number in range(1, COUNT)) or (FIRST,)
STORES = GRAPHS | {
    "hub": lambda path: hub_store(path, False),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "dense": lambda path: random_store(path, vertices=3000, edges=1_500_000, weighted=False),
}


def on_several(store, **options):
    return DeviceNetwork(store, FIRST, others=OTHERS, threads=2, **options)


def in_blocks(store):
    """Of memory for blocks of about a row, and for blocks of more; of a larger graph, for some 20 blocks."""
    longest = max(len(row) for row in pairs_of(store)[1])
    least = STATE_BYTES * store.vertices + 2 * (store.id_dtype.itemsize + 4 * store.weighted) * max(longest, 1)
    more = (0, 9000) if store.edges < 100_000 else (200_000,)  # each iteration reads all blocks
    return tuple(least + bytes for bytes in more)


@pytest.mark.parametrize("others", [OTHERS, 3 * OTHERS])
@pytest.mark.parametrize("name", STORES | FEW_RANKED)
def test_triangles_in_memory(name, others, tmp_path):
    store = (STORES | FEW_RANKED)[name](tmp_path / "g.zarr")
    wanted = Triangles().findings(HostNetwork(store))
    network = DeviceNetwork(store, FIRST, others=others, derived=tmp_path)
    for _ in range(2):  # the second time, all GPUs have the rows
        assert same(Triangles().findings(network), wanted)
    assert network.undirected.compute("triangles", each=False) == (wanted["triangles"].value, None)
    network.close()


@pytest.mark.parametrize(("hubs", "many", "long", "dense"), KINDS_OF_VERTICES)
def test_each_kernel_of_triangles_counts_its_share(hubs, many, long, dense, tmp_path, monkeypatch):
    limit_kinds(monkeypatch, hubs, many, long, dense)
    store = STORES["larger"](tmp_path / "g.zarr")
    wanted = HostNetwork(store).compute("triangles")
    found = on_several(store).compute("triangles")
    assert found[0] == wanted[0]
    assert np.array_equal(found[1].get(), wanted[1])


@pytest.mark.parametrize("name", GRAPHS | FEW_RANKED)
def test_triangles_of_small_graphs_that_are_streamed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(footprints, "LEAST_BLOCK", 1 << 14)
    store = (GRAPHS | FEW_RANKED)[name](tmp_path / "g.zarr")
    wanted = Triangles().findings(HostNetwork(store))
    for gpu_memory in (None, STATE_BYTES * store.vertices + (1 << 17)):
        network = on_several(store, gpu_memory=gpu_memory, residency=Residency.HOST, derived=tmp_path)
        assert same(Triangles().findings(network), wanted)
        network.close()


@pytest.mark.parametrize("residency", [Residency.HOST, Residency.DISK])
def test_triangles_of_a_graph_that_is_streamed(residency, tmp_path):
    store = STORES["larger"](tmp_path / "g.zarr")
    wanted = HostNetwork(store).compute("triangles")
    with pytest.raises(BudgetError) as refusal:
        on_several(store, gpu_memory=footprints.RANKED_BYTES * store.vertices + 8 * store.max_degree).compute(
            "triangles"
        )
    least = int(str(refusal.value).rpartition("raise --gpu-memory to ")[2].replace(",", ""))
    for gpu_memory in (least, least + 100_000, least + 1_000_000):
        network = on_several(store, gpu_memory=gpu_memory, residency=residency)
        found = network.compute("triangles")
        assert found[0] == wanted[0]
        assert np.array_equal(found[1].get(), wanted[1])
        assert network.compute("triangles", each=False) == (wanted[0], None)
        network.close()


def test_triangles_of_directed_graphs_that_are_streamed(tmp_path):
    store = STORES["larger directed"](tmp_path / "g.zarr")
    wanted = Triangles().findings(HostNetwork(store))
    for gpu_memory in (None, 4_000_000):
        network = on_several(store, gpu_memory=gpu_memory, residency=Residency.HOST, derived=tmp_path)
        assert same(Triangles().findings(network), wanted)
        network.close()


@pytest.mark.parametrize("directed", [True, False])
def test_hops_and_betweenness(directed, tmp_path):
    for store in stores(tmp_path, directed=directed):
        host = HostNetwork(store)
        many = np.arange(min(store.vertices, 130)) * 7 % store.vertices  # three words, some sources twice
        some = np.arange(0, store.vertices, max(1, store.vertices // 5))
        hops, ways = host.compute("hops", sources=many), host.compute("betweenness", sources=some)
        in_memory_alone = isinstance(store, WideStore) and store.directed  # the store of its other direction is narrow
        for gpu_memory in (None,) if in_memory_alone else (None, *in_blocks(store)):
            network = on_several(store, gpu_memory=gpu_memory)
            assert np.array_equal(network.compute("hops", sources=many), hops)
            assert np.array_equal(on_host(network.compute("betweenness", sources=some)), ways)
            network.close()
        host.close()


@pytest.fixture
def always(monkeypatch):
    """Several GPUs share what is small, too."""
    large = ((one, "LARGE") for one in (bfs, components, sssp))
    for module, name in (*large, (bfs, "LEAST"), (bfs, "FEW")):
        monkeypatch.setattr(module, name, 0)


def each_shared(folder, *, directed, weighted=False):
    """The host's network of every graph, and one on two GPUs and one on more."""
    for store in stores(folder, directed=directed, weighted=weighted):
        host = HostNetwork(store)
        for others in (OTHERS, 3 * OTHERS):
            network = DeviceNetwork(store, FIRST, others=others, threads=2)
            yield host, network
            network.close()
        host.close()


@pytest.mark.parametrize("exchange", [None, *Exchange])
@pytest.mark.parametrize("directed", [True, False])
def test_searches(directed, exchange, tmp_path, always):
    for host, network in each_shared(tmp_path, directed=directed):
        network.among(2)
        network.exchange = exchange
        for pulls in (False, True):
            if pulls and directed:
                assert network.incoming.vertices == host.vertices  # from now on, a search pulls
                network.among(2, backward=True)
            for source in {0, host.vertices // 2, host.vertices - 1}:
                wanted = host.compute("bfs", source=source)
                assert np.array_equal(network.compute("bfs", source=source).get(), wanted)


@pytest.mark.parametrize("name", ["larger", "larger directed"])
def test_levels_of_one_gpu_and_of_all_come_after_each_other(name, tmp_path, monkeypatch, always):
    store = STORES[name](tmp_path / "g.zarr")
    network, host = on_several(store), HostNetwork(store)
    assert network.incoming.vertices == host.vertices
    network.among(2, backward=True)
    for source in (0, 7, 29_999):
        wanted = host.compute("bfs", source=source)
        for least in (1, 30_000, 300_000, 500_000, 10**9):
            monkeypatch.setattr(bfs, "LEAST", least)
            assert np.array_equal(network.compute("bfs", source=source).get(), wanted)
    network.close()


@pytest.mark.parametrize("exchange", [None, *Exchange])
@pytest.mark.parametrize("directed", [True, False])
def test_sums_of_weights(directed, exchange, tmp_path, always):
    for host, network in each_shared(tmp_path, directed=directed, weighted=True):
        network.among(2, weights=True)
        network.exchange = exchange
        for source in {0, host.vertices - 1}:
            wanted = host.compute("sssp", source=source)
            assert np.array_equal(network.compute("sssp", source=source).get(), wanted)


@pytest.mark.parametrize("exchange", [None, *Exchange])
@pytest.mark.parametrize("name", ["random", "random directed", "hub"])
def test_sums_of_weights_of_more_chunks_than_gpus(name, exchange, tmp_path, always):
    if name == "hub":
        store = hub_store(tmp_path / "g.zarr", True)
    else:
        store = random_store(tmp_path / "g.zarr", vertices=30_000, edges=400_000, directed="directed" in name)
    host, network = HostNetwork(store), on_several(store, exchange=exchange)
    assert network.vertices > CHUNK
    network.among(2, weights=True)
    for source in (0, 7, network.vertices - 1):
        wanted = host.compute("sssp", source=source)
        assert np.array_equal(network.compute("sssp", source=source).get(), wanted)
    network.close()


@pytest.mark.parametrize("directed", [True, False])
def test_cores(directed, tmp_path, always):
    for host, network in each_shared(tmp_path, directed=directed):
        assert np.array_equal(network.undirected.compute("core").get(), host.undirected.compute("core"))


@pytest.mark.parametrize("name", ["larger", "larger directed", "hub", "dense"])
def test_searches_and_cores_of_larger_graphs(name, tmp_path, always):
    store = STORES[name](tmp_path / "g.zarr")
    network, host = on_several(store), HostNetwork(store)
    network.among(2)
    for exchange in (None, *Exchange):
        network.exchange, wanted = exchange, host.compute("bfs", source=5)
        assert np.array_equal(network.compute("bfs", source=5).get(), wanted)
    assert np.array_equal(network.undirected.compute("core").get(), host.undirected.compute("core"))
    network.close()


def test_gpus_that_have_sources_of_their_own_search_alone(tmp_path, always, monkeypatch):
    store = STORES["larger"](tmp_path / "g.zarr")
    network, some = on_several(store), np.arange(5)
    monkeypatch.setattr(bfs, "search", None)
    wanted = HostNetwork(store).compute("betweenness", sources=some)
    assert np.array_equal(network.compute("betweenness", sources=some).get(), wanted)
    network.close()


def test_small_graphs_and_those_that_one_gpu_has_are_its_own(tmp_path, monkeypatch):
    """Nothing is exchanged, or copied, that takes longer than the work."""

    def fails(*_, **__):
        raise AssertionError("shared")

    for module, name in ((bfs, "search"), (sssp, "search"), (components, "_of_shares")):
        monkeypatch.setattr(module, name, fails)
    for large, elsewhere in ((bfs.LARGE, True), (0, False)):
        for module in (bfs, sssp):
            monkeypatch.setattr(module, "LARGE", large)
        network = on_several(random_store(tmp_path / f"{large}.zarr", vertices=500, edges=3000))
        if elsewhere:
            network.among(2)
        network.compute("bfs", source=0)
        network.compute("components")
        network.compute("sssp", source=0)
        network.undirected.compute("core")
        assert network.is_elsewhere == elsewhere
        network.close()


RANKING = {"pagerank": {"tolerance": 1e-9}, "personalized-pagerank": {"rank_sources": "0"}, "assortativity": {}}


@pytest.mark.parametrize("measure", RANKING)
@pytest.mark.parametrize("name", [name for name in STORES if name != "dense"])
def test_ranks_and_assortativity(name, measure, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    one = find(measure)(**RANKING[measure])
    wanted = one.findings(HostNetwork(store))
    for gpu_memory in (None, *in_blocks(store)):
        network = on_several(store, gpu_memory=gpu_memory, derived=tmp_path / "derived")
        assert same(one.findings(network), wanted)
        network.close()


def test_sums_are_pushed_by_all_gpus_where_nothing_holds_the_other_direction(tmp_path):
    store = STORES["larger directed"](tmp_path / "g.zarr")
    values, wanted = sums_of_values(store, "arriving_sums")
    sizes = {"gpu_memory": in_blocks(store)[0], "memory": in_blocks(store)[0]}
    network = on_several(store, derived=tmp_path / "derived", **sizes)
    assert not network.host.can_have_incoming
    for _ in range(2):
        assert np.array_equal(network.compute("arriving_sums", values=network.xp.asarray(values)).get(), wanted)
    network.close()


def test_an_error_on_another_gpu_reaches_the_caller(tmp_path, monkeypatch):
    from csaw.engine.analytics.cuda import triangle_counts

    count, begun = triangle_counts.count, []

    def fails(network, *arguments):
        begun.append(network)
        if network.others == ():
            raise cupy.cuda.runtime.CUDARuntimeError(700)
        count(network, *arguments)

    monkeypatch.setattr(triangle_counts, "count", fails)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
        on_several(STORES["larger"](tmp_path / "g.zarr")).compute("triangles")
    assert len(begun) == 1 + len(OTHERS)


def test_the_command_names_the_gpus_of_each_measure(tmp_path):
    need_gpus()
    store = STORES["larger"](tmp_path / "g.zarr")
    wanted = {"measures": "triangles,degree,betweenness,core", "betweenness_sources": 3, "refresh": True}
    planned = {one["measure"]: one["device"] for one in plan(store, device="cuda:1,0", **wanted)}
    assert planned["triangles"] == planned["betweenness"] == "cuda:1,0"
    assert planned["core"] == "cuda:1"
    said = []
    found = [evaluate(store, device=device, progress=said.append, **wanted) for device in ("cuda:1,0", "cuda:1", "cpu")]
    assert json.dumps(found[0].as_dict()) == json.dumps(found[1].as_dict()) == json.dumps(found[2].as_dict())
    assert any(one.startswith("triangles") and "on 2 GPUs" in one for one in said)
    assert any(one.startswith("core") and "only on the first GPU" in one for one in said)


def test_the_command_says_that_large_graphs_are_shared(tmp_path, always):
    need_gpus()
    store = STORES["larger"](tmp_path / "g.zarr")
    planned = {one["measure"]: one["device"] for one in plan(store, device="cuda:0,1", measures="core,bfs,components")}
    assert planned == {"core": "cuda:0,1", "bfs": "cuda:0", "components": "cuda:0"}  # the others have no rows yet
    said, wanted = [], {"measures": "pagerank,bfs", "refresh": True}
    found = [evaluate(store, device=device, progress=said.append, **wanted) for device in ("cuda:0,1", "cpu")]
    assert json.dumps(found[0].as_dict()) == json.dumps(found[1].as_dict())
    assert any(one.startswith("bfs") and "on 2 GPUs" in one for one in said)
