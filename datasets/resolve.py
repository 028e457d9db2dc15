"""A graph argument to a store: a store's path, a text edge list, a dataset's name or an R-MAT spec."""

import hashlib
import os
from pathlib import Path

from csaw.partition.errors import StoreError


def resolve(graph: str) -> str | Path:
    """The path of a graph store for ``graph``; text and datasets are partitioned into the cache on the way."""
    path = Path(graph)
    if graph.startswith("rmat:") or (not path.exists() and graph == "karate"):
        return _generated(graph)
    if path.is_dir():
        return path
    if not path.exists():
        from csaw.datasets.catalog import find

        entry = find(graph)
        if entry is None:
            raise StoreError(f"{graph} does not exist, and no dataset has that name (see csaw datasets list)")
        return _from_text(_fetched(entry))
    return _from_text(path)


def cached(key: str) -> Path:
    """Where the store made from ``key`` is kept."""
    root = Path(os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw") / "graphs"
    root.mkdir(parents=True, exist_ok=True)
    return root / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.zarr"


def _generated(spec: str) -> Path:
    from csaw.datasets.generate import generate

    store = cached(spec)
    if not store.exists():
        generate(spec, store)
    return store


def _fetched(entry) -> Path:
    from csaw.datasets.download import fetch

    return fetch(entry, cached(entry.name).parent)


def _from_text(path: Path) -> Path:
    from csaw.partition.pipeline import IngestOptions, ingest

    stat = path.stat()
    store = cached(f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}")
    if not store.exists():
        ingest(str(path), store, IngestOptions())
    return store
