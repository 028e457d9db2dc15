"""Stores in csaw's cache: each is made once, by one process while others wait."""

import hashlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from csaw.partition.arrays.locks import take
from csaw.partition.base import cache
from csaw.partition.base.cache import remove_folder
from csaw.partition.base.file_locks import lock
from csaw.partition.base.python_names import noted
from csaw.partition.errors import StoreError

if TYPE_CHECKING:
    from csaw.partition import GraphStore

Fault = Callable[["GraphStore"], str]
"""Says what is wrong with a store; an empty text if nothing is."""
log = logging.getLogger("csaw")


def cached(folder: Path, key: str, name: str, make: Callable[[Path], object], fault: Fault = lambda store: "") -> Path:
    """The store of ``key`` in the cache.

    One process makes it while others wait. A store that cannot be opened or has a ``fault`` is made again.
    """
    return noted(made_once(place_of(folder, key), name, make, fault), name)


def made_once(store: Path, name: str, make: Callable[[Path], object], fault: Fault = lambda store: "") -> Path:
    """``store``, a path in the cache, which :func:`cached` makes where there is none, or one with a ``fault``."""
    if not store.exists() or _why_not(store, fault):
        cache.make_folder(store.parent)
        with _alone(store):
            if store.exists() and (why := _why_not(store, fault)):
                log.warning("%s; it is removed and made again", why)
                remove_folder(store)
            if not store.exists():
                log.info("%s becomes the store %s, once", name, store)
                make(store)
    return store


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Wait until no other process makes ``store``, and keep others waiting: by a lease where the file system has no
    locks.
    """
    with cache.written_here(store):
        descriptor = os.open(store.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        if lock(descriptor, wait=True):
            yield
            return
    finally:
        os.close(descriptor)
    while (lease := take(store.with_suffix(".making"), partial(_waiting, store))) is None:
        pass  # the process that had it has ended
    with lease:
        yield


def _waiting(store: Path, owner: str) -> None:
    log.info("%s: %s is making it; looking whether it lives", store, owner)


def _why_not(path: Path, fault: Fault) -> str:
    """The reason why the store at ``path`` in the cache cannot be used; empty if it can.

    It is the error of opening it, or its ``fault``.
    """
    from csaw.partition import open_graph

    try:
        return fault(open_graph(path))
    except StoreError as error:
        return str(error)


def place_of(folder: Path, key: str) -> Path:
    return folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.zarr"


# The graph `karate` as a store that csaw carries: its first command does not wait for the ingest to be compiled.

FILE = Path(__file__).with_name("karate.zarr.zip")  # scripts/make_karate.py makes it


def unpack(out: Path) -> None:
    """Make the store ``out`` of the one that csaw carries. It appears as a whole."""
    with tempfile.TemporaryDirectory(dir=out.parent) as folder, zipfile.ZipFile(FILE) as packed:
        packed.extractall(Path(folder, "store"))
        Path(folder, "store").rename(out)
