"""Short parts of partitions' arrays, read side by side."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.partition.arrays import spans
from csaw.partition.arrays.loader import StoredArray
from csaw.partition.arrays.spans import SpanReader
from csaw.partition.errors import StoreError


class SmallChunks:
    """Three arrays of 100 numbers, the chunks of each of a size of its own, the last one filled up."""

    CHUNKS = (7, 30, 100)

    def __init__(self, path):
        self.path = path
        self.numbers = np.random.default_rng(1).integers(0, 2**32, (3, 100), dtype=np.uint32)
        for part, chunk in enumerate(self.CHUNKS):
            (path / str(part) / "c").mkdir(parents=True)
            padded = np.append(self.numbers[part], np.zeros(-100 % chunk, np.uint32))
            for k, piece in enumerate(np.split(padded, padded.size // chunk)):
                self.opened(part, "numbers").file(k).write_bytes(piece.tobytes())

    def opened(self, number, name):
        return StoredArray(self.path / str(number), 100, self.CHUNKS[number], True, None)

    def limit_of(self, name):
        return 2**32 - 1


@pytest.fixture
def small(tmp_path):
    return SmallChunks(tmp_path)


@pytest.fixture
def reader(small):
    reader = SpanReader(small)
    yield reader
    reader.close()


ONE = np.ones(1, np.int64)


@pytest.mark.parametrize("handles", [1, 2, 256])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_spans_are_what_is_in_the_files(monkeypatch, small, reader, count, handles):
    monkeypatch.setattr(spans, "HANDLES", handles)
    rng = np.random.default_rng(2)
    for _ in range(3):
        number, first = rng.integers(0, 3, count), rng.integers(0, 101, count)
        size = rng.integers(0, 101 - first)
        to = size.cumsum() - size
        out = np.zeros(int(size.sum()), np.uint32)
        reader.read("numbers", number, first, size, out, to)
        expected = [small.numbers[n, f : f + s] for n, f, s in zip(number, first, size, strict=True)]
        assert np.array_equal(out, np.concatenate([*expected, np.zeros(0, np.uint32)]))
        assert len(reader.handles) <= handles
    reader.close()
    assert not reader.handles


def test_a_store_is_read_row_by_row(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=50, edges=400, partitions=3, weighted=True)
    graph, number = store.load(), np.repeat(np.arange(3), [p.last_vertex - p.first_vertex for p in store.partitions])
    first = graph.indptr[:-1] - np.array([p.first_edge for p in store.partitions])[number]
    for name, expected in (("indices", graph.indices), ("weights", graph.weights)):
        out = np.zeros_like(expected)
        SpanReader(store).read(name, number, first, np.diff(graph.indptr), out, graph.indptr[:-1])
        assert np.array_equal(out, expected)


def test_a_file_that_is_gone_or_short_is_named(small, reader):
    small.opened(1, "numbers").file(2).unlink()
    with pytest.raises(StoreError, match=r"1/c/2 cannot be opened: No such file or directory; make the store again"):
        reader.read("numbers", ONE, 55 * ONE, 10 * ONE, np.zeros(10, np.uint32), 0 * ONE)
    small.opened(2, "numbers").file(0).write_bytes(b"short")
    with pytest.raises(StoreError, match=r"2/c/0 cannot be opened: expected 400 bytes, found 5; make the store again"):
        reader.read("numbers", 2 * ONE, ONE, ONE, np.zeros(1, np.uint32), 0 * ONE)


def test_a_file_that_shrinks_while_it_is_open_is_named(small, reader):
    out = np.zeros(5, np.uint32)
    reader.read("numbers", 2 * ONE, ONE, ONE, out, 0 * ONE)
    small.opened(2, "numbers").file(0).write_bytes(b"")
    with pytest.raises(StoreError, match=r"2/c/0 cannot be opened: expected 400 bytes, found 0; make the store again"):
        reader.read("numbers", 2 * ONE, 50 * ONE, 5 * ONE, out, 0 * ONE)
