"""Arrays that are read without comparing them: what is left to the reader to compare, and what is not."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays import arrays, checksum_kernels, loader
from csaw.partition.arrays.arrays import growing_array
from csaw.partition.arrays.checksums import BLOCK, first_damaged_of_few
from csaw.partition.arrays.loader import open_array, read_array, read_uncompared
from csaw.partition.base import first_work
from csaw.partition.errors import StoreError
from csaw.partition.graph.views import Coalesced, Split, Window, Windowed

SIZES = [1, BLOCK // 4, BLOCK // 4 + 1, 2 * BLOCK // 4, 2 * BLOCK // 4 + 1, 3 * BLOCK // 4 - 1, 5 * BLOCK // 4 + 7]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of two blocks."""
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK)


@pytest.fixture
def nothing_compiled(monkeypatch):
    def compiled(*_):
        raise AssertionError("compiled code was asked for")

    monkeypatch.setattr(loader, "_read_pieces", compiled)
    monkeypatch.setattr(checksum_kernels, "first_damaged", compiled)
    monkeypatch.setattr(first_work, "stays_little", lambda *_: False)


def array_of(path, values, compression=None):
    made = growing_array(path, values.dtype, compression)
    made.extend(values)
    return open_array(path, made.close())


def damage(file, at):
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_all_is_read_and_the_blocks_before_the_last_are_left(tmp_path, nothing_compiled, size, dtype):
    values = np.random.default_rng(size).integers(0, 200, size).astype(dtype)
    array, out = array_of(tmp_path / "a", values), np.zeros(size, dtype)
    sums, blocks = read_uncompared(array, out), (values.nbytes - 1) // BLOCK
    if not blocks:
        assert sums is None
        assert not out.any()
        return
    assert np.array_equal(out, values)
    assert sums.size == blocks
    assert first_damaged_of_few(out.view(np.uint8)[: blocks * BLOCK], sums) == -1


@pytest.mark.parametrize("size", [2 * BLOCK // 4 + 1, 3 * BLOCK // 4, 4 * BLOCK // 4, 5 * BLOCK // 4 + 7])
def test_a_changed_byte_is_found_here_or_by_the_sums_that_are_left(tmp_path, size):
    """At the begin, in the middle and at the end of each file, with the bytes that fill it."""
    values = np.arange(size, dtype=np.uint32)
    array, out = array_of(tmp_path / "a", values), np.zeros(size, np.uint32)
    left = (values.nbytes - 1) // BLOCK * BLOCK
    for number in range(array.chunks):
        for at in (0, 5, BLOCK - 1, BLOCK, 2 * BLOCK - 1):
            damage(array.file(number), at)
            with pytest.raises(StoreError) as expected:
                read_array(array, out)
            if number * 2 * BLOCK + at < left:
                sums = read_uncompared(array, out)
                bad = first_damaged_of_few(out.view(np.uint8)[:left], sums)
                assert bad == 2 * number + at // BLOCK
            else:
                with pytest.raises(StoreError) as found:
                    read_uncompared(array, out)
                assert str(found.value) == str(expected.value)
            damage(array.file(number), at)


def test_a_file_of_another_size_is_refused(tmp_path):
    array = array_of(tmp_path / "a", np.arange(5000, dtype=np.uint32))
    array.file(1).write_bytes(array.file(1).read_bytes()[:-1])
    with pytest.raises(StoreError, match="8,192"):
        read_uncompared(array, np.empty(5000, np.uint32))


def test_what_cannot_be_left_is_not_read(tmp_path, monkeypatch):
    values = np.arange(5000, dtype=np.uint32)
    plain, out = array_of(tmp_path / "a", values), np.zeros(5000, np.uint32)
    assert read_uncompared(array_of(tmp_path / "b", values, "lz4"), out) is None
    assert read_uncompared(open_array(tmp_path / "a"), out) is None  # without checksums
    assert read_uncompared(plain, out[1:]) is None
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK + 8)
    assert read_uncompared(array_of(tmp_path / "c", values), out) is None
    assert not out.any()


def graph(path, **options):
    made = random_store(path / "made.zarr", vertices=1500, edges=9000).load()
    given = made.indptr, made.indices, made.weights
    return write_graph(path / "g.zarr", *given, directed=False, partitions=5, **options)


def edges_of(store, number, read):
    edges = store.partitions[number].edges
    held = {"indices": np.zeros(edges, store.id_dtype), "weights": np.zeros(edges, np.float32)}
    return read(number, held), held


@pytest.mark.parametrize("kind", ["stored", "merged", "split", "packed", "unchecked"])
def test_views_leave_what_their_stores_leave(tmp_path, kind):
    store = graph(tmp_path, compression="lz4" if kind == "packed" else None)
    store = open_graph(store.path, checksums=kind != "unchecked")
    view = {"merged": Coalesced(store, 2), "split": Split(store, 1500)}.get(kind, store)
    left = 0
    for part in view.partitions:
        blocks, held = edges_of(view, part.number, view.read_uncompared)
        _, expected = edges_of(view, part.number, view.read_edges)
        for name, values in expected.items():
            assert np.array_equal(held[name], values)
        for one in blocks:
            here = held[one.name][one.first :].view(np.uint8)
            assert first_damaged_of_few(here[: one.sums.size * BLOCK], one.sums) == -1
            left += one.sums.size
    total = 8 * store.edges // BLOCK
    assert total - 4 * len(store.partitions) <= left <= total if kind in ("stored", "merged") else left == 0


def test_views_of_some_edges_leave_nothing(tmp_path):
    from helpers.temporal import events_store

    store = events_store(tmp_path / "t.zarr", [(a % 90, a * 7 % 90, a) for a in range(6000)], 90)
    view = Windowed(store, Window(100, 4000))
    held = {"indices": np.zeros(view.partitions[0].edges, view.id_dtype)}
    assert view.read_uncompared(0, held) == []
    expected = {"indices": np.zeros_like(held["indices"])}
    view.read_edges(0, expected)
    assert np.array_equal(held["indices"], expected["indices"])
