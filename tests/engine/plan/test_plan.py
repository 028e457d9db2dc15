"""What a plan says of memory."""

import re
from types import SimpleNamespace

import pytest
from helpers.graphs import random_store
from helpers.rates import pin_row_bytes

from csaw.engine import prepare
from csaw.engine.api import registry
from csaw.engine.cuda.device import Device
from csaw.engine.plan import planning
from csaw.engine.plan.options import Policy, RunOptions
from csaw.engine.plan.planning import _stored_bytes, make_plan
from csaw.engine.sources.sources import Sources
from csaw.partition.errors import BudgetError, OptionError

GPU = Device(0, "none", "sm_90", 132, 1 << 40)


def test_hash_tables_hold_weights_where_the_return_edge_is_looked_up(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    neighbors = 8 * store.edges + 32 * (store.vertices + 1)  # half-empty buckets of 4-byte slots
    plans = [prepare(store, "node2vec", device=GPU, p=p, q=1.0).plan for p in (0.25, 4.0)]
    assert [plan.membership for plan in plans] == ["hash", "hash"]
    assert plans[0].graph_bytes - plans[1].graph_bytes == neighbors
    plain = [prepare(store, "node2vec", device=GPU, p=p, q=1.0, weighted=False).plan for p in (0.25, 4.0)]
    assert plain[0].graph_bytes == plain[1].graph_bytes


def test_small_partitions_are_moved_together(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=50, edges=6000)
    job = prepare(store, "deepwalk", device=GPU, residency="streamed", weighted=False, in_flight=10)
    assert len(job.store.partitions) == 1  # all of it fits at once
    plan = job.plan
    room = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    half = prepare(store, "deepwalk", device=GPU, residency="streamed", weighted=False, in_flight=10, gpu_memory=room)
    assert 16 <= len(half.store.partitions) < 50
    assert half.plan.expected["transfers"] > 0
    assert (
        "resident" in prepare(store, "deepwalk", device=GPU, weighted=False, in_flight=10, gpu_memory=room).plan.refused
    )


def test_small_partitions_are_read_together_on_a_cpu(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=50, edges=6000)
    given = {"device": "cpu", "residency": "disk", "weighted": False, "in_flight": 10}
    plan = prepare(store, "deepwalk", **given).plan
    assert plan.pieces == 1
    half = prepare(store, "deepwalk", memory=plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2, **given)
    assert 8 <= len(half.store.partitions) < 50
    assert half.plan.capacity >= 4 * half.plan.piece_bytes


def test_a_pooled_graph_needs_gpus_that_reach_each_other(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=8)
    pair = (Device(0, "none", "sm_90", 132, 1 << 20, (1,)), Device(1, "none", "sm_90", 132, 1 << 20, (0,)))
    deaf = (pair[0], Device(1, "none", "sm_90", 132, 1 << 20))
    walks = registry.build("deepwalk", {"walk_length": 5}, None)
    sources = Sources(store, walks, "random:10", None, 1)

    def planned(devices, **options):
        run = RunOptions(seed=1, ids="dense", in_flight=10, threads=1, **options)
        return make_plan(store, walks, sources, devices, name="deepwalk", weighted=False, options=run)

    plan = planned(pair, residency="pooled")
    assert plan.graph_bytes < 4 * store.edges
    small = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes
    assert planned(pair, gpu_memory=small).residency == "pooled"
    assert "cannot read the memory" in planned(deaf, gpu_memory=small).refused["pooled"]
    with pytest.raises(OptionError, match="several GPUs"):
        planned(pair[:1], residency="pooled")


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "snowball", "layer"])
def test_the_memory_that_a_refusal_asks_for_is_enough(tmp_path, algo, device):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=6000, partitions=6)
    budget, residency = ("memory", "disk") if device == "cpu" else ("gpu_memory", "streamed")
    given = {"device": device, "residency": residency} | ({"num_walks": 50} if algo in ("deepwalk", "node2vec") else {})
    with pytest.raises(BudgetError, match="raise --") as refusal:
        prepare(store, algo, **given, **{budget: 1000})
    asked = int(re.search(r"raise --[a-z-]+ to ([0-9,]+)", str(refusal.value))[1].replace(",", ""))
    plan = prepare(store, algo, **given, **{budget: asked}).plan
    assert plan.fixed_bytes + plan.batch_bytes + plan.needs.partitions_at_once * plan.piece_bytes <= asked
    with pytest.raises(BudgetError):
        prepare(store, algo, **given, **{budget: asked - 1})


