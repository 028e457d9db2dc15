"""Walks without a limit on a GPU: the same bytes as on the CPU, in batches, in streams, and from every residency."""

import pytest
from helpers import own_walk
from helpers.gpu import device_or_skip
from helpers.graphs import WideStore, arrays_of, random_store
from helpers.invariance import assert_same

from csaw.engine import prepare, stream
from csaw.engine.runs.draw import draw_batches

device_or_skip()

PATHS = """
from csaw.engine.algorithm import Walk
from csaw.engine.algorithms.node2vec import Node2vec

class Back(Walk):
    def update(self, e):
        if e.random() < 0.03:
            return -1
        return e.path(e.random() * (e.depth + 1)) if e.depth % 2 else e.dst

class Second(Node2vec):
    def update(self, e):
        return e.path(2) if e.depth > 1 and e.random() < 0.3 else e.dst

class Dead(Walk):
    def dead_end(self, v):
        return v.path(2)

class Third(Walk):
    def edge_bias(self, e):
        return e.weight * (4.0 if e.dst == e.path(2) else 1.0)

    def update(self, e):
        return -1 if e.random() < 0.03 else e.dst
"""  # walks that go back to vertices of their own, by kernels of every kind
WAYS = [
    {},
    {"in_flight": 37},
    {"in_flight": 1},
    {"residency": "streamed"},
    {"residency": "streamed", "gpu_memory": "2MiB"},
    {"residency": "disk", "gpu_memory": "2MiB"},
    {"residency": "streamed", "balancing": False},
]


def compared(tmp_path, store, algo, **options):
    """Compare all ways on a GPU with the CPU."""
    expected = arrays_of(store, tmp_path / "c.zarr", algo, seed=5, **options)
    for way in WAYS:
        if options["instances"] < 1000 or "in_flight" not in way:  # many walkers in few-walker batches take minutes
            assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options, **way))


@pytest.mark.parametrize("select", [None, "its"])
@pytest.mark.parametrize("weighted", [False, True])
def test_walks_have_the_same_bytes_on_both_devices(tmp_path, weighted, select):
    store = random_store(tmp_path / "g.zarr", partitions=5, directed=True, edges=900)
    compared(
        tmp_path,
        store,
        "ppr",
        termination_prob=0.02,
        instances=700,
        weighted=weighted,
        **({"select": select} if select else {}),
    )


def test_second_order_walks_ask_later_and_have_the_same_bytes(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=5)
    compared(tmp_path, store, own_walk.written(tmp_path, 0.97), walk_length=None, instances=700)


def test_ids_of_64_bits(tmp_path):
    store = WideStore(random_store(tmp_path / "g.zarr", partitions=5))
    expected = arrays_of(store, tmp_path / "c.zarr", "ppr", termination_prob=0.02, instances=700)
    assert_same(
        expected, arrays_of(store, tmp_path / "s.zarr", "ppr", termination_prob=0.02, instances=700, device="cuda")
    )


def test_many_walkers_take_several_rounds(tmp_path):
    store, options = random_store(tmp_path / "g.zarr"), {"instances": 400_000, "termination_prob": 0.3}
    compared(tmp_path, store, "ppr", **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("algo", "limit"), [("Back", None), ("Second", 33), ("Dead", 33), ("Third", 33), ("Third", None)]
)
def test_hooks_that_read_the_path_have_the_same_bytes(tmp_path, algo, limit, weighted):
    (tmp_path / "mine.py").write_text(PATHS)
    store = random_store(tmp_path / "g.zarr", partitions=5, directed=True, edges=900)
    compared(tmp_path, store, f"{tmp_path / 'mine.py'}:{algo}", walk_length=limit, instances=700, weighted=weighted)


def test_batches_and_streams_have_what_the_cpu_draws(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    options = {"termination_prob": 0.05, "instances": 500, "in_flight": 120}
    expected = list(draw_batches(prepare(store, "ppr", device="cpu", **options)))
    with (
        stream(store, "ppr", device="cuda", **options) as host,
        stream(store, "ppr", device="cuda", on_device=True, **options) as device,
    ):
        for one, there, here in zip(expected, host, device, strict=True):
            assert_same(one.arrays(), there.arrays())
            assert_same(one.arrays(), {name: array.get() for name, array in here.arrays().items()})
