"""Alias tables that a streamed graph keeps on disk: made once, read again, and made anew where no disk has room."""

import errno
import os

import pytest
from helpers.graphs import arrays_of, random_store, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.cpu import scratch_file
from csaw.engine.cpu.graph import HostGraph
from csaw.partition.errors import StoreError

OPTIONS = {"seed": 5, "weighted": True, "ids": "dense", "in_place": False, "instances": 200, "walk_length": 10}


@pytest.fixture
def store(tmp_path):
    return random_store(tmp_path / "g.zarr", vertices=400, edges=8000, partitions=6)


def drawn(store, out, algo, options):
    plan = prepare(store, algo, residency="disk", in_flight=100, **OPTIONS, **options).plan
    edge = plan.needs.edge
    room = store.largest_partition * (2 * edge.reserved + edge.stored)  # of which tables are made
    memory = plan.fixed_bytes - plan.fixed["table_scratch"] + plan.batch_bytes + room
    return execute(
        prepare(store, algo, residency="disk", in_flight=100, memory=memory, **OPTIONS, **options), out, overwrite=True
    )


@pytest.mark.parametrize(("algo", "options"), [("deepwalk", {}), ("node2vec", {"p": 0.25, "q": 2.0})])
def test_tables_are_made_once_and_the_walks_stay_the_same(tmp_path, monkeypatch, store, algo, options):
    made, make = [], HostGraph._make
    monkeypatch.setattr(HostGraph, "_make", lambda self, number: (made.append(number), make(self, number))[1])
    results = drawn(store, tmp_path / "s.zarr", algo, options)
    assert results["transfers"] > len(made) == len(set(made))
    plain = {name: value for name, value in OPTIONS.items() if name not in ("ids", "in_place")}
    assert_same(arrays_of(store, tmp_path / "r.zarr", algo, **plain, **options), stored_arrays(tmp_path / "s.zarr"))


def test_a_full_disk_costs_time_and_no_walk(tmp_path, monkeypatch, caplog, store):
    expected = drawn(store, tmp_path / "r.zarr", "deepwalk", {})

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(scratch_file.os, "pwrite", full)
    caplog.set_level("INFO")
    assert drawn(store, tmp_path / "s.zarr", "deepwalk", {})["transfers"] == expected["transfers"]
    assert_same(stored_arrays(tmp_path / "r.zarr"), stored_arrays(tmp_path / "s.zarr"))
    assert caplog.text.count("No space left on device") == 1


def test_a_table_that_changed_on_the_disk_is_refused(tmp_path, monkeypatch, store):
    read = scratch_file.fill

    def flipped(file, handle, out, begin):
        read(file, handle, out, begin)
        out[7] ^= 1

    monkeypatch.setattr(scratch_file, "fill", flipped)
    with pytest.raises(StoreError, match="has changed since it was written"):
        drawn(store, tmp_path / "s.zarr", "deepwalk", {})
