"""Picks by trials on a GPU are those of the CPU, byte for byte, wherever the graph is, and after as many trials."""

import pytest
from helpers.gpu import device_or_skip, hub_store
from helpers.graphs import WideStore, arrays_of, random_store
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.plan.choices import Method
from csaw.engine.schedule.backend import TALLY

device_or_skip()

WEIGHED = "e.weight * (2 if e.dst % 2 == e.depth % 2 else 1)"
SELDOM = "e.weight * (1 if e.dst % 7 == 3 + e.depth else 0.02)"
TEXTS = [WEIGHED, SELDOM, "2 if e.is_neighbor(e.prev, e.dst) else 1", "4 if e.dst == e.prev else 1 + e.depth"]
CASES = [
    ("neighbor", {"fanout": (6, 3)}),
    ("neighbor", {"fanout": (6, 3), "replace": True}),
    ("neighbor", {"fanout": (200, 3), "instances": 60}),
    ("neighbor", {"fanout": (5, 3), "induced": True}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16}),
    ("minibatch", {"fanout": (5, 3), "seeds_per_batch": 16, "disjoint": True, "replace": True}),
    ("mvs", {"fanout": (5, 3), "seeds_per_batch": 16}),
    ("snowball", {"depth": 3, "neighbor_size": 5}),
    ("forest-fire", {"depth": 2}),
]
NAMES = [f"{algo}-{number}" for number, (algo, _) in enumerate(CASES)]
GRAPHS = {
    "long rows": lambda path: random_store(path, vertices=200, edges=9000, partitions=4),
    "hub": lambda path: hub_store(path, weighted=True),
    "directed": lambda path: random_store(path, vertices=90, edges=4000, partitions=4, directed=True),
    "ids of 64 bits": lambda path: WideStore(random_store(path, vertices=200, edges=9000, partitions=4)),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=NAMES)
def test_the_gpu_draws_what_the_cpu_draws(tmp_path, algo, options, text, graph):
    store, given = GRAPHS[graph](tmp_path / "g.zarr"), options | {"edge_bias": text, "seed": 5}
    assert prepare(store, algo, device="cuda", **given).plan.select is Method.REJECTION
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", **given))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", in_flight=17, **given))


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=NAMES)
def test_partitions_that_come_and_go_give_the_same(tmp_path, algo, options, text, residency):
    store, given = GRAPHS["long rows"](tmp_path / "g.zarr"), options | {"edge_bias": text, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", residency=residency, **given))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("graph", ["long rows", "hub"])
def test_as_many_trials_are_counted(tmp_path, graph, text):
    store, given = GRAPHS[graph](tmp_path / "g.zarr"), {"fanout": (40, 3), "edge_bias": text, "seed": 5}
    on_cpu = execute(prepare(store, "neighbor", device="cpu", **given), tmp_path / "c.zarr")
    on_gpu = execute(prepare(store, "neighbor", device="cuda", **given), tmp_path / "g2.zarr")
    compared = [name for name in TALLY if name != "conflicts"]
    assert [on_gpu[name] for name in compared] == [on_cpu[name] for name in compared]
    assert on_cpu["draws"] > 0
