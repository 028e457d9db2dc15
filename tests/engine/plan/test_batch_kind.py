"""The plan knows how the instances of a batch are drawn, and each backend has a class for it."""

import pytest
from helpers.graphs import random_store
from helpers.relations import random_graph
from helpers.temporal import TIED, events_store

from csaw.engine import prepare
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.cuda.compile import FILES
from csaw.engine.cuda.device import Device
from csaw.engine.plan.batch_kind import BatchKind
from csaw.partition.errors import OptionError

GPU = Device(0, "none", "sm_90", 132, 1 << 40)
MINIBATCH = {"fanout": (4, 3), "seeds_per_batch": 16, "weighted": False}
# Algorithm, options, and the kinds of its batches on the CPU and on a GPU.
CASES = [
    ("deepwalk", {}, "walks", "walks"),
    ("deepwalk", {"residency": "disk"}, "walks", "walks"),
    ("ppr", {}, "unlimited-walks", "unlimited-walks"),
    ("multidimensional", {}, "clock-walks", "clock-walks"),
    ("minibatch", MINIBATCH, "whole-mini-batches", "whole-mini-batches"),
    ("minibatch", MINIBATCH | {"residency": "disk"}, "mini-batches", "mini-batches"),
    ("minibatch", MINIBATCH | {"fanout": (40, 3)}, "whole-mini-batches", "mini-batches"),
    ("labor", {}, "shared-draws", "shared-draws"),
    ("ladies", {}, "layers", "layers"),
    ("hgt", {}, "budgets", "budgets"),
    ("hgt", {"residency": "disk"}, "budgets", "budgets"),
    ("fastgcn", {}, "layers", "layers"),
    ("layer", {"unique": True}, "unique", "unique"),
    ("neighbor", {"unique": True}, "unique", "unique"),
    ("layer", {"depth": None, "weighted": False}, "pools", "pools"),
    ("forest-fire", {"weighted": False}, "frontiers", "trees"),
    ("forest-fire", {"weighted": False, "burn_prob": 0.999}, "frontiers", "frontiers"),
    ("neighbor", {"bias": "none"}, "hop-tables", "hop-tables"),
    ("neighbor", {"bias": "none", "fanout": (40, 3)}, "hop-tables", "frontiers"),
    ("neighbor", {"replace": True}, "frontiers", "hop-tables"),
    ("neighbor", {"fanout": (5, -1)}, "frontiers", "frontiers"),
    ("random-edge", {"neighbor_size": 30}, "pools", "trees"),
    ("random-edge", {"neighbor_size": 5000}, "pools", "pools"),
    ("links", {}, "links", "links"),
    ("links", {"residency": "disk"}, "links", "links"),
]


@pytest.mark.parametrize(("algo", "options", "on_cpu", "on_gpu"), CASES)
def test_a_plan_knows_the_kind_of_its_batches(tmp_path, algo, options, on_cpu, on_gpu):
    store = random_store(tmp_path / "g.zarr", partitions=4)
    assert prepare(store, algo, device="cpu", **options).plan.kind == on_cpu
    plan = prepare(store, algo, device=GPU, **options).plan
    assert plan.kind == on_gpu
    assert (plan.tree_edges > 0) == (on_gpu == "trees")


@pytest.mark.parametrize(
    ("algo", "options", "on_cpu", "on_gpu"),
    [
        ("neighbor", {}, "hop-tables-in-time", "hop-tables-in-time"),
        ("neighbor", {"fanout": (40, 3)}, "hop-tables-in-time", "in-time"),
        ("neighbor", {"fanout": (-1,), "residency": "disk"}, "in-time", "in-time"),
        ("labor", {"time_strategy": "uniform"}, "shared-draws-in-time", "shared-draws-in-time"),
        ("layer", {"time_strategy": "uniform"}, "pools-in-time", "pools-in-time"),
        ("minibatch", {}, "whole-mini-batches-in-time", "mini-batches-in-time"),
        ("minibatch", {"residency": "disk"}, "mini-batches-in-time", "mini-batches-in-time"),
    ],
)
def test_a_plan_in_time_knows_it_too(tmp_path, algo, options, on_cpu, on_gpu):
    store, given = events_store(tmp_path / "g.zarr", TIED, 5), {"time_strategy": "last", "start_time": 4} | options
    assert prepare(store, algo, device="cpu", **given).plan.kind == on_cpu
    assert prepare(store, algo, device=GPU, **given).plan.kind == on_gpu


@pytest.mark.parametrize(
    ("algo", "options", "on_cpu", "on_gpu"),
    [
        ("neighbor", {}, "hop-tables-by-relation", "hop-tables-by-relation"),
        ("neighbor", {"replace": True, "fanout": {"*": (40, 2)}}, "hop-tables-by-relation", "neighbors-by-relation"),
        ("neighbor", {"residency": "disk"}, "neighbors-by-relation", "neighbors-by-relation"),
        ("neighbor", {"weighted": True}, "neighbors-by-relation", "neighbors-by-relation"),
        ("minibatch", {}, "whole-mini-batches", "whole-mini-batches"),
        ("minibatch", {"residency": "disk"}, "mini-batches-by-relation", "mini-batches-by-relation"),
        ("labor", {}, "shared-draws-by-relation", "shared-draws-by-relation"),
        ("neighbor", {"fanout": {"*": (-1, 2)}}, "subgraphs-by-relation", "subgraphs-by-relation"),
        ("neighbor", {"unique": True}, "unique-by-relation", "unique-by-relation"),
    ],
)
def test_a_plan_by_relation_knows_it_too(tmp_path, algo, options, on_cpu, on_gpu):
    store, given = random_graph(tmp_path), {"fanout": {"*": (3, 2)}, "weighted": False} | options
    assert prepare(store, algo, device="cpu", **given).plan.kind == on_cpu
    assert prepare(store, algo, device=GPU, **given).plan.kind == on_gpu


def test_a_kind_is_no_part_of_reports_and_manifests(tmp_path):
    assert not {"kind", "tree_edges"} & prepare(random_store(tmp_path / "g.zarr"), "deepwalk").plan.as_dict().keys()


def test_every_kind_has_its_batches_on_the_cpu_and_its_kernels_on_a_gpu():
    assert CpuBackend.batches.keys() == set(BatchKind) - {BatchKind.TREES}
    assert all(isinstance(late.found(), type) for late in CpuBackend.batches.values())
    on_cpu_alone = {BatchKind.WHOLE_IN_TIME, BatchKind.LINKS_IN_TIME}
    assert FILES.keys() == set(BatchKind) - on_cpu_alone


@pytest.mark.parametrize("options", [{}, {"residency": "streamed"}, {"sources": [[0, 1]], "start_time": 3}])
def test_links_in_time_are_drawn_on_the_cpu_and_refused_on_a_gpu(tmp_path, options):
    store, given = events_store(tmp_path / "g.zarr", TIED, 5), {"negative_time": "until"} | options
    with pytest.raises(OptionError, match="--negative-time: expected --device cpu or auto, found a GPU"):
        prepare(store, "links", device=GPU, **given)
    if "residency" not in options:
        assert prepare(store, "links", device="cpu", **given).plan.kind == "links-in-time"
