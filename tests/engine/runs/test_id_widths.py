"""Claims of ids' widths: a sample has its graph's ids in the smallest type that holds them, and samples of the earlier
format stay what they were.
"""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from helpers import slow

from csaw.engine import open_samples, sample
from csaw.engine.samples import NOTHING
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition.errors import StoreError

SAID = {"request": {"algorithm": "deepwalk", "parameters": {"walk_length": 3}, "seed": 1}}
OLD_GROUPS = 64  # GROUP_BYTES with which the stores of version 1 were made
RUNS = {
    "walks": {"algo": "deepwalk", "walk_length": 3, "num_walks": 2},
    "hops": {"algo": "neighbor", "fanout": "2,2"},
    "fires": {"algo": "snowball", "depth": 2},
}
ENDS = [
    ([0, 5, 2**31 - 1], "int64", "int32", -1),
    ([0, 5, 2**31], "int64", "int64", -1),
    ([-(2**31), 0, 2**31 - 1], "int64", "int32", None),
    ([-(2**31), -1, 2**31 - 1], "int64", "int32", None),
    ([-(2**31) - 1, 0, 5], "int64", "int64", None),
    ([0, 5, 2**63 - 1], "int64", "int64", -1),
    ([-(2**63), -1, 2**63 - 1], "int64", "int64", None),
    ([0, 5, 9], "uint64", "int32", -1),
    ([0, 5, 2**31], "uint64", "int64", -1),
    ([0, 5, 2**63], "uint64", "uint64", 2**64 - 1),
    ([0, 2**64 - 2, 2**64 - 1], "uint64", "uint64", None),
]


@pytest.mark.parametrize(("ids", "given", "width", "fill"), ENDS)
def test_ids_take_the_smallest_type_that_holds_them_and_a_value_that_is_none(tmp_path, ids, given, width, fill):
    walks = np.array([[0, 1, 2, 0], [2, slow.NONE, slow.NONE, slow.NONE]], np.uint32)
    arrays, table = {"walks": walks, "lengths": np.array([3, 0])}, np.array(ids, given)
    samples = open_samples(slow.write(tmp_path / "s", SAID, "walks", arrays, vertex_ids=table))
    assert samples.walks.dtype == width
    assert samples.fill not in ids
    assert fill in (None, samples.fill)
    assert samples.walks[:].tolist() == [[*ids, ids[0]], [ids[2]] + [samples.fill] * 3]
    assert samples.dense(samples.walks[:], table).tolist() == [[0, 1, 2, 0], [2] + [NOTHING] * 3]
    export(samples.path, tmp_path / "out.txt")
    export(samples.path, tmp_path / "out.npy")
    assert (tmp_path / "out.txt").read_text() == f"{' '.join(map(str, [*ids, ids[0]]))}\n{ids[2]}\n"
    assert np.load(tmp_path / "out.npy").dtype == width


def test_only_a_store_that_earlier_readers_would_misread_has_the_later_format_version(tmp_path):
    arrays = {"walks": np.zeros((1, 2), np.uint32), "lengths": np.array([1])}
    found = {}
    for name, ids in (("identity", None), ("small", [3]), ("large", [2**40]), ("beyond", [2**63]), ("words", ["a"])):
        table = None if ids is None else np.array(ids)
        path = slow.write(tmp_path / name, SAID, "walks", arrays, vertex_ids=table)
        found[name] = json.loads((path / "zarr.json").read_bytes())["attributes"]["format_version"]
    assert found == {"identity": 1, "small": 2, "large": 1, "beyond": 1, "words": 1}


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A graph and samples of it that csaw wrote in format version 1, two of them unfinished."""
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", OLD_GROUPS)
    with tarfile.open(Path(__file__).parents[2] / "data" / "samples1.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def draw(folder, name, out, **more):
    return sample(folder / "graph.zarr", folder / out, seed=5, device="cpu", threads=1, **RUNS[name], **more)


def arrays_of(samples):
    names = {"walks": ["walks", "lengths"], "hops": samples.hop_names()}
    return {name: samples[name][:].tolist() for name in names.get(samples.layout, ["instance_ptr", "src", "dst"])}


def first_ids(samples):
    return samples[{"walks": "walks", "hops": "hop_0", "subgraphs": "src"}[samples.layout]].dtype


@pytest.mark.parametrize("name", RUNS)
def test_samples_of_version_1_are_read_exported_and_verified_as_before(old, name):
    before, now = open_samples(old / f"{name}.zarr"), draw(old, name, "now.zarr")
    assert (first_ids(before), first_ids(now)) == (np.int64, np.int32)
    files = {}
    for samples in (before, now):
        for suffix in ("txt", "npz"):
            out = old / f"{samples.path.name}.{suffix}"
            export(samples.path, out, graph=old / "graph.zarr" if suffix == "npz" else None)
            files[samples.path.name, suffix] = out.read_bytes()
    for suffix in ("txt", "npz"):
        assert files[f"{name}.zarr", suffix] == files["now.zarr", suffix]
    reports = [verify(samples.path, old / "graph.zarr").as_dict()["checks"][1:] for samples in (before, now)]
    assert reports[0] == reports[1]
    assert all(check["ok"] for check in reports[0])


@pytest.fixture
def same_draws(monkeypatch):
    """Draw as the csaw that made the old samples: theirs have not changed since."""
    monkeypatch.setattr("csaw.engine.runs.job.DRAWS", 1)


@pytest.mark.usefixtures("same_draws")
@pytest.mark.parametrize("name", ["walks", "fires"])
def test_an_unfinished_sample_of_version_1_is_finished_in_its_own_width(old, name):
    resumed = draw(old, name, f"half-{name}.zarr", resume=True)
    assert first_ids(resumed) == np.int64
    assert arrays_of(resumed) == arrays_of(open_samples(old / f"{name}.zarr"))
    assert verify(resumed.path).ok or name == "walks"  # twelve walks are too few for a test of their law


@pytest.mark.usefixtures("same_draws")
def test_a_finished_sample_of_version_1_has_nothing_to_resume(old):
    before = (old / "walks.zarr" / "zarr.json").read_bytes()
    draw(old, "walks", "walks.zarr", resume=True)
    assert (old / "walks.zarr" / "zarr.json").read_bytes() == before


@pytest.mark.usefixtures("same_draws")
def test_an_unfinished_sample_of_a_later_version_is_refused(old):
    where = old / "half-walks.zarr.partial" / "zarr.json"
    where.write_text(where.read_text().replace('"format_version": 1', '"format_version": 3'))
    with pytest.raises(StoreError, match="format_version = 3, but this run has 2"):
        draw(old, "walks", "half-walks.zarr", resume=True)