@pytest.mark.parametrize(("vertices", "item", "times"), [(2**31 - 1, 4, 1), (2**31, 4, 2), (2**32, 8, 1)])
def test_a_sample_is_expected_with_the_types_in_which_ids_are_stored(vertices, item, times):
    needs = SimpleNamespace(edge=SimpleNamespace(id=item))
    assert _stored_bytes(SimpleNamespace(needs=needs, store=SimpleNamespace(vertices=vertices)), 100) == 100 * times


@pytest.mark.parametrize("algo", ["deepwalk", "multidimensional"])
def test_a_plan_of_the_longest_walk_takes_no_longer_than_another(tmp_path, algo):
    store = random_store(tmp_path / "g.zarr")
    plan = prepare(store, algo, instances=1, walk_length=2**31 - 2, memory=1 << 50).plan
    assert plan.output_bytes > 4 * 2**31


def test_a_plan_expects_single_rows_only_where_they_may_be_read(tmp_path, monkeypatch):
    pin_row_bytes(monkeypatch, 500)  # beside partitions that are as small
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=40_000, partitions=9)
    given = {"residency": "disk", "instances": 1, "walk_length": 20, "memory": 200_000}
    rows = prepare(store, "deepwalk", **given).plan.expected
    partitions = prepare(store, "deepwalk", policy=Policy(in_place=False), **given).plan.expected
    assert rows["transfers"] < partitions["transfers"]
    assert rows["bytes"] < partitions["bytes"]


def test_a_graph_that_must_be_resident_must_fit_the_memory_of_a_cpu_too(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=20_000)
    given = {"device": "cpu", "walk_length": 5, "sources": "random:10", "residency": "resident"}
    assert prepare(store, "deepwalk", memory="64MiB", **given).plan.residency == "resident"
    with pytest.raises(BudgetError, match="the whole graph and the samples in flight need .* raise --memory to"):
        prepare(store, "deepwalk", memory="100KiB", **given)


@pytest.mark.parametrize("fanout", [(1 << 31,), (1 << 16, 1 << 15)])
def test_a_row_of_hops_takes_a_quarter_of_the_memory_at_most(tmp_path, monkeypatch, fanout):
    monkeypatch.setattr(planning, "available_bytes", lambda: 24 << 30)
    store = random_store(tmp_path / "g.zarr")
    given = {"device": "cpu", "fanout": fanout, "sources": "random:2"}
    with pytest.raises(
        BudgetError, match=r"an instance takes 8,[0-9,]+ bytes, .* but only 6,442,450,944 are allowed; .* \(--fanout\)"
    ):
        prepare(store, "neighbor", **given)
    assert prepare(store, "neighbor", memory="36GiB", **given).plan.sample_layout == "hops"
    assert prepare(store, "deepwalk", device="cpu", instances=1, walk_length=2**31 - 2).plan.sample_layout == "walks"


@pytest.mark.parametrize("residency", ["streamed", "disk"])
def test_a_layout_that_pieces_of_a_graph_cannot_have_is_refused(tmp_path, residency):
    store = random_store(tmp_path / "g.zarr", partitions=3)
    given = {"device": Device(0, "none", "sm_90", 132, 1 << 40), "residency": residency, "weighted": False}
    assert prepare(store, "deepwalk", layout="csr", **given).plan.graph_layout == "csr"
    with pytest.raises(
        OptionError, match=f"--layout entries: with --residency {residency}, this run needs the layout csr"
    ):
        prepare(store, "deepwalk", layout="entries", **given)


def test_a_fire_of_any_depth_is_planned_by_what_can_burn(tmp_path):
    """Depths add vertices that are new to an instance, of which there are no more than the graph has."""
    store = random_store(tmp_path / "g.zarr")
    given = {"sources": "random:20", "device": "cpu", "burn_prob": 0.3}
    deep, shallow = (prepare(store, "forest-fire", depth=depth, **given).plan for depth in (60_000, 3))
    assert deep.batch == shallow.batch == 20
    assert deep.batch_bytes < 20 * 1000 * store.vertices
    assert deep.output_bytes < 2 * shallow.output_bytes
