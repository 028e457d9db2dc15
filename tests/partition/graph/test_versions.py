"""Versions of a store: which one is opened, what they share, what compact drops, and that a kill at any moment loses
nothing and leaves nothing half.
"""

import errno
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fuzz import child
from fuzz.kills import Steps, kill_at
from helpers.forged_graphs import edited

import csaw
from csaw.partition import open_graph
from csaw.partition.arrays import files
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.versions import (
    VersionDraft,
    base_of,
    drawn_from,
    folder_of,
    numbered,
    pinned,
    versions_of,
)

EDGES = [(k, (3 * k + 1) % 40) for k in range(40)]


@pytest.fixture
def grown(tmp_path):
    """A store of three versions: 40, 41 and 42 edges."""
    csaw.partition(EDGES, tmp_path / "g.zarr", partitions=4)
    for edge in ((1, 2), (1, 3)):
        csaw.append(tmp_path / "g.zarr", [edge])
    return tmp_path / "g.zarr"


def edges_of(store):
    return store.read_indptr()[-1], [store.load().indices.tolist()]


def test_the_newest_version_is_opened_unless_another_is_named(grown):
    assert [open_graph(grown, version=n).edges for n in (None, 0, 1, 2)] == [42, 40, 41, 42]
    assert [open_graph(grown, version=n).version for n in (None, 0, 1, 2)] == [2, 0, 1, 2]
    for n in range(3):
        store = open_graph(grown, version=n)
        assert (store.base, store.address) == (grown, grown / "versions" / str(n))
        assert open_graph(store.address).identity == store.identity
        assert pickle.loads(pickle.dumps(store)).identity == store.identity
        assert csaw.info(store)["edges"] == 40 + n
        assert csaw.verify(store).ok
    for wrong in (3, 17):
        with pytest.raises(StoreError, match=rf"g.zarr has no version {wrong}, only 0, 1, 2"):
            open_graph(grown, version=wrong)
    for wrong in (-1, "1", True, 1.0):
        with pytest.raises(OptionError, match="version: expected an integer from 0"):
            open_graph(grown, version=wrong)


def test_a_store_without_versions_has_the_number_0(tmp_path):
    store = csaw.partition(EDGES, tmp_path / "g.zarr")
    assert open_graph(tmp_path / "g.zarr", version=0).identity == store.identity
    assert (store.base, store.address, store.version) == (store.path, store.path, 0)
    with pytest.raises(StoreError, match="has no version 1, only 0"):
        open_graph(tmp_path / "g.zarr", version=1)


def test_a_folder_called_versions_of_somebody_else_is_none(tmp_path):
    """A user's own folder versions/1 is no version, unless it stands in a store."""
    (tmp_path / "versions").mkdir()
    store = csaw.partition(EDGES, tmp_path / "versions" / "1")
    assert base_of(store.path) is store.path
    assert csaw.append(store.path, [(1, 2)]).path == tmp_path / "versions" / "1" / "versions" / "1"
    assert open_graph(tmp_path / "versions" / "1").edges == 41


def test_what_a_kill_may_leave_among_versions_is_not_opened(grown):
    for name in (".3.csaw-draft", "3x", "03", "-1"):
        (grown / "versions" / name).mkdir()
    assert open_graph(grown).version == 2
    assert folder_of(grown) == grown / "versions" / "2"


def test_an_address_stays_whatever_is_appended(tmp_path):
    path = tmp_path / "g.zarr"
    first = csaw.partition(EDGES, path)
    held = pickle.dumps(first)
    csaw.append(path, [(1, 2)])
    assert pickle.loads(held).edges == first.edges
    assert open_graph(path, version=0).address == pinned(path).parent / "0"
    assert drawn_from(path, first.fingerprint) == path / "versions" / "0"
    assert drawn_from(path, "nothing") == path


def test_an_open_store_goes_on_with_its_version(tmp_path):
    path = tmp_path / "g.zarr"
    old = csaw.partition(EDGES, path, partitions=4)
    before = old.load()
    csaw.append(path, [(k, 5) for k in range(40)], duplicates="keep")
    assert np.array_equal(old.load().indices, before.indices)
    middle = open_graph(path)
    csaw.append(path, EDGES, remove=True)
    assert middle.load().indices.size == 80
    assert [open_graph(path).edges, middle.edges, old.edges] == [39, 80, 40]
    assert all(found.ok for store in (old, middle) for found in check_store(store))


