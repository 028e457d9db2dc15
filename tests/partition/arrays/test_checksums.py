"""Every byte of a graph store that a result depends on is checked when it is read, by whoever reads it."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store

from csaw.partition import open_graph, write_graph
from csaw.partition.arrays import checksum_kernels, checksums
from csaw.partition.arrays.block_hash import xxh64
from csaw.partition.arrays.checksums import (
    BLOCK,
    DTYPE,
    EMPTY,
    ZEROS,
    all_within,
    file_sum,
    first_damaged,
    first_damaged_of_end,
    sums_of,
)
from csaw.partition.arrays.loader import array_digest
from csaw.partition.arrays.nodes import digest
from csaw.partition.arrays.spans import SpanReader
from csaw.partition.errors import StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.store import array_name

VECTORS = {
    b"": 0xEF46DB3751D8E999,
    b"a": 0xD24EC4F1A98C6E5B,
    b"abc": 0x44BC2CF5AD770999,
    b"Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}


@pytest.mark.parametrize(("text", "expected"), VECTORS.items())
def test_the_hash_is_xxh64(text, expected):
    data = np.frombuffer(text, np.uint8)
    assert checksum_kernels.xxh64(data, 0, len(text)) == expected
    assert xxh64(np.stack([data, data])).tolist() == [expected] * 2
    assert file_sum(data) == expected & 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 33, 63, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 45])
def test_little_and_much_have_the_same_checksums(size, monkeypatch):
    """With NumPy, as long as a process has done little, and compiled."""
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    found = []
    for little in (True, False):
        monkeypatch.setattr(checksums, "is_little", lambda _, code, little=little: little)
        sums = sums_of(data)
        assert (sums.dtype, first_damaged(data, sums)) == (DTYPE, -1)
        if size:
            changed = sums.copy()
            changed[-1] ^= 1
            assert first_damaged(data, changed) == sums.size - 1
        found.append((sums.tolist(), file_sum(data)))
    assert found[0] == found[1]


def test_nothing_has_the_checksum_of_no_bytes():
    assert VECTORS[b""] & 0xFFFFFFFF == EMPTY


def test_pieces_of_any_length_have_the_checksums_of_the_whole(tmp_path, monkeypatch):
    from csaw.partition.arrays import arrays

    monkeypatch.setattr(arrays, "PIECE_BYTES", 2 * BLOCK)
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, 5 * BLOCK + 1000, dtype=np.uint8)
    for number in range(20):
        array = arrays.growing_array(tmp_path / str(number), data.dtype, None)
        for piece in np.split(data, np.sort(rng.integers(0, data.size, 9))):
            array.extend(piece)
        array.close()
        assert (tmp_path / str(number) / "checksums").read_bytes() == sums_of(data).tobytes()
        assert (tmp_path / str(number) / "c" / "0").read_bytes() == data.tobytes()


@pytest.mark.parametrize(
    ("values", "limit", "good"),
    [([0, 5], 5, True), ([0, 6], 5, False), ([], 0, True), ([2**32 - 1], 5, False)],
)
def test_ids_have_a_range(values, limit, good):
    assert all_within(np.array(values, np.uint32), np.uint32(limit)) == good


@pytest.mark.parametrize(
    ("weight", "good"), [(0.0, True), (3e38, True), (-1e-9, False), (np.nan, False), (np.inf, False)]
)
def test_weights_have_a_range(weight, good):
    values = np.array([1.0, weight], np.float32)
    assert all_within(values, np.finfo(np.float32).max) == good


@pytest.fixture
def small_blocks(monkeypatch):
    """Chunks of two blocks, so that a small store has several of both."""
    from csaw.partition.arrays import arrays

    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2 * BLOCK)


def damage(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 1 << (at % 8)
    file.write_bytes(content)


def everything(path):
    store = open_graph(path)
    return store.load(), store.vertex_ids()


def files_of(store):
    """All files but the descriptions of groups within, which csaw does not read to sample."""
    groups = [store.path / "partitions" / "zarr.json", *(store.path / "partitions").glob("*/zarr.json")]
    return sorted(file for file in store.path.rglob("*") if file.is_file() and file not in groups)


@pytest.mark.parametrize("compression", [None, "lz4"])
def test_a_changed_bit_of_any_file_is_found(tmp_path, small_blocks, compression):
    graph = random_store(tmp_path / "plain.zarr", vertices=1500, edges=6000, weighted=True).load()
    store = write_graph(
        tmp_path / "g.zarr",
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=False,
        partitions=2,
        compression=compression,
        vertex_ids=np.arange(1500) * 3 + 7,
    )
    rng = np.random.default_rng(2)
    for file in files_of(store):
        before = file.read_bytes()
        for at in rng.integers(0, len(before), 3):
            damage(file, int(at))
            with pytest.raises(StoreError, match="csaw partition|upgrade csaw"):
                everything(store.path)
            file.write_bytes(before)
    everything(store.path)


def test_the_zeros_that_fill_a_chunk_are_checked_too(tmp_path, small_blocks):
    store = random_store(tmp_path / "g.zarr", vertices=10, edges=3000, partitions=1)
    last = max((store.path / "partitions/00000/indices/c").iterdir(), key=lambda file: int(file.name))
    damage(last, last.stat().st_size - 1)
    with pytest.raises(StoreError, match="have changed"):
        store.load()


def test_a_single_row_is_checked(tmp_path, small_blocks):
    store = random_store(tmp_path / "g.zarr", vertices=50, edges=6000, partitions=1, weighted=True)
    graph = store.load()
    file = store.path / "partitions/00000/weights/c/1"
    damage(file, 100)
    reader, count = SpanReader(store), np.diff(graph.indptr)
    row = np.zeros(1, np.int64)
    wrong = int(np.searchsorted(graph.indptr, 2 * BLOCK // 4 + 25, side="right")) - 1
    for vertex in (0, wrong):
        out, begin, size = np.zeros(count[vertex], np.float32), graph.indptr[[vertex]], count[[vertex]]
        if vertex == wrong:
            with pytest.raises(StoreError, match=r"weights/c/1: its bytes have changed"):
                reader.read("weights", row, begin, size, out, row)
        else:
            reader.read("weights", row, begin, size, out, row)
            assert np.array_equal(out, graph.weights[begin[0] : begin[0] + size[0]])
    reader.close()


@pytest.mark.parametrize("checksums", [True, False])
def test_ids_beyond_the_graph_reach_no_kernel_even_without_checksums(tmp_path, checksums):
    store = random_store(tmp_path / "g.zarr", vertices=50, edges=300, partitions=1)
    file = store.path / "partitions/00000/indices/c/0"
    ids = np.fromfile(file, np.uint32)
    ids[7] = 4_000_000_000
    ids.tofile(file)
    store = open_graph(store.path, checksums)
    with pytest.raises(StoreError, match="have changed" if checksums else "from 0 to 49, found .* to 4000000000"):
        store.load()
    zero, out = np.zeros(1, np.int64), np.zeros(300, np.uint32)
    with pytest.raises(StoreError, match="have changed" if checksums else "from 0 to 49, found .* to 4000000000"):
        SpanReader(store).read("indices", zero, zero, zero + 300, out, zero)


@pytest.mark.parametrize("offsets", [[0, 5, 3], [1, 2, 3], [0, 2**62, 3], [0, -1, 3], [0, 1, 4]])
def test_offsets_that_do_not_rise_reach_no_kernel(tmp_path, offsets):
    store = write_graph(tmp_path / "g.zarr", np.array([0, 1, 3]), np.array([0, 0, 1], np.uint32), directed=True)
    np.array(offsets).tofile(store.path / "partitions/00000/indptr/c/0")
    with pytest.raises(StoreError, match="expected offsets that increase from 0 to 3"):
        open_graph(store.path, checksums=False).read_indptr()


EDITS = [
    ("directed", True),
    ("weighted", False),
    ("edges", 5),
    ("vertices", -1),
    ("id_dtype", "uint64"),
    ("partitions", []),
    ("format_version", 1),
    ("format_version", "2"),
    ("checksums", {}),
    ("digest", None),
    ("fingerprint", "0" * 32),
    ("report", {"edges": 1}),
]


@pytest.mark.parametrize(("name", "value"), EDITS, ids=str)
def test_edited_attributes_are_refused(tmp_path, name, value):
    store = random_store(tmp_path / "g.zarr", vertices=20, edges=60, partitions=2, weighted=True)
    file = store.path / "zarr.json"
    node = json.loads(file.read_text())
    node["attributes"][name] = value
    file.write_text(json.dumps(node))
    with pytest.raises(StoreError, match="zarr.json: "):
        open_graph(store.path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"attributes": []}', "[" * 100_000, "\xff"], ids=repr)
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    store = random_store(tmp_path / "g.zarr", vertices=5, edges=6)
    (store.path / "zarr.json").write_text(text, encoding="latin1")
    with pytest.raises(StoreError, match=r"g\.zarr"):
        open_graph(store.path)


@pytest.fixture
def format1(tmp_path):
    """Stores that csaw wrote before it had checksums."""
    with tarfile.open(Path(__file__).parents[2] / "data" / "format1.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.parametrize("name", ["graph", "packed"])
def test_a_store_of_format_version_1_is_still_read(format1, name):
    graph, ids = everything(format1 / f"{name}.zarr")
    assert graph.indptr.tolist() == [0, 1, 3, 4, 5]
    assert graph.indices.tolist() == [1, 0, 2, 0, 0]
    assert graph.weights.tolist() == [0.5, 4.0, 0.25, 1.0, 2.0]
    assert ids.tolist() == [10, 20, 30, 70]
    assert all(finding.ok for finding in check_store(open_graph(format1 / f"{name}.zarr")))


def test_strings_of_format_version_1_are_still_read(format1):
    store = open_graph(format1 / "strings.zarr")
    assert list(store.vertex_ids()) == ["ann", "bob", "cy", "zoe"]
    assert store.load().indices.tolist() == [1, 2, 3, 0, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("name", "value"), [("edges", "5"), ("vertices", None), ("partitions", [[0, 4, 0, 5]]), ("id_dtype", "S9")]
)
def test_attributes_of_format_version_1_must_make_sense(format1, name, value):
    file = format1 / "graph.zarr" / "zarr.json"
    node = json.loads(file.read_text())
    node["attributes"][name] = value
    file.write_text(json.dumps(node))
    with pytest.raises(StoreError, match=f"zarr.json: {name}"):
        open_graph(file.parent)


def test_verify_checks_a_graph_store(tmp_path):
    from csaw.cli.main import cli

    store = random_store(tmp_path / "g.zarr", vertices=50, edges=300, partitions=2)
    done = CliRunner().invoke(cli, ["verify", str(store.path)])
    assert done.exit_code == 0
    assert "checksums" in done.output
    damage(store.path / "partitions/00001/indices/c/0", 5)
    done = CliRunner().invoke(cli, ["verify", str(store.path), "--json"])
    assert done.exit_code == 3
    assert "00001/indices/c/0: bytes from 0 on have changed" in json.loads(done.output)["checks"][0]["details"]


def test_verify_finds_an_attribute_that_was_wrong_from_the_start(tmp_path, monkeypatch):
    from csaw.partition.graph import write

    sealed = write.sealed
    monkeypatch.setattr(write, "sealed", lambda attributes, arrays: sealed(attributes | {"max_degree": 99}, arrays))
    found = check_store(random_store(tmp_path / "g.zarr", vertices=20, edges=100))
    assert [finding.name for finding in found if not finding.ok] == ["largest degree"]


@pytest.mark.parametrize(("name", "value"), [("node_type", "255"), ("zarr_format", 2)])
def test_a_node_that_is_no_group_is_refused(tmp_path, name, value):
    store = random_store(tmp_path / "g.zarr", vertices=5, edges=6)
    node = json.loads((store.path / "zarr.json").read_text())
    (store.path / "zarr.json").write_text(json.dumps(node | {name: value}))
    with pytest.raises(StoreError, match="does not describe a Zarr v3 group"):
        open_graph(store.path)


def forged(store, change):
    """The attributes of a graph store as a stranger may have made them: edited, with a digest made anew."""
    node = json.loads((store.path / "zarr.json").read_text())
    change(node["attributes"])
    said = {name: value for name, value in node["attributes"].items() if name != "digest"}
    (store.path / "zarr.json").write_text(json.dumps(node | {"attributes": said | {"digest": digest(said)}}))
    return store.path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("edge_ids", 2**63),
        ("partitioner", "range"),
        ("partitioner", {}),
        ("partitioner", {"method": ["range"]}),
        ("clusters", [1]),
        ("clusters", {"zz": 1}),
        ("clusters", {"count": "x", "method": "lp", "seed": 0, "digest": ""}),
        ("clusters", {"count": 2**40, "method": "lp", "seed": 0, "digest": ""}),
    ],
)
def test_attributes_of_a_stranger_are_refused_by_name(tmp_path, name, value):
    path = forged(random_store(tmp_path / "g.zarr", vertices=5, edges=6), lambda said: said.update({name: value}))
    with pytest.raises(StoreError, match=f"zarr.json: {name}: expected"):
        open_graph(path)


def test_a_row_longer_than_the_longest_is_refused(tmp_path):
    """Rows are read in blocks of a size that holds the longest, and a longer one would be waited for without end."""
    path = forged(random_store(tmp_path / "g.zarr", vertices=20, edges=100), lambda said: said.update(max_degree=1))
    with pytest.raises(StoreError, match="indptr: expected offsets that increase from 0 to 128 by at most 1"):
        open_graph(path).read_indptr()


def test_checksums_that_are_no_whole_numbers_are_refused(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=5, edges=6)
    name = array_name(0, "indices")
    (store.path / name / "checksums").write_bytes(b"12345")
    given = array_digest((store.path / name / "zarr.json").read_bytes(), b"12345")
    path = forged(store, lambda said: said["checksums"]["arrays"].update({name: given}))
    with pytest.raises(StoreError, match=f"{name}/zarr.json or checksums is missing or damaged"):
        open_graph(path).load()


@pytest.mark.parametrize("blocks", [1, 2, 9])
def test_the_end_of_a_file_is_right_if_all_its_blocks_are(blocks):
    rest = np.zeros(blocks * BLOCK, np.uint8)
    rest[:100] = 7
    right = sums_of(rest)
    assert first_damaged_of_end(rest, right) == -1
    assert right[1:].tolist() == [ZEROS] * (blocks - 1)
    for block in range(blocks):
        wrong = right.copy()
        wrong[block] ^= 1
        assert first_damaged_of_end(rest, wrong) == block
        rest[block * BLOCK + 4000] = 1
        assert first_damaged_of_end(rest, right) == block
        assert first_damaged_of_end(rest, sums_of(rest)) == -1
        rest[block * BLOCK + 4000] = 0
