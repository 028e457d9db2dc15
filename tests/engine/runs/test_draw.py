"""``draw_batches``: what it hands out is what ``sample`` stores, in order, and it leaves nothing behind however it
ends.
"""

import gc
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.graphs import store_with_ids
from helpers.invariance import bytes_of

from csaw.engine import draw_batches, prepare, sample
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.cpu.batches.walks import Walks
from csaw.engine.runs import draw
from csaw.engine.runs.job import open_backend
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch, kept
from csaw.engine.schedule.device_threads import failure, results_of
from csaw.partition import write_graph
from csaw.partition.errors import BudgetError, DeviceError, OptionError

WALKS = ("deepwalk", {"walk_length": 9, "num_walks": 1})
HOPS = ("neighbor", {"fanout": (4, 3), "instances": 60})
SUBGRAPHS = ("forest-fire", {"depth": 2, "instances": 60})
KINDS = pytest.mark.parametrize(("algo", "options"), [WALKS, HOPS, SUBGRAPHS], ids=["walks", "hops", "subgraphs"])


@pytest.fixture
def store(tmp_path):
    return store_with_ids(tmp_path)


@pytest.fixture
def closed(monkeypatch):
    """The backends that were closed, and by which threads they were opened and closed."""
    found, close, begin = [], CpuBackend.close, CpuBackend.__init__

    def opened(self, *arguments):
        self.thread = threading.get_ident()
        begin(self, *arguments)

    def noted(self):
        found.append((self, self.thread, threading.get_ident()))
        close(self)

    monkeypatch.setattr(CpuBackend, "__init__", opened)
    monkeypatch.setattr(CpuBackend, "close", noted)
    return found


def stored(store, folder, algo, options):
    return sample(store, folder / "s.zarr", algo, seed=5, device="cpu", **options)


def planned(store, algo, options, **more):
    return prepare(store, algo, seed=5, device="cpu", **options, **more)


def assert_stored(samples, batches, first=0, last=None):
    """Batches follow each other from ``first`` to ``last``, and hold the samples' bytes."""
    edges = 0
    for batch in batches:
        assert batch.first == first
        first += batch.instances
        expected, found = samples.group(batch.first, first), batch.arrays()
        assert bytes_of(found) == bytes_of(expected)
        edges += batch.edges
    assert first == (samples.instances if last is None else last)
    return edges


