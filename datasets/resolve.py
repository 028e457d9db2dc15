"""A graph argument to a store: a store's path, a text edge list, a dataset's name or an R-MAT spec."""

import fcntl
import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from csaw.datasets.catalog import Entry, find
from csaw.partition.errors import StoreError

log = logging.getLogger("csaw")


def resolve(graph: str, cache_dir: str | Path | None = None) -> str | Path:
    """The path of a graph store for ``graph``; text and datasets are partitioned into the cache on the way."""
    path = Path(graph)
    folder = _folder(cache_dir)
    if path.is_dir():
        return path
    if path.exists():
        stat = path.stat()
        return _cached(
            folder, f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}", graph, lambda out: _ingest(path, out)
        )
    if graph.startswith("rmat:") or graph == "karate":
        return _generated(folder, graph)
    entry = find(graph)
    if entry is None:
        raise StoreError(f"{graph} does not exist, and no dataset has that name (see csaw datasets list)")
    return _cached(folder, entry.url, entry.name, lambda out: _fetched(entry, folder, out))


def on_disk(entry: Entry, cache_dir: str | Path | None = None) -> Path | None:
    """Where a dataset can be had without a download: its store or file in the cache, its store NAME.zarr or its file here."""
    folder, file = _folder(cache_dir), Path(entry.file).name
    places = (_place(folder, entry.url), Path(f"{entry.name}.zarr"), folder / file, Path(file))
    return next((path for path in places if path.exists()), None)


def _folder(cache_dir: str | Path | None) -> Path:
    return Path(cache_dir or os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw") / "graphs"


def _generated(folder: Path, spec: str) -> Path:
    from csaw.datasets.generate import generate
    from csaw.datasets.spec import parse_spec

    canonical = spec if spec == "karate" else str(parse_spec(spec))
    return _cached(folder, canonical, spec, lambda out: generate(canonical, out))


def _cached(folder: Path, key: str, shown: str, make: Callable[[Path], Any]) -> Path:
    """The store of ``key``, made by one process while others wait for it."""
    store = _place(folder, key)
    if not store.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with open(store.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not store.exists():
                log.info("%s becomes the store %s, once", shown, store)
                make(store)
    return store


def _place(folder: Path, key: str) -> Path:
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.zarr"


def _ingest(path: Path, out: Path, directed: bool | None = None) -> Any:
    from csaw.partition.pipeline import IngestOptions, ingest

    store = ingest(str(path), out, IngestOptions(directed=directed))
    for warning in store.report["warnings"]:
        log.warning("%s: %s", path, warning)
    return store


def _fetched(entry: Entry, folder: Path, out: Path) -> None:
    from csaw.datasets.download import fetch

    store = _ingest(fetch(entry, folder), out, entry.directed)
    if difference := disagreement(entry, store):
        log.warning("%s: %s", entry.name, difference)


def disagreement(entry: Entry, store: Any) -> str:
    """How the counts of ``store`` differ from the published ones; empty when they do not."""
    edges = store.edges if entry.directed else (store.edges + store.report["self_loops"]) // 2
    found = {"vertices": (store.vertices, entry.vertices), "edges": (edges, entry.edges)}
    said = [
        f"{n:,} {name} where {published:,} are published" for name, (n, published) in found.items() if n != published
    ]
    return ", ".join(said)
