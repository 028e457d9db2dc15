"""What is cut into pieces on its way, blocks, buckets, spools and chunks, comes out as if it had been whole."""

import itertools

import numpy as np
import pytest
import zarr

from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays import arrays
from csaw.partition.arrays.loader import open_array, read_array
from csaw.partition.arrays.spool import Budget, Spool, gather
from csaw.partition.base.compile import njit
from csaw.partition.base.parallel import Crew
from csaw.partition.ingestion import buckets
from csaw.partition.ingestion.text import blocks


@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize("sizes", [[], [5], [8], [3, 5], [8, 8], [1, 20, 0, 2], [17]], ids=str)
def test_a_growing_array_is_what_zarr_reads(tmp_path, monkeypatch, compression, sizes):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 32)  # 8 elements
    array = arrays.growing_array(tmp_path / "a", np.dtype(np.uint32), compression)
    expected = np.arange(1, sum(sizes) + 1, dtype=np.uint32)
    for piece in np.split(expected, np.cumsum(sizes)):
        array.extend(piece)
    digest = array.close()
    found = zarr.open_array(str(tmp_path / "a"), mode="r")
    assert found.chunks == (max(1, min(8, expected.size)),)
    assert np.array_equal(found[:], expected)
    loaded = np.empty_like(expected)
    read_array(open_array(tmp_path / "a", digest), loaded)
    assert np.array_equal(loaded, expected)


@njit
def gathered(addresses, handles, begins, ends, item, to):
    """What only compiled code calls has no wrapper for Python."""
    return gather(addresses, handles, begins, ends, item, to)


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_spool_gives_the_same_from_memory_and_from_disk(tmp_path, threads):
    pieces = [(np.arange(k, dtype=np.uint32), np.arange(k) * 0.5) for k in (4, 1, 7)]
    cuts = np.array([1, 0, 2]), np.array([4, 0, 7])
    for memory, spilled in ((1000, 0), (61, 1), (59, 2), (0, 3)):
        with Crew(threads or 1, 1 << 24) as crew:
            spool = Spool(Budget(memory, tmp_path), crew.backlog() if threads else None)
            for piece in pieces:
                spool.append(*piece)
            spool.settle()
            assert spool.stored == spilled
            for piece, columns in zip(pieces, spool, strict=True):
                assert all(np.array_equal(a, b[:]) for a, b in zip(piece, columns, strict=True))
            expected = np.array([1, 2, 3, 2, 3, 4, 5, 6])
            for column, kind in enumerate((np.uint32, np.float64)):
                out = np.empty(expected.size, kind)
                assert gathered(*(place[column] for place in spool.places), *cuts, out.itemsize, out.ctypes.data)
                assert np.array_equal(out, expected * (0.5 if column else 1))
            assert len(list(spool.drain())) == 3
            spool.close()
            assert spool.budget.left == memory


@pytest.mark.parametrize("partitions", [1, 7])
@pytest.mark.parametrize("options", [{}, {"directed": False, "self_loops": "drop"}, {"duplicates": "keep"}], ids=str)
def test_many_buckets_give_the_rows_of_one(tmp_path, monkeypatch, partitions, options):
    rng = np.random.default_rng(1)
    rows = zip(*(rng.random((3, 5000)) ** 3 * 400).astype(int).tolist(), strict=True)
    (tmp_path / "e").write_text("".join(f"{u} {v} {w}\n" for u, v, w in rows))
    one = ingest(str(tmp_path / "e"), tmp_path / "one", IngestOptions(**options))
    monkeypatch.setattr(buckets, "BUCKET_ENTRIES", 50)
    many = ingest(str(tmp_path / "e"), tmp_path / "many", IngestOptions(partitions=partitions, **options))
    assert len(many.partitions) == partitions
    assert many.fingerprint == one.fingerprint
    assert many.report == one.report


