"""Ctrl-C ends a verification at once, whatever it is at, and no thread keeps the process."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from helpers.graphs import random_store

import csaw
from csaw.partition.base import parallel as module
from csaw.partition.base.parallel import Left, go_on, heeding, interruptible

SECONDS = 5.0  # on a machine that is busy; a verification that is not interrupted waits for LONG
LONG = 60.0
LATER = 0.3


@contextmanager
def interrupted(after=LATER):
    """Have the block interrupted, and expect that it ends soon after."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    timer.join()
    assert time.monotonic() - began < after + SECONDS


@pytest.fixture
def block():
    """What stands for a kernel that takes long; it is let go at the end, and then every thread ends."""
    goes, before = threading.Event(), set(threading.enumerate())
    yield goes
    goes.set()
    end = time.monotonic() + SECONDS
    while left := [t for t in threading.enumerate() if t not in before and t.name == module.NAME]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def test_a_work_that_takes_long_is_left_at_once_and_ends_where_it_asks(block):
    ended = threading.Event()

    def work():
        try:
            block.wait(LONG)  # as a kernel, it hears nothing
            go_on()
        except Left:
            ended.set()
            raise

    with interrupted():
        interruptible(work)
    assert not ended.is_set()
    block.set()
    assert ended.wait(SECONDS)


def test_a_work_has_its_result_and_its_error():
    assert interruptible(lambda: go_on() or 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    with ThreadPoolExecutor(1) as other:  # which no signal reaches
        assert other.submit(interruptible, threading.current_thread).result().name != module.NAME
    assert interruptible(threading.current_thread).name == module.NAME
    assert interruptible(threading.current_thread).daemon


def test_jobs_of_a_work_that_was_left_are_not_begun(block):
    begun = []

    def work():
        with ThreadPoolExecutor(1) as pool:
            job = heeding(lambda number: begun.append(number) or block.wait(LONG))
            return [pool.submit(job, number) for number in range(5)]

    with interrupted():
        interruptible(work)
    block.set()
    time.sleep(0.2)
    assert begun == [0]


SAMPLES = {
    "walks": ("node2vec", {"walk_length": 5}),
    "ragged walks": ("ppr", {}),
    "hops": ("neighbor", {"fanout": "3,2"}),
    "subgraphs": ("forest-fire", {}),
    "batches": ("minibatch", {"fanout": "3,2", "seeds_per_batch": 20}),
    "clocks": ("multidimensional", {"walk_length": 9, "instances": 5}),
    "layers": ("ladies", {"layer_sizes": "4,4", "frontier_size": 5}),
    "shared draws": ("labor", {"fanout": "3,2", "frontier_size": 5}),
    "sets of edges": ("random-edge", {"neighbor_size": 5, "instances": 5}),
    "induced": ("saint-walk", {"frontier_size": 4, "instances": 5}),
    "targets": ("forest-fire", {"target": 9, "instances": 3}),
}
MOMENTS = [  # functions that are called at all parts of a verification, by the kinds of samples that call them
    *((kind, "csaw.engine.samples.files.sha256") for kind in ("walks", "subgraphs")),
    *((kind, "csaw.partition.graph.store.read_array") for kind in ("walks", "hops")),
    *((kind, "csaw.engine.verify.walks.check_walks") for kind in ("walks", "ragged walks")),
    ("walks", "csaw.engine.verify.walks.single_choices"),
    ("walks", "csaw.engine.verify.checks.class_tests"),
    ("walks", "csaw.engine.verify.checks.pooled_test"),
    ("hops", "csaw.engine.verify.selections.multiplicity"),
    ("hops", "csaw.engine.verify.selections.set_tests"),
    ("subgraphs", "csaw.engine.verify.subgraphs.pool_sizes"),
    ("subgraphs", "csaw.engine.verify.entries.edge_biases"),
    ("batches", "csaw.engine.verify.batches.wrong_edges"),
    ("clocks", "csaw.engine.verify.subgraphs.replay"),
    ("layers", "csaw.engine.verify.layers.squared_entries"),
    ("shared draws", "csaw.engine.verify.shared_draws.even"),
    ("sets of edges", "csaw.engine.verify.subgraphs.first_edge"),
    ("induced", "csaw.engine.verify.groups.pool_sizes"),
    ("targets", "csaw.engine.verify.targets.fruitless"),
    ("targets", "csaw.engine.verify.subgraphs.pool_sizes"),
    ("walks", "csaw.engine.verify.fingerprint_of"),
    ("subgraphs", "csaw.engine.verify.checks.smallest"),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    graph = random_store(folder / "g.zarr", vertices=60, edges=300)
    for kind, (algo, options) in SAMPLES.items():
        csaw.sample(graph, folder / f"{kind}.zarr", algo, device="cpu", **options)
    return folder


@pytest.mark.parametrize(("kind", "name"), MOMENTS, ids=[f"{k}-{n.rpartition('.')[2]}" for k, n in MOMENTS])
def test_a_verification_is_left_at_once(stores, monkeypatch, block, kind, name):
    begun = threading.Event()

    def waits(*arguments, **more):
        begun.set()
        block.wait(LONG)
        go_on()
        raise AssertionError("it went on")

    monkeypatch.setattr(name, waits)
    threading.Thread(target=lambda: begun.wait(LONG) and os.kill(os.getpid(), signal.SIGINT), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        csaw.verify(stores / f"{kind}.zarr")
    assert begun.is_set()


def test_a_graph_is_left_at_once(stores, monkeypatch, block):
    monkeypatch.setattr("csaw.partition.graph.check._order_of_rows", lambda *_: block.wait(LONG))
    with interrupted():
        csaw.verify(stores / "g.zarr")


WAITING = """
import os, signal, sys, threading, time
import csaw.engine.verify.selections as selections
def waits(*_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep({0})
selections.multiplicity = waits
"""
PROCESSES = {
    "command": "import runpy\nsys.argv[1:] = ['verify', sys.argv[1]]\nrunpy.run_module('csaw.cli', None, '__main__')",
    "script": "import csaw; csaw.verify(sys.argv[1])",
    "script, caught": "import csaw\ntry: csaw.verify(sys.argv[1])\nexcept KeyboardInterrupt: sys.exit(130)",
}


@pytest.mark.parametrize("way", PROCESSES)
def test_no_thread_keeps_the_process(stores, way):
    code = WAITING.format(LONG) + PROCESSES[way]
    given = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", code, str(stores / "hops.zarr")]
    began = time.monotonic()
    ended = subprocess.run(words, check=False, capture_output=True, text=True, env=given, timeout=LONG)
    assert time.monotonic() - began < LONG / 2
    assert ended.returncode in (130, -signal.SIGINT), ended.stderr
    assert ("Traceback" in ended.stderr) is (way == "script")
    assert (ended.stderr.splitlines()[-1:] == ["Error: interrupted"]) is (way == "command")