def test_versions_share_the_files_that_did_not_change(grown):
    found = versions_of(grown)
    assert [one.number for one in found] == [0, 1, 2]
    inodes = [{file.stat().st_ino for file in files.files_of(folder)} for _, folder in numbered(grown)]
    assert len(inodes[0] & inodes[1]) >= 6  # offsets and neighbors of three partitions
    sizes = {
        file.stat().st_ino: file.stat().st_size for _, folder in numbered(grown) for file in files.files_of(folder)
    }
    for number, one in enumerate(found):
        others = set().union(*(inodes[k] for k in range(3) if k != number))
        assert one.bytes == sum(sizes[inode] for inode in inodes[number])
        assert one.own_bytes == sum(sizes[inode] for inode in inodes[number] - others)


def test_info_lists_versions(grown):
    said = csaw.info(grown)
    assert (said["version"], said["edges"]) == (2, 42)
    assert [(one["version"], one["edges"]) for one in said["versions"]] == [(0, 40), (1, 41), (2, 42)]
    assert said["versions"][1]["append"]["edges_added"] == 1
    assert csaw.info(grown, version=1)["version"] == 1
    assert "versions" not in csaw.info(csaw.partition(EDGES, grown.parent / "h.zarr"))


@pytest.mark.parametrize("kept", [None, 0, 1, 2])
def test_compact_keeps_one_version_under_its_number(grown, kept):
    number = 2 if kept is None else kept
    wanted, before = open_graph(grown, version=number), versions_of(grown)
    load, everything = (
        wanted.load(),
        {file.stat().st_ino: file.stat().st_size for _, folder in numbered(grown) for file in files.files_of(folder)},
    )
    done = csaw.compact(grown, version=kept)
    assert (done["version"], done["dropped"]) == (number, [n for n in range(3) if n != number])
    assert done["freed_bytes"] == sum(everything.values()) - before[number].bytes
    store = open_graph(grown)
    assert (store.path, store.version, store.identity) == (grown, number, wanted.identity)
    assert np.array_equal(store.load().indices, load.indices)
    assert not (grown / "versions").exists()
    assert [path.name for path in grown.parent.iterdir()] == ["g.zarr"]
    assert csaw.compact(grown)["dropped"] == []
    assert csaw.append(grown, [(9, 9)]).version == number + 1
    assert open_graph(grown, version=number).identity == wanted.identity
    assert all(found.ok for found in check_store(open_graph(grown)))


def test_a_reader_of_a_dropped_version_ends_with_an_error(grown):
    old, middle = (open_graph(grown, version=n) for n in (0, 1))
    csaw.compact(grown)
    for store in (old, middle):
        with pytest.raises(StoreError):
            store.load()


