"""``stream`` on a GPU: the bytes that the CPU stores, on the host or where they were drawn."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import store_with_ids
from helpers.invariance import bytes_of

from csaw.engine import sample, stream

device_or_skip()

import cupy

KINDS = [
    ("node2vec", {"walk_length": 9, "p": 0.5, "q": 2.0}),
    ("neighbor", {"fanout": (4, 3), "instances": 60}),
    ("forest-fire", {"depth": 2, "instances": 60}),
    (
        "minibatch",
        {"fanout": (4, 3), "seeds_per_batch": 5, "sources": {"ids": 7 + 3 * np.arange(200), "y": np.arange(200) / 8}},
    ),
]


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), KINDS, ids=[name for name, _ in KINDS])
def test_batches_on_the_host_and_on_the_device_are_what_is_stored(tmp_path, algo, options, residency):
    store = store_with_ids(tmp_path)
    samples = sample(store, tmp_path / "s.zarr", algo, seed=5, device="cpu", **options)
    given = options | {"seed": 5, "device": "cuda", "residency": residency, "in_flight": 17}
    for on_device in (False, True):
        with stream(store, algo, on_device=on_device, **given) as drawn:
            after = 0
            for batch in drawn:
                expected, there = samples.group(batch.first, batch.first + batch.instances), {}
                for name in expected:
                    found = batch[name]
                    assert isinstance(found, cupy.ndarray if on_device else np.ndarray)
                    there[name] = cupy.asnumpy(cupy.from_dlpack(found)) if on_device else found
                assert bytes_of(there) == bytes_of(expected)
                after += batch.instances
            assert after == samples.instances