@KINDS
@pytest.mark.parametrize("in_flight", [1, 7, None])
def test_batches_are_byte_for_byte_what_is_stored(tmp_path, store, algo, options, in_flight):
    samples = stored(store, tmp_path, algo, options)
    batches = list(draw_batches(planned(store, algo, options, in_flight=in_flight)))
    assert len(batches) == -(-samples.instances // (in_flight or samples.instances))
    assert assert_stored(samples, batches) == samples.results["sampled_edges"]
    assert sum(batch.dead_ends for batch in batches) == samples.results["dead_ends"]
    if samples.layout == "subgraphs":
        counts = np.concatenate([batch.arrays()["counts"] for batch in batches])
        assert np.array_equal(np.cumsum(counts), samples.instance_ptr[1:])


@KINDS
def test_batches_of_a_graph_read_from_disk_are_the_same(tmp_path, store, algo, options):
    samples = stored(store, tmp_path, algo, options)
    plan = planned(store, algo, options, in_flight=7).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 3
    job = planned(store, algo, options, in_flight=7, memory=memory)
    assert job.plan.residency == "disk"
    assert_stored(samples, draw_batches(job, 0, 35), 0, 35)


@pytest.mark.parametrize("ids", ["dense", "names"])
def test_other_ids_are_those_that_are_stored(tmp_path, store, ids):
    algo, options = WALKS
    if ids == "names":
        graph, names = store.load(), np.array([f"v{k:03}" for k in range(400)], object)
        store = write_graph(
            tmp_path / "n.zarr", graph.indptr, graph.indices, graph.weights, directed=False, vertex_ids=names
        )
    options = options | ({"ids": "dense"} if ids == "dense" else {})
    samples = stored(store, tmp_path, algo, options)
    assert samples.ids == ids
    assert_stored(samples, draw_batches(planned(store, algo, options)))


@KINDS
def test_some_instances_of_a_batch_and_of_a_job(tmp_path, store, algo, options):
    samples = stored(store, tmp_path, algo, options)
    batches = list(draw_batches(planned(store, algo, options, in_flight=20), 13, 50))
    assert_stored(samples, batches, 13, 50)
    for rows in (slice(3, 11), slice(-4, None), slice(5, 5), slice(9, 2)):
        start, stop, _ = rows.indices(20)
        part, expected = batches[0].arrays(rows), samples.group(13 + start, 13 + max(start, stop))
        assert bytes_of(part) == bytes_of(expected)
    assert list(draw_batches(planned(store, algo, options), 60, 60)) == []


def test_instances_that_a_job_does_not_have_are_refused_before_anything_is_drawn(store):
    job = planned(store, *WALKS)
    for first, last in ((-1, 5), (5, 4), (0, 401), (401, None)):
        with pytest.raises(OptionError, match="expected 0 <= first <= last <= 400, the job's instances, found"):
            draw_batches(job, first, last)
    [batch] = draw_batches(planned(store, *SUBGRAPHS))
    with pytest.raises(OptionError, match="expected consecutive ones, found a step of 2"):
        batch.arrays(slice(0, 10, 2))


@KINDS
def test_arrays_where_they_were_drawn_speak_dlpack_and_have_dense_ids(tmp_path, store, algo, options):
    dense = stored(store, tmp_path, algo, options | {"ids": "dense"})
    for batch in draw_batches(planned(store, algo, options, in_flight=30)):
        expected = dense.group(batch.first, batch.first + batch.instances)
        for name, array in batch.on_device().items():
            assert np.array_equal(np.from_dlpack(array), expected[name]), name


def in_order(job, makers, size=7):
    """What these backends draw: one in this thread, several side by side."""
    last = job.plan.request.instances
    spans = ((first, min(first + size, last)) for first in range(0, last, size))
    if len(makers) == 1:
        return draw.drawn_here(*makers, job.sources, spans)
    return draw.drawn_side_by_side(makers, job.sources, spans)


def on_devices(monkeypatch, job, makers, losses=()):
    """The job as if it were on GPUs, with these backends."""
    monkeypatch.setattr(draw, "backends_of", lambda *_: nullcontext((makers, losses)))
    return replace(job, devices=(None,) * len(makers))


@KINDS
def test_several_devices_hand_out_in_order_what_one_draws(store, closed, algo, options):
    job = planned(store, algo, options)

    def slow():
        backend = open_backend(job)
        begin = backend.begin
        backend.begin = lambda *arguments: (time.sleep(0.02), begin(*arguments))[1]
        return backend

    [whole] = draw_batches(job)
    drawn = list(in_order(job, [slow, partial(open_backend, job), partial(open_backend, job)]))
    assert [batch.first for batch in drawn] == list(range(0, job.plan.request.instances, 7))
    for name, array in kept(whole, job.plan.sample_layout).on_device().items():
        assert np.array_equal(
            np.concatenate([batch.on_device()[name] for batch in drawn]).astype(array.dtype), whole.on_device()[name]
        )
    assert len({opened for _, opened, _ in closed[1:]}) == 3
    assert all(opened == by for _, opened, by in closed)


def test_a_device_draws_no_further_ahead_than_one_batch(store, monkeypatch):
    job, begun = planned(store, *WALKS), []
    begin = Batches.begin
    monkeypatch.setattr(Batches, "begin", lambda self, *span: (begun.append(span), begin(self, *span))[1])
    with_two = in_order(job, [partial(open_backend, job)] * 2)
    next(with_two)
    next(with_two)
    time.sleep(0.3)
    with_two.close()
    assert len(begun) == 4


def assert_nothing_is_left(closed, threads):
    """Every backend is closed by now, and its threads end."""
    assert closed
    deadline = time.monotonic() + 10
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= threads


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("how", ["end", "close", "drop", "error"])
def test_everything_is_closed_however_it_ends(store, closed, how, devices):
    threads, job = threading.active_count(), planned(store, *WALKS)
    batches = in_order(job, [partial(open_backend, job)] * devices, 30)
    if how == "end":
        list(batches)
    else:
        next(batches)
        assert not closed
    if how == "close":
        batches.close()
    if how == "error":
        with pytest.raises(ZeroDivisionError):
            batches.throw(ZeroDivisionError())
    del batches
    gc.collect()
    assert len(closed) == devices
    assert_nothing_is_left(closed, threads)


@pytest.mark.parametrize("devices", [0, 1, 3])
def test_ctrl_c_closes_everything(store, closed, monkeypatch, devices):
    threads, job, advance = threading.active_count(), planned(store, *WALKS, in_flight=30), Walks.advance

    def interrupted(walks):
        if walks.first >= 60:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.05)
        advance(walks)

    monkeypatch.setattr(Walks, "advance", interrupted)
    if devices:
        job = on_devices(monkeypatch, job, [partial(open_backend, job)] * devices)
    found = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(batch.first for batch in draw_batches(job))
    assert found in ([], [0], [0, 30])
    assert_nothing_is_left(closed, threads)
    assert len(closed) == max(devices, 1)


