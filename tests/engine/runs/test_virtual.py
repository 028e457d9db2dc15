"""Virtual samples: a request on disk that is read like the sample it stands for."""

import shutil

import numpy as np
import pytest
from helpers.graphs import random_store, store_with_ids
from helpers.invariance import bytes_of

from csaw.engine import commit_virtual, execute, open_samples, open_virtual, prepare, sample
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.samples import check
from csaw.engine.samples.check import attributes_of
from csaw.engine.stores.describe import describe_store as describe
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError, StoreError

WALKS = ("node2vec", {"walk_length": 9, "num_walks": 2, "p": 0.5, "q": 2.0})
HOPS = ("neighbor", {"fanout": (4, 3), "sources": "random:50"})
SUBGRAPHS = ("forest-fire", {"depth": 2, "sources": np.arange(7, 607, 3)[:60]})
NODES = ("random-node", {"frontier_size": 9, "instances": 40})
CLOCKS = ("multidimensional", {"walk_length": 9, "frontier_size": 3, "instances": 40, "edge_bias": "e.weight * 2.0"})
INDUCED = ("minibatch", {"seeds_per_batch": 30, "fanout": (4, 3), "shuffle": True, "epochs": 2, "induced": True})
CONNECTED = ("saint-edge", {"frontier_size": 5, "instances": 40})  # its sources are vertices with edges
LISTS = pytest.mark.parametrize(
    ("algo", "options"),
    [WALKS, HOPS, SUBGRAPHS, NODES, CLOCKS, INDUCED, CONNECTED],
    ids=["walks", "hops", "subgraphs", "nodes", "clocks", "induced", "connected"],
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_with_ids(tmp_path_factory.mktemp("virtual"))


@pytest.fixture
def both(tmp_path, store):
    """A function that makes a sample twice: stored and virtual."""

    def made(algo, options):
        given = {"seed": 5, "device": "cpu"} | options
        commit_virtual(prepare(store, algo, **given), tmp_path / "v.zarr")
        return sample(store, tmp_path / "s.zarr", algo, **given), open_samples(tmp_path / "v.zarr")

    return made


@LISTS
def test_it_is_read_like_the_stored_sample(tmp_path, both, algo, options):
    stored, virtual = both(algo, options)
    assert virtual.nbytes < 20_000
    assert (virtual.instances, virtual.layout, virtual.fill, virtual.ids) == (
        stored.instances,
        stored.layout,
        stored.fill,
        stored.ids,
    )
    assert virtual.manifest == stored.manifest
    for start, stop in ((0, stored.instances), (3, 11), (stored.instances - 1, stored.instances), (4, 4)):
        assert bytes_of(virtual.group(start, stop)) == bytes_of(stored.group(start, stop))
    for name, rows in stored.arrays.items():
        ours = virtual[name]
        assert (ours.shape, ours.dtype) == (rows.shape, rows.dtype), name
        for key in (slice(None), slice(2, 9), slice(1, None, 7), -1, np.array([5, 1, 5])):
            assert np.array_equal(ours[key], rows[key]), (name, key)
    assert bytes_of({"all": virtual.edge_index()}) == bytes_of({"all": stored.edge_index()})


@LISTS
@pytest.mark.parametrize("suffix", [".txt", ".npy", ".npz"])
def test_exports_are_the_same(tmp_path, both, algo, options, suffix):
    stored, virtual = both(algo, options)
    for name, samples in (("a", stored), ("b", virtual)):
        export(samples.path, tmp_path / (name + suffix))
        export(samples.path, tmp_path / (name + "part" + suffix), part=(5, 23))
    for part in ("", "part"):
        assert (tmp_path / f"a{part}{suffix}").read_bytes() == (tmp_path / f"b{part}{suffix}").read_bytes()


@LISTS
def test_it_verifies_and_becomes_the_stored_sample(tmp_path, both, algo, options):
    stored, virtual = both(algo, options)
    report = verify(virtual.path)
    assert report.ok, report
    [drawn] = [check for check in report.checks if check.name == "drawn"]
    assert drawn.details.startswith(f"a virtual sample: {stored.instances} of {stored.instances} instances")
    execute(open_virtual(virtual.path, in_flight=7).job, tmp_path / "later.zarr")
    later = open_samples(tmp_path / "later.zarr")
    assert later.checksums == stored.checksums


def test_a_part_of_a_sample_is_read_by_the_numbers_of_its_instances(tmp_path, both):
    stored, virtual = both(*SUBGRAPHS)
    for samples in (stored, virtual):
        part = samples.part(10, 30)
        assert (part.instances, part.first) == (20, 10)
        assert bytes_of(part.group(2, 7)) == bytes_of(stored.group(12, 17))
        assert part.part(5, 9).first == 15
        with pytest.raises(
            OptionError, match="expected instances FIRST:LAST with 0 <= FIRST <= LAST <= 20, found 5:21"
        ):
            part.part(5, 21)
    for wrong, said in (
        ((10, 10), "^part: expected FIRST:LAST with FIRST < LAST, .* found 10:10"),
        ((7, 99), "expected instances FIRST:LAST with 0 <= FIRST <= LAST <= 60, found 7:99"),
    ):
        with pytest.raises(OptionError, match=said):
            export(stored.path, tmp_path / "p.txt", part=wrong)
        assert not (tmp_path / "p.txt").exists()
    export(stored.path, tmp_path / "p.txt", part=(10, 12))
    numbers = {int(line.split()[0]) for line in (tmp_path / "p.txt").read_text().splitlines()}
    assert numbers <= {10, 11}


def test_10_to_the_12_steps_open_and_export_and_verify(tmp_path, store, monkeypatch):
    monkeypatch.setattr("csaw.engine.verify.DRAWN", 1_000_000)
    job = prepare(store, "deepwalk", seed=1, device="cpu", walk_length=80, instances=12_500_000_000)
    commit_virtual(job, tmp_path / "v.zarr")
    virtual = open_samples(tmp_path / "v.zarr")
    assert virtual.walks.shape == (12_500_000_000, 81)
    far = 12_499_999_990
    export(virtual.path, tmp_path / "far.npy", part=(far, far + 10))
    assert np.array_equal(np.load(tmp_path / "far.npy"), virtual.walks[far:])
    report = verify(virtual.path)
    assert report.ok, report
    [drawn] = [check for check in report.checks if check.name == "drawn"]
    assert drawn.details.startswith("a virtual sample: 12,195 of 12,500,000,000 instances are drawn and checked")


def test_its_graph_must_be_there_and_be_the_same(tmp_path):
    first, other = (random_store(tmp_path / f"{seed}.zarr", seed=seed, vertices=50, edges=300) for seed in (1, 2))
    commit_virtual(prepare(first, "deepwalk", device="cpu", walk_length=4), tmp_path / "v.zarr")
    expected = open_samples(tmp_path / "v.zarr").walks[:]
    shutil.move(first.path, tmp_path / "moved.zarr")
    with pytest.raises(StoreError, match=r"drawn from its graph when it is read: .*1\.zarr does not exist.*--graph"):
        open_samples(tmp_path / "v.zarr")
    with pytest.raises(StoreError, match=r"2\.zarr is not the graph that it is drawn from: expected the fingerprint"):
        open_samples(tmp_path / "v.zarr", other.path)
    assert np.array_equal(open_samples(tmp_path / "v.zarr", tmp_path / "moved.zarr").walks[:], expected)


def test_what_has_changed_is_refused(tmp_path, store, monkeypatch):
    job = prepare(store, "deepwalk", device="cpu", walk_length=4, sources=np.array([7, 10, 13]))
    commit_virtual(job, tmp_path / "v.zarr")
    with monkeypatch.context() as patched:
        patched.setattr("csaw.engine.runs.virtual.DRAWS", 10**6)
        with pytest.raises(StoreError, match="draws different samples from the version that made it"):
            open_samples(tmp_path / "v.zarr")
    file = tmp_path / "v.zarr" / "given_sources" / "c.0"
    file.write_bytes(bytes(len(file.read_bytes())))
    with pytest.raises(StoreError, match=r"given_sources/c\.0: its bytes have changed since it was written"):
        open_samples(tmp_path / "v.zarr")
    sample(store, tmp_path / "s.zarr", walk_length=4, device="cpu")
    with pytest.raises(StoreError, match="is a stored sample, not a virtual one"):
        open_virtual(tmp_path / "s.zarr")
    with pytest.raises(StoreError, match="exists already; pass --overwrite to replace it, or choose another name"):
        commit_virtual(job, tmp_path / "s.zarr")
    commit_virtual(job, tmp_path / "s.zarr", overwrite=True)
    assert open_samples(tmp_path / "s.zarr").is_virtual


def test_it_says_of_itself_what_the_stored_sample_says(both):
    said = {samples.path.name: attributes_of(samples.path) for samples in both(*HOPS)}
    assert said["v.zarr"].pop("virtual") == {"sources": "random:50"}
    assert said["v.zarr"] == said["s.zarr"]


def test_nothing_is_drawn_before_an_instance_is_asked_for(tmp_path, both, monkeypatch):
    stored, virtual = both(*SUBGRAPHS)
    with monkeypatch.context() as patched:
        patched.setattr(Stream, "_open", lambda stream: pytest.fail("the graph is loaded"))
        opened = open_samples(virtual.path)
        assert describe(virtual.path)["instances"] == opened.instances == stored.instances
        assert open_virtual(virtual.path).job.plan.request.instances == stored.instances
        part = opened.part(3, 9)
    assert np.array_equal(part.dst[:], stored.part(3, 9).dst[:])


def test_the_attributes_of_a_store_are_read_once(both, monkeypatch):
    read, times = check.attributes_of, []
    monkeypatch.setattr(check, "attributes_of", lambda path: times.append(path) or read(path))
    for samples in both(*HOPS):
        times.clear()
        open_samples(samples.path)
        assert times == [samples.path]
