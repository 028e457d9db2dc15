"""``stream``: what it hands out is what ``sample`` stores, in parts for processes, again and again, and it leaves
nothing behind.
"""

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures.thread import _global_shutdown_lock

import numpy as np
import pytest
from helpers.graphs import store_with_ids
from helpers.invariance import bytes_of

from csaw.engine import sample, stream
from csaw.engine.cpu.batches.walks import Walks
from csaw.engine.runs.sample_stream import DeviceIdentifiers, Parts
from csaw.engine.samples.identifiers import Identifiers
from csaw.partition.errors import BiasError, ClosedError, OptionError, StoreError

WALKS = ("node2vec", {"walk_length": 9, "num_walks": 1, "p": 0.5, "q": 2.0})
HOPS = ("neighbor", {"fanout": (4, 3), "instances": 60})
SUBGRAPHS = ("forest-fire", {"depth": 2, "instances": 60})
CLOCKS = ("multidimensional", {"walk_length": 9, "frontier_size": 3, "instances": 40})
KINDS = pytest.mark.parametrize(
    ("algo", "options"), [WALKS, HOPS, SUBGRAPHS, CLOCKS], ids=["walks", "hops", "subgraphs", "clocks"]
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_with_ids(tmp_path_factory.mktemp("stream"))


def given(options, **more):
    return {"seed": 5, "device": "cpu", **options, **more}


def assert_stored(samples, batches, first, last):
    """Batches follow each other from ``first`` to ``last``, and hold the samples' bytes."""
    for batch in batches:
        assert batch.first == first
        first += batch.instances
        assert bytes_of(batch.arrays()) == bytes_of(samples.group(batch.first, first))
    assert first == last


@pytest.mark.one_in(3)
@KINDS
@pytest.mark.parametrize("in_flight", [7, None])
@pytest.mark.parametrize("residency", ["resident", "disk"])
def test_the_stream_is_byte_for_byte_what_is_stored(tmp_path, store, algo, options, in_flight, residency):
    samples = sample(store, tmp_path / "s.zarr", algo, **given(options))
    with stream(store, algo, **given(options, in_flight=in_flight, residency=residency)) as drawn:
        assert len(drawn) == samples.instances
        for _ in range(2):  # again from the first instance on
            assert_stored(samples, drawn, 0, samples.instances)
        assert_stored(samples, drawn.draw(13, 37), 13, 37)
        assert list(drawn.draw(5, 5)) == []


@pytest.mark.parametrize("world", [1, 3, 7, 100])
def test_the_parts_of_processes_are_together_everything(tmp_path, store, world):
    algo, options = HOPS
    samples, after, sizes = sample(store, tmp_path / "s.zarr", algo, **given(options)), 0, set()
    for rank in range(world):
        part = stream(store, algo, rank=rank, world=world, **given(options))
        [(_, last)] = part.parts
        assert_stored(samples, part, after, last)
        after = last
        sizes.add(len(part))
    assert after == samples.instances
    assert max(sizes) - min(sizes) <= 1


def test_processes_share_each_epoch_of_mini_batches(tmp_path, store):
    options = given({"seeds_per_batch": 30, "epochs": 3, "shuffle": True, "in_flight": 2})
    samples, drawn = sample(store, tmp_path / "s.zarr", "minibatch", **options), []
    for rank in range(2):
        part = stream(store, "minibatch", rank=rank, world=2, **options)
        assert list(part.parts) == [(14 * epoch + 7 * rank, 14 * epoch + 7 * rank + 7) for epoch in range(3)]
        for batch in part:
            assert bytes_of(batch.arrays()) == bytes_of(samples.group(batch.first, batch.first + batch.instances))
            drawn += range(batch.first, batch.first + batch.instances)
    assert sorted(drawn) == list(range(samples.instances))


def test_processes_share_mini_batches_of_drawn_seeds_evenly(store):
    """They have no epochs, by which the first of three processes would get none of these."""
    options = given({"seeds_per_batch": 200, "fanout": (2,), "instances": 11, "in_flight": 2})
    parts = [stream(store, "mvs", rank=rank, world=3, **options) for rank in range(3)]
    assert [list(part.parts) for part in parts] == [[(0, 3)], [(3, 7)], [(7, 11)]]
    assert [sum(batch.instances for batch in part) for part in parts] == [3, 4, 4]


@pytest.mark.parametrize("world", [1, 2, 5, 40])
@pytest.mark.parametrize("instances", [5, 14, 42, 44])
def test_the_parts_of_processes_are_what_lists_of_each_epoch_say(store, instances, world):
    taken = []
    for rank in range(world):
        parts, listed = Parts(0, instances, 14, rank, world), []
        for begin in range(0, instances, 14):
            count = min(14, instances - begin)
            listed.append(range(begin, begin + count)[count * rank // world : count * (rank + 1) // world])
        assert [list(range(*part)) for part in parts] == [list(part) for part in listed]
        assert parts.instances == sum(map(len, listed))
        assert len(parts) == len(listed)
        taken += [number for part in listed for number in part]
    assert sorted(taken) == list(range(instances))


def test_a_stream_of_billions_of_epochs_opens_and_begins_at_once(store):
    options = given({"seeds_per_batch": 30, "epochs": 2**32 - 1, "shuffle": True, "in_flight": 2})
    with stream(store, "minibatch", rank=1, world=2, **options) as drawn:
        assert len(drawn.parts) == 2**32 - 1
        assert len(drawn) == 7 * (2**32 - 1)
        assert drawn.parts[-1] == (14 * (2**32 - 2) + 7, 14 * (2**32 - 1))
        assert next(iter(drawn)).first == 7
    few = stream(store, "minibatch", rank=1, world=20, **options | {"epochs": 1, "instances": 14 * 10**9 + 10})
    assert len(few) == 10**9 + 1


def test_a_process_without_mini_batches_of_whole_epochs_comes_to_the_last_one_at_once(store):
    options = given({"seeds_per_batch": 30, "in_flight": 2, "instances": 14 * 10**9 + 10})
    with stream(store, "minibatch", rank=3, world=20, **options) as drawn:
        assert [(batch.first, batch.instances) for batch in drawn] == [(14 * 10**9 + 1, 1)]
    with stream(store, "minibatch", rank=0, world=20, **options) as drawn:
        assert len(drawn) == 0
        assert list(drawn) == []


def test_what_is_asked_wrongly_is_refused(store):
    algo, options = WALKS
    for rank, world in ((1, 1), (-1, 2), (0, 0), (0.0, 2)):
        with pytest.raises(OptionError, match="(rank|world): expected"):
            stream(store, algo, rank=rank, world=world, **given(options))
    drawn = stream(store, algo, **given(options))
    with pytest.raises(OptionError, match="expected 0 <= first <= last <= 400, the job's instances"):
        drawn.draw(0, 401)
    with pytest.raises(StoreError, match="this batch has no array 'hop_1'; it has walks, lengths"):
        next(iter(drawn))["hop_1"]


def test_one_batch_is_drawn_ahead_and_no_more(store, monkeypatch):
    begun, advance = [], Walks.advance
    monkeypatch.setattr(Walks, "advance", lambda walks: (begun.append(walks.first), advance(walks))[1])
    with stream(store, WALKS[0], **given(WALKS[1], in_flight=50)) as drawn:
        batches = iter(drawn)
        next(batches)
        time.sleep(0.3)
        assert begun[1:] == [0, 50]  # after the one that finds the kernels
        next(batches)
        time.sleep(0.3)
        assert begun[1:] == [0, 50, 100]


@pytest.mark.parametrize("residency", ["resident", "disk"])
@pytest.mark.parametrize("how", ["break", "drop", "close", "error"])
def test_nothing_is_left_however_it_ends(store, residency, how):
    threads = threading.active_count()
    drawn = stream(store, WALKS[0], **given(WALKS[1], in_flight=20, residency=residency))
    batches = iter(drawn)
    next(batches)
    if how == "break":
        batches.close()
        assert next(iter(drawn)).first == 0  # and it can be used again
    if how == "close":
        drawn.close()
        assert next(iter(drawn)).first == 0
    if how == "error":
        with pytest.raises(ZeroDivisionError), drawn:
            raise ZeroDivisionError
    del drawn, batches
    gc.collect()
    deadline = time.monotonic() + 10
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= threads


def closed_in_a_loop(drawn, batches):
    for _ in drawn:
        drawn.close()


def closed_by_a_thread(drawn, batches):
    over = threading.Event()

    def close():
        while not over.wait(0.02):  # again where it falls between two loops, which then go on
            drawn.close()

    closing = threading.Thread(target=close)
    closing.start()
    try:
        while True:
            list(drawn)
    finally:
        over.set()
        closing.join()


def left(drawn, batches):
    with drawn:
        next(batches)
    list(batches)


CLOSED = {
    "next": lambda drawn, batches: (drawn.close(), next(batches)),
    "loop": closed_in_a_loop,
    "with": left,
    "thread": closed_by_a_thread,
}


@pytest.mark.parametrize("residency", ["resident", "disk"])
@pytest.mark.parametrize("how", CLOSED)
def test_a_loop_over_a_stream_that_was_closed_says_so(store, residency, how):
    """It neither ends as if all had been drawn nor raises what is only for csaw's own threads."""
    drawn = stream(store, WALKS[0], **given(WALKS[1], in_flight=20, residency=residency))
    batches = iter(drawn)
    next(batches)
    with pytest.raises(ClosedError, match=r"csaw stream.* was closed while it was read; start another loop"):
        CLOSED[how](drawn, batches)


FORKED = """
import os, sys
import csaw
drawn = csaw.stream(sys.argv[1], "deepwalk", walk_length=5, in_flight=20, device="cpu")
loop = iter(drawn)
first = next(loop).arrays()
if (child := os.fork()) == 0:
    try:
        next(loop)
    except csaw.CsawError as error:
        print(error, flush=True)
    drawn.close()
    again = next(iter(drawn)).arrays()
    print(all((first[name] == again[name]).all() for name in first), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1], sum(batch.instances for batch in loop), flush=True)
"""


def test_a_stream_that_was_read_before_a_fork_begins_anew_in_the_child(store):
    given = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", FORKED, str(store.path)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=given, timeout=120)
    refused, same, ended = done.stdout.splitlines()
    assert "was read before this process was forked; start another loop" in refused
    assert (same, ended) == ("True", f"0 {store.vertices - 20}")


def test_a_loop_that_has_all_batches_ends_whatever_is_closed(store):
    with stream(store, WALKS[0], **given(WALKS[1])) as drawn:
        batches = iter(drawn)
        found = [next(batches)]
        while found[-1].first + found[-1].instances < len(drawn):
            found.append(next(batches))
    assert list(batches) == []
    drawn = stream(store, WALKS[0], **given(WALKS[1]))
    batches = iter(drawn)
    batches.close()
    with pytest.raises(StopIteration):
        next(batches)
    drawn.close()


def test_a_stream_that_is_dropped_while_a_thread_begins_is_closed_all_the_same(store):
    drawn = stream(store, WALKS[0], **given(WALKS[1]))
    next(iter(drawn))
    device = drawn._opened.devices.devices[0].thread
    drawn.itself = drawn  # so that the garbage collector drops it, in the middle of whatever runs then
    del drawn

    def collect():
        with _global_shutdown_lock:  # as in the middle of ThreadPoolExecutor.submit
            gc.collect()

    collecting = threading.Thread(target=collect, daemon=True)
    collecting.start()
    collecting.join(20)
    assert not collecting.is_alive()
    deadline = time.monotonic() + 10
    while not device._shutdown and time.monotonic() < deadline:
        time.sleep(0.01)
    assert device._shutdown


def test_an_error_while_drawing_reaches_the_caller(store):
    with (
        pytest.raises(BiasError, match="negative, NaN or infinite"),
        stream(store, "deepwalk", **given({}, edge_bias="-e.weight")) as drawn,
    ):
        list(drawn)


def test_ids_on_a_device_are_those_of_the_store(monkeypatch):
    """On arrays of NumPy that say they are of a GPU: tests/gpu has the same with real ones."""

    class There(np.ndarray):
        device = type("Device", (), {"id": 0})

    monkeypatch.setattr("csaw.engine.runs.sample_stream.is_on_host", lambda array: False)
    walks = np.array([[0, 3, 2**32 - 1], [1, 1, 2]], np.uint32)
    for vertices, dtype in ((4, np.int32), (2**31, np.int64)):  # without a table
        found = DeviceIdentifiers(Identifiers.choose(np.uint32, None, "original", vertices)).of({"walks": walks})
        assert found["walks"].dtype == dtype
        assert found["walks"].tolist() == [[0, 3, -1], [1, 1, 2]]
    ids = np.array([10, 20, 40, 80], np.int64)
    identifiers = Identifiers.choose(np.uint32, ids, "original")
    converted = DeviceIdentifiers(identifiers)
    converted.tables[0] = identifiers.table.view(There)
    found = converted.of({"walks": walks.view(There), "lengths": np.array([1, 2], np.int32).view(There)})
    assert np.asarray(found["walks"]).tolist() == [[10, 80, -1], [20, 20, 40]]
    assert found["lengths"].dtype == np.int32
    assert {n: np.asarray(a).tobytes() for n, a in found.items()}["walks"] == identifiers.converted(
        "walks", walks
    ).tobytes()
