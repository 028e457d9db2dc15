"""Measures of one's own have the same bits on a GPU as on the CPU, whatever does a round.

In memory and streamed; by several GPUs, which have all rows or their own ones. A machine with one GPU pretends to have
it several times.
"""

from itertools import chain, product

import numpy as np
import pytest
from helpers.gpu import device_or_skip, need_gpus

gpu = device_or_skip()

from helpers.graphs import WideStore, random_store, store_of
from helpers.networks import GRAPHS, pairs_of, same
from helpers.own_measures import KINDS, Endless, Farthest, of_the_page

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.cuda import rounds
from csaw.engine.analytics.cuda.network import STATE_BYTES, DeviceNetwork
from csaw.engine.analytics.cuda.pooled_network import PooledNetwork
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.cuda.device import open_device
from csaw.engine.measure import Measure
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, OptionError

COUNT = need_gpus(1)
OTHERS = tuple(open_device(number) for number in range(1, COUNT)) or (gpu,)
HUB = 20_000  # neighbors of a hub: more than a block has threads, and more pieces of a sum than a warp has lanes


def hubs_store(path, *, directed):
    """Two hubs with repeats between them, a chain on which rounds go on and on, and vertices of every other kind."""
    rng = np.random.default_rng(5)
    ends = rng.integers(0, HUB, (2, HUB)).tolist()
    edges = [(0, v, 0.5 + v % 7) for v in ends[0]] + [(v, 1, 1 + v % 5) for v in ends[1]] + 70 * [(0, 1, 0.25)]
    edges += [(v, v + 1, 0.125 * (1 + v % 11)) for v in range(HUB, HUB + 300)] + [(HUB + 200, 7, 3.0)]
    return store_of(path, edges, directed=directed, vertices=HUB + 400)


WEIGHTED = {
    "random": lambda path: random_store(path, vertices=700, edges=6000, partitions=3),
    "random directed": lambda path: random_store(path, vertices=700, edges=6000, directed=True),
    "repeated": GRAPHS["repeated"],
    "one loop": GRAPHS["one loop"],
    "no edges": GRAPHS["no edges"],
    "one vertex": GRAPHS["one vertex"],
    "star inwards": GRAPHS["star inwards"],
    "troubled": GRAPHS["troubled"],
    "wide": lambda path: WideStore(random_store(path, vertices=700, edges=6000)),
    "wide directed": lambda path: WideStore(random_store(path, vertices=700, edges=6000, directed=True)),
    "hubs": lambda path: hubs_store(path, directed=False),
    "hubs directed": lambda path: hubs_store(path, directed=True),
    "larger": lambda path: random_store(path, vertices=30_000, edges=400_000, partitions=4),
    "larger directed": lambda path: random_store(path, vertices=30_000, edges=400_000, directed=True),
}


def on_several(store, folder, exchanges=tuple(Exchange)):
    """In the memory of two GPUs, and of more; and spread over them, in all memory and in little."""
    given = {"threads": 2, "derived": folder}
    for others, exchange in zip((OTHERS, 3 * OTHERS), exchanges, strict=True):
        yield DeviceNetwork(store, gpu, others=others, exchange=exchange, **given)
    if isinstance(store, WideStore) and store.directed:
        return  # the store of its other direction is narrow
    for others, exchange in zip((OTHERS, 3 * OTHERS), reversed(exchanges), strict=True):
        network = PooledNetwork(store, gpu, others=others, exchange=exchange, residency=Residency.POOLED, **given)
        least = STATE_BYTES * store.vertices + network.spread.bytes_of_rows(store)
        yield network
        more = {"residency": Residency.POOLED, "gpu_memory": 2 * least + 100_000}
        yield PooledNetwork(store, gpu, others=others, exchange=exchange, **more, **given)


def on_gpus(store, folder):
    """In memory; and streamed in blocks of about a row, or some dozens of them for a large graph, and of more."""
    if isinstance(store, WideStore) and store.directed:
        yield DeviceNetwork(store, gpu, threads=2, derived=folder)
        return
    longest = max(len(row) for row in pairs_of(store)[1])
    least = STATE_BYTES * store.vertices + 2 * (4 + 4 * store.weighted) * max(longest, 1)
    yield DeviceNetwork(store, gpu, threads=2, derived=folder)
    for more in (0, 9000) if store.edges < 50_000 else (100_000, 400_000):
        given = {"gpu_memory": least + more, "residency": Residency.HOST}
        yield DeviceNetwork(store, gpu, threads=2, derived=folder, **given)


def compare(one, store, folder):
    """Compare findings of a measure on a GPU with those on the CPU."""
    wanted = one.findings(HostNetwork(store, threads=2))
    for network in chain(on_gpus(store, folder), on_several(store, folder)):
        assert same(one.findings(network), wanted)
        network.close()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("graph", WEIGHTED)
@pytest.mark.parametrize("name", ["Distance", "WeightFrom", "Label", "Rank", "RankInUnits", "KCore"])
def test_classes_of_the_page_find_what_the_cpu_finds(name, graph, tmp_path):
    store = WEIGHTED[graph](tmp_path / "g.zarr")
    one = of_the_page(tmp_path, name)
    compare(one(source=0) if "source" in one.options() else one(), store, tmp_path / "derived")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("graph", WEIGHTED)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_class_finds_what_the_cpu_finds(kind, graph, tmp_path):
    store = WEIGHTED[graph](tmp_path / "g.zarr")
    compare(kind(source=0) if "source" in kind.options() else kind(), store, tmp_path / "derived")


