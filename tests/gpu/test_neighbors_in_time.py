"""Neighbors in time on a GPU are those of the CPU, byte for byte, wherever the graph is and however it is brought."""

import numpy as np
import pytest
from helpers.copies_in_time import assert_pools_in_time, assert_shared_in_time
from helpers.gpu import device_or_skip, need_torch_on_gpu
from helpers.graphs import WideStore, arrays_of, stored_arrays
from helpers.invariance import assert_same
from helpers.machine import need_package
from helpers.neighbors_in_time import assert_neighbors_in_time, batch_choices, tree_choices
from helpers.temporal import TIED, events_store, random_events

from csaw.engine import execute, prepare
from csaw.engine.plan.options import Policy
from csaw.engine.stores.verify import verify

device_or_skip()

RNG = np.random.default_rng(8)
SOURCES = {"ids": RNG.integers(0, 400, 900), "time": RNG.integers(-100, 100, 900)}
BATCHES = {"disjoint": True, "seeds_per_batch": 20, "fanout": (4, 3)}
CASES = {
    "uniform": ("neighbor", {"fanout": (4, 3), "time_strategy": "uniform"}),
    "window": ("neighbor", {"fanout": (4, 3), "time_strategy": "uniform", "time_window": 40}),
    "previous": ("neighbor", {"fanout": (4, 3), "time_strategy": "uniform", "time_against": "previous"}),
    "last": ("neighbor", {"fanout": (40, 3), "time_strategy": "last", "time_order": "strict"}),
    "last few": ("neighbor", {"fanout": (5, 32, 1), "time_strategy": "last", "time_against": "previous"}),
    "replace": ("neighbor", {"fanout": (40, 3), "time_strategy": "uniform", "replace": True}),
    "many": ("neighbor", {"fanout": (90, 2), "time_strategy": "uniform"}),
    "hub": (
        "neighbor",
        {"fanout": (700, 1), "time_strategy": "uniform", "sources": {"ids": [0] * 40, "time": [60] * 40}},
    ),
    "subgraphs": ("neighbor", {"fanout": (-1, 3), "time_strategy": "uniform"}),
    "subgraphs of the edge before": (
        "neighbor",
        {"fanout": (3, -1), "time_strategy": "last", "time_against": "previous", "time_order": "strict"},
    ),
    "labor": ("labor", {"fanout": (4, 3), "time_strategy": "uniform", "frontier_size": 30}),
    "labor of the edge before": (
        "labor",
        {"fanout": (9, -1), "time_strategy": "uniform", "time_against": "previous", "time_window": 60},
    ),
    "all of labor": ("labor", {"fanout": (-1, 2), "time_strategy": "uniform", "time_order": "strict"}),
    "labor of a hub": (
        "labor",
        {
            "fanout": (700, 1),
            "time_strategy": "uniform",
            "frontier_size": 8,
            "sources": {"ids": [0] * 40, "time": [*range(20, 60)]},
        },
    ),
    "layer": ("layer", {"neighbor_size": 9, "time_strategy": "uniform", "frontier_size": 8, "depth": 3}),
    "layer without limits": (
        "layer",
        {
            "neighbor_size": 40,
            "time_strategy": "uniform",
            "depth": None,
            "time_against": "previous",
            "total": 200,
            "sources": {name: column[:120] for name, column in SOURCES.items()},
        },
    ),
    "all of a layer": ("layer", {"neighbor_size": 10**6, "time_strategy": "uniform", "time_window": 9}),
    "batches": ("minibatch", BATCHES | {"time_strategy": "uniform"}),
    "last batches": ("minibatch", BATCHES | {"time_strategy": "last", "shuffle": True}),
    "all of batches": ("minibatch", BATCHES | {"time_strategy": "uniform", "fanout": (-1, 2)}),
    "batches of one time": (
        "minibatch",
        BATCHES | {"time_strategy": "uniform", "disjoint": False, "sources": "all", "start_time": 20},
    ),
    "mvs": (
        "mvs",
        {"fanout": (4, 3), "time_strategy": "uniform", "disjoint": True, "seeds_per_batch": 20, "instances": 9},
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same events in one partition and in six; vertex 0 has a third of them."""
    folder, events = tmp_path_factory.mktemp("timed"), random_events(400, 9000, 11, span=90)
    return {n: events_store(folder / f"g{n}.zarr", events, 400, partitions=n) for n in (1, 6)}


def run_of(case):
    algo, options = CASES[case]
    return algo, {"sources": SOURCES, "seed": 5} | options


def expected(stores, tmp_path, case):
    algo, options = run_of(case)
    return arrays_of(stores[1], tmp_path / "s.zarr", algo, **options)


@every_case
def test_a_resident_graph(tmp_path, stores, case):
    algo, options = run_of(case)
    wanted = expected(stores, tmp_path, case)
    for more in ({}, {"in_flight": 17}):
        assert_same(wanted, arrays_of(stores[6], tmp_path / "t.zarr", algo, device="cuda", **more, **options))


@pytest.mark.parametrize("case", [case for case, (algo, _) in CASES.items() if algo == "neighbor"])
@pytest.mark.parametrize("layout", ["events", "csr"])
def test_edges_in_the_order_by_time_change_nothing(tmp_path, stores, case, layout):
    algo, options = run_of(case)
    wanted = expected(stores, tmp_path, case)
    assert_same(wanted, arrays_of(stores[6], tmp_path / "t.zarr", algo, device="cuda", layout=layout, **options))


@pytest.mark.parametrize("case", ["uniform", "window", "previous", "replace", "last few"])
@pytest.mark.parametrize("layout", ["events", "csr"])
def test_grouped_parents_change_nothing(tmp_path, stores, case, layout):
    algo, options = run_of(case)
    if "replace" in case:
        options["fanout"] = (30, 3)
    wanted = arrays_of(stores[1], tmp_path / "s.zarr", algo, **options)
    grouped = options | {"device": "cuda", "layout": layout, "transit_parallel": "on"}
    assert_same(wanted, arrays_of(stores[6], tmp_path / "t.zarr", algo, **grouped))


@every_case
def test_ids_of_64_bits(tmp_path, stores, case):
    (algo, options), store = run_of(case), WideStore(stores[6])
    wanted = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", algo, device="cuda", **options))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("residency", "in_place"), [("streamed", False), ("streamed", True), ("disk", False)])
@every_case
def test_a_streamed_graph(tmp_path, stores, case, residency, in_place):
    (algo, options), store = run_of(case), stores[6]
    wanted = expected(stores, tmp_path, case)
    given = options | {"device": "cuda", "residency": residency, "ids": "dense", "in_flight": 11}
    given["policy"] = Policy(in_place=in_place)
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    execute(prepare(store, algo, gpu_memory=memory, **given), tmp_path / "t.zarr")
    assert_same(wanted, stored_arrays(tmp_path / "t.zarr"))


@pytest.mark.parametrize("switch", ["batching", "balancing"])
@pytest.mark.parametrize("case", ["uniform", "last", "batches"])
def test_launches_apart_change_nothing(tmp_path, stores, case, switch):
    algo, options = run_of(case)
    given = options | {"device": "cuda", "residency": "streamed", "policy": Policy(**{switch: False})}
    assert_same(expected(stores, tmp_path, case), arrays_of(stores[6], tmp_path / "t.zarr", algo, **given))


@pytest.mark.parametrize("options", [{}, {"time_strategy": "last"}, {"replace": True}, {"time_against": "previous"}])
def test_the_law_on_a_gpu(tmp_path, options):
    store, given = events_store(tmp_path / "g.zarr", TIED, 5), {"time_strategy": "uniform", "fanout": (2, 3)} | options
    sources = {"ids": np.tile(np.arange(5), 12), "time": np.repeat(np.arange(-1, 11), 5)}
    found = arrays_of(store, tmp_path / "s.zarr", "neighbor", sources=sources, instances=6000, device="cuda", **given)
    assert_neighbors_in_time(tree_choices(found, (2, 3), given), TIED, 5, given)
    assert verify(tmp_path / "s.zarr").ok


@pytest.mark.parametrize("options", [{}, {"time_window": 3}, {"time_against": "previous", "time_order": "strict"}])
def test_the_law_of_frontiers_that_select_together_on_a_gpu(tmp_path, options):
    store, given = events_store(tmp_path / "g.zarr", TIED, 5), {"time_strategy": "uniform"} | options
    sources = {"ids": np.repeat(RNG.integers(0, 5, 18), 2), "time": RNG.integers(-1, 11, 36)}
    how = {"sources": sources, "instances": 6000, "frontier_size": 3, "device": "cuda"}
    labor = arrays_of(store, tmp_path / "s.zarr", "labor", fanout=(2, 1), **how, **given)
    assert_shared_in_time(labor, TIED, 5, (2, 1), given)
    assert verify(tmp_path / "s.zarr").ok
    layers = arrays_of(store, tmp_path / "t.zarr", "layer", neighbor_size=2, depth=3, **how, **given)
    assert_pools_in_time(layers, TIED, 5, (2, 2, 2), given)
    assert verify(tmp_path / "t.zarr").ok


def test_the_law_of_mini_batches_on_a_gpu(tmp_path, stores):
    events = random_events(400, 9000, 11, span=90)
    given = BATCHES | {"time_strategy": "uniform", "epochs": 5}
    found = arrays_of(stores[6], tmp_path / "s.zarr", "minibatch", sources=SOURCES, device="cuda", **given)
    assert_neighbors_in_time(batch_choices(found, (4, 3), given), events, 400, given)
    assert verify(tmp_path / "s.zarr").ok


def test_times_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63) + 1, 2**63 - 1
    store = events_store(tmp_path / "g.zarr", [(0, 1, least - 1), (0, 2, largest), (0, 3, 0), (1, 2, least - 1)], 4)
    sources = {"ids": [0, 1] * 4, "time": [least, least, least + 1, 0, 0, largest, largest, largest]}
    for options in ({}, {"time_order": "strict"}, {"time_window": 2**63 - 1}, {"time_window": 0}):
        given = {"time_strategy": "uniform", "fanout": (2, 2), "sources": sources} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
        assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", "neighbor", device="cuda", **given))


@pytest.mark.parametrize("disjoint", [False, True])
def test_mini_batches_of_the_sampler_are_those_of_the_cpu(stores, disjoint):
    torch = need_torch_on_gpu()
    need_package("torch_geometric")
    from torch_geometric.sampler import NodeSamplerInput

    from csaw.engine.loaders import NeighborSampler

    given = {"time_strategy": "uniform", "start_time": 20, "disjoint": disjoint, "seed": 2}
    made = [NeighborSampler(stores[1], [4, 3], device=device, **given) for device in ("cpu", "cuda")]
    a, b = (sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(64))) for sampler in made)
    assert a.edge.numel()
    for name in ("node", "edge", "row", "col"):
        assert torch.equal(getattr(a, name).cpu(), getattr(b, name).cpu()), name


def test_mini_batches_of_the_loader_are_those_of_the_cpu(stores):
    torch = need_torch_on_gpu()
    need_package("torch_geometric")
    from csaw.engine.loaders import NeighborLoader

    given = {"input_nodes": SOURCES["ids"], "input_time": SOURCES["time"], "time_attr": "time", "batch_size": 64}
    made = [NeighborLoader(stores[1], [4, 3], device=device, seed=2, **given) for device in ("cpu", "cuda")]
    for a, b in zip(*made, strict=True):
        for name in ("n_id", "e_id", "edge_index", "input_id", "batch", "time", "seed_time"):
            assert torch.equal(a[name].cpu(), b[name].cpu()), name
        assert b.time.is_cuda
