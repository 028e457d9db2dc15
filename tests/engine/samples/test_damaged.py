"""A sample store that was damaged or that something else wrote: an error that names the file, never wrong samples."""

import hashlib
import json
import random
import re

import numpy as np
import pytest
from helpers import slow
from helpers.small_samples import SAID, STORES, edit, files_of, kept_walks, some_walks, stored

from csaw.engine.samples import check, files
from csaw.engine.stores import open_samples
from csaw.engine.stores.describe import describe_store as describe
from csaw.engine.stores.export import export
from csaw.partition.errors import ChangedError, CsawError, StoreError


def test_what_is_no_finished_sample_store_is_refused_by_name(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        open_samples(tmp_path / "none")
    slow.write(tmp_path / "half", SAID, "walks", some_walks(), group_size=4, groups=[1])
    with pytest.raises(StoreError, match="--resume"):
        open_samples(tmp_path / "half")
    with pytest.raises(StoreError, match="--resume"):
        open_samples(tmp_path / "half.partial")
    with pytest.raises(StoreError, match="not a sample store"):
        open_samples(tmp_path)
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    node = json.loads((path / "zarr.json").read_text())
    node["attributes"]["format_version"] = 99
    (path / "zarr.json").write_text(json.dumps(node))
    with pytest.raises(StoreError, match="format version 99"):
        open_samples(path)
    (path / "zarr.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        open_samples(path)


def test_a_missing_or_torn_chunk_is_an_error_not_fill(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    chunk = path / "walks" / "c.1.0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"expected 80 bytes, found 79"):
        open_samples(path).walks[:]
    chunk.unlink()
    with pytest.raises(StoreError, match="missing"):
        open_samples(path).walks[:]


def read_all(path):
    """Everything that a loader and an export to text read."""
    export(path, path.with_name("out.txt"), overwrite=True)
    samples = open_samples(path)
    return [
        samples.results,
        describe(path, full=True)["edges"],
        samples.labels().tolist(),
        path.with_name("out.txt").read_bytes(),
    ]


@pytest.mark.parametrize("layout", STORES)
def test_one_changed_byte_in_any_file_is_an_error_that_names_it(tmp_path, layout):
    path = stored(tmp_path, layout)
    for file in [file for file in path.rglob("*") if file.is_file() and file.parent.name != "results"]:
        data, names_it = file.read_bytes(), str(file if file.parent != path else path)
        for at in (0, len(data) // 2, len(data) - 1):
            file.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
            with pytest.raises(StoreError, match=re.escape(names_it)):
                read_all(path)
        file.write_bytes(data)
    read_all(path)


def test_a_changed_checksum_is_not_blamed_on_the_file_that_has_it(tmp_path):
    path = stored(tmp_path, "walks")
    node = path / "checksums" / "zarr.json"
    text = node.read_text()
    held = open_samples(path).checksums["walks/c.1.0"]
    node.write_text(text.replace(held, ("1" if held[0] == "0" else "0") + held[1:]))
    with pytest.raises(ChangedError, match=re.escape(f"{node}: its bytes have changed since it was written")):
        open_samples(path)
    found = json.loads(text)
    del found["attributes"][check.OWN]  # as early versions wrote it
    node.write_text(json.dumps(found))
    read_all(path)


def test_results_have_a_checksum_of_their_own_which_early_versions_lack(tmp_path):
    path = stored(tmp_path, "walks")
    node = path / "results" / "zarr.json"
    text = node.read_text()
    found = json.loads(text)
    others = {key: value for key, value in found["attributes"].items() if key != "sha256"}
    assert found["attributes"]["sha256"] == hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()
    assert "sha256" not in open_samples(path).results
    wanted, sizes = open_samples(path).results, open_samples(path).sizes
    node.write_text(json.dumps(found | {"attributes": others}))
    assert (open_samples(path).results, open_samples(path).sizes) == (wanted, sizes)
    for name in others:
        node.write_text(json.dumps(found | {"attributes": found["attributes"] | {name: "other"}}))
        with pytest.raises(ChangedError, match=re.escape(f"{node}: its bytes have changed")):
            _ = open_samples(path).results
    node.write_text(text)
    assert open_samples(path).results == wanted


@pytest.mark.parametrize("other", [{"seed": 1}, {"instances": 5}, {"length": 7}])
@pytest.mark.parametrize("read_before", [False, True])
def test_a_reader_of_a_sample_that_is_replaced_is_told_so_and_never_has_bytes_of_both(tmp_path, other, read_before):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    held, wanted = open_samples(path), kept_walks()
    if read_before:
        assert np.array_equal(held.walks[:], wanted)
    slow.write(path, SAID, "walks", some_walks(**other), group_size=4, overwrite=True)
    for read in (lambda: held.walks[:], lambda: held.walks[[9, 1]], lambda: list(held.iter_groups())):
        with pytest.raises(StoreError, match="s was replaced by another sample while it was read; open it again"):
            read()
    assert np.array_equal(open_samples(path).walks[:], kept_walks(**other))


def test_a_reader_of_a_sample_that_is_drawn_again_with_the_same_bytes_goes_on(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    held = open_samples(path)
    first = held.walks[:3]
    slow.write(path, SAID, "walks", some_walks(), group_size=4, overwrite=True)
    assert np.array_equal(held.walks[:3], first)
    (path / "walks" / "c.0.0").write_bytes(bytes((path / "walks" / "c.0.0").stat().st_size))
    with pytest.raises(ChangedError, match="its bytes have changed"):
        held.walks[:3]


@pytest.mark.parametrize("layout", STORES)
def test_a_random_fault_ends_in_an_error_or_changes_nothing(tmp_path, layout):
    path, rng = stored(tmp_path, layout), random.Random(1)
    right, whole = read_all(path), files_of(path, results=True)
    names = sorted(whole)
    for _ in range(120):
        name, other = rng.choice(names), rng.choice(names)
        data = whole[name]
        at = rng.randrange(len(data))
        fault = rng.choice(
            [b"", data[:at], data[:at] + data[at + 1 :], data + b"0", whole[other], b"{}", b"[1]", b"[" * 99_999, None]
        )
        (path / name).unlink() if fault is None else (path / name).write_bytes(fault)
        try:
            assert read_all(path)[1:] == right[1:], (name, fault)
        except CsawError as error:
            assert str(path) in str(error)  # noqa: PT017
        (path / name).write_bytes(data)


def reseal(path):
    """The store's checksums, made right again for files that something else wrote."""
    node = path / "checksums" / "zarr.json"
    found = json.loads(node.read_text())
    for name in found["attributes"]["sha256"]:
        found["attributes"]["sha256"][name] = files.sha256(path / name)
    check.write_checksums(path, found["attributes"]["sha256"])


@pytest.mark.parametrize(
    ("name", "keys", "values"),
    [
        ("zarr.json", ("attributes", "layout"), ["hops", "trees", None, []]),
        ("zarr.json", ("attributes", "instances"), [-1, 12, 2**70, 1.5, True, "11", None]),
        ("zarr.json", ("attributes", "group_size"), [0, -2, "2", 2**63]),
        ("zarr.json", ("attributes", "ids"), ["string", 1, {}]),
        ("zarr.json", ("attributes", "fill"), [None, 2**31, 2**32 - 1, "x", 1e30]),
        ("zarr.json", ("attributes", "manifest"), [None, [], {"request": 1}, {"graph": "g"}]),
        ("zarr.json", ("attributes", "format_version"), [None, 0, "1", 99]),
        ("zarr.json", ("attributes",), [None, 1, []]),
        ("walks/zarr.json", ("shape",), [[11], [11, 5, 1], [12, 5], [11, 0], [-11, 5], [11, 2**62], 11, None, [[], 1]]),
        ("walks/zarr.json", ("data_type",), ["float32", "uint64", "object", None, "O", ["u4"]]),
        ("walks/zarr.json", ("chunk_grid",), [None, {}, {"configuration": {"chunk_shape": [0, 5]}}]),
        ("walks/zarr.json", ("chunk_grid", "configuration", "chunk_shape"), [[2], [2, 4], [2**61, 5], ["2", 5], "25"]),
        ("lengths/zarr.json", ("data_type",), ["int64", "uint32"]),
        ("lengths/zarr.json", ("shape",), [[10], [11, 1]]),
        ("vertex_ids/zarr.json", ("data_type",), ["int64"]),
    ],
)
def test_metadata_that_something_else_wrote_is_refused_by_name(tmp_path, name, keys, values):
    path = stored(tmp_path, "walks")
    before = (path / name).read_bytes()
    for value in values:
        edit(path / name, *keys, value=value)
        reseal(path)
        with pytest.raises(StoreError, match=re.escape(str(path))):
            read_all(path)
        (path / name).write_bytes(before)
    reseal(path)
    read_all(path)


@pytest.mark.parametrize(
    ("layout", "chunk", "dtype", "values", "said"),
    [
        ("walks", "lengths/c.0", "<i4", [5, -1, 2**31 - 1], "lengths from 0 to 4"),
        ("walks", "walks/c.0.0", "<u4", [4, 2**31, 2**32 - 1], "which have names"),
        ("subgraphs", "src/c.0", "<u4", [4, 2**32 - 1], "which have names"),
        ("subgraphs", "instance_ptr/c.0", "<i8", [1, -(2**62), 2**62], "bounds that increase from 0"),
        ("subgraphs", "sources_ptr/c.0", "<i8", [3, -1], "bounds that increase from 0"),
        ("ragged-walks", "walks/c.0", "<u4", [4, 2**31], "which have names"),
        ("ragged-walks", "walk_ptr/c.0", "<i8", [1, -(2**62), 2**62], "bounds that increase from 0"),
        ("hops", "hop_1/c.0.0", "<u4", [4, 2**31], "which have names"),
        ("walks", "vertex_id_offsets/c.0", "<i8", [1, -5, 2**40], "increase from 0"),
    ],
)
def test_contents_out_of_range_are_refused_before_any_kernel_reads_them(tmp_path, layout, chunk, dtype, values, said):
    path = stored(tmp_path, layout)
    for value in values:
        array = np.frombuffer((path / chunk).read_bytes(), dtype).copy()
        array[0] = value
        (path / chunk).write_bytes(array.tobytes())
        reseal(path)
        with pytest.raises(StoreError, match=said):
            read_all(path)


def test_a_chunk_that_cannot_be_read_is_named(tmp_path):
    path = stored(tmp_path, "walks")
    chunk = path / "walks/c.0.0"
    chunk.unlink()
    chunk.symlink_to(chunk.name)
    with pytest.raises(StoreError, match=r"walks/c\.0\.0 cannot be read: Too many levels of symbolic links"):
        open_samples(path).walks[:]
