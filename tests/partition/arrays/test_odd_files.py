"""Only regular files are read as those of a store: a device, a pipe or a socket in the place of one is refused at once,
neither read nor waited for.
"""

import os
import signal
import socket
from contextlib import contextmanager

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.engine.analytics.unfinished import Unfinished
from csaw.partition import open_graph
from csaw.partition.arrays import locks
from csaw.partition.arrays.files import open_regular, read_regular
from csaw.partition.arrays.locks import Lock
from csaw.partition.errors import StoreError
from csaw.partition.graph.check import check_store

SECONDS = 20


def bound(path):
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(".", os.O_RDONLY)
        os.chdir(path.parent)  # an address has 108 bytes at most
        one.bind(path.name)
        os.fchdir(here)
        os.close(here)


ODD = {
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "standard input": lambda path: path.symlink_to("/dev/stdin"),
    "pipe": os.mkfifo,
    "socket": bound,
    "folder": lambda path: path.mkdir(),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
    "hole": lambda path: (path.touch(), os.truncate(path, 1 << 42)),
}


@contextmanager
def in_time():
    """TimeoutError where the block takes long: a read without end, or one that waits."""

    def late(*_):
        raise TimeoutError(f"not ended in {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_regular_file_is_an_error_and_a_link_to_one_is_not(tmp_path, odd):
    ODD[odd](tmp_path / "odd")
    with in_time(), pytest.raises(OSError, match=r"expected|No such|Too many levels") as said:
        read_regular(tmp_path / "odd")
    assert isinstance(said.value.filename, str | os.PathLike) or "odd" in str(said.value)
    (tmp_path / "whole").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("whole")
    assert read_regular(tmp_path / "link") == b"12345"
    os.close(open_regular(tmp_path / "link", size=5, most=5))
    for wrong in ({"size": 4}, {"most": 4}):
        with pytest.raises(OSError, match="bytes, found 5"):
            open_regular(tmp_path / "link", **wrong)


def faults(store):
    """What is said of a graph store that is not as it was written."""
    try:
        return [found.details for found in check_store(open_graph(store)) if not found.ok]
    except StoreError as error:
        return [str(error)]


@pytest.mark.parametrize("odd", ODD)
def test_no_file_of_a_graph_store_is_waited_for(tmp_path, odd):
    whole = random_store(tmp_path / "g.zarr").path
    names = [str(file.relative_to(whole)) for file in whole.rglob("*") if file.is_file()]
    for name in names:
        (whole / name).rename(tmp_path / "kept")
        ODD[odd](whole / name)
        with in_time():
            assert faults(whole), name
        os.system(f"rm -r {whole / name}")
        (tmp_path / "kept").rename(whole / name)
    assert not faults(whole)


@pytest.mark.parametrize("odd", ["zeros", "pipe", "folder", "hole", "socket"])
def test_leases_locks_and_interrupted_work_are_not_waited_for(tmp_path, monkeypatch, odd):
    monkeypatch.setattr(locks, "STALE_SECONDS", 0.2)
    (tmp_path / "lease").mkdir()
    ODD[odd](tmp_path / "lease" / "beat")
    ODD[odd](tmp_path / "m.some.unfinished")
    ODD[odd](tmp_path / ".name.csaw-lock")
    with in_time():
        taken = locks.take(tmp_path / "lease")
        assert taken is not None
        assert taken.held
        taken.close()
        assert Unfinished(tmp_path / "m").work("some", np.arange(3)).done == {}
        if odd == "hole":
            Lock(tmp_path / "name", "a regular file").close()
        else:
            with pytest.raises(OSError, match=r"lock|regular"):
                Lock(tmp_path / "name", "a regular file")
