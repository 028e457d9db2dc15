"""Claims of the sample store: what goes in comes out, whole groups or nothing, resumed equals uninterrupted."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from helpers import slow
from hypothesis import given, settings
from hypothesis import strategies as st

from csaw.engine.export import export
from csaw.engine.run import DRAWS, manifest, prepare
from csaw.engine.samples import NOTHING, UNKNOWN, SampleWriter, check, files, open_samples, place
from csaw.engine.samples.check import require_intact
from csaw.engine.samples.describe import describe
from csaw.partition import write_graph
from csaw.partition.errors import ChangedError, CsawError, OptionError, StoreError
from csaw.partition.lock import Lock

SAID = {
    "request": {"algorithm": "deepwalk", "parameters": {"walk_length": 4, "num_walks": 1}, "seed": 7, "weighted": False}
}
NONE = slow.NONE
SUBGRAPHS = {
    "counts": np.array([2, 0, 1, 3, 0]),
    "src": np.array([0, 1, 2, 3, 3, 0], np.uint32),
    "dst": np.array([1, 2, 0, 0, 1, 2], np.uint32),
    "depth": np.array([0, 1, 0, 0, 0, 1]),
    "source_counts": np.array([1, 1, 1, 1, 0]),
    "sources": np.array([0, 1, 2, 3], np.uint32),
}


RAGGED = {"lengths": np.array([2, 0, 1, 4, 1]), "walks": np.array([0, 1, 2, 3, 3, 1, 2, 0, 1, 0, 1, 3, 0], np.uint32)}


def some_walks(instances=11, length=4, vertices=4, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, length + 1, instances)
    walks = rng.integers(0, vertices, (instances, length + 1)).astype(np.uint32)
    walks[np.arange(length + 1) > lengths[:, None]] = NONE
    return {"walks": walks, "lengths": lengths}


def files_of(path, results=False):
    """All files of a store with their bytes; timings are in ``results`` alone."""
    found = {str(f.relative_to(path)): f.read_bytes() for f in path.rglob("*") if f.is_file()}
    return {name: data for name, data in found.items() if results or not name.startswith("results/")}


@settings(max_examples=25, deadline=None)
@given(instances=st.integers(0, 9), length=st.integers(0, 5), group_size=st.integers(1, 12), seed=st.integers(0, 99))
def test_walks_round_trip_for_any_grouping(tmp_path_factory, instances, length, group_size, seed):
    arrays = some_walks(instances, length, seed=seed)
    path = slow.write(tmp_path_factory.mktemp("s") / "walks", SAID, "walks", arrays, group_size=group_size)
    samples = open_samples(path)
    if instances:
        assert np.array_equal(samples.walks[:], arrays["walks"])
    assert np.array_equal(samples.lengths[:], arrays["lengths"])
    pieces = [group["lengths"] for _, group in samples.iter_groups()]
    assert np.array_equal(np.concatenate([*pieces, np.zeros(0, int)]), arrays["lengths"])


def test_zarr_reads_the_same_arrays_and_knows_every_member(tmp_path):
    import zarr

    walks = slow.write(tmp_path / "walks", SAID, "walks", some_walks(), group_size=3)
    trees = slow.write(tmp_path / "trees", SAID, "subgraphs", SUBGRAPHS, group_size=2)
    assert np.array_equal(zarr.open_group(walks, mode="r")["walks"][:], open_samples(walks).walks[:])
    group = dict(zarr.open_group(trees, mode="r").members())  # a stray file would be a warning, and those are errors
    for name in ("instance_ptr", "src", "dst", "depth", "sources_ptr", "sources"):
        assert np.array_equal(group[name][:], open_samples(trees)[name][:])


@pytest.mark.parametrize("group_size", [1, 2, 3, 100])
def test_subgraphs_are_joined_in_order_whatever_the_groups(tmp_path, group_size):
    samples = open_samples(slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS, group_size=group_size))
    for name in ("src", "dst", "depth", "sources"):
        assert np.array_equal(getattr(samples, name)[:], SUBGRAPHS[name])
    assert samples.instance_ptr[:].tolist() == [0, 2, 2, 3, 6, 6]
    assert samples.sources_ptr[:].tolist() == [0, 1, 2, 3, 4, 4]
    assert sorted(p.name for p in samples.path.iterdir() if p.name in ("parts", "groups")) == []


def test_hops_round_trip_with_a_fanout_of_zero(tmp_path):
    hops = {"hop_0": np.arange(5, dtype=np.uint32)[:, None], "hop_1": np.arange(10, dtype=np.uint32).reshape(5, 2)}
    hops["hop_2"] = np.zeros((5, 0), np.uint32)
    samples = open_samples(slow.write(tmp_path / "s", SAID, "hops", hops, group_size=2))
    assert [hop[:].tolist() for hop in samples.hops] == [hop.tolist() for hop in hops.values()]


@pytest.mark.parametrize(
    ("ids", "fill"),
    [
        (np.array([10, 20, 30, 2**62]), -1),
        (np.array([-5, -1, 3, 8]), -(2**31)),
        (np.array([-(2**63), -1, 3, 8]), 2**63 - 1),
        (np.array([1, 2, 3, 2**63], np.uint64), 2**64 - 1),
        (np.array([1, 2, 2**64 - 2, 2**64 - 1], np.uint64), 0),
    ],
)
def test_original_ids_are_stored_with_a_fill_that_no_vertex_has(tmp_path, ids, fill):
    arrays = some_walks()
    samples = open_samples(slow.write(tmp_path / "s", SAID, "walks", arrays, group_size=4, vertex_ids=ids))
    absent = arrays["walks"] == NONE
    stored = samples.walks[:]
    assert samples.fill == fill
    assert np.array_equal(stored[~absent], ids[arrays["walks"][~absent]])
    assert np.all(stored[absent] == np.array(fill, ids.dtype))
    assert np.array_equal(samples.dense(stored, ids), np.where(absent, NOTHING, arrays["walks"].astype(np.int64)))


def test_an_id_of_no_vertex_is_unknown(tmp_path):
    ids = np.array([10, 20, 30, 40])
    samples = open_samples(slow.write(tmp_path / "s", SAID, "walks", some_walks(), vertex_ids=ids))
    assert samples.dense(np.array([10, 15, 99, -1]), ids).tolist() == [0, UNKNOWN, UNKNOWN, NOTHING]


def test_string_ids_keep_their_text_and_dense_ids_stay_dense(tmp_path):
    words = np.array(["a", "bc", "ü\udcff", ""])
    samples = open_samples(slow.write(tmp_path / "s", SAID, "walks", some_walks(), vertex_ids=words))
    assert samples.labels().tolist() == words.tolist()
    assert np.array_equal(samples.walks[:], some_walks()["walks"])
    dense = open_samples(
        slow.write(tmp_path / "d", SAID, "walks", some_walks(), vertex_ids=np.arange(4) * 9, ids="dense")
    )
    assert np.array_equal(dense.walks[:], some_walks()["walks"])


def test_rows_slice_as_numpy_does(tmp_path):
    walks = open_samples(slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=3)).walks
    whole = some_walks()["walks"]
    for key in (
        slice(2, 9),
        slice(None, None, 2),
        slice(8, 2, -3),
        4,
        -1,
        [0, 10, 5],
        (slice(1, 8), 2),
        (3, slice(0, 2)),
        slice(5, 2),
    ):
        assert np.array_equal(walks[key], whole[key])
    assert np.array_equal(np.asarray(walks), whole)
    with pytest.raises(IndexError):
        walks[11]


@pytest.mark.parametrize(
    ("layout", "arrays"), [("walks", some_walks()), ("subgraphs", SUBGRAPHS), ("ragged-walks", RAGGED)]
)
def test_resumed_equals_uninterrupted_byte_for_byte(tmp_path, layout, arrays):
    whole = slow.write(tmp_path / "whole", SAID, layout, arrays, group_size=2)
    resumed = slow.write(tmp_path / "resumed", SAID, layout, arrays, group_size=2, groups=[2, 0])
    slow.write(resumed, SAID, layout, arrays, group_size=2, resume=True)
    assert files_of(whole) == files_of(resumed)


CHILD = """
import os, signal, sys
import numpy as np
from helpers import slow
import test_samples as here
path, layout, moment = sys.argv[1:]
arrays = here.some_walks() if layout == "walks" else here.SUBGRAPHS
left, write = int(moment), os.write
def half_written(descriptor, data):
    global left
    left -= 1
    if left == 0:
        write(descriptor, bytes(data)[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return write(descriptor, data)
os.write = half_written
slow.write(path, here.SAID, layout, arrays, group_size=2)
"""


@pytest.mark.parametrize(
    ("layout", "moment"), [("walks", m) for m in (1, 2, 6, 9)] + [("subgraphs", m) for m in (5, 16, 23, 27, 32)]
)
def test_a_kill_in_the_middle_of_any_write_loses_no_finished_group(tmp_path, layout, moment):
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, os.path.dirname(here), os.path.join(os.path.dirname(here), "_src")])
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "s"), layout, str(moment)],
        env=os.environ | {"PYTHONPATH": paths},
        check=False,
    )
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "s").exists()
    arrays = some_walks() if layout == "walks" else SUBGRAPHS
    slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, resume=True)
    assert files_of(tmp_path / "s") == files_of(slow.write(tmp_path / "whole", SAID, layout, arrays, group_size=2))


def test_a_kill_while_publishing_leaves_a_store_that_resume_finishes(tmp_path, monkeypatch):
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS, group_size=2)
    monkeypatch.undo()
    slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS, group_size=2, resume=True)
    assert files_of(tmp_path / "s") == files_of(
        slow.write(tmp_path / "whole", SAID, "subgraphs", SUBGRAPHS, group_size=2)
    )


def test_resume_of_a_finished_store_has_nothing_to_do(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    before = files_of(path, results=True)
    writer = SampleWriter(path, SAID, layout="walks", instances=11, group_size=4, dense_dtype=np.uint32, resume=True)
    assert writer.finished
    assert writer.done == {0, 1, 2}
    writer.finish({"other": 1})
    assert files_of(path, results=True) == before


def test_resume_names_the_first_difference(tmp_path):
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, groups=[0])
    other = {"request": SAID["request"] | {"seed": 8}}
    with pytest.raises(StoreError, match="seed = 7, this run has 8"):
        slow.write(tmp_path / "s", other, "walks", some_walks(), group_size=4, resume=True)
    with pytest.raises(StoreError, match="group_size = 4, this run has 5"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=5, resume=True)
    with pytest.raises(StoreError, match="nothing to resume"):
        slow.write(tmp_path / "none", SAID, "walks", some_walks(), resume=True)


def test_nothing_is_replaced_without_overwrite_and_only_samples_with_it(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    slow.write(tmp_path / "half", SAID, "walks", some_walks(), group_size=4, groups=[1])
    with pytest.raises(StoreError, match="--overwrite"):
        slow.write(path, SAID, "walks", some_walks())
    with pytest.raises(StoreError, match="--resume"):
        slow.write(tmp_path / "half", SAID, "walks", some_walks(), group_size=4)
    slow.write(path, SAID, "walks", some_walks(seed=1), overwrite=True)
    assert np.array_equal(open_samples(path).walks[:], some_walks(seed=1)["walks"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["half.partial", "s"]
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "zarr.json").write_text(json.dumps({"attributes": {"csaw_kind": "graph"}}))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").mkdir()
    for name in ("graph", "mine"):
        with pytest.raises(StoreError, match="not a sample store"):
            slow.write(tmp_path / name, SAID, "walks", some_walks(), overwrite=True)


def test_an_old_sample_stays_until_the_new_one_is_whole(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, groups=[0], overwrite=True)
    assert np.array_equal(open_samples(path).walks[:], some_walks()["walks"])
    slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, resume=True)
    assert np.array_equal(open_samples(path).walks[:], some_walks(seed=1)["walks"])


def test_a_full_disk_says_what_is_safe_and_how_to_go_on(tmp_path):
    code = CHILD.replace(
        "left, write = int(moment), os.write",
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))",
    )
    code = code.split("def half")[0] + (
        "big = here.some_walks(600, 4)\n"
        "from csaw.engine.samples import SampleWriter\n"
        "w = SampleWriter(path, here.SAID, layout='walks', instances=600, group_size=300, dense_dtype='u4')\n"
        "try: w.write(0, slow.part(big, 0, 300))\n"
        "except OSError as error: print(type(error).__name__, error)\n"
    )
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, os.path.dirname(here), os.path.join(os.path.dirname(here), "_src")])
    env = os.environ | {"PYTHONPATH": paths}
    said = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "s"), "walks", "0"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert "StoreError" in said
    assert "the disk is full; 0 of 2 groups are safe" in said
    assert "--resume" in said


def test_another_process_is_kept_out_while_one_writes(tmp_path):
    code = CHILD.split("left, write")[0] + (
        "from csaw.engine.samples import SampleWriter\n"
        "w = SampleWriter(path, here.SAID, layout='walks', instances=11, group_size=4, dense_dtype='u4')\n"
        "print('open', flush=True); sys.stdin.read()\n"
    )
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, os.path.dirname(here), os.path.join(os.path.dirname(here), "_src")])
    command = [sys.executable, "-c", code, str(tmp_path / "s"), "walks", "0"]
    env = os.environ | {"PYTHONPATH": paths}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "open\n"
        for option in ("resume", "overwrite", "neither"):
            with pytest.raises(StoreError, match="another csaw"):
                slow.write(
                    tmp_path / "s",
                    SAID,
                    "walks",
                    some_walks(),
                    group_size=4,
                    **{option: True} if option != "neither" else {},
                )
        child.communicate("")
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)


@pytest.mark.parametrize("late", [False, True])
def test_one_that_is_kept_out_leaves_the_folder_of_the_one_that_has_just_begun(tmp_path, monkeypatch, late):
    if late:  # the other began after the first look
        monkeypatch.setattr(place, "check_place", lambda *_, **__: None)
    with Lock(tmp_path / "s.partial"):
        with pytest.raises(StoreError, match="s: another csaw is writing here"):
            slow.write(tmp_path / "s", SAID, "walks", some_walks())
        assert (tmp_path / "s.partial").is_dir()


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


NAMES = np.array(["a", "bc", "ü", "d"])
HOPS = {"hop_0": np.arange(4, dtype=np.uint32)[:, None], "hop_1": np.arange(8, dtype=np.uint32).reshape(4, 2) % 4}
STORES = {"walks": some_walks(), "subgraphs": SUBGRAPHS, "hops": HOPS, "ragged-walks": RAGGED}


def stored(tmp_path, layout, **options):
    return slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2, vertex_ids=NAMES, **options)


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


def edit(file, *keys, value):
    node = json.loads(file.read_text())
    inner = node
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    file.write_text(json.dumps(node))


@pytest.mark.parametrize(
    ("name", "keys", "values"),
    [
        ("zarr.json", ("attributes", "layout"), ["hops", "trees", None, []]),
        ("zarr.json", ("attributes", "instances"), [-1, 12, 2**70, 1.5, True, "11", None]),
        ("zarr.json", ("attributes", "group_size"), [0, -2, "2", 2**63]),
        ("zarr.json", ("attributes", "ids"), ["string", 1, {}]),
        ("zarr.json", ("attributes", "fill"), [None, 2**32, -1, "x", 1e30]),
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
)  # fmt: skip
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
        ("subgraphs", "instance_ptr/c.0", "<i8", [1, -(2**62), 2**62], "bounds that rise from 0"),
        ("subgraphs", "sources_ptr/c.0", "<i8", [3, -1], "bounds that rise from 0"),
        ("ragged-walks", "walks/c.0", "<u4", [4, 2**31], "which have names"),
        ("ragged-walks", "walk_ptr/c.0", "<i8", [1, -(2**62), 2**62], "bounds that rise from 0"),
        ("hops", "hop_1/c.0.0", "<u4", [4, 2**31], "which have names"),
        ("walks", "vertex_id_offsets/c.0", "<i8", [1, -5, 2**40], "rise from 0"),
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


def test_dense_ids_beyond_the_graph_are_strangers(tmp_path):
    said = SAID | {"graph": {"vertices": 4}}
    samples = open_samples(slow.write(tmp_path / "s", said, "walks", some_walks()))
    assert samples.dense(np.array([0, 3, 4, 2**31, NONE], np.uint32)).tolist() == [0, 3, UNKNOWN, UNKNOWN, NOTHING]


def test_a_file_is_hashed_once_however_often_it_is_sliced(tmp_path, monkeypatch):
    path, hashed = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4), []
    sha256 = files.sha256
    monkeypatch.setattr(files, "sha256", lambda path: hashed.append(path.name) or sha256(path))
    samples = open_samples(path)
    for row in range(11):
        assert samples.walks[row].size == 5
        assert samples["walks"][row : row + 1].shape == (1, 5)
    assert sorted(hashed) == ["c.0.0", "c.1.0", "c.2.0", "zarr.json", "zarr.json", "zarr.json"]


@pytest.mark.parametrize("option", ["resume", "overwrite"])
@pytest.mark.parametrize("what", ["folder", "empty folder", "graph", "file", "link"])
def test_a_partial_folder_that_csaw_did_not_make_is_neither_adopted_nor_removed(tmp_path, option, what):
    partial = tmp_path / "s.partial"
    if what == "file":
        partial.write_text("mine")
    elif what == "link":
        partial.symlink_to(slow.write(tmp_path / "other", SAID, "walks", some_walks()))
    else:
        partial.mkdir()
    if what in ("folder", "graph"):
        (partial / "thesis").write_text("mine")
    if what == "graph":
        (partial / "zarr.json").write_text('{"attributes": {"csaw_kind": "graph", "format_version": 1}}')
    with pytest.raises(StoreError, match=r"s\.partial.* is not an unfinished sample"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), **{option: True})
    assert os.path.lexists(partial)
    assert not (tmp_path / "s").exists()
    assert what not in ("folder", "graph") or (partial / "thesis").read_text() == "mine"


def test_names_that_cannot_be_a_sample_are_refused(tmp_path):
    for path in ("", ".", "/", "..", tmp_path / "s.partial"):
        with pytest.raises(OptionError, match="name"):
            slow.write(path, SAID, "walks", some_walks(), overwrite=True)
    slow.write(tmp_path / "s", SAID, "walks", some_walks())
    (tmp_path / "link").symlink_to("s")
    with pytest.raises(StoreError, match="symbolic link to s;"):
        slow.write(tmp_path / "link", SAID, "walks", some_walks(), overwrite=True)
    with pytest.raises(OptionError, match="is inside"):
        slow.write(tmp_path / "s" / "walks" / "new", SAID, "walks", some_walks())
    with pytest.raises(StoreError, match=r"s exists; choose another name or pass --overwrite$"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "s"]


def test_a_sample_that_appeared_meanwhile_stays(tmp_path):
    arrays = some_walks()
    with SampleWriter(tmp_path / "s", SAID, layout="walks", instances=11, group_size=11, dense_dtype="u4") as writer:
        writer.write(0, arrays)
        other = slow.write(tmp_path / "other", SAID, "walks", some_walks(seed=1))
        other.rename(tmp_path / "s")
        with pytest.raises(StoreError, match=r"exists; .*the samples are in .*s\.partial"):
            writer.finish({})
    assert np.array_equal(open_samples(tmp_path / "s").walks[:], some_walks(seed=1)["walks"])


@pytest.mark.parametrize("layout", STORES)
def test_resume_samples_again_what_was_damaged_meanwhile(tmp_path, layout, caplog):
    whole = slow.write(tmp_path / "whole", SAID, layout, STORES[layout], group_size=1)
    victims = {"walks": ("walks/c.1.0", "groups/000002.json"), "hops": ("hop_1/c.1.0", "groups/000002.json"),
               "ragged-walks": ("parts/000000/walks", "parts/000003/lengths", "groups/000002.json"),
               "subgraphs": ("parts/000000/src", "parts/000003/counts", "groups/000002.json")}  # fmt: skip
    slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=1, groups=[0, 1, 2, 3])
    for victim in victims[layout]:
        file = tmp_path / "s.partial" / victim
        file.write_bytes(file.read_bytes()[:-3] + b"\1\1\1")
    slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=1, resume=True)
    assert f"{len(victims[layout])} groups are damaged; they are sampled again" in caplog.text
    assert files_of(tmp_path / "s") == files_of(whole)


def test_resume_notices_damage_in_what_is_complete(tmp_path, monkeypatch):
    path = stored(tmp_path, "walks")
    (path / "walks" / "c.1.0").write_bytes(b"\1" * 40)
    with pytest.raises(StoreError, match=r"walks/c\.1\.0: missing, or its bytes have changed"):
        stored(tmp_path, "walks", resume=True)
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stored(tmp_path, "walks", overwrite=True)
    monkeypatch.undo()
    (tmp_path / "s.partial" / "lengths" / "c.0").unlink()
    with pytest.raises(StoreError, match=r"lengths/c\.0: missing"):
        stored(tmp_path, "walks", resume=True)


@pytest.mark.parametrize("layout", STORES)
def test_a_store_without_its_checksums_is_sealed_again_without_what_is_no_array(tmp_path, layout):
    options = {"group_size": 2, "vertex_ids": np.array(["a", "b", "c", "d"])}
    whole = slow.write(tmp_path / "whole", SAID, layout, STORES[layout], **options)
    shutil.copytree(whole, partial := tmp_path / "s.partial")
    shutil.rmtree(partial / "checksums")
    shutil.copytree(partial / "results", partial / "stray")
    path = slow.write(tmp_path / "s", SAID, layout, STORES[layout], resume=True, **options)
    require_intact(path)
    found = files_of(path)
    del found["stray/zarr.json"]
    assert found == files_of(whole)


def test_a_sample_that_was_replaced_when_a_kill_came_is_removed_by_resume(tmp_path):
    old = {"request": SAID["request"] | {"seed": 8}}
    slow.write(tmp_path / "old", old, "walks", some_walks(seed=1), group_size=2).rename(tmp_path / "s.partial")
    path = slow.write(tmp_path / "new", SAID, "walks", some_walks(), group_size=2).rename(tmp_path / "s")
    slow.write(path, SAID, "walks", some_walks(), group_size=2, resume=True)
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert np.array_equal(open_samples(path).walks[:], some_walks()["walks"])


@pytest.mark.parametrize("finished", [False, True])
def test_versions_resume_each_other_if_they_draw_alike(tmp_path, finished):
    def write(draws, **options):
        said = SAID | {"version": f"of draws {draws}"} | ({"draws": draws} if draws else {})
        return slow.write(tmp_path / "s", said, "walks", some_walks(), group_size=4, **options)

    write(None, groups=[0])  # as the first versions did
    for draws in (2, 3):
        with pytest.raises(StoreError, match=f"draws are version 1; this csaw's are version {draws}"):
            write(draws, resume=True)
    write(1, resume=True, groups=None if finished else [1])
    with pytest.raises(StoreError, match="by csaw of draws 1, whose draws are version 1"):
        write(2, resume=True)
    write(None if finished else 1, resume=True)
    assert np.array_equal(open_samples(tmp_path / "s").walks[:], some_walks()["walks"])


def test_a_run_says_which_draws_it_has(tmp_path):
    graph = write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0]), directed=False)
    assert manifest(prepare(graph, device="cpu"))["draws"] == DRAWS


@pytest.mark.parametrize("layout", STORES)
def test_describe_says_what_was_sampled_without_reading_it(tmp_path, layout):
    path = slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2)
    edges = {
        "walks": STORES["walks"]["lengths"], "hops": np.full(4, 2), "subgraphs": SUBGRAPHS["counts"], "ragged-walks": RAGGED["lengths"],
    }[layout]  # fmt: skip
    full, stored_bytes = describe(path, full=True), sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    for chunk in path.rglob("c.*"):
        chunk.unlink()
    shown = describe(path)
    assert shown == full
    assert shown["algorithm"] == "deepwalk"
    assert shown["edges"] == edges.sum()
    assert shown["lengths"] == {"min": edges.min(), "mean": edges.mean(), "max": edges.max()}
    assert shown.get("ended_early", 0) == (edges < 4).sum() * (layout == "walks")
    assert shown["bytes"] == stored_bytes
    assert shown["results"] == {"seconds": 1.5}


def test_sizes_of_a_resumed_sample_are_those_of_all_its_groups(tmp_path, monkeypatch):
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, groups=[0])
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):  # when the groups' markers are gone
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)
    monkeypatch.undo()
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)
    assert describe(tmp_path / "s")["edges"] == some_walks()["lengths"].sum()


def test_changed_sizes_are_refused_and_missing_ones_are_said_to_be(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    node, edges = path / "results" / "zarr.json", some_walks()["lengths"].sum()
    edit(node, "attributes", "sizes", "edges", value=1)
    with pytest.raises(StoreError, match="sizes as they were written"):
        describe(path)
    edit(node, "attributes", value={"seconds": 1.5})  # as early versions wrote it
    shown = describe(path)
    assert shown["edges"] is shown["lengths"] is shown["ended_early"] is None
    assert "--full" in shown["unknown"]
    assert describe(path, full=True)["edges"] == edges


def test_a_chunk_that_cannot_be_read_is_named(tmp_path):
    path = stored(tmp_path, "walks")
    chunk = path / "walks/c.0.0"
    chunk.unlink()
    chunk.symlink_to(chunk.name)
    with pytest.raises(StoreError, match=r"walks/c\.0\.0 cannot be read: Too many levels of symbolic links"):
        open_samples(path).walks[:]
