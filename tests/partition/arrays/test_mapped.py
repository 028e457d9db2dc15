"""Original ids that stay on disk are those that are read, and are checked as strictly."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays.checksums import BLOCK
from csaw.partition.arrays.loader import Mapped
from csaw.partition.arrays.words import Words
from csaw.partition.errors import StoreError

KINDS = {
    "signed": np.arange(3000) * 7 - 4,
    "large": np.arange(3000, dtype=np.uint64) + np.uint64(2**63 - 100),
    "words": np.array([f"v{k:05d}{'x' * (k % 9)}" for k in range(3000)], object),
}


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of a page, so that a small store has many."""
    from csaw.partition.arrays import arrays

    monkeypatch.setattr(arrays, "CHUNK_BYTES", BLOCK)


def stored(path, ids, compression=None):
    graph = random_store(path, vertices=3000, edges=4000).load()
    return write_graph(
        path, graph.indptr, graph.indices, directed=False, vertex_ids=ids, overwrite=True, compression=compression
    )


@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize("kind", KINDS)
def test_mapped_ids_are_those_that_are_read(tmp_path, monkeypatch, small_chunks, kind, compression):
    monkeypatch.setattr("csaw.partition.graph.original_ids.IDS_AT_A_TIME", 700)
    path = stored(tmp_path / "g.zarr", KINDS[kind], compression).path
    held, mapped = open_graph(path), open_graph(path)
    mapped.map_ids()
    assert np.array_equal(held.vertex_ids(), KINDS[kind])
    assert np.array_equal(mapped.vertex_ids(), KINDS[kind])
    ids = mapped.stored_ids()
    array = ids.text if isinstance(ids, Words) else ids
    assert isinstance(array, Mapped) == (compression is None)
    some = KINDS[kind][[2999, 0, 1234]]
    assert mapped.dense_ids(some).tolist() == [2999, 0, 1234]
    assert mapped.original_ids(np.array([5, 7])).tolist() == KINDS[kind][[5, 7]].tolist()
    if compression is None:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("checksums", [True, False])
def test_ids_are_checked_before_they_are_mapped(tmp_path, monkeypatch, small_chunks, checksums):
    monkeypatch.setattr("csaw.partition.graph.original_ids.IDS_AT_A_TIME", 512)
    path = stored(tmp_path / "g.zarr", KINDS["signed"]).path
    file = path / "vertex_ids" / "c" / "1"  # which begins where a piece begins
    ids = np.fromfile(file, np.int64)
    ids[0] = 3
    ids.tofile(file)
    store = open_graph(path, checksums)
    store.map_ids()
    with pytest.raises(StoreError, match="have changed" if checksums else "increasing ids"):
        store.vertex_ids()
    file.unlink()
    with pytest.raises(StoreError, match="cannot be opened"):
        store.vertex_ids()


def test_a_store_can_go_while_its_ids_are_mapped(tmp_path, small_chunks):
    store = stored(tmp_path / "g.zarr", KINDS["signed"])
    store.map_ids()
    ids = store.vertex_ids()
    stored(tmp_path / "g.zarr", KINDS["signed"] * 2)  # another takes its place
    assert np.array_equal(ids, KINDS["signed"])
