"""Who owns which vertices of a spread graph, when csaw spreads it, and what it says where it cannot."""

from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store, store_of
from helpers.networks import SHAPES

from csaw.cli.main import cli
from csaw.engine.analytics.computations import SPREAD, lacking
from csaw.engine.analytics.evaluation.networks import Networks
from csaw.engine.analytics.evaluation.options import EvaluateOptions
from csaw.engine.analytics.exchange import Exchange
from csaw.engine.analytics.spread import GRAIN, STATE_BYTES, Spread, edge_bytes, place
from csaw.engine.bench.graphs import by_partitioner, copied
from csaw.engine.cuda import device
from csaw.engine.cuda.device import Device
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError, DeviceError, OptionError

LARGE = 1 << 40  # bytes
DEGREES = {
    "no vertices": [],
    "one vertex": [3],
    "no edges": [0] * 100,
    "even": [7] * 1000,
    "a hub first": [5000] + [1] * 999,
    "a hub last": [1] * 999 + [5000],
    "a hub within": [1] * 500 + [5000] + [1] * 500,
    "few vertices": [4] * 40,
    "a multiple of the grain": [2] * (4 * GRAIN),
    "random": np.random.default_rng(3).zipf(1.5, 3000).clip(0, 2000).tolist(),
}


def offsets_of(degrees):
    return np.concatenate([[0], np.cumsum(np.array(degrees, np.int64))])


def gpus(*free, peers=True):
    numbers = range(len(free))
    return tuple(
        Device(n, "none", "sm_90", 132, free[n], tuple(m for m in numbers if m != n) if peers else ()) for n in numbers
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("spread") / "g.zarr", vertices=3000, edges=200_000, weighted=False)


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("name", DEGREES)
def test_every_vertex_has_one_owner(name, count):
    offsets = offsets_of(DEGREES[name])
    found = Spread.of(offsets, count)
    assert len(found.ranges) == count
    assert [v for first, last in found.ranges for v in range(first, last)] == list(range(offsets.size - 1))
    assert all(first % GRAIN == 0 for first, last in found.ranges if first < offsets.size - 1 or first == last)
    shares = [sum(DEGREES[name][first:last]) for first, last in found.ranges]
    assert found.entries == max(shares)


@pytest.mark.parametrize("name", DEGREES)
def test_shares_of_two_are_as_equal_as_whole_words_allow(name):
    degrees = DEGREES[name]
    [(_, cut), _] = Spread.of(offsets_of(degrees), 2).ranges
    half = sum(degrees) // 2
    apart = {at: abs(sum(degrees[:at]) - half) for at in range(0, len(degrees) + 1, GRAIN)}
    assert apart[cut] == min(apart.values())


@pytest.mark.parametrize("most", [5000, 7000, 10**6])
@pytest.mark.parametrize("name", DEGREES)
def test_blocks_have_the_rows_of_one_owner(name, most):
    offsets = offsets_of(DEGREES[name])
    found = Spread.of(offsets, 3)
    begins = found.begins(offsets, most)
    assert all(offsets[vertex] == entry for vertex, entry in begins)
    blocks = list(pairwise([*(vertex for vertex, _ in begins), offsets.size - 1]))
    assert [v for first, last in blocks for v in range(first, last)] == list(range(offsets.size - 1))
    for first, last in blocks:
        assert sum(low <= first and last <= high for low, high in found.ranges if low < high) == 1
        assert offsets[last] - offsets[first] <= most


@pytest.mark.parametrize("partitioner", ["random", "biased-random", "degree"])
def test_shares_are_the_partitions_of_a_partitioner(partitioner, store, tmp_path):
    made, _ = by_partitioner(copied(store, 1, tmp_path), partitioner, 3, tmp_path)
    offsets = made.read_indptr()
    found = Spread.of_store(made, offsets, 3)
    begins = [part.first_vertex for part in made.partitions]
    assert all(abs(first - begin) <= GRAIN / 2 for (first, _), begin in zip(found.ranges, begins, strict=True))
    assert all(first % GRAIN == 0 for first, _ in found.ranges)
    assert found.ranges[-1][1] == made.vertices
    assert found.entries == max(offsets[last] - offsets[first] for first, last in found.ranges)
    assert Spread.of_store(made, offsets, 2) == Spread.of(offsets, 2)
    assert Spread.of_store(store, store.read_indptr(), len(store.partitions)) == Spread.of(
        store.read_indptr(), len(store.partitions)
    )


