"""Measures of a graph that is spread over several GPUs find what one GPU and the host find, by either exchange.

A machine with one GPU pretends to have it several times.
"""

import json

import numpy as np
import pytest
from helpers.gpu import device_or_skip, hub_store, need_gpus

FIRST = device_or_skip()

import cupy
from helpers.graphs import WideStore, random_store, store_of
from helpers.networks import GRAPHS, same, stores, sums_of_values
from helpers.temporal import events_store, random_events
from helpers.triangles import FEW_RANKED, KINDS_OF_VERTICES, limit_kinds

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import bfs, pooled_network, sums, triangles, triangles_spread
from csaw.engine.analytics.cuda.network import DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.cuda.several_gpus import Counters
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.measure import find
from csaw.engine.analytics.network import on_host
from csaw.engine.analytics.spread import STATE_BYTES, Spread, edge_bytes
from csaw.engine.bench.graphs import by_partitioner, copied
from csaw.engine.cuda.device import open_device
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, OptionError

COUNT = need_gpus(1)
OTHERS = tuple(open_device(number) for number in range(1, COUNT)) or (FIRST,)
EXCHANGES = [None, *Exchange]
RANKING = {"pagerank": {"tolerance": 1e-9}, "personalized-pagerank": {"rank_sources": "0"}, "assortativity": {}}
STORES = GRAPHS | {
    "hub": lambda path: hub_store(path, False),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "two parts": lambda path: store_of(
        path, [(v, v + 1, 1) for v in range(639) if v != 319], directed=False, vertices=640
    ),
}


def pooled(store, folder, *, others=OTHERS, exchange=None, gpu_memory=None):
    """The graph over all GPUs; its derived stores go to ``folder``."""
    options = {"gpu_memory": gpu_memory, "exchange": exchange, "derived": folder, "threads": 2}
    return PooledNetwork(store, FIRST, others=others, residency=Residency.POOLED, **options)


def least(store, gpus):
    """The bytes that each of so many GPUs needs, with blocks of others' rows of about a row."""
    offsets = HostNetwork(store).offsets
    return STATE_BYTES * store.vertices + Spread.of(offsets, gpus).bytes_of_rows(store)


def each_pooled(folder, *, directed, exchange=None, weighted=False, more=0):
    """The host's network of every graph, and one over two GPUs and one over more, in all memory and in the least.

    ``more``: bytes beside the least.
    """
    for store in stores(folder, directed=directed, weighted=weighted):
        if isinstance(store, WideStore) and directed:
            continue  # the store of its other direction is narrow
        host = HostNetwork(store)
        for others in (OTHERS, 3 * OTHERS):
            for gpu_memory in (None, least(store, 1 + len(others)) + more):
                network = pooled(store, folder, others=others, exchange=exchange, gpu_memory=gpu_memory)
                yield host, network
                network.close()
        host.close()


