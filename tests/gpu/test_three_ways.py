"""Masked products and matches of patterns on a GPU count what the host counts, with labels or without, in any room."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, hub_store

gpu = device_or_skip()

from helpers.graphs import WideStore, random_store, store_of
from helpers.networks import GRAPHS, same
from helpers.triangles import FEW_RANKED

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import footprints, oriented, patterns
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.measures.patterns import Patterns
from csaw.engine.analytics.measures.triangles import Triangles
from csaw.engine.analytics.pattern import PATTERNS, Asked, size_of
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, DeviceError

SMALL = GRAPHS | FEW_RANKED
STORES = SMALL | {
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, weighted=False, directed=True),
    "dense": lambda path: random_store(path, vertices=3000, edges=1_500_000, weighted=False),
    "hub": lambda path: hub_store(path, False),
    "clique": lambda path: store_of(path, [(u, v, 1) for u in range(300) for v in range(u)], directed=False),
}
FEW_WAYS = (
    "triangle",
    "square",
    "paw",
    "diamond",
    "clique4",
    "path4",
    "star4",
)  # that a larger graph can do in seconds


@pytest.mark.parametrize("way", ["matrix", "match"])
@pytest.mark.parametrize("name", STORES)
def test_triangles_are_those_of_the_host(name, way, tmp_path):
    store = STORES[name](tmp_path / "g.zarr")
    wanted = Triangles(triangles=way).findings(HostNetwork(store))
    network = DeviceNetwork(store, gpu, derived=tmp_path)
    assert same(Triangles(triangles=way).findings(network), wanted)
    total, vertices = network.undirected.compute(*Triangles(triangles=way).computes(store.directed), each=False)
    assert (total, vertices) == (wanted["triangles"].value, None)
    network.close()


def asked_of(names, seed=0):
    """Each pattern without labels, and with some of three labels, of which a vertex may ask for none."""
    rng = np.random.default_rng(seed)
    labelled = [Asked(name, tuple(rng.integers(-1, 3, size_of(name)).tolist())) for name in names for _ in range(3)]
    return [*map(Asked, names), *labelled]


def check_patterns(store, names, network):
    host = HostNetwork(store).undirected
    labels = np.random.default_rng(3).integers(0, 3, store.vertices).astype(np.int32)
    asked = asked_of(names)
    wanted = host.compute("patterns", asked=asked, labels=labels)
    assert network.undirected.compute("patterns", asked=asked, labels=labels) == wanted
    assert network.undirected.compute("patterns", asked=asked[: len(names)]) == wanted[: len(names)]


@pytest.mark.parametrize("name", SMALL)
def test_patterns_are_those_of_the_host(name, tmp_path):
    store = SMALL[name](tmp_path / "g.zarr")
    names = tuple(PATTERNS) if store.vertices <= 100 else FEW_WAYS
    network = DeviceNetwork(store, gpu, derived=tmp_path)
    check_patterns(store, names, network)
    network.close()


@pytest.mark.parametrize("room", [300, 5000])
def test_tables_of_any_size_give_the_same(tmp_path, monkeypatch, room):
    monkeypatch.setattr(patterns, "LEAST_MATCHES", room)
    monkeypatch.setattr(patterns, "MOST", room)
    for name, names in (("clique", tuple(PATTERNS)), ("random", ("triangle", "paw", "diamond", "clique4"))):
        store = SMALL[name](tmp_path / f"{name}.zarr")
        network = DeviceNetwork(store, gpu)
        check_patterns(store, names, network)
        network.close()


def test_a_larger_graph_has_the_patterns_of_the_host(tmp_path):
    store = STORES["larger"](tmp_path / "g.zarr")
    network = DeviceNetwork(store, gpu)
    check_patterns(store, ("triangle", "clique4", "clique5"), network)
    network.close()


def test_the_measure_says_what_it_says_on_the_host(tmp_path):
    store = SMALL["random directed"](tmp_path / "g.zarr")
    labels = np.arange(store.vertices) % 4
    options = {"pattern": "triangle:0:1:2,wedge:*:3:*,clique4:0:*:*:*,square:1:1:*:*", "vertex_labels": labels}
    wanted = Patterns(**options).findings(HostNetwork(store))
    found = evaluate(store, measures="patterns", device="cuda", refresh=True, **options)
    assert found.profile == wanted


@pytest.mark.parametrize(
    ("what", "least", "neighbors"),
    [("masked_product", 2, "two neighbors"), ("matched_triangles", 1, "one neighbor"), ("patterns", 1, "one neighbor")],
)
def test_vertices_with_neighbors_that_32_bits_do_not_number_are_refused(what, least, neighbors, tmp_path, monkeypatch):
    store = STORES["wide leaves"](tmp_path / "g.zarr")
    numbered, options = int((np.diff(store.read_indptr()) >= least).sum()), {"asked": [Asked("square")]}
    network = DeviceNetwork(store, gpu)
    monkeypatch.setattr(oriented, "MOST_RANKED", numbered - 1)
    refusal = rf"fewer than 2\^32 vertices with {neighbors} or more, found {numbered:,}, .* pass --device cpu"
    with pytest.raises(DeviceError, match=refusal):
        network.compute(what, **(options if what == "patterns" else {}))
    network.close()


def test_what_the_gpu_does_not_hold_is_refused_with_the_bytes_that_it_takes(tmp_path):
    store = STORES["larger"](tmp_path / "g.zarr")
    for what, extra in (("masked_product", {}), ("matched_triangles", {}), ("patterns", {"asked": [Asked("square")]})):
        small = STATE_BYTES * store.vertices + 4 * store.edges
        with pytest.raises(BudgetError, match="of a GPU's memory, .* raise --gpu-memory to") as refusal:
            DeviceNetwork(store, gpu, gpu_memory=small).compute(what, **extra)
        least = int(str(refusal.value).partition("raise --gpu-memory to ")[2].partition(", or")[0].replace(",", ""))
        network = DeviceNetwork(store, gpu, gpu_memory=least)
        assert network.compute(what, **extra)
        network.close()
        streamed = DeviceNetwork(store, gpu, gpu_memory=least, residency=Residency.HOST)
        with pytest.raises(BudgetError, match="need all rows in the memory of the GPU; leave out --residency streamed"):
            streamed.compute(what, **extra)
        streamed.close()


@pytest.mark.parametrize(
    "one", [Patterns(pattern="square"), Triangles(triangles="match"), Triangles(triangles="matrix")]
)
def test_what_the_gpu_does_not_hold_runs_on_the_cpu_where_csaw_chooses(one, tmp_path):
    store = SMALL["random"](tmp_path / "g.zarr")
    wanted = one.findings(HostNetwork(store))
    [module] = one.computes(False)
    more = footprints.WORKS[module].more.bytes(store.vertices, store.edges)
    needed = one.keeps("cuda", False).bytes(store.vertices, store.edges, 4) + 4 * store.edges + more
    for device, gpu_memory, why in (
        ("auto", needed, ""),
        ("auto", needed - 1, "the GPU has no room for its rows"),
        ("cuda", needed - 1, ""),
    ):
        with Networks(store, EvaluateOptions(device=device, gpu_memory=gpu_memory)) as networks:
            assert networks.aside(one) == (f", on the CPU, since {why}" if why else "")
            assert (networks.of(one) is networks.host) == bool(why)
            assert networks.of(Triangles()) is networks.gpu
            if device == "auto":
                assert same(one.findings(networks.of(one)), wanted)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("what", ["masked_product", "matched_triangles", "patterns"])
def test_the_memory_of_the_gpu_is_what_was_planned(tmp_path, what, wide):
    import cupy

    store = random_store(tmp_path / "g.zarr", vertices=20_000, edges=1_000_000, weighted=False)
    store = WideStore(store) if wide else store
    asked = {"asked": [Asked("clique4"), Asked("triangle", (0, 1, -1))], "labels": np.ones(20_000, np.int32)}
    options = asked if what == "patterns" else {}
    network, pool = DeviceNetwork(store, gpu), cupy.get_default_memory_pool()
    wanted = network.compute(what, **options)  # compiles
    network.close()
    pool.free_all_blocks()
    gpu_memory = 100 << 20
    pool.set_limit(size=pool.used_bytes() + int(1.2 * gpu_memory))  # CuPy rounds sizes up
    try:
        network = DeviceNetwork(store, gpu, gpu_memory=gpu_memory)
        found = network.compute(what, **options)
        assert found[0] == wanted[0]
        network.close()
    finally:
        pool.set_limit(size=0)