def placed(store, found, **given):
    given = {"residency": None, "gpu_memory": None} | given
    return place(store, store.read_indptr, found, **given)


def bytes_alone(store):
    return STATE_BYTES * store.vertices + edge_bytes(store) * store.edges


def bytes_of_each(store, count):
    return STATE_BYTES * store.vertices + Spread.of(store.read_indptr(), count).bytes_of_rows(store)


def test_a_graph_is_spread_where_it_fits_no_gpu_alone(store):
    pair = gpus(LARGE, LARGE)
    alone, each = bytes_alone(store), bytes_of_each(store, 2)
    assert each < alone
    assert placed(store, pair, gpu_memory=alone) == (pair, None)
    assert placed(store, pair, gpu_memory=alone - 1) == (pair, Residency.POOLED)
    assert placed(store, pair, gpu_memory=each) == (pair, Residency.POOLED)
    assert placed(store, pair, gpu_memory=each - 1) == (pair, None)  # in blocks
    assert placed(store, pair[:1], gpu_memory=each) == (pair[:1], None)
    assert placed(store, gpus(LARGE, LARGE, peers=False), gpu_memory=each)[1] is None


def test_free_memory_counts_where_the_user_does_not_say(store):
    room = int(bytes_of_each(store, 2) / 0.9) + 2
    assert placed(store, gpus(room, LARGE))[1] is Residency.POOLED
    assert placed(store, gpus(LARGE, room))[1] is Residency.POOLED
    assert placed(store, gpus(LARGE, room // 2))[1] is None


def test_what_the_user_says_is_done_or_refused(store):
    pair = gpus(LARGE, LARGE)
    assert placed(store, pair, residency=Residency.POOLED) == (pair, Residency.POOLED)
    for other in (Residency.RESIDENT, Residency.HOST, Residency.DISK):
        assert placed(store, pair, residency=other, gpu_memory=1) == (pair, other)
    with pytest.raises(OptionError, match="name them, as in --device cuda:0,1"):
        placed(store, pair[:1], residency=Residency.POOLED)
    with pytest.raises(OptionError, match="GPU 0 cannot read the memory of GPU 1"):
        placed(store, gpus(LARGE, LARGE, peers=False), residency=Residency.POOLED)
    each = bytes_of_each(store, 2)
    with pytest.raises(BudgetError, match=f"raise --gpu-memory to {each:,}, name more GPUs") as refusal:
        placed(store, pair, residency=Residency.POOLED, gpu_memory=each - 1)
    assert f"{each:,} bytes are needed on each of 2 GPUs" in str(refusal.value)
    assert placed(store, pair, residency=Residency.POOLED, gpu_memory=each)[1] is Residency.POOLED


def test_offsets_and_other_gpus_are_asked_for_only_where_they_matter(store):
    def fails():
        raise AssertionError("asked for")

    first, options = gpus(LARGE), {"more": fails, "gpu_memory": None}
    assert place(store, fails, first, residency=None, **options) == (first, None)
    assert place(store, fails, first, residency=Residency.DISK, **options) == (first, Residency.DISK)


def test_weights_and_long_rows_count(tmp_path):
    heavy = random_store(tmp_path / "heavy.zarr", vertices=500, edges=9000)
    light = random_store(tmp_path / "light.zarr", vertices=500, edges=9000, weighted=False)
    rows = [Spread.of(one.read_indptr(), 2).bytes_of_rows(one) for one in (heavy, light)]
    assert heavy.weighted
    assert rows[0] // 2 == rows[1]  # 8 bytes of an entry in place of 4
    star = store_of(tmp_path / "star.zarr", [(0, v, 1) for v in range(1, 600)], directed=True, weighted=False)
    found = Spread.of(star.read_indptr(), 2)
    assert found.bytes_of_rows(star) == 4 * 599 + 2 * 4 * 599  # its only row, and two blocks of it


@pytest.mark.parametrize("name", SHAPES)
def test_graphs_of_every_shape_are_spread_in_the_memory_that_a_refusal_names(name, tmp_path):
    edges, vertices = SHAPES[name]
    small = store_of(tmp_path / "g.zarr", [(u, v, 1) for u, v in edges], directed=False, vertices=vertices)
    for count in (2, 5):
        many, forced = gpus(*[LARGE] * count), {"residency": Residency.POOLED}
        with pytest.raises(BudgetError) as refusal:
            placed(small, many, gpu_memory=1, **forced)
        asked = int(str(refusal.value).partition("raise --gpu-memory to ")[2].partition(", name")[0].replace(",", ""))
        assert placed(small, many, gpu_memory=asked, **forced)[1] is Residency.POOLED


def test_modules_that_measure_a_spread_graph_are_there():
    assert not lacking("cuda", tuple(SPREAD))


# What the options of an evaluation come to, on machines that are made up


def machine(monkeypatch, *free, peers=True):
    found = gpus(*free, peers=peers)

    def open_device(number):
        if number >= len(found):
            raise DeviceError("no GPU")
        return found[number]

    monkeypatch.setattr(device, "open_device", open_device)


def opened(store, *, alone=True, **options):
    with Networks(store, EvaluateOptions(**options), alone=alone) as networks:
        return [gpu.number for gpu in networks.gpus], networks.residency


def test_auto_takes_all_gpus_where_the_first_has_no_room(store, monkeypatch):
    room = bytes_of_each(store, 2)
    machine(monkeypatch, LARGE, LARGE)
    assert opened(store) == ([0], None)
    assert opened(store, gpu_memory=room) == ([0, 1], Residency.POOLED)
    assert opened(store, residency="pooled") == ([0, 1], Residency.POOLED)
    assert opened(store, residency="streamed", gpu_memory=room) == ([0], Residency.HOST)
    assert opened(store, gpu_memory=room, alone=False) == ([0], None)  # a worker leaves the others to other workers
    assert opened(store, device="cuda:0,1", gpu_memory=room, alone=False) == ([0, 1], Residency.POOLED)
    assert opened(store, device="cuda:1", gpu_memory=room) == ([1], None)
    assert opened(store, device="cuda:1,0", gpu_memory=room) == ([1, 0], Residency.POOLED)
    machine(monkeypatch, LARGE, LARGE, peers=False)
    assert opened(store, gpu_memory=room) == ([0], None)
    with pytest.raises(OptionError, match="several GPUs"):
        opened(store, residency="pooled")
    machine(monkeypatch)
    assert opened(store, gpu_memory=room) == ([], None)


def test_an_exchange_needs_several_gpus(store, monkeypatch):
    machine(monkeypatch, LARGE, LARGE)
    for given in ({}, {"device": "cuda:0"}, {"device": "cpu"}):
        with pytest.raises(OptionError, match="--exchange selective: expected several GPUs"):
            opened(store, exchange="selective", **given)
    assert opened(store, exchange="broadcast", device="cuda:0,1") == ([0, 1], None)
    assert EvaluateOptions(exchange="broadcast").exchange is Exchange.BROADCAST
    with pytest.raises(OptionError, match="--exchange: expected one of selective, broadcast, found 'all'"):
        EvaluateOptions(exchange="all")


def test_a_gpu_that_is_named_alone_is_told_to_have_company(store, monkeypatch):
    machine(monkeypatch, LARGE, LARGE)
    with pytest.raises(OptionError, match="name them, as in --device cuda:0,1"):
        opened(store, residency="pooled", device="cuda:0")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--residency pooled --device cpu", "--residency pooled is for GPUs"),
        ("--exchange selective --device cpu", "--exchange selective: expected several GPUs"),
        ("--exchange some", "'some' is not one of 'selective', 'broadcast'"),
    ],
)
def test_the_command_refuses(options, said):
    found = CliRunner().invoke(cli, ["evaluate", "karate", *options.split()])
    assert found.exit_code
    assert said in found.output + str(found.exception)


def test_the_help_names_both_options():
    text = CliRunner().invoke(cli, ["evaluate", "--help"]).output
    for word in ("pooled", "--exchange", "selective", "broadcast"):
        assert word in text


def test_few_vertices_of_many_partitions_are_cut_at_whole_words(tmp_path):
    few = random_store(tmp_path / "few.zarr", vertices=28, edges=400, weighted=False)
    made, _ = by_partitioner(copied(few, 1, tmp_path), "random", 3, tmp_path)
    found = Spread.of_store(made, made.read_indptr(), 3)
    assert all(first % GRAIN == 0 for first, _ in found.ranges)
    assert found.ranges[-1][1] == 28


def test_partitions_that_are_far_from_even_are_not_the_shares(tmp_path):
    hub = store_of(tmp_path / "hub.zarr", [(0, v, 1) for v in range(1, 2000)], directed=True, vertices=2000)
    made, _ = by_partitioner(copied(hub, 1, tmp_path), "random", 2, tmp_path)
    offsets = made.read_indptr()
    assert Spread.of_store(made, offsets, 2) == Spread.of(offsets, 2)
