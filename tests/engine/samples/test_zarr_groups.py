"""Claims of stores as groups of zarr-python: it reads what csaw reads, writes nothing, and would have written the same
metadata.
"""

import json

import numpy as np
import pytest
import zarr
from helpers.graphs import random_store

import csaw
from csaw.engine import sample
from csaw.partition.arrays.nodes import About, write_array, write_group
from csaw.partition.errors import OptionError
from csaw.partition.graph.in_memory import InMemory

SAMPLES = {
    "walks": ("deepwalk", {"walk_length": 5}),
    "ragged-walks": ("ppr", {}),
    "hops": ("neighbor", {"fanout": (3, 2)}),
    "subgraphs": ("snowball", {"depth": 2}),
    "layers": ("ladies", {"layer_sizes": (3, 3), "frontier_size": 2}),
    "batches": ("minibatch", {"fanout": (2, 2), "seeds_per_batch": 3}),
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("grouped") / "g.zarr", weighted=True)


def test_the_group_of_a_graph_has_what_csaw_reads(graph):
    group, loaded = graph.zarr, graph.load()
    for name, whole in (("indices", loaded.indices), ("weights", loaded.weights)):
        parts = [group[f"partitions/{part.number:05d}/{name}"][:] for part in graph.partitions]
        assert np.array_equal(np.concatenate(parts), whole)
    degrees = [np.diff(group[f"partitions/{part.number:05d}/indptr"][:]) for part in graph.partitions]
    assert np.array_equal(np.concatenate(degrees), np.diff(loaded.indptr))
    assert group.attrs["fingerprint"] == graph.fingerprint


@pytest.mark.parametrize("name", SAMPLES)
def test_the_group_of_a_sample_has_what_csaw_reads(graph, tmp_path, name):
    algo, options = SAMPLES[name]
    held = sample(graph, tmp_path / "s.zarr", algo, seed=7, device="cpu", **options)
    arrays = {key: array for key, array in held.zarr.arrays() if key in held}
    assert arrays
    for key, array in arrays.items():
        assert np.array_equal(array[:], held[key][:]), key


def test_nothing_is_written_through_a_group(graph, tmp_path):
    held = sample(graph, tmp_path / "s.zarr", "deepwalk", walk_length=5, seed=7, device="cpu")
    with pytest.raises(ValueError, match="read-only"):
        held.zarr["walks"][0] = 0
    with pytest.raises(ValueError, match="read-only"):
        held.zarr.attrs["seed"] = 8
    with pytest.raises(ValueError, match="read-only"):
        graph.zarr.create_group("mine")


def test_what_is_not_a_whole_store_has_no_group(graph, tmp_path):
    kept = csaw.sample(graph, algo="deepwalk", walk_length=5, seed=7, device="cpu")
    stored = sample(graph, tmp_path / "s.zarr", "deepwalk", walk_length=5, seed=7, device="cpu")
    virtual = csaw.sample(graph, tmp_path / "v.zarr", algo="deepwalk", walk_length=5, seed=7, virtual=True)
    memory = InMemory("edges", np.array([0, 1]), np.array([0]))
    for held in (kept, stored.part(0, 2), virtual, memory):
        with pytest.raises(OptionError, match="Zarr group"):
            held.zarr  # noqa: B018  # the property raises


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("separator", ["/", "."])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_zarr_writes_the_same_metadata(tmp_path, dtype, separator, packed):
    kind, said = np.dtype(dtype), About(("row", "column"), {"units": "1", "long_name": "numbers"})
    write_array(tmp_path / "ours", kind, (7, 3), (4, 3), packed=packed, separator=separator, fill=5, about=said)
    blosc = zarr.codecs.BloscCodec(typesize=kind.itemsize, cname="lz4", clevel=5, shuffle="bitshuffle", blocksize=0)
    zarr.create_array(
        tmp_path / "theirs",
        shape=(7, 3),
        chunks=(4, 3),
        dtype=dtype,
        fill_value=5,
        compressors=blosc if packed else None,
        dimension_names=said.dimensions,
        attributes=said.attributes,
        chunk_key_encoding={"name": "default", "separator": separator},
    )
    ours, theirs = (json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("ours", "theirs"))
    assert ours == theirs
    write_group(tmp_path / "group", said.attributes)
    zarr.create_group(tmp_path / "zarr_group", attributes=said.attributes)
    ours, theirs = (json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("group", "zarr_group"))
    assert ours == theirs