def test_copies_stand_in_for_links(grown, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(files.os, "link", refuse)
    store = csaw.append(grown, [(7, 7)])
    assert all(found.ok for found in check_store(store))
    last = versions_of(grown)[-1]
    assert last.bytes == last.own_bytes
    assert csaw.compact(grown)["version"] == 3
    assert open_graph(grown).fingerprint == store.fingerprint


def test_overwrite_replaces_all_versions(grown):
    with pytest.raises(StoreError, match="--overwrite|overwrite"):
        csaw.partition(EDGES, grown)
    csaw.partition([(0, 1)], grown, overwrite=True)
    assert (open_graph(grown).edges, open_graph(grown).version) == (1, 0)
    assert [path.name for path in grown.parent.iterdir()] == ["g.zarr"]


def test_what_is_somebody_elses_stays_in_the_way_of_compact_alone(grown):
    (grown / "versions" / "1" / "notes.txt").write_text("mine")
    assert csaw.append(grown, [(8, 8)]).version == 3
    with pytest.raises(StoreError, match=r"versions/1/notes.txt, which csaw did not write"):
        csaw.compact(grown)
    assert open_graph(grown, version=1).edges == 41


def test_one_writer_at_a_time(grown):
    with VersionDraft(grown):
        for write in (lambda: csaw.append(grown, [(5, 5)]), lambda: csaw.compact(grown)):
            with pytest.raises(StoreError, match="another csaw process is writing here"):
                write()
        assert open_graph(grown).version == 2
    errors, barrier = [], threading.Barrier(4)

    def write(number):
        barrier.wait()
        try:
            return csaw.append(grown, [(30, number)]).version
        except StoreError as error:
            errors.append(str(error))

    with ThreadPoolExecutor(4) as threads:
        made = [one for one in threads.map(write, range(4)) if one]
    assert sorted(made) == list(range(3, 3 + len(made)))
    assert len(made) + len(errors) == 4
    assert all("another csaw process is writing here" in error for error in errors)
    assert open_graph(grown).edges == 42 + len(made)


def test_a_full_disk_leaves_the_versions_as_they_were(grown, monkeypatch):
    from csaw.partition.arrays import arrays

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(arrays, "write_all", full)
    with pytest.raises(StoreError, match=r"g.zarr/versions/3 cannot be written: No space left on device"):
        csaw.append(grown, [(6, 6)])
    (grown.parent / "new.txt").write_text("6 6\n")
    with pytest.raises(
        StoreError, match=r"[^-]*g.zarr cannot be written: No space left on device"
    ):  # nobody knows drafts
        csaw.append(grown, grown.parent / "new.txt")
    (grown.parent / "new.txt").unlink()
    assert open_graph(grown).version == 2
    assert [path.name for path in grown.parent.iterdir()] == ["g.zarr"]


FORGED = {  # in the report of version 1: what the check names
    "vertices": "vertices",
    "stored_edges": "stored_edges",
    "edges": "edges",
    "duplicates_policy": "duplicates_policy",
    "append.version": "version",
    "append.of": "of",
    "append.rows": "rows",
    "append.edges_added": "rows, edges_added",
    "append.edges_removed": "edges_added",
    "append.vertices_added": "vertices_added",
    "append.partitions_kept": "partitions",
}


@pytest.mark.parametrize("fact", FORGED)
@pytest.mark.parametrize("value", [7, "x", None])
def test_a_report_that_contradicts_the_graph_or_the_version_before_fails(grown, fact, value):
    def change(said):
        *within, name = fact.split(".")
        (said["report"]["append"] if within else said["report"])[name] = value if name != "rows" else 0

    edited(grown / "versions" / "1", change)
    wrong = [one for one in check_store(open_graph(grown, version=1)) if not one.ok]
    assert [one.name for one in wrong] == ["report"]
    assert set(FORGED[fact].split(", ")) <= set(wrong[0].details.removeprefix("wrong: ").split(", "))
    assert csaw.verify(grown / "versions" / "0").ok


def test_a_version_that_has_lost_its_attributes_is_named_and_the_others_stay(grown):
    (grown / "versions" / "2" / "zarr.json").unlink()
    for look in (csaw.verify, csaw.info, csaw.compact, csaw.sample, lambda path: csaw.append(path, [(1, 9)])):
        with pytest.raises(StoreError, match="g.zarr/versions/2 is not a graph store: it has no zarr.json"):
            look(grown)
    for version in (0, 1):
        assert csaw.verify(open_graph(grown, version=version)).ok


def test_a_damaged_partition_stops_the_append(grown):
    chunk = grown / "versions" / "2" / "partitions" / "00003" / "indices" / "c" / "0"
    chunk.write_bytes(bytes(chunk.stat().st_size))
    with pytest.raises(StoreError, match="have changed since they were written"):
        csaw.append(grown, [(1, 1)])
    assert open_graph(grown).version == 2


def test_one_version_is_no_store_to_append_to(grown):
    for write in (
        lambda: csaw.append(grown / "versions" / "1", [(1, 1)]),
        lambda: csaw.compact(grown / "versions" / "0"),
    ):
        with pytest.raises(OptionError, match=r"is one version of .*g.zarr; name"):
            write()


# Samples find the version that they were drawn from.


def test_samples_of_an_earlier_version_are_verified_and_read(grown):
    place = grown.parent
    csaw.sample(open_graph(grown, version=0), place / "old.zarr", walk_length=5, num_walks=20)
    csaw.sample(open_graph(grown, version=1), place / "virtual.zarr", walk_length=5, virtual=True)
    csaw.sample(grown, place / "new.zarr", walk_length=5)
    for name, edges in (("old", 40), ("virtual", 41), ("new", 42)):
        samples = csaw.open_samples(place / f"{name}.zarr")
        said = samples.manifest["graph"]
        assert (said["path"], said["edges"]) == (str(grown), edges)
        assert csaw.verify(place / f"{name}.zarr").ok
        assert csaw.verify(place / f"{name}.zarr", grown).ok
        assert samples.walks[:].shape[1] == 6
    csaw.compact(grown)
    assert csaw.verify(place / "new.zarr").ok
    assert not csaw.verify(place / "old.zarr").ok
    with pytest.raises(StoreError, match="is virtual, but"):
        csaw.open_samples(place / "virtual.zarr")


def test_an_interrupted_sample_is_finished_on_its_version(tmp_path):
    from csaw.engine.runs.execute import execute
    from csaw.engine.runs.job import prepare

    csaw.partition(EDGES, tmp_path / "g.zarr")
    how = {"walk_length": 5, "num_walks": 30, "seed": 3}
    whole = csaw.sample(tmp_path / "g.zarr", tmp_path / "whole.zarr", **how)

    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        execute(prepare(tmp_path / "g.zarr", **how), tmp_path / "w.zarr", progress=stop)
    csaw.append(tmp_path / "g.zarr", [(1, 2)])
    found = csaw.sample(tmp_path / "g.zarr", tmp_path / "w.zarr", resume=True, **how)
    assert np.array_equal(found.walks[:], whole.walks[:])
    again = csaw.sample(tmp_path / "g.zarr", tmp_path / "w.zarr", resume=True, **how)
    assert again.manifest["request"]["fingerprint"] == open_graph(tmp_path / "g.zarr", version=0).fingerprint


# Kills: before any step on the file system, of an append and of compact, while another process reads.

COMMANDS = {"append": ("append", "g.zarr", "new.txt"), "compact": ("compact", "g.zarr")}


def killed(place, what, step):
    """The command in a fork, which dies before that step on the file system."""
    return child.csaw(*COMMANDS[what], folder=place, before=lambda: kill_at(step))


def prepared(place):
    csaw.partition(EDGES, place / "g.zarr", partitions=3)
    csaw.append(place / "g.zarr", [(1, 2)])
    (place / "new.txt").write_text("1 3\n50 2\n")
    return place / "g.zarr"


@pytest.mark.one_in(5)
@pytest.mark.parametrize("round_", range(5))
@pytest.mark.parametrize("what", COMMANDS)
def test_a_kill_before_any_step_loses_nothing(tmp_path, what, round_):
    """Every fifth step of a round, and the last ones in each: afterwards the store is as before or as after, each
    version whole; the same command then works and leaves nothing beside.
    """
    (tmp_path / "whole").mkdir()
    path = prepared(tmp_path / "whole")
    before = [open_graph(path, version=n).fingerprint for n in (0, 1)]
    steps = Steps(tmp_path / "whole")
    assert child.csaw(*COMMANDS[what], folder=path.parent, before=steps.count).code == 0
    after, total = open_graph(path).fingerprint, len(steps.file.read_bytes())
    wanted = {"append": (tuple(before), (*before, after)), "compact": (tuple(before), (before[1],))}[what]
    assert total > 20
    seen = set()
    for step in {*range(round_, total, 5), *range(total - 6, total)}:
        place = tmp_path / str(step)
        place.mkdir()
        path = prepared(place)
        assert killed(place, what, step).code == -signal.SIGKILL
        stores = [open_graph(path, version=number) for number, _ in numbered(path)]
        found = tuple(store.fingerprint for store in stores)
        assert found in wanted, step
        assert all(one.ok for store in stores for one in check_store(store)), step
        seen.add(found)
        assert child.csaw(*COMMANDS[what], folder=place).code == 0
        assert open_graph(path).fingerprint == after
        assert sorted(one.name for one in place.iterdir()) == ["g.zarr", "new.txt"]
    assert seen == set(wanted)


def test_a_reader_beside_appends_and_compacts_sees_whole_versions_alone(tmp_path):
    path, ended, wrong, seen = tmp_path / "g.zarr", threading.Event(), [], set()
    known = {csaw.partition(EDGES, path, partitions=3).fingerprint: EDGES}

    def read():
        while not ended.is_set():
            try:
                store = open_graph(path)
                degrees = np.diff(store.read_indptr())
                indices = store.load().indices
            except StoreError:
                continue  # the version was dropped meanwhile
            if degrees.sum() != indices.size or indices.size != store.edges:
                wrong.append(store.path)
            seen.add(store.edges)

    with ThreadPoolExecutor(2) as threads:
        reading = [threads.submit(read) for _ in range(2)]
        for number in range(30):
            csaw.append(path, [(number, 41 + number)])
            if number % 4 == 3:
                csaw.compact(path)
        ended.set()
        for one in reading:
            one.result()
    assert not wrong
    assert len(seen) > 3
    assert known