def test_numbers_of_every_length_are_read_to_the_last_digit(tmp_path):
    numbers = sorted({n for k in range(19) for n in (10**k - 1, 10**k, 10**k * 12345678901234567890 // 10**19)})
    for last in ("\n", ""):
        text = "\n".join(f"{a}\t{b}" for a, b in zip(numbers, reversed(numbers), strict=True)) + last
        (tmp_path / "e").write_text(text)
        store = ingest(str(tmp_path / "e"), tmp_path / "g", IngestOptions(overwrite=True, id_type="int"))
        assert store.vertex_ids().tolist() == numbers
        assert store.original_ids(store.load().indices).tolist() == numbers[::-1]


@pytest.mark.parametrize(
    "ids",
    [[*range(1, 40), -3], [*range(1, 40), 2**32], [*range(1, 40), 2**63 + 5], range(2**63 - 20, 2**63 + 20)],
    ids=["negative", "wide", "big", "around 2^63"],
)
def test_blocks_of_narrow_and_wide_ids_mix(tmp_path, monkeypatch, ids):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    pairs = list(itertools.pairwise(ids))
    (tmp_path / "e").write_text("".join(f"{u} {v}\n" for u, v in pairs))
    store = ingest(str(tmp_path / "e"), tmp_path / "g", IngestOptions())
    graph = store.load()
    sources = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    found = zip(store.original_ids(sources).tolist(), store.original_ids(graph.indices).tolist(), strict=True)
    assert list(found) == sorted(pairs)


def test_the_disk_is_asked_for_each_chunk_once_when_it_is_complete(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(arrays, "PIECE_BYTES", 1024)
    with Crew(4, 1 << 24) as crew:
        sizes = {}
        array = arrays.growing_array(
            tmp_path / "a",
            np.dtype(np.uint8),
            None,
            crew.backlog(),
            lambda file: sizes.update({file.name: file.stat().st_size}),
        )
        for piece in np.array_split(np.arange(10_000, dtype=np.uint8), 37):
            array.extend(piece)
        array.close()
    assert sizes == {"0": 4096, "1": 4096, "2": 4096}


def test_a_file_that_the_disk_cannot_keep_is_an_error(tmp_path, monkeypatch):
    from csaw.partition.errors import StoreError
    from csaw.partition.graph import write

    def full(path):
        if "indices" in str(path) and str(path).endswith("0"):
            monkeypatch.undo()  # said once, as a disk does
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(arrays, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(write, "sync_folder", full)
    (tmp_path / "e").write_text("".join(f"{k} {k * 7 % 3000}\n" for k in range(3000)))
    with pytest.raises(StoreError, match="g cannot be written: Input/output error"):
        ingest(tmp_path / "e", tmp_path / "g", IngestOptions())
    assert [place.name for place in tmp_path.iterdir()] == ["e"]


@pytest.mark.parametrize(
    "ids", [[-(2**63), -5, 0, 7, 2**63 - 1], [0, 1, 2**40, 2**63, 2**64 - 1], [3]], ids=["signed", "unsigned", "one"]
)
def test_ids_far_apart_are_found_by_their_bits_and_alike_in_any_width(tmp_path, ids):
    from csaw.partition.ingestion.ids import Numbering

    rng = np.random.default_rng(8)
    wide = np.uint64 if max(ids) > 2**63 - 1 else np.int64
    spread = rng.integers(0, 2**62, 5000).astype(wide)
    small = np.array([v for v in ids if 0 <= v < 2**32], np.uint32)
    pieces = [(spread, spread[::-1].copy()), (np.array(ids, wide),) * 2, (small, small)]
    with Crew(3, 1 << 24) as crew:
        spool = Spool(Budget(1 << 20, tmp_path), crew.backlog())
        for piece in pieces:
            spool.append(*piece)
        spool.settle()
        numbering = Numbering(spool, min(ids), max(int(spread.max()), *ids), np.dtype(wide), crew)
        expected = sorted({int(v) for piece in pieces for v in piece[0]})
        assert numbering.ids.tolist() == expected
        for piece in pieces:
            assert [expected[rank] for rank in numbering.dense(piece[0].copy())] == piece[0].tolist()
