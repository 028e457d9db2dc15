"""Arrays that are read without comparing them: what is left to the reader to compare, and what is not."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays import arrays, checksum_kernels, loader
from csaw.partition.arrays.arrays import growing_array
from csaw.partition.arrays.checksums import BLOCK, first_damaged_of_few
from csaw.partition.arrays.loader import open_array, read_array
from csaw.partition.arrays.uncompared import read_uncompared
from csaw.partition.base import first_work
from csaw.partition.errors import StoreError
from csaw.partition.graph.left_offsets import read_left_offsets
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


def graph(path, vertices=1500, **options):
    made = random_store(path / "made.zarr", vertices=vertices, edges=9000).load()
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


# Offsets of rows, and original ids.


@pytest.mark.parametrize("kind", ["stored", "packed", "unchecked"])
def test_offsets_are_left_as_they_are_stored(tmp_path, kind):
    store = graph(tmp_path, 9000, compression="lz4" if kind == "packed" else None)
    store = open_graph(store.path, checksums=kind != "unchecked")
    held, at, left = np.zeros(store.vertices + len(store.partitions), np.int64), 0, 0
    for part, own in zip(store.partitions, read_left_offsets(store, held), strict=True):
        expected = store.read_offsets(part.number)
        assert np.array_equal(held[at : at + expected.size], expected)
        assert own.size == ((expected.nbytes - 1) // BLOCK if kind == "stored" else 0)
        assert first_damaged_of_few(held[at:].view(np.uint8)[: own.size * BLOCK], own) == -1
        at, left = at + expected.size, left + own.size
    assert at == held.size
    assert (left > 10) == (kind == "stored")
    assert read_left_offsets(Coalesced(store, 2), held) is None


def test_changed_offsets_that_are_not_left_are_named(tmp_path):
    store = graph(tmp_path)  # a partition has less than a block of them
    file = store.path / "partitions" / "00003" / "indptr" / "c" / "0"
    damage(file, 40)
    with pytest.raises(StoreError, match=f"{file}: bytes from 0 on have changed"):
        read_left_offsets(store, np.zeros(store.vertices + len(store.partitions), np.int64))


def numbered(path, ids=lambda vertices: np.arange(vertices) * 3 + 5):
    made = random_store(path / "numbered.zarr", vertices=2000, edges=9000).load()
    given = made.indptr, made.indices, made.weights
    named = ids(made.indptr.size - 1)
    return write_graph(path / "ids.zarr", *given, directed=False, partitions=2, vertex_ids=named)


@pytest.mark.parametrize("is_view", [False, True])
def test_ids_are_left_and_compared_later(tmp_path, is_view):
    store = numbered(tmp_path)
    seen = Split(Coalesced(store, 1), 1500) if is_view else store
    seen.ids_store.leave_ids()
    assert store.ids_left.size == (8 * 2000 - 1) // BLOCK
    assert np.array_equal(seen.stored_ids(), np.arange(2000) * 3 + 5)
    seen.ids_store.compare_ids()
    assert store.ids_left is None
    kept = seen.stored_ids()
    seen.ids_store.forget_ids()
    assert seen.stored_ids() is kept


@pytest.mark.parametrize("at", [3, BLOCK - 1, BLOCK, 2 * BLOCK - 1])
def test_ids_that_have_changed_are_named_whenever_they_are_compared(tmp_path, at):
    store = numbered(tmp_path)
    for file in sorted((store.path / "vertex_ids" / "c").iterdir()):
        damage(file, at)
        with pytest.raises(StoreError) as expected:
            open_graph(store.path).stored_ids()
        found = open_graph(store.path)

        def compare_later(found=found):
            found.leave_ids()  # finds those of the last block, and those that do not rise
            found.compare_ids()

        with pytest.raises(StoreError) as later:
            compare_later()
        assert str(later.value) == str(expected.value)
        found.forget_ids()
        with pytest.raises(StoreError) as again:
            found.stored_ids()
        assert str(again.value) == str(expected.value)
        damage(file, at)


def test_ids_that_change_on_disk_meanwhile_are_named(tmp_path):
    store = numbered(tmp_path)
    store.leave_ids()
    store.id_arrays[0][7] += 1
    with pytest.raises(StoreError, match="its ids have changed while they were used"):
        store.compare_ids()


@pytest.mark.parametrize(
    "ids",
    [lambda n: None, lambda n: np.array([f"v{k:05}" for k in range(n)], object)],
    ids=["none", "strings"],
)
def test_other_ids_are_not_left(tmp_path, ids):
    store = numbered(tmp_path, ids)
    store.leave_ids()
    assert store.ids_left is None
    assert "id_arrays" not in vars(store)
    mapped = numbered(tmp_path / "mapped")
    mapped.map_ids()
    mapped.leave_ids()
    assert mapped.ids_left is None
