"""Walks whose steps go to disk as they are drawn, because memory has no room for all of them at once."""

import errno
import os

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.cpu import scratch_file
from csaw.engine.cpu.batches.walks import Queues
from csaw.engine.cpu.paths import Paths
from csaw.engine.plan import planning
from csaw.partition.errors import StoreError

WALKS = {"seed": 3, "instances": 2000, "walk_length": 30}
RUNS = [
    ("node2vec", {"p": 0.5, "q": 2.0}, False),
    ("deepwalk", {"select": "its"}, False),
    ("deepwalk", {}, True),
    ("ppr", {"weighted": False}, True),
]


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Groups of which several fit the memory."""
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 14)


def job_of(store, algo, **options):
    """A job with room for a part of the walks, and for a few partitions."""
    memory = "300KiB" if options.get("weighted", True) or not store.directed else "150KiB"
    return prepare(store, algo, residency="disk", memory=memory, ids="dense", **WALKS | options)


@pytest.mark.parametrize("room", [100, 1 << 20])
def test_steps_that_come_in_any_order_are_walks_again(tmp_path, room):
    rng = np.random.default_rng(1)
    lengths, expected = rng.integers(0, 8, 50), np.full((50, 8), 2**32 - 1, np.uint32)
    for walk, length in zip(expected, lengths, strict=True):
        walk[: length + 1] = rng.integers(0, 1000, length + 1)
    paths = Paths(expected[:, 0], 7, np.dtype(np.uint32), tmp_path, room)
    steps = np.array([(w, t, expected[w, t]) for w in range(50) for t in range(1, lengths[w] + 1)], np.uint32)
    for some in np.array_split(rng.permutation(steps), 9):
        log = paths.log(len(some) + 3)
        log[1 : 1 + len(some)], log[0, 0] = some, len(some)
        paths.note(log)
    assert bool(paths.file.end) == (room == 100)
    for first, last in ((0, 50), (7, 8), (49, 50), (3, 41)):
        assert np.array_equal(paths.rows(first, last), expected[first:last])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("algo", "options", "directed"), RUNS)
def test_walks_are_those_of_a_resident_graph(tmp_path, algo, options, directed):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=12, directed=directed)
    job = job_of(store, algo, **options)
    assert job.plan.paths_bytes > 0
    execute(job, tmp_path / "s.zarr")
    assert_same(arrays_of(store, tmp_path / "r.zarr", algo, **WALKS, **options), stored_arrays(tmp_path / "s.zarr"))


def test_more_walkers_share_the_loads_of_partitions(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=12)
    options = {"weighted": False, "in_place": False, "instances": 4000, "walk_length": 80}
    whole = job_of(store, "deepwalk", **options)
    parts = job_of(store, "deepwalk", in_flight=whole.plan.batch // 4, **options)
    assert parts.plan.paths_bytes == 0
    loads = [execute(job, tmp_path / f"{i}.zarr")["transfers"] for i, job in enumerate((whole, parts))]
    assert loads[0] < loads[1] / 2


def test_a_disk_without_room_is_an_error_that_names_it(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=12)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(scratch_file.os, "pwrite", full)
    with pytest.raises(StoreError, match=r"no room for the steps of walks in flight \(No space left"):
        execute(job_of(store, "deepwalk", weighted=False), tmp_path / "s.zarr")


def test_a_queue_gives_each_walker_once_and_only_those_of_what_is_taken():
    queues = Queues(4, 10)
    queues.put(np.array([1, 5, 7, 9]), np.array([2, 0, 2, 3]))
    queues.put(np.array([5, 0]), np.array([2, 3]))
    assert queues.counts.tolist() == [1, 0, 3, 2]
    assert queues.take(np.array([0, 2])).tolist() == [1, 5, 7]
    assert queues.counts.tolist() == [0, 0, 0, 2]
    assert queues.take(np.arange(4)).tolist() == [0, 9]
    assert queues.take(np.arange(4)).size == 0
