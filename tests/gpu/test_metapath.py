"""Samples along a metapath: the bytes of the CPU, wherever the GPU keeps the graph."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import arrays_of
from helpers.invariance import assert_same

import csaw

device_or_skip()

SIZES = {"a": 300, "b": 900, "c": 12}
RELATIONS = ("a", "b"), ("b", "c"), ("b", "b")
ALONG = {
    "deepwalk": {"walk_length": 21, "num_walks": 3},
    "ppr": {"termination_prob": 0.1},
    "neighbor": {"fanout": (4, 3, 2)},
    "minibatch": {"fanout": (4, 3), "seeds_per_batch": 16},
    "saint-walk": {"walk_length": 3, "frontier_size": 2, "instances": 20},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A random graph of three types, with weights, in four partitions."""
    folder, draw, given = tmp_path_factory.mktemp("typed"), np.random.default_rng(4), {}
    for one, other in RELATIONS:
        src, dst = draw.integers(0, SIZES[one], 4000), draw.integers(0, SIZES[other], 4000) ** 2 // SIZES[other]
        given[f"{one}-to_{other}-{other}"] = folder / f"{one}{other}.txt"
        lines = "".join(f"{x} {y} {x % 4 / 4 + 0.25}\n" for x, y in zip(src, dst, strict=True))
        given[f"{one}-to_{other}-{other}"].write_text(lines)
    return csaw.partition(given, folder / "g.zarr", reverse_relations=True, partitions=4, progress=False)


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metapath", ["a,b,c,b,a", "b,to_b,b,to_c,c,b", "a,b,to_b,b,c"])
@pytest.mark.parametrize("algo", ALONG)
def test_a_metapath_is_followed_alike(tmp_path, store, algo, metapath, weighted, residency):
    options = ALONG[algo] | {"metapath": metapath, "weighted": weighted}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    given = options | {"device": "cuda", "residency": residency}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given))


@pytest.mark.parametrize("algo", ["deepwalk", "ppr", "neighbor"])
def test_batches_in_the_memory_of_the_gpu_have_the_vertices_of_the_graph(tmp_path, store, algo):
    options = ALONG[algo] | {"metapath": "b,to_b,b,to_c,c,b", "seed": 5}
    stored = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    with csaw.stream(store, algo=algo, device="cuda", on_device=True, **options) as stream:
        [batch] = stream
        arrays = {name: array.get() for name, array in batch.on_device().items() if name in stored}
    assert arrays
    assert_same(
        {name: array.astype(stored[name].dtype) for name, array in arrays.items()}, {n: stored[n] for n in arrays}
    )
