"""``stream`` on a GPU: the bytes that the CPU stores, on the host or where they were drawn."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine import sample, stream
from csaw.partition import write_graph

cupy = pytest.importorskip("cupy")

KINDS = [
    ("node2vec", {"walk_length": 9, "p": 0.5, "q": 2.0}),
    ("neighbor", {"fanout": (4, 3), "instances": 60}),
    ("forest-fire", {"depth": 2, "instances": 60}),
    ("minibatch", {"fanout": (4, 3), "seeds_per_batch": 5, "sources": {"ids": 7 + 3 * np.arange(200), "y": np.arange(200) / 8}}),
]  # fmt: skip


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), KINDS, ids=[name for name, _ in KINDS])
def test_batches_on_the_host_and_on_the_device_are_what_is_stored(tmp_path, algo, options, residency):
    graph, ids = random_store(tmp_path / "plain.zarr", vertices=400, edges=6000).load(), 7 + 3 * np.arange(400)
    store = write_graph(
        tmp_path / "g.zarr", graph.indptr, graph.indices, graph.weights, directed=False, vertex_ids=ids, partitions=9
    )
    samples = sample(store, tmp_path / "s.zarr", algo, seed=5, device="cpu", **options)
    given = options | {"seed": 5, "device": "cuda", "residency": residency, "in_flight": 17}
    for on_device in (False, True):
        with stream(store, algo, on_device=on_device, **given) as drawn:
            after = 0
            for batch in drawn:
                for name, expected in samples.group(batch.first, batch.first + batch.instances).items():
                    found = batch[name]
                    assert isinstance(found, cupy.ndarray if on_device else np.ndarray)
                    there = cupy.asnumpy(cupy.from_dlpack(found)) if on_device else found
                    assert (there.dtype, there.shape, there.tobytes()) == (
                        expected.dtype,
                        expected.shape,
                        expected.tobytes(),
                    ), name
                after += batch.instances
            assert after == samples.instances