@pytest.mark.parametrize("few", [0, 40, bfs.FEW_OF_SPREAD])
@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("directed", [True, False])
def test_searches(directed, exchange, few, tmp_path, monkeypatch):
    """However many vertices the first GPU takes as few, whose rows it reads in the memory of others."""
    monkeypatch.setattr(bfs, "FEW_OF_SPREAD", few)
    for host, network in each_pooled(tmp_path, directed=directed, exchange=exchange):
        for source in {0, host.vertices // 2, host.vertices - 1}:
            wanted = host.compute("bfs", source=source)
            assert np.array_equal(network.compute("bfs", source=source).get(), wanted)


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("directed", [True, False])
def test_sums_of_weights(directed, exchange, tmp_path):
    for host, network in each_pooled(tmp_path, directed=directed, exchange=exchange, weighted=True):
        for source in {0, host.vertices - 1}:
            wanted = host.compute("sssp", source=source)
            assert np.array_equal(network.compute("sssp", source=source).get(), wanted)
            tree = host.compute("predecessors", source=source, distance=wanted)
            assert np.array_equal(network.compute("predecessors", source=source, distance=wanted), tree)


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("directed", [True, False])
def test_components_and_cores(directed, exchange, tmp_path):
    for host, network in each_pooled(tmp_path, directed=directed, exchange=exchange):
        for what in ("components", "strong_components"):
            assert np.array_equal(on_host(network.compute(what)), host.compute(what))
        assert np.array_equal(network.undirected.compute("core").get(), host.undirected.compute("core"))


@pytest.mark.parametrize("directed", [True, False])
def test_hops_and_betweenness(directed, tmp_path):
    for host, network in each_pooled(tmp_path, directed=directed):
        many = np.arange(min(host.vertices, 130)) * 7 % host.vertices  # three words, some sources twice
        some = np.arange(0, host.vertices, max(1, host.vertices // 5))
        assert np.array_equal(network.compute("hops", sources=many), host.compute("hops", sources=many))
        for sources in (some, some[:1]):
            wanted = host.compute("betweenness", sources=sources)
            assert np.array_equal(on_host(network.compute("betweenness", sources=sources)), wanted)


@pytest.mark.parametrize("gpus", [2, 4])
@pytest.mark.parametrize("name", ["hub", "larger", "larger directed"])
def test_no_rows_cross_the_link_and_the_host_waits_once_a_level(name, gpus, tmp_path, monkeypatch):
    store, waits = STORES[name](tmp_path / "g.zarr"), []
    monkeypatch.setattr(pooled_network, "PeerCopies", fails)
    monkeypatch.setattr(bfs, "FEW_OF_SPREAD", 0)
    read = Counters.read
    monkeypatch.setattr(Counters, "read", lambda self: (waits.append(self), read(self))[1])
    network, host = pooled(store, tmp_path / "derived", others=(gpus - 1) * OTHERS[:1]), HostNetwork(store)
    network.compute("components")
    levels = 1 + int(network.compute("bfs", source=5).max())
    assert len(waits) <= gpus * (levels + 1)  # once more where the frontier is shared out first
    waits.clear()
    table = network.compute("hops", sources=np.arange(64))
    assert np.array_equal(table, host.compute("hops", sources=np.arange(64)))
    assert len(waits) <= gpus * table.shape[1]
    waits.clear()
    network.compute("betweenness", sources=np.array([5]))
    assert len(waits) <= gpus * (levels + 1)  # those of its search
    network.close()


def fails(*_):
    raise AssertionError("this way is not to be taken")


def without(monkeypatch, module):
    """Let counts of triangles by a module fail."""
    monkeypatch.setattr(module, "counted", fails)


def check_triangles(network, wanted):
    total, vertices = network.compute("triangles")
    assert total == wanted[0]
    assert np.array_equal(vertices.get(), wanted[1])
    assert network.compute("triangles", each=False) == (wanted[0], None)


@pytest.mark.parametrize("directed", [True, False])
def test_triangles_of_every_shape(directed, tmp_path):
    fixed = find("triangles").KEEPS["cuda"].fixed
    for host, network in each_pooled(tmp_path, directed=directed, more=fixed):
        check_triangles(network.undirected, host.undirected.compute("triangles"))


@pytest.mark.parametrize("gpus", [2, 4])
@pytest.mark.parametrize("name", FEW_RANKED)
def test_triangles_among_vertices_without_two_neighbors(name, gpus, tmp_path, monkeypatch):
    """On the GPUs, in one piece of lists or in many; and by way of the host."""
    store, others = FEW_RANKED[name](tmp_path / "g.zarr"), (gpus - 1) * OTHERS[:1]
    wanted = HostNetwork(store).undirected.compute("triangles")
    for fine in (1, triangles_spread.FINE):
        monkeypatch.setattr(triangles_spread, "FINE", fine)
        network = pooled(store, tmp_path, others=others)
        check_triangles(network.undirected, wanted)
        network.close()
    monkeypatch.setattr(triangles_spread, "has_room", lambda network: False)
    network = pooled(store, tmp_path, others=others)
    check_triangles(network.undirected, wanted)
    network.close()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("gpus", [2, 4])
@pytest.mark.parametrize(("hubs", "many", "long", "dense"), KINDS_OF_VERTICES)
def test_triangles_stay_on_the_gpus(hubs, many, long, dense, gpus, tmp_path, monkeypatch):
    """Lists are not brought to the host, in all memory and in the least that does without."""
    limit_kinds(monkeypatch, hubs, many, long, dense)
    for name, value in (("LEAST_ROOM", 1 << 14), ("MOST_WORKS", 4), ("FINE", 12)):
        monkeypatch.setattr(triangles_spread, name, value)
    without(monkeypatch, triangles)
    for vertices, edges in ((10_000, 100_000), (1500, 300_000)):
        store = random_store(tmp_path / f"{edges}.zarr", vertices=vertices, edges=edges, weighted=False, partitions=4)
        wanted, others = HostNetwork(store).compute("triangles"), (gpus - 1) * OTHERS[:1]
        network = pooled(store, tmp_path, others=others)
        check_triangles(network, wanted)
        for gpu_memory in (triangles_spread.least_memory(network), triangles_spread.least_memory(network) + 300_000):
            tight = pooled(store, tmp_path, others=others, gpu_memory=gpu_memory)
            check_triangles(tight, wanted)
            tight.close()
        network.close()


def test_triangles_go_by_way_of_the_host_where_lists_have_no_room(tmp_path, monkeypatch):
    store = STORES["larger"](tmp_path / "g.zarr")
    wanted = HostNetwork(store).compute("triangles")
    without(monkeypatch, triangles_spread)
    needed = triangles_spread.least_memory(pooled(store, tmp_path, others=OTHERS[:1]))
    for gpu_memory in (least(store, 2), needed - 1):
        network = pooled(store, tmp_path, others=OTHERS[:1], gpu_memory=gpu_memory)
        source = network.compute("bfs", source=0).get()
        check_triangles(network, wanted)
        assert np.array_equal(network.compute("bfs", source=0).get(), source)  # its rows come again
        network.close()


def test_triangles_take_no_more_memory_than_they_may(tmp_path, monkeypatch):
    need_gpus()
    store = random_store(tmp_path / "g.zarr", vertices=30_000, edges=4_000_000, weighted=False)
    wanted, pool = HostNetwork(store).compute("triangles", each=False), cupy.cuda.MemoryPool()
    gpu_memory = triangles_spread.least_memory(pooled(store, tmp_path, others=OTHERS[:1]))
    assert gpu_memory < STATE_BYTES * store.vertices + 10 * store.edges  # of one GPU that has all rows
    without(monkeypatch, triangles)
    for number in (0, 1):
        with cupy.cuda.Device(number):
            pool.set_limit(size=int(1.2 * gpu_memory))  # CuPy rounds sizes up
    cupy.cuda.set_allocator(pool.malloc)
    try:
        network = pooled(store, tmp_path, others=OTHERS[:1], gpu_memory=gpu_memory)
        assert network.compute("triangles", each=False) == wanted
        network.close()
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("measure", RANKING)
@pytest.mark.parametrize("name", STORES)
def test_ranks_and_assortativity(name, measure, exchange, tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "NOTING", 1000)
    store = STORES[name](tmp_path / "g.zarr")
    one = find(measure)(**RANKING[measure])
    wanted = one.findings(HostNetwork(store))
    for others in (OTHERS, 3 * OTHERS):
        network = pooled(store, tmp_path / "derived", others=others, exchange=exchange)
        for _ in range(2):  # the second time, rows are there
            assert same(one.findings(network), wanted)
        network.close()


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", ["larger", "larger directed"])
def test_ranks_of_rows_that_all_gpus_have(name, exchange, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    one = find("pagerank")(tolerance=1e-9)
    network = DeviceNetwork(store, FIRST, others=2 * OTHERS, threads=2, exchange=exchange)
    assert same(one.findings(network), one.findings(HostNetwork(store)))
    network.close()


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", ["hub", "larger", "larger directed", "two parts"])
def test_larger_graphs(name, exchange, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    network, host = pooled(store, tmp_path / "derived", exchange=exchange), HostNetwork(store)
    assert len({first for first, last in network.shares if first < last}) == 1 + len(OTHERS)
    for source in (0, 7, store.vertices - 1):
        assert np.array_equal(network.compute("bfs", source=source).get(), host.compute("bfs", source=source))
    assert np.array_equal(network.compute("components").get(), host.compute("components"))
    assert np.array_equal(network.undirected.compute("core").get(), host.undirected.compute("core"))
    network.close()


@pytest.mark.parametrize("name", ["larger", "larger directed"])
def test_a_graph_of_twice_the_memory_of_a_gpu(name, tmp_path):
    """One GPU does not hold the rows, and no GPU is given more of them than its share."""
    store = STORES[name](tmp_path / "g.zarr")
    gpu_memory = least(store, 2)
    assert STATE_BYTES * store.vertices + edge_bytes(store) * store.edges > gpu_memory
    with pytest.raises(BudgetError):
        DeviceNetwork(store, FIRST, gpu_memory=gpu_memory, residency=Residency.RESIDENT)
    with pytest.raises(BudgetError, match="name more GPUs"):
        pooled(store, tmp_path, others=OTHERS[:1], gpu_memory=gpu_memory - 1)
    network, host = pooled(store, tmp_path, others=OTHERS[:1], gpu_memory=gpu_memory), HostNetwork(store)
    many = np.arange(130) * 7
    assert np.array_equal(network.compute("bfs", source=5).get(), host.compute("bfs", source=5))
    assert np.array_equal(network.compute("hops", sources=many), host.compute("hops", sources=many))
    assert same(find("pagerank")().findings(network), find("pagerank")().findings(host))
    held = [one.held[False].indices.nbytes for one in network.everywhere if one.held]
    assert all(edge_bytes(store) * network.spread.entries >= size for size in held)
    network.close()


@pytest.mark.parametrize("partitioner", ["random", "degree"])
def test_a_partitioner_decides_who_owns_which_vertices(partitioner, tmp_path):
    plain = copied(STORES["larger"](tmp_path / "g.zarr"), 1, tmp_path)
    store, _ = by_partitioner(plain, partitioner, 3, tmp_path)
    network, host = pooled(store, tmp_path, others=2 * OTHERS[:1]), HostNetwork(store)
    begins = [part.first_vertex for part in store.partitions]
    assert all(abs(first - begin) <= 16 for (first, _), begin in zip(network.shares, begins, strict=True))
    assert np.array_equal(network.compute("bfs", source=5).get(), host.compute("bfs", source=5))
    assert same(find("pagerank")().findings(network), find("pagerank")().findings(host))
    check_triangles(network, host.compute("triangles"))
    network.close()


def test_rows_of_both_directions_take_turns_where_they_do_not_fit_together(tmp_path):
    store = STORES["larger directed"](tmp_path / "g.zarr")
    values, wanted = sums_of_values(store, "arriving_sums")
    for gpu_memory, both in ((None, True), (least(store, 1 + len(OTHERS)) + 100_000, False)):
        network = pooled(store, tmp_path / "derived", gpu_memory=gpu_memory)
        for _ in range(2):
            network.compute("components")
            assert np.array_equal(network.compute("arriving_sums", values=cupy.asarray(values)).get(), wanted)
            assert network.incoming.pooled
            assert (bool(network.held), bool(network.incoming.held)) == (both, True)
        network.close()


def test_sums_are_pushed_where_nothing_holds_the_other_direction(tmp_path):
    store = STORES["larger directed"](tmp_path / "g.zarr")
    values, wanted = sums_of_values(store, "arriving_sums")
    memory = 48 * store.vertices + 40 * store.max_degree
    network = PooledNetwork(
        store, FIRST, others=OTHERS, residency=Residency.POOLED, memory=memory, derived=tmp_path / "derived"
    )
    assert not network.host.can_have_incoming
    assert np.array_equal(network.compute("arriving_sums", values=cupy.asarray(values)).get(), wanted)
    network.close()


@pytest.mark.parametrize("gpus", [2, 4])
def test_betweenness_along_directions(gpus, tmp_path):
    """Rows of both directions are spread where they fit together, and others of the graph give way."""
    store, others = STORES["larger directed"](tmp_path / "g.zarr"), (gpus - 1) * OTHERS[:1]
    sources = np.arange(7) * 1000
    wanted = HostNetwork(store).compute("betweenness", sources=sources)
    one = pooled(store, tmp_path, others=others)
    rows = [way.spread.bytes_of_rows(way.store) for way in (one, one.incoming)]
    one.close()
    both = STATE_BYTES * store.vertices + sum(rows)
    for gpu_memory, fits in ((None, True), (both, True), (both - 1, False)):
        network = pooled(store, tmp_path, others=others, gpu_memory=gpu_memory)
        network.undirected.compute("components")
        for turn in (sources, sources[:1], sources):
            found = network.compute("betweenness", sources=turn)
            assert np.array_equal(on_host(found), wanted if turn.size > 1 else of_one(store, turn))
        assert (bool(network.held), bool(network.incoming.held)) == (fits, fits)
        assert np.array_equal(network.compute("bfs", source=5).get(), HostNetwork(store).compute("bfs", source=5))
        network.close()


def of_one(store, source):
    """Betweenness from one source, on the host."""
    return HostNetwork(store).compute("betweenness", sources=source)


def test_what_needs_all_rows_is_refused_by_the_network(tmp_path):
    network = pooled(STORES["larger"](tmp_path / "g.zarr"), tmp_path)
    with pytest.raises(OptionError, match="--residency streamed"):
        network.compute("masked_product")
    network.close()


MEASURES = "degree,components,bfs,sssp,core,hops,pagerank,assortativity,triangles,betweenness"


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_the_command_measures_a_graph_that_is_spread(directed, exchange, tmp_path):
    need_gpus()
    store = random_store(tmp_path / "g.zarr", vertices=3000, edges=40_000, directed=directed, partitions=4)
    wanted = {"measures": MEASURES, "betweenness_sources": 3, "refresh": True}
    said, more = [], {} if exchange is None else {"exchange": exchange}
    spread = evaluate(store, device="cuda:1,0", residency="pooled", progress=said.append, **wanted, **more)
    assert json.dumps(spread.as_dict()) == json.dumps(evaluate(store, device="cpu", **wanted).as_dict())
    assert any(one.startswith("core") and one.endswith("on 2 GPUs") for one in said)
    assert any(one.startswith("triangles") and one.endswith("on 2 GPUs") for one in said)


@pytest.mark.parametrize("window", [{"until": 0}, {"between": (-3, 40)}, {"until": -99}])
def test_a_window_of_time_that_is_spread(window, tmp_path):
    need_gpus()
    store = events_store(tmp_path / "g.zarr", random_events(900, 20_000, 5), 900, partitions=3)
    wanted = {"measures": "components,bfs,core,hops,pagerank,assortativity", "refresh": True, **window}
    found = evaluate(store, device="cuda:0,1", residency="pooled", **wanted)
    assert same(found.by_measure, evaluate(store, device="cpu", **wanted).by_measure)


def test_a_graph_that_one_gpu_does_not_hold_is_spread_by_itself(tmp_path):
    need_gpus()
    store = STORES["larger"](tmp_path / "g.zarr")
    kept = find("pagerank")().keeps("cuda", store.directed).bytes(store.vertices, store.edges, 4)
    given = {"measures": "pagerank,bfs", "gpu_memory": least(store, 2), "refresh": True}
    [ranks] = [one for one in plan(store, device="cuda:0,1", **given) if one["measure"] == "pagerank"]
    assert not ranks["graph"].startswith("spread over ")  # it keeps more than what is set aside at first
    given["gpu_memory"] += kept - STATE_BYTES * store.vertices
    for device in ("cuda:0,1", "auto"):
        planned = {one["measure"]: one for one in plan(store, device=device, **given)}
        assert planned["pagerank"]["graph"].startswith("spread over ")
        assert planned["bfs"]["device"].startswith("cuda:0,1")
    found = [evaluate(store, device=device, **given) for device in ("cuda:0,1", "cuda:0", "cpu")]
    assert json.dumps(found[0].as_dict()) == json.dumps(found[1].as_dict()) == json.dumps(found[2].as_dict())
