"""What a run says of its times, when its kernels are compiled in the middle of it."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
from helpers.graphs import random_store

from csaw.engine.kernel_time import Stopwatch, compiled, compiles, finds, stand_aside
from csaw.engine.run import execute, prepare
from csaw.engine.schedule.loop import Batches

STAGES = ("kernels_seconds", "loading_seconds", "sampling_seconds", "waiting_seconds", "sealing_seconds")
STREAMED = {"residency": "disk", "memory": 1_000_000, "device": "cpu"}


def test_sampling_leaves_out_what_is_compiled_meanwhile_and_stages_add_up(tmp_path, monkeypatch):
    @numba.njit
    def doubled(number):
        return 2 * number

    draw = Batches.run
    monkeypatch.setattr(Batches, "run", lambda self, batch: (doubled(1), draw(self, batch))[1])
    job = prepare(random_store(tmp_path / "g.zarr"), "deepwalk", walk_length=5, device="cpu")
    first, second = (execute(job, tmp_path / f"{turn}.zarr") for turn in range(2))
    assert first["compiled"]["doubled"] == 1
    assert first["kernels_seconds"] > first["compiling_seconds"] > 0
    assert first["seps_sampling"] == pytest.approx(first["sampled_edges"] / first["sampling_seconds"], rel=1e-2)
    assert first["sampling_seconds"] < second["sampling_seconds"] + first["compiling_seconds"] / 2
    assert second["compiling_seconds"] == 0
    assert second["compiled"] == {}
    for results in (first, second):
        assert results["run_seconds"] * 0.3 < sum(results[stage] for stage in STAGES) <= results["run_seconds"]


@pytest.mark.slow(reason="compares seconds of fresh processes, which other work on the machine changes")
@pytest.mark.parametrize("algo", ["deepwalk", "neighbor"])
def test_a_first_run_in_a_fresh_process_samples_as_fast_as_the_second(tmp_path, algo):
    random_store(tmp_path / "g.zarr", vertices=2000, edges=40_000, partitions=4)
    code = "import json, sys; from csaw.engine.run import execute, prepare; options = json.loads(sys.argv[3]); " \
           "print(json.dumps(execute(prepare('g.zarr', sys.argv[1], **options), sys.argv[2])))"  # fmt: skip
    environment = os.environ | {
        "CSAW_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path("tests/_src").resolve()),
    }

    def run(out):
        command = [sys.executable, "-c", code, algo, out, json.dumps(STREAMED)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    first, second = run("1.zarr"), run("2.zarr")
    assert first["compiling_seconds"] > 1
    assert second["compiling_seconds"] < 0.01
    assert first["sampling_seconds"] < second["sampling_seconds"] + 0.1 * first["compiling_seconds"]


def test_a_function_that_numba_compiles_is_named_and_timed():
    @numba.njit
    def doubled(number):
        return 2 * number

    before, watch = compiled(), Stopwatch()
    clock = time.perf_counter()
    assert doubled(4) == 8
    seconds = time.perf_counter() - clock
    lapse = watch.read()
    assert compiled() - before == {"doubled": 1}
    assert 0 < lapse.compiling <= lapse.drawing <= lapse.whole
    assert lapse.drawn < seconds / 2
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
