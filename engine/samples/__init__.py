"""Samples on disk: open, slice, go through them group by group. See sample_layout for what is where."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.layout import FORMAT_VERSION, KIND, chunk_name
from csaw.engine.samples.writer import SampleWriter
from csaw.partition.errors import StoreError
from csaw.partition.store import GraphStore
from csaw.partition.words import Words

__all__ = ["NOTHING", "UNKNOWN", "Rows", "SampleWriter", "Samples", "describe", "open_samples"]

NOTHING = -1  # dense id of a fill value
UNKNOWN = -2  # dense id of a value that no vertex has


class Rows:
    """An array on disk, read when sliced; its first axis is cut into uncompressed chunk files."""

    def __init__(self, folder: Path):
        meta = files.read_json(folder / "zarr.json")
        self.folder = folder
        self.shape: tuple[int, ...] = tuple(meta["shape"])
        self.dtype = np.dtype(meta["data_type"]).newbyteorder("<")
        self.ndim = len(self.shape)
        self._chunk: tuple[int, ...] = tuple(meta["chunk_grid"]["configuration"]["chunk_shape"])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows = self[key[0]]
            return rows[key[1:]] if isinstance(key[0], int | np.integer) else rows[(slice(None), *key[1:])]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self._range(start, max(start, stop)) if step == 1 else self[np.arange(start, stop, step)]
        if isinstance(key, int | np.integer):
            row = int(key) + (len(self) if key < 0 else 0)
            if not 0 <= row < len(self):
                raise IndexError(f"row {key} of {len(self)}")
            return self._range(row, row + 1)[0]
        return self._gather(np.arange(len(self))[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _range(self, start: int, stop: int) -> np.ndarray:
        out = np.empty((stop - start, *self.shape[1:]), self.dtype)
        size, at = self._chunk[0], start
        while out.size and at < stop:
            end = min(stop, (at // size + 1) * size)
            out[at - start : end - start] = self._open(at // size)[at % size : at % size + end - at]
            at = end
        return out

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *self.shape[1:]), self.dtype)
        chunks = rows // self._chunk[0]
        for chunk in np.unique(chunks) if out.size else ():
            here = chunks == chunk
            out[here] = self._open(int(chunk))[rows[here] % self._chunk[0]]
        return out

    def _open(self, index: int) -> np.ndarray:
        path = self.folder / chunk_name(index, self.ndim)
        expected = int(np.prod(self._chunk)) * self.dtype.itemsize
        try:
            size = path.stat().st_size
            if size == expected:
                return np.memmap(path, self.dtype, "r", shape=self._chunk)
        except FileNotFoundError:
            raise StoreError(f"{path}: missing; sample again with --overwrite") from None
        raise StoreError(f"{path}: expected {expected:,} bytes, found {size:,}; sample again with --overwrite")


class Samples:
    """A finished sample store, read only."""

    def __init__(self, path: Path):
        self.path = path
        attributes = read_attributes(path)
        self.manifest: dict[str, Any] = attributes["manifest"]
        self.layout: str = attributes["layout"]
        self.instances: int = attributes["instances"]
        self.group_size: int = attributes["group_size"]
        self.ids: str = attributes["ids"]
        """original: those of the input; dense: the graph store's own; names: dense, with the strings in :meth:`labels`."""
        self.fill: int = attributes["fill"]

    def __getitem__(self, name: str) -> Rows:
        """One array by name."""
        if not (self.path / name / "zarr.json").is_file():
            raise StoreError(f"{self.path} ({self.layout}) has no array {name!r}")
        return Rows(self.path / name)

    @cached_property
    def walks(self) -> Rows:
        return self["walks"]

    @cached_property
    def lengths(self) -> Rows:
        return self["lengths"]

    @cached_property
    def hops(self) -> list[Rows]:
        return [self[name] for name in self.hop_names()]

    def hop_names(self) -> list[str]:
        return [f"hop_{k}" for k in range(len(list(self.path.glob("hop_*"))))]

    @property
    def walk_length(self) -> int:
        """The steps asked for; a walk may have ended before."""
        return self.walks.shape[1] - 1

    instance_ptr = cached_property(lambda self: self["instance_ptr"])
    src = cached_property(lambda self: self["src"])
    dst = cached_property(lambda self: self["dst"])
    depth = cached_property(lambda self: self["depth"])
    sources_ptr = cached_property(lambda self: self["sources_ptr"])
    sources = cached_property(lambda self: self["sources"])

    @cached_property
    def words(self) -> Words | None:
        """The strings behind the numbers in the arrays, where the graph has string ids."""
        if self.ids != "names":
            return None
        return Words(self["vertex_id_offsets"][:], self["vertex_ids"][:]).checked(self.path)

    def labels(self) -> np.ndarray | None:
        """The same as an array of ``str``, of dtype object."""
        return None if self.words is None else np.asarray(self.words)

    def pyg(self, start: int = 0, stop: int | None = None, graph: GraphStore | None = None) -> dict[str, Any]:
        """Instances start to stop as one batch of PyTorch Geometric; see :mod:`csaw.engine.samples.pyg` for what is in it."""
        from csaw.engine.samples.pyg import batch_of

        return batch_of(self, start, stop, graph)

    def edge_index(self) -> np.ndarray:
        """All sampled edges, int64 [2, edges]: from each neighbor to the vertex it was sampled for, as rows of ``pyg()["n_id"]``."""
        return self.pyg()["edge_index"]

    @cached_property
    def results(self) -> dict[str, Any]:
        """Counts and timings of the run."""
        return files.read_json(self.path / "results" / "zarr.json")["attributes"]

    @cached_property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of every file of the store but those of ``results`` and these."""
        return files.read_json(self.path / "checksums" / "zarr.json")["attributes"]["sha256"]

    def iter_groups(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """First instance and arrays, group by group; subgraphs as the writer got them: counts, src, dst, ..."""
        for start in range(0, self.instances, self.group_size):
            yield start, self.group(start, min(start + self.group_size, self.instances))

    def group(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """The arrays of instances start to stop."""
        if self.layout == "walks":
            return {"walks": self.walks[start:stop], "lengths": self.lengths[start:stop]}
        if self.layout == "hops":
            return {f"hop_{k}": hop[start:stop] for k, hop in enumerate(self.hops)}
        bounds = {"counts": self.instance_ptr[start : stop + 1], "source_counts": self.sources_ptr[start : stop + 1]}
        arrays = {name: np.diff(pointer) for name, pointer in bounds.items()}
        for name in ("src", "dst", "depth", "sources"):
            pointer = bounds["source_counts" if name == "sources" else "counts"]
            arrays[name] = getattr(self, name)[int(pointer[0]) : int(pointer[-1])]
        return arrays

    def dense(self, array: np.ndarray, vertex_ids: np.ndarray | None = None) -> np.ndarray:
        """Stored ids as rows of the graph's ``vertex_ids``: int64 with NOTHING for fill and UNKNOWN for strangers."""
        if self.ids != "original" or vertex_ids is None:
            out = array.astype(np.int64)
        else:
            order, ordered = self._order(vertex_ids)
            place = np.minimum(np.searchsorted(ordered, array), max(len(ordered) - 1, 0))
            known = ordered[place] == array if len(ordered) else np.zeros(array.shape, bool)
            out = np.where(known, order[place] if len(ordered) else UNKNOWN, UNKNOWN)
        out[array == array.dtype.type(self.fill)] = NOTHING
        return out

    def _order(self, vertex_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if getattr(self, "_ordered_from", None) is not vertex_ids:
            ids = np.asarray(vertex_ids).astype(np.uint64 if vertex_ids.dtype == np.uint64 else np.int64)
            order = np.argsort(ids, kind="stable")
            self._ordered_from, self._ordered = vertex_ids, (order, ids[order])
        return self._ordered


def open_samples(path: str | Path) -> Samples:
    """The finished sample store at ``path``."""
    return Samples(Path(path))


def describe(path: str | Path) -> dict[str, Any]:
    """What ``csaw info`` shows of a sample store, as plain data."""
    samples = open_samples(path)
    request = samples.manifest.get("request", {})
    known = ("algorithm", "parameters", "edge_bias", "weighted", "seed", "fingerprint", "select", "sources")
    return {
        "path": str(path),
        "layout": samples.layout,
        **{name: request[name] for name in known if name in request},
        "graph": samples.manifest.get("graph", {}),
        "instances": samples.instances,
        "groups": -(-samples.instances // samples.group_size),
        "ids": samples.ids,
        **_sizes(samples),
        "bytes": sum(file.stat().st_size for file in samples.path.rglob("*") if file.is_file()),
        "results": samples.results,
    }


def _sizes(samples: Samples) -> dict[str, Any]:
    """Sampled edges, and how many an instance has; for walks also how many ended early."""
    total, low, high, early = 0, 2**63, 0, 0
    for _, arrays in samples.iter_groups():
        edges = edges_of(samples, arrays)
        total, low, high = total + int(edges.sum()), min(low, int(edges.min())), max(high, int(edges.max()))
        early += int((edges < samples.walk_length).sum()) if samples.layout == "walks" else 0
    mean = total / samples.instances if samples.instances else 0.0
    sizes: dict[str, Any] = {"edges": total, "lengths": {"min": min(low, high), "mean": mean, "max": high}}
    return sizes | ({"ended_early": early} if samples.layout == "walks" else {})


def edges_of(samples: Samples, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Edges of each instance of a group."""
    if samples.layout == "walks":
        return arrays["lengths"].astype(np.int64)
    if samples.layout == "subgraphs":
        return arrays["counts"]
    present = [np.count_nonzero(a != a.dtype.type(samples.fill), axis=1) for n, a in arrays.items() if n != "hop_0"]
    return sum(present, np.zeros(len(arrays["hop_0"]), np.int64))


def read_attributes(path: Path) -> dict[str, Any]:
    partial = path.with_name(path.name + ".partial")
    if not path.exists():
        if partial.exists():
            done = len(list((partial / "groups").glob("[0-9]*.json")))
            raise StoreError(
                f"{path} is not finished ({done} groups are); run the same csaw sample again with --resume"
            )
        raise StoreError(f"{path} does not exist; make one with csaw sample")
    if not (path / "zarr.json").is_file():
        raise StoreError(f"{path}: not a sample store; expected a folder that `csaw sample` wrote")
    found = files.read_json(path / "zarr.json")
    attributes = found.get("attributes", {}) if isinstance(found, dict) else {}
    if attributes.get("csaw_kind") != KIND:
        raise StoreError(
            f"{path}: expected a sample store, found {attributes.get('csaw_kind') or 'another Zarr group'}"
        )
    if attributes["format_version"] > FORMAT_VERSION:
        raise StoreError(
            f"{path}: format version {attributes['format_version']}, and this csaw reads up to {FORMAT_VERSION}; upgrade it"
        )
    if path.name.endswith(".partial"):
        raise StoreError(f"{path} is not finished; run the same csaw sample again with --resume")
    return attributes
