"""Claims of the sample store: what goes in comes out, in the types and ids that were asked for."""

import numpy as np
import pytest
from helpers import slow
from helpers.small_samples import NONE, SAID, SUBGRAPHS, kept_walks, some_walks
from hypothesis import given, settings
from hypothesis import strategies as st

from csaw.engine.samples import NOTHING, UNKNOWN, files
from csaw.engine.stores import open_samples


@settings(max_examples=25)
@given(instances=st.integers(0, 9), length=st.integers(0, 5), group_size=st.integers(1, 12), seed=st.integers(0, 99))
def test_walks_round_trip_for_any_grouping(tmp_path_factory, instances, length, group_size, seed):
    arrays = some_walks(instances, length, seed=seed)
    path = slow.write(tmp_path_factory.mktemp("s") / "walks", SAID, "walks", arrays, group_size=group_size)
    samples = open_samples(path)
    if instances:
        assert np.array_equal(samples.walks[:], arrays["walks"].view(np.int32))
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
    assert np.array_equal(samples.walks[:], kept_walks())
    dense = open_samples(
        slow.write(tmp_path / "d", SAID, "walks", some_walks(), vertex_ids=np.arange(4) * 9, ids="dense")
    )
    assert np.array_equal(dense.walks[:], kept_walks())


def test_rows_slice_as_numpy_does(tmp_path):
    walks = open_samples(slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=3)).walks
    whole = kept_walks()
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


def test_dense_ids_beyond_the_graph_are_strangers(tmp_path):
    said = SAID | {"graph": {"vertices": 4}}
    samples = open_samples(slow.write(tmp_path / "s", said, "walks", some_walks()))
    assert samples.dense(np.array([0, 3, 4, 2**31, NONE], np.uint32)).tolist() == [0, 3, UNKNOWN, UNKNOWN, NOTHING]


def test_a_file_is_hashed_once_however_often_it_is_sliced(tmp_path, monkeypatch):
    path, hashed = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4), []
    sha256 = files.sha256
    monkeypatch.setattr(files, "sha256", lambda path, most: hashed.append(path.name) or sha256(path, most))
    samples = open_samples(path)
    for row in range(11):
        assert samples.walks[row].size == 5
        assert samples["walks"][row : row + 1].shape == (1, 5)
    assert sorted(hashed) == ["c.0.0", "c.1.0", "c.2.0", "zarr.json", "zarr.json", "zarr.json"]