def test_an_error_of_one_device_says_where_to_go_on(tmp_path, store, closed, monkeypatch):
    samples = stored(store, tmp_path, *WALKS)
    job = planned(store, *WALKS, in_flight=30)

    def failing():
        backend = open_backend(job)
        begin = backend.begin

        def begin_or_fail(first, sources):
            if first >= 90:
                raise RuntimeError("an error from the driver")
            return begin(first, sources)

        backend.begin = begin_or_fail
        return backend

    with monkeypatch.context() as patched:
        batches = draw_batches(on_devices(patched, job, [partial(open_backend, job), failing], (RuntimeError,)))
        found = []
        said = r"^a GPU has failed: an error from the driver; draw_batches\(job, first=90\) continues where this ended$"
        with pytest.raises(DeviceError, match=said):
            found.extend(iter(batches.__next__, None))
    assert_stored(samples, [*found, *draw_batches(job, 90)])
    assert len(closed) >= 2


def test_memory_that_is_short_makes_batches_smaller_and_no_other_samples(tmp_path, store, monkeypatch, caplog):
    samples, begin = stored(store, tmp_path, *WALKS), CpuBackend.begin

    def short(most, self, first, sources):
        if len(sources) > most:
            raise MemoryError
        return begin(self, first, sources)

    monkeypatch.setattr(CpuBackend, "begin", lambda *given: short(60, *given))
    with caplog.at_level("INFO"):
        batches = list(draw_batches(planned(store, *WALKS)))
    assert [batch.instances for batch in batches] == [50] * 8
    assert_stored(samples, batches)
    assert "out of memory with 400 instances in flight: going on with 200" in caplog.text
    monkeypatch.setattr(CpuBackend, "begin", lambda *given: short(0, *given))
    with pytest.raises(BudgetError, match="instance 0 needs more memory than is free; ask for smaller ones"):
        list(draw_batches(planned(store, *WALKS)))


def test_batches_that_made_room_are_the_same(store):
    job = planned(store, *SUBGRAPHS)
    [batch] = draw_batches(job)
    moved = kept(batch, job.plan.sample_layout)
    for name, array in batch.arrays().items():
        assert np.array_equal(moved.arrays()[name], array)
        assert np.array_equal(moved.on_device()[name], array)


def test_the_clock_of_a_timed_batch_runs_while_it_is_drawn_and_not_while_it_begins(store, monkeypatch):
    now, calls = [0.0], []

    def noted(name, call, seconds):
        def passing(*given):
            calls.append(name)
            now[0] += seconds
            return call(*given)

        return passing

    backend = open_backend(planned(store, *WALKS))
    job = planned(store, *WALKS)
    batches = Batches(backend, job.sources)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(backend, "begin", noted("begin", backend.begin, 100.0))
    monkeypatch.setattr(backend, "wait", noted("wait", backend.wait, 10.0))
    monkeypatch.setattr(Walks, "advance", noted("advance", Walks.advance, 1.0))
    monkeypatch.setattr(Walks, "edges", noted("edges", Walks.edges, 1000.0))
    batch, seconds = batches.draw_timed(0, 30)
    assert calls == ["begin", "wait", "advance", "wait", "edges"]
    assert seconds == 11.0
    assert isinstance(batch, FinishedBatch)
    assert batches.spent.whole == 0
    batches.draw(0, 30)
    assert batches.spent.drawn == 1111.0
    batches.close()


def test_of_several_failures_the_one_that_made_the_others_give_up_is_told():
    from concurrent.futures import Future

    def failed(error, cause=None):
        future = Future()
        error.__cause__ = cause
        future.set_exception(error)
        return future

    broken = threading.BrokenBarrierError()
    others = [failed(broken), failed(DeviceError("a GPU that holds a part of the graph has failed"), broken)]
    with pytest.raises(ValueError, match="^the first$"):
        results_of([*others, failed(ValueError("the first"))])
    with pytest.raises(threading.BrokenBarrierError):
        results_of(others)
    said = str(failure(MemoryError("512 bytes"), "all is safe"))
    assert said == "a GPU is out of memory: 512 bytes; all is safe, with a smaller --gpu-memory or --in-flight"
    assert str(failure(DeviceError("no driver"), "all is safe")) == "no driver; all is safe"


def test_what_devices_share_is_closed_after_all_of_them(store, closed, monkeypatch):
    job, at_the_end = planned(store, *WALKS, in_flight=30), []

    @contextmanager
    def noted(*_):
        try:
            yield [partial(open_backend, job)] * 2, ()
        finally:
            at_the_end.append(len(closed))

    monkeypatch.setattr(draw, "backends_of", noted)
    batches = draw_batches(replace(job, devices=(None, None)))
    next(batches)
    batches.close()
    assert at_the_end == [2]
