"""Several devices, one of which fails: what it leaves is done by the others, or the run stops and can be resumed."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest
from helpers.graphs import arrays_of, random_store, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.api.hooks import Hook
from csaw.engine.cpu import specialize
from csaw.engine.runs.job import manifest, open_backend
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.workers import Units, sample_groups
from csaw.partition.errors import DeviceError

OPTIONS = {"walk_length": 5, "num_walks": 200, "seed": 3}


def failing(job, units):
    """What opens a backend that draws so many batches and no more."""

    def make():
        backend = open_backend(job)
        begin, left = backend.begin, iter(range(units))

        def begin_or_fail(first, sources):
            if next(left, None) is None:
                raise DeviceError("an error from the driver")
            return begin(first, sources)

        backend.begin = begin_or_fail
        return backend

    return make


def written(job, out, backends, *, resume=False):
    """The sample that these backends draw, unit by unit."""
    plan = job.plan
    with SampleWriter(
        out,
        manifest(job),
        layout=plan.sample_layout,
        instances=plan.request.instances,
        group_size=1000,
        dense_dtype=job.store.id_dtype,
        vertex_ids=job.store.vertex_ids(),
        ids=plan.request.ids,
        resume=resume,
        overwrite=False,
    ) as writer:
        totals = sample_groups(backends, job.sources, writer, 4, None, (DeviceError,))
        writer.finish({})
    return totals


@pytest.mark.parametrize("units", [0, 1, 3])
def test_what_a_failed_device_leaves_is_done_by_another(tmp_path, units, caplog):
    store = random_store(tmp_path / "g.zarr")
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **OPTIONS)
    job = prepare(store, "deepwalk", in_flight=1000, ids="dense", **OPTIONS)
    totals = written(job, tmp_path / "t.zarr", [failing(job, units), partial(open_backend, job)])
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))
    assert "the other GPUs take over its work" in caplog.text
    assert 0 < totals.edges <= 5 * job.plan.request.instances


def test_a_run_whose_devices_all_fail_can_be_resumed(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **OPTIONS)
    job = prepare(store, "deepwalk", in_flight=1000, ids="dense", **OPTIONS)
    with pytest.raises(DeviceError, match="an error from the driver"):
        written(job, tmp_path / "t.zarr", [failing(job, 5), failing(job, 6)])
    written(job, tmp_path / "t.zarr", [partial(open_backend, job)], resume=True)
    assert_same(expected, stored_arrays(tmp_path / "t.zarr"))


def test_another_kind_of_error_stops_all(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    job = prepare(store, "deepwalk", edge_bias="0.5 - e.dst", **(OPTIONS | {"weighted": False}))
    with pytest.raises(Exception, match="the bias of edge"):
        execute(job, tmp_path / "t.zarr")


def test_kernels_that_two_threads_ask_for_at_once_are_loaded_once(monkeypatch):
    load, loaded = specialize._imported, []

    def slowly(name, text):
        loaded.append(name)
        time.sleep(0.1)
        return load(name, text)

    monkeypatch.setattr(specialize, "_imported", slowly)
    hook = Hook("asked_for_at_once", "def asked_for_at_once():\n    return 1.0\n", frozenset())
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(lambda: specialize.Kernels({}, [hook]).asked_for_at_once) for _ in range(2)]
    one, other = (future.result() for future in asked)
    assert one is other
    assert len(loaded) == 1
    del sys.modules[one.__module__]


def test_a_worker_that_waits_goes_on_where_nobody_reads_the_progress_any_more():
    def progress(done):
        raise BrokenPipeError

    units = Units(SimpleNamespace(done=[], rows=lambda group: 1), [0], 1, progress)
    (unit,) = [units.next(1)]
    waiting = threading.Thread(target=units.next, args=(1,), daemon=True)
    waiting.start()
    with pytest.raises(BrokenPipeError):
        units.finished(unit, [])
    waiting.join(20)
    assert not waiting.is_alive()
