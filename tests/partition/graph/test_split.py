"""Parts of partitions hold what the whole holds there, and are checked as strictly."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays.checksums import BLOCK
from csaw.partition.errors import StoreError
from csaw.partition.graph.views import Coalesced, Split, cuts_of


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of two blocks, so that a small store has several of both."""
    from csaw.partition.arrays import arrays

    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK)


def stored(tmp_path, compression=None, **options):
    graph = random_store(tmp_path / "plain.zarr", vertices=1500, edges=9000, **options).load()
    return write_graph(
        tmp_path / "g.zarr",
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=False,
        partitions=2,
        compression=compression,
    ), graph


def part_of(store, number, first, count):
    indices, weights = np.empty(count, store.id_dtype), np.empty(count, np.float32)
    store.read_part(number, first, indices, weights)
    return indices, weights


@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_any_part_of_a_partition_can_be_read(tmp_path, small_chunks, compression, checksums):
    written, graph = stored(tmp_path, compression)
    store, rng = open_graph(written.path, checksums), np.random.default_rng(3)
    for part in store.partitions:
        ends = np.sort(rng.integers(0, part.edges + 1, (40, 2)), axis=1)
        for first, end in [(0, part.edges), (part.edges - 1, part.edges), (7, 7), *ends.tolist()]:
            span = slice(part.first_edge + first, part.first_edge + end)
            indices, weights = part_of(store, part.number, first, end - first)
            assert np.array_equal(indices, graph.indices[span])
            assert np.array_equal(weights, graph.weights[span])


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_a_part_is_read_from_the_files_that_hold_it_alone(tmp_path, small_chunks, compression):
    store, graph = stored(tmp_path, compression)
    chunk = 2 * BLOCK // 4
    for name in ("indices", "weights"):
        for file in (store.path / "partitions/00000" / name / "c").iterdir():
            if file.name != "1":
                file.unlink()
    indices, _ = part_of(store, 0, chunk + 10, chunk - 10)
    assert np.array_equal(indices, graph.indices[chunk + 10 : 2 * chunk])
    with pytest.raises(StoreError, match="cannot be opened"):
        part_of(store, 0, chunk - 1, 2)


def test_a_changed_bit_is_found_by_each_part_that_touches_its_block(tmp_path, small_chunks):
    store, graph = stored(tmp_path)
    file, block = store.path / "partitions/00000/weights/c/1", BLOCK // 4
    content = bytearray(file.read_bytes())
    content[BLOCK + 100] ^= 1  # in the fourth block of the array
    file.write_bytes(content)
    for first, count in ((3 * block, 1), (4 * block - 1, 1), (2 * block, block + 1), (0, 4 * block)):
        with pytest.raises(StoreError, match=r"weights/c/1: bytes from 4,096 on have changed"):
            part_of(store, 0, first, count)
    for first, count in ((0, 3 * block), (4 * block, 10)):
        assert np.array_equal(part_of(store, 0, first, count)[1], graph.weights[first : first + count])


def test_values_of_a_part_are_held_to_their_range_without_checksums(tmp_path):
    path = random_store(tmp_path / "g.zarr", vertices=50, edges=300).path
    file = path / "partitions/00000/indices/c/0"
    ids = np.fromfile(file, np.uint32)
    ids[107] = 4_000_000_000
    ids.tofile(file)
    store = open_graph(path, checksums=False)
    part_of(store, 0, 0, 107)
    with pytest.raises(StoreError, match="from 0 to 49, found .* to 4000000000"):
        part_of(store, 0, 100, 20)


@pytest.mark.parametrize("edges", [1, 40, 333, 1000, 10_000])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_split_partitions_hold_the_whole_graph_in_order(tmp_path, small_chunks, compression, edges):
    store, graph = stored(tmp_path, compression)
    for view in (Split(store, edges), Split(Coalesced(store, 1), edges), Coalesced(Split(store, edges), 3)):
        whole = view.load()
        assert np.array_equal(whole.indptr, graph.indptr)
        assert np.array_equal(whole.indices, graph.indices)
        assert np.array_equal(whole.weights, graph.weights)
        offsets = [view.read_offsets(part.number) + part.first_edge for part in view.partitions]
        assert np.array_equal(np.concatenate([each[:-1] for each in offsets]), graph.indptr[:-1])
        for one, other in zip(view.partitions, view.partitions[1:], strict=False):
            assert (one.last_vertex, one.first_edge + one.edges) == (other.first_vertex, other.first_edge)


@pytest.mark.parametrize("edges", [1, 40, 200, 333, 1000, 5000])
def test_a_piece_has_at_most_the_edges_asked_for_or_a_single_row(tmp_path, edges):
    store, graph = stored(tmp_path)
    degrees = np.diff(graph.indptr)
    for part in Split(store, edges).partitions:
        rows = degrees[part.first_vertex : part.last_vertex]
        assert part.edges <= edges or np.count_nonzero(rows) == 1


def test_pieces_are_few_and_about_equal():
    offsets = np.arange(0, 40_001, 4)
    sizes = np.diff(np.append(offsets[cuts_of(offsets, 15_000)], 40_000))
    assert sizes.tolist() == [13332, 13332, 13336]


@pytest.mark.parametrize("rows", [[0, 0, 9, 0, 0, 3, 0], [5], [0, 0], [0, 7, 7, 0, 7]])
def test_rows_without_edges_make_no_pieces_of_their_own(rows):
    offsets = np.append(0, np.cumsum(rows))
    cuts = cuts_of(offsets, 4)
    sizes = np.diff(np.append(offsets[cuts], offsets[-1]))
    assert (sizes > 0).all() or offsets[-1] == 0
    assert cuts == sorted(set(cuts))