@pytest.mark.parametrize(("few", "share"), list(product((0, 300, 1 << 40), (1, 15, 1 << 40))))
def test_rounds_are_pushed_pulled_and_queued_alike(few, share, tmp_path, monkeypatch):
    """With no queue, with turns to and from it, and with nothing else; pulled never, as by default, and always."""
    monkeypatch.setattr("csaw.engine.analytics.cuda.round_state.FEW", few)
    monkeypatch.setattr("csaw.engine.analytics.cuda.round_state.PULL_SHARE", share)
    for graph, name in product(("hubs", "hubs directed", "random"), ("Distance", "WeightFrom", "Label")):
        store = WEIGHTED[graph](tmp_path / f"{graph} {name}.zarr")
        one = of_the_page(tmp_path, name)
        one = one(source=1) if "source" in one.options() else one()
        wanted = one.findings(HostNetwork(store))
        for others in ((), OTHERS, 3 * OTHERS):
            network = DeviceNetwork(store, gpu, others=others, exchange=Exchange.SELECTIVE, derived=tmp_path)
            assert network.incoming.vertices == store.vertices  # then rounds of a directed graph are pulled, too
            assert rounds.rounds_pays(network, one) == bool(others)
            assert same(one.findings(network), wanted)
            network.close()


def test_a_measure_runs_on_the_gpu_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr("csaw.engine.analytics.cpu.rounds.rounds", None)  # calling it is an error
    store = WEIGHTED["random"](tmp_path / "g.zarr")
    found = evaluate(store, measures=[of_the_page(tmp_path, "Label")], device="cuda:0")
    assert found.profile["Label"].values.tolist() == HostNetwork(store).compute("components").tolist()


def test_large_graphs_are_shared_where_rows_are_read_to_their_ends(tmp_path, monkeypatch):
    need_gpus()
    store = WEIGHTED["random"](tmp_path / "g.zarr")
    for large, name, device in (
        (0, "Rank", "0,1"),
        (0, "WeightFrom", "0,1"),
        (0, "Label", "0"),
        (1 << 40, "Rank", "0"),
    ):
        monkeypatch.setattr(rounds, "LARGE", large)
        [planned] = plan(store, device="cuda:0,1", measures=[of_the_page(tmp_path, name)])
        assert planned["device"] == f"cuda:{device}"


def test_residencies_find_the_same(tmp_path):
    store = WEIGHTED["larger"](tmp_path / "g.zarr")
    one = of_the_page(tmp_path, "WeightFrom")(source=3)
    wanted = one.findings(HostNetwork(store))
    least = STATE_BYTES * store.vertices + 16 * store.max_degree
    for residency in (Residency.RESIDENT, Residency.HOST, Residency.DISK):
        gpu_memory = None if residency is Residency.RESIDENT else least + 500_000
        network = DeviceNetwork(store, gpu, gpu_memory=gpu_memory, residency=residency, derived=tmp_path)
        assert same(one.findings(network), wanted)
        network.close()


def test_rows_backward_with_weights_are_kept_streamed_or_refused_by_the_memory_that_is_left(tmp_path):
    store, said = WEIGHTED["larger directed"](tmp_path / "g.zarr"), "with reversed edges, for which only"
    wanted = Farthest(source=0).findings(HostNetwork(store))
    state, rows = STATE_BYTES * store.vertices, 8 * store.edges
    for gpu_memory, fits in ((state + rows, False), (2 * state + 3 * rows // 2, True), (3 * state + 3 * rows, True)):
        network = DeviceNetwork(store, gpu, gpu_memory=gpu_memory, derived=tmp_path)
        assert network.resident
        if fits:
            assert same(Farthest(source=0).findings(network), wanted)
        else:
            with pytest.raises(BudgetError, match=said):
                Farthest(source=0).findings(network)
        network.close()


# What is refused


class Listed(Measure):
    """A list is something that a CPU computes with, and a GPU does not."""

    def start(self, v):
        return v.id

    def edge(self, e):
        return [e.value, e.src][e.dst % 2]


class Undefined(Measure):
    """Not a number at the vertex of largest degree, in the second round."""

    rounds = 3

    def start(self, v):
        return 1.0

    def edge(self, e):
        return e.value - e.round

    def vertex(self, v):
        return v.value * (0.0 / (2.0 - v.round)) if v.degree > 1 else v.combined


class NoStart(Measure):
    def start(self, v):
        return 0.0 / (v.id - 3.0) if v.id < 4 else 1.0


class NoEdge(Measure):
    def start(self, v):
        return 1.0 * v.id

    def edge(self, e):
        return e.value - 0.0 / (e.value - 5.0)


@pytest.mark.parametrize("kind", [Undefined, NoStart, NoEdge, Endless])
def test_a_refusal_is_that_of_the_cpu(kind, tmp_path):
    store = WEIGHTED["random"](tmp_path / "g.zarr")
    with pytest.raises(OptionError) as wanted:
        kind().findings(HostNetwork(store, threads=1))
    for network in chain(on_gpus(store, tmp_path / "derived"), on_several(store, tmp_path / "derived")):
        with pytest.raises(OptionError) as found:
            kind().findings(network)
        assert str(found.value) == str(wanted.value)
        network.close()


def test_a_hook_that_no_gpu_can_run_is_refused_with_its_line(tmp_path):
    network = DeviceNetwork(WEIGHTED["random"](tmp_path / "g.zarr"), gpu)
    with pytest.raises(OptionError, match=r"line \d+ of .*: Listed.edge cannot be compiled for a GPU: .* --device cpu"):
        Listed().findings(network)
