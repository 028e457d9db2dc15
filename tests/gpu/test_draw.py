"""``draw_batches`` on GPUs: what is stored, in host memory and on the device, and nothing stays allocated."""

import gc

import numpy as np
import pytest
from helpers.gpu import device_or_skip, need_gpus
from helpers.graphs import random_store

from csaw.engine import draw_batches, prepare, sample
from csaw.engine.plan import planning as plans

device_or_skip()

CASES = [
    ("deepwalk", {"walk_length": 9}),
    ("neighbor", {"fanout": (4, 3), "instances": 300}),
    ("neighbor", {"fanout": (-1, 3), "instances": 300}),
    ("forest-fire", {"instances": 300}),
    ("multidimensional", {"frontier_size": 5, "instances": 40, "walk_length": 60}),
]


def assert_stored(samples, batches):
    """In host memory and on the device, in order, what the samples hold; the graph's ids are dense ones."""
    import cupy

    first = 0
    for batch in batches:
        assert batch.first == first
        first += batch.instances
        expected, found, there = samples.group(batch.first, first), batch.arrays(), batch.on_device()
        assert expected.keys() == found.keys() == there.keys()
        for name, array in expected.items():
            assert (found[name].dtype, found[name].tobytes()) == (array.dtype, array.tobytes()), name
            with there[name].device:
                # Dense ids are unsigned on a device and signed in a store: the same bits.
                assert np.array_equal(cupy.from_dlpack(there[name]).get().astype(array.dtype), array), name
    assert first == samples.instances


@pytest.mark.parametrize("in_flight", [7, None])
@pytest.mark.parametrize(("algo", "options"), CASES)
def test_batches_of_a_gpu_are_what_the_cpu_stores(tmp_path, algo, options, in_flight):
    import cupy

    store = random_store(tmp_path / "g.zarr")
    samples = sample(store, tmp_path / "s.zarr", algo, seed=5, device="cpu", **options)
    gc.collect()  # of what earlier tests have left
    before = cupy.get_default_memory_pool().used_bytes()
    assert_stored(samples, draw_batches(prepare(store, algo, seed=5, device="cuda", in_flight=in_flight, **options)))
    assert cupy.get_default_memory_pool().used_bytes() == before


@pytest.mark.parametrize("residency", ["streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), CASES)
def test_batches_of_a_streamed_graph_are_what_the_cpu_stores(tmp_path, algo, options, residency):
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=6)
    samples = sample(store, tmp_path / "s.zarr", algo, seed=5, device="cpu", **options)
    given = options | {"device": "cuda", "in_flight": 20, "residency": residency}
    plan = prepare(store, algo, seed=5, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    assert_stored(samples, draw_batches(prepare(store, algo, seed=5, gpu_memory=memory, **given)))


@pytest.mark.parametrize("residency", ["resident", "pooled", "streamed"])
def test_several_gpus_hand_out_in_order_what_one_draws(tmp_path, monkeypatch, residency):
    count = need_gpus()
    monkeypatch.setattr(plans, "GROUP_BYTES", 1 << 13)
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=6)
    options = {"walk_length": 9, "num_walks": 5, "seed": 5}
    samples = sample(store, tmp_path / "s.zarr", "deepwalk", device="cpu", **options)
    names = "cuda:" + ",".join(str(number) for number in range(count))
    assert_stored(
        samples, draw_batches(prepare(store, "deepwalk", device=names, in_flight=100, residency=residency, **options))
    )


def test_the_callers_gpu_stays_the_current_one_and_a_dropped_generator_frees_its_memory(tmp_path):
    import cupy

    store, last = random_store(tmp_path / "g.zarr"), cupy.cuda.runtime.getDeviceCount() - 1
    before = cupy.get_default_memory_pool().used_bytes()
    with cupy.cuda.Device(last):
        batches = draw_batches(prepare(store, "deepwalk", device="cuda:0", in_flight=50))
        batch = next(batches)
        assert cupy.cuda.runtime.getDevice() == last
        assert batch.on_device()["walks"].device.id == 0
        batches.close()
        assert batch.arrays()["walks"].shape[0] == 50
    del batch
    assert cupy.get_default_memory_pool().used_bytes() == before
