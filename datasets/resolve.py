"""A graph argument to a store: a store's path, a text edge list, a dataset's name or an R-MAT spec."""

import fcntl
import hashlib
import logging
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from csaw.datasets.catalog import Entry, find
from csaw.partition.errors import CsawError, StoreError
from csaw.partition.shown import shown

log = logging.getLogger("csaw")
READING = 2  # version of how text becomes a graph: stores in the cache of another one are not used


def resolve(graph: str, cache_dir: str | Path | None = None) -> str | Path:
    """The path of a graph store for ``graph``; text and datasets are partitioned into the cache on the way."""
    folder = _folder(cache_dir)
    found = _status(graph)
    if found is not None and stat.S_ISDIR(found.st_mode):
        return Path(graph)
    if found is not None:
        return _cached(folder, _key(graph, found), graph, lambda out: _ingest(graph, out))
    if graph.startswith("rmat:") or graph == "karate":
        return _generated(folder, graph)
    entry = find(graph)
    if entry is None:
        raise StoreError(f"{shown(graph)} does not exist, and no dataset has that name (see csaw datasets list)")
    return _cached(
        folder, entry.url, entry.name, lambda out: _fetched(entry, folder, out), lambda store: _difference(entry, store)
    )


def on_disk(entry: Entry, cache_dir: str | Path | None = None) -> Path | None:
    """Where a dataset can be had without a download: its store or file in the cache, its store NAME.zarr or its file here.

    What is not the dataset by its counts is passed over with a warning.
    """
    folder, file = _folder(cache_dir), Path(entry.file).name
    places = (_place(folder, entry.url), Path(f"{entry.name}.zarr"), folder / file, Path(file))
    for path in filter(Path.exists, places):
        if not (fault := _fault(entry, path, folder)):
            return path
        log.warning("%s; it is not used as %s; remove it", fault, entry.name)
    return None


def _status(graph: str) -> os.stat_result | None:
    """What the file system knows of the path ``graph``, None where there is nothing; StoreError for what is no folder and no regular file."""
    if not graph:
        raise StoreError("GRAPH is empty; expected a graph store, an edge list, or a name (see csaw datasets list)")
    try:
        found = os.stat(graph)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise StoreError(f"{shown(graph)} is not a path: {error}") from error
    except OSError as error:
        raise StoreError(f"{shown(graph)} cannot be read: {error.strerror}") from error
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        raise StoreError(f"{shown(graph)} is a pipe or a device; make a graph store from it with csaw partition first")
    return found


def _folder(cache_dir: str | Path | None) -> Path:
    return Path(cache_dir or os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw") / "graphs"


def _generated(folder: Path, spec: str) -> Path:
    from csaw.datasets.generate import generate
    from csaw.datasets.spec import parse_spec

    canonical = spec if spec == "karate" else str(parse_spec(spec))
    return _cached(folder, canonical, spec, lambda out: generate(canonical, out))


def _key(graph: str | Path, found: os.stat_result) -> str:
    return f"{Path(graph).resolve()} {found.st_size} {found.st_mtime_ns} read {READING}"


def _cached(
    folder: Path, key: str, name: str, make: Callable[[Path], Any], fault: Callable[[Any], str] = lambda store: ""
) -> Path:
    """The store of ``key``, made by one process while others wait for it. One that cannot be opened or has a ``fault`` is made anew."""
    store = _place(folder, key)
    if not store.exists() or _why_not(store, fault):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(store.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if store.exists() and (why := _why_not(store, fault)):
                log.warning("%s; it is removed and made again", why)
                _remove(store)
            if not store.exists():
                log.info("%s becomes the store %s, once", name, store)
                make(store)
        finally:
            os.close(lock)
    return store


def _why_not(path: Path, fault: Callable[[Any], str]) -> str:
    """Why the store of the cache at ``path`` is of no use: what is said when it is opened, or its ``fault``; empty when it is."""
    from csaw.partition import open_graph

    try:
        return fault(open_graph(path))
    except StoreError as error:
        return str(error)


def remedy(error: CsawError, cache_dir: str | Path | None = None) -> str:
    """What to add to an error that asks for a store of csaw's cache to be made again, which csaw partition cannot do; empty for any other."""
    from csaw.partition.loader import AGAIN

    named = re.search(re.escape(f"{_folder(cache_dir)}{os.sep}") + r"[0-9a-f]{16}\.zarr", str(error))
    return f", or remove {named[0]}: it is in csaw's cache and is made again" if named and AGAIN in str(error) else ""


def _place(folder: Path, key: str) -> Path:
    return folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.zarr"


def _remove(store: Path) -> None:
    """Remove a store of the cache; at no time is half of it under its name."""
    gone = store.with_name(f".{store.name}.{os.getpid()}.partial")
    store.rename(gone)
    shutil.rmtree(gone)


def _ingest(path: str | Path, out: Path, directed: bool | None = None) -> Any:
    from csaw.partition import IngestOptions, ingest

    store = ingest(str(path), out, IngestOptions(directed=directed))
    for warning in store.report["warnings"]:
        log.warning("%s: %s", path, warning)
    return store


def _fetched(entry: Entry, folder: Path, out: Path) -> None:
    """Make the store ``out`` of a dataset. Neither a store nor a file of other counts than the published ones stays."""
    from csaw.datasets.download import ELSEWHERE, fetch

    file, said = fetch(entry, folder, replace=True)
    log.info("%s", said)
    if difference := disagreement(entry, _ingest(file, out, entry.directed)):
        _remove(out)
        file.unlink()
        raise StoreError(
            f"{entry.url}: {entry.name} has {difference}; its file and its store were removed. Fetch it again; {ELSEWHERE}"
        )


def _fault(entry: Entry, path: Path, folder: Path) -> str:
    """Why the store or file at ``path`` is not the dataset; empty when it is. A file of which ``folder`` has a store is judged by that."""
    from csaw.datasets.check import check
    from csaw.partition import open_graph

    try:
        store = path if path.is_dir() else _place(folder, _key(path, path.stat()))
        if store.is_dir():
            return _difference(entry, open_graph(store))
        check(path, entry, str(path))
    except CsawError as error:
        return str(error)
    return ""


def _difference(entry: Entry, store: Any) -> str:
    """How the open ``store`` differs from what is published; empty when it does not."""
    difference = disagreement(entry, store)
    return f"{store.path}: {entry.name} has {difference}" if difference else ""


def disagreement(entry: Entry, store: Any) -> str:
    """How the counts of ``store`` differ from the published ones; empty when they do not."""
    edges = store.edges if entry.directed else (store.edges + store.report.get("self_loops", 0)) // 2
    found = {"vertices": (store.vertices, entry.vertices), "edges": (edges, entry.edges)}
    said = [
        f"{n:,} {name} where {published:,} are published" for name, (n, published) in found.items() if n != published
    ]
    return ", ".join(said)
