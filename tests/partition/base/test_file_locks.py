"""Locks of files: one process at a time where the file system has locks; where it has none, nothing stops or mixes."""

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from helpers.graphs import random_store
from helpers.no_locks import NO_LOCKS, without_locks

from csaw.datasets import resolve
from csaw.datasets.download import Part
from csaw.engine.analytics.derived import KINDS, LEAST_MEMORY, derived_store
from csaw.engine.analytics.evaluation import networks
from csaw.partition.arrays import locks, replace
from csaw.partition.arrays.locks import Lock, require_unlocked
from csaw.partition.base.compile import _LockedCacheFile
from csaw.partition.base.file_locks import lock
from csaw.partition.errors import StoreError

HOLDER = """
import os, sys, time
from pathlib import Path
from csaw.partition.arrays.locks import Lock
held = Lock(Path(sys.argv[1]), "a graph store")
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def opened(tmp_path):
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("wait", [False, True], ids=["at once", "waiting"])
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_a_file_system_without_locks_gives_none(opened, monkeypatch, number, shared, wait):
    without_locks(monkeypatch, number)
    assert lock(opened, shared=shared, wait=wait) is False


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EACCES], ids=errno.errorcode.get)
def test_a_lock_of_another_process_is_never_taken_for_none(opened, monkeypatch, number):
    without_locks(monkeypatch, number)
    with pytest.raises(BlockingIOError):
        lock(opened)


def test_a_lock_is_held_until_its_file_is_closed(tmp_path, opened):
    assert lock(opened)
    other = os.open(tmp_path / "file", os.O_RDONLY)
    for shared in (False, True):
        with pytest.raises(BlockingIOError):
            lock(other, shared=shared)
    came = []
    waiting = threading.Thread(target=lambda: came.append(lock(other, wait=True)))
    waiting.start()
    time.sleep(0.1)
    assert not came
    fcntl.flock(opened, fcntl.LOCK_UN)
    waiting.join(20)
    assert came == [True]
    os.close(other)


@pytest.mark.parametrize("kind", ["a store", "a shared store", "a file"])
@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_stores_and_files_are_written_and_leave_no_lock(tmp_path, monkeypatch, number, kind):
    without_locks(monkeypatch, number)
    path = tmp_path / "out"
    if kind == "a file":
        with replace.new_file(path, overwrite=False) as file:
            file.write(b"whole")
        assert path.read_bytes() == b"whole"
        path.unlink()
    else:
        with Lock(path, "a sample store", shared=kind == "a shared store"), Lock(path, "a sample store", shared=True):
            require_unlocked(path)
    assert not list(tmp_path.iterdir())


def test_a_killed_writer_keeps_nobody_out_and_is_named_while_it_lives(tmp_path):
    path = tmp_path / "out.zarr"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True, env=child_env()
    )
    assert child.stdout.readline() == "held\n"
    with pytest.raises(
        StoreError, match=f"out.zarr: another csaw process is writing here: a graph store, by process {child.pid} on"
    ):
        Lock(path, "a sample store")
    with pytest.raises(StoreError, match="wait until it ends"):
        require_unlocked(path)
    child.kill()
    child.wait()
    child.stdout.close()
    assert (tmp_path / ".out.zarr.csaw-lock").exists()
    require_unlocked(path)
    Lock(path, "a sample store").close()
    assert not list(tmp_path.iterdir())


def child_env():
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_code_for_other_types_never_has_the_name_of_code(tmp_path, monkeypatch, number):
    """Whatever one process saves while another saves: each finds its own code, or none, which is compiled again."""
    without_locks(monkeypatch, number)
    one, other = (_LockedCacheFile(str(tmp_path), "deal", "the source") for _ in range(2))
    keys = [f"types {k}" for k in range(6)]
    for moment in ("_load_index", "_save_data", "_save_index"):
        with pytest.MonkeyPatch.context() as patch:
            _between(patch, one, moment, lambda at=moment: [other.save(f"{at} {key}", f"{at} {key}") for key in keys])
            for key in keys:
                one.save(f"{moment} mine {key}", f"{moment} mine {key}")
    asked = [
        f"{at} {mine}{key}"
        for at in ("_load_index", "_save_data", "_save_index")
        for mine in ("", "mine ")
        for key in keys
    ]
    found = [(key, _LockedCacheFile(str(tmp_path), "deal", "the source").load(key)) for key in asked]
    assert all(code in (None, key) for key, code in found)
    assert any(code for _, code in found)


def _between(patch, cache, name, work):
    """Have ``work`` done once, right after the next call of the method ``name`` of a cache file."""
    method, done = getattr(cache, name), []

    def called(*arguments):
        found = method(*arguments)
        if not done:
            done.append(work())
        return found

    patch.setattr(cache, name, called)


@pytest.mark.parametrize("number", [0, *NO_LOCKS], ids=lambda number: errno.errorcode.get(number, "locks"))
def test_a_store_of_the_cache_is_made_by_one_while_others_wait(tmp_path, monkeypatch, number):
    if number:
        without_locks(monkeypatch, number)
        monkeypatch.setattr(locks, "BEAT_SECONDS", 0.02)
    making, together = [], []

    def make(store):
        making.append(store)
        together.append(len(making))
        time.sleep(0.3)
        store.mkdir()
        making.remove(store)

    monkeypatch.setattr(resolve, "_why_not", lambda store, fault: "")
    asked = [threading.Thread(target=resolve.cached, args=(tmp_path, "key", "name", make)) for _ in range(4)]
    for one in asked:
        one.start()
    for one in asked:
        one.join(30)
    assert together == [1]
    assert {path.suffix for path in tmp_path.iterdir()} == {".zarr", ".lock"}


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_a_killed_maker_keeps_the_others_waiting_for_a_while_only(tmp_path, monkeypatch, number):
    without_locks(monkeypatch, number)
    monkeypatch.setattr(locks, "STALE_SECONDS", 0.1)
    place = resolve.place_of(tmp_path, "key")
    left = place.with_suffix(".making")
    left.mkdir()
    (left / locks.BEAT).write_text("elsewhere 7 00 000000000001\n")
    assert resolve.cached(tmp_path, "key", "name", Path.mkdir) == place
    assert place.is_dir()
    assert not left.exists()


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_no_folder_of_a_window_is_taken_for_left(tmp_path, monkeypatch, number):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    without_locks(monkeypatch, number)
    first, second = networks.WindowFolder(), networks.WindowFolder()
    assert first.path.is_dir()
    assert second.path.is_dir()
    for one in (first, second):
        one.close()
        assert not one.path.exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_a_measure_makes_the_graph_that_it_needs(tmp_path, monkeypatch, number, kind):
    store = random_store(tmp_path / "g.zarr", directed=True)
    without_locks(monkeypatch, number)
    made = derived_store(store, kind, tmp_path / "made", memory=LEAST_MEMORY, threads=1)
    assert made.vertices == store.vertices
    assert {path.suffix for path in (tmp_path / "made").iterdir()} == {".lock", ".zarr"}


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_without_locks_a_file_is_fetched(tmp_path, monkeypatch, number):
    without_locks(monkeypatch, number)
    with Part(tmp_path / "file") as part:
        part.begin("tag")
        part.append(b"whole")
        part.take_the_name()
    assert (tmp_path / "file").read_bytes() == b"whole"
