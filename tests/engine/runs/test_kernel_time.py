"""What a run says of its times, when its kernels are compiled in the middle of it."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from helpers.graphs import random_store

from csaw.engine import execute, prepare
from csaw.engine.schedule.batch_loop import Batches
from csaw.partition.base import kernel_time
from csaw.partition.base.kernel_time import Stopwatch, compiled, compiles, finds, stand_aside

STAGES = ("kernels_seconds", "loading_seconds", "sampling_seconds", "waiting_seconds", "sealing_seconds")
STREAMED = {"residency": "disk", "memory": 1_000_000, "device": "cpu"}


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves: its first item is the time in seconds."""
    now = [0.0]
    monkeypatch.setattr(kernel_time, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


def test_sampling_leaves_out_what_is_compiled_meanwhile_and_stages_add_up(tmp_path, monkeypatch, clock):
    draw = Batches.run

    def run(self, batch):
        clock[0] += 10
        with compiles("doubled"):
            clock[0] += 1000
        return draw(self, batch)

    monkeypatch.setattr(Batches, "run", run)
    job = prepare(random_store(tmp_path / "g.zarr"), "deepwalk", walk_length=5, device="cpu")
    results = execute(job, tmp_path / "s.zarr")
    batches = results["compiled"]["doubled"]
    assert batches > 0
    assert results["compiling_seconds"] == results["kernels_seconds"] == 1000 * batches
    assert results["sampling_seconds"] == 10 * batches
    assert results["seps_sampling"] == pytest.approx(results["sampled_edges"] / (10 * batches))
    assert sum(results[stage] for stage in STAGES) == results["run_seconds"] == 1010 * batches


@pytest.mark.one_in(2)  # each compiles all it runs
@pytest.mark.parametrize("algo", ["neighbor", "deepwalk"])
def test_a_second_process_compiles_nothing(tmp_path, algo):
    random_store(tmp_path / "g.zarr", vertices=2000, edges=40_000, partitions=4)
    code = (
        "import json, sys; from csaw.engine import execute, prepare; options = json.loads(sys.argv[3]); "
        "print(json.dumps(execute(prepare('g.zarr', sys.argv[1], **options), sys.argv[2])))"
    )
    environment = os.environ | {
        "CSAW_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path("tests/_src").resolve()),
    }

    def run(out):
        command = [sys.executable, "-c", code, algo, out, json.dumps(STREAMED)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first, second = run("1.zarr"), run("2.zarr")
    assert first["compiled"]
    assert first["compiling_seconds"] > 0
    assert second["compiled"] == {}
    assert second["compiling_seconds"] == 0


def test_a_function_that_numba_compiles_is_named_and_timed():
    @numba.njit
    def doubled(number):
        return 2 * number

    before, watch = compiled(), Stopwatch()
    assert doubled(4) == 8
    lapse = watch.read()
    assert compiled() - before == {"doubled": 1}
    assert 0 < lapse.compiling <= lapse.drawing <= lapse.whole
    watch = Stopwatch()
    doubled(5)
    assert watch.read().anywhere == 0


def test_threads_that_compile_at_the_same_time_count_once():
    ready = threading.Barrier(2)

    def work():
        with compiles("one"):
            ready.wait()
            time.sleep(0.05)

    watch = Stopwatch()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: work(), range(2)))
    lapse = watch.read()
    assert 0.05 <= lapse.compiling <= lapse.whole
    assert lapse.drawing == pytest.approx(lapse.anywhere, abs=0.01)


def test_what_a_writing_thread_compiles_is_not_left_out_of_drawing():
    def work():
        with finds():
            time.sleep(0.02)

    watch = Stopwatch()
    with ThreadPoolExecutor(1, initializer=stand_aside) as threads:
        threads.submit(work).result()
    lapse = watch.read()
    assert lapse.drawing == 0
    assert lapse.anywhere >= 0.02
    assert lapse.drawn == lapse.whole
    assert lapse.rest < lapse.whole


def test_what_is_compiled_for_another_function_has_no_name_of_its_own():
    before = compiled()
    with compiles("outer"), compiles("inner"):
        pass
    assert compiled() - before == {"outer": 1}
