"""Writing a sample store while sampling: groups of instances, each committed whole or not at all.

Work happens in ``OUT.partial``. A group's chunk files come first, by rename; then its marker ``groups/000042.json`` with their checksums.
What has no marker does not exist: a kill at any moment costs the group in progress. ``finish`` renames the folder to ``OUT``.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine.samples import FORMAT_VERSION, read_attributes
from csaw.partition.errors import StoreError
from csaw.partition.write import sync_tree


class SampleWriter:
    """``write`` groups in any order, from any thread; ``done`` are those that an earlier run has committed."""

    def __init__(self, path: str | Path, manifest: dict[str, Any], *, layout: str, instances: int, group_size: int, dense_dtype: Any,
                 vertex_ids: np.ndarray | None = None, ids: str = "original", resume: bool = False,
                 overwrite: bool = False) -> None:  # fmt: skip
        self.path, self.manifest, self.layout = Path(path), manifest, layout
        self.instances, self.group_size = instances, group_size
        self.dense = np.dtype(dense_dtype)
        self.strings = vertex_ids is not None and vertex_ids.dtype.kind == "U"
        self.vertex_ids = vertex_ids if ids == "original" else None
        numbers = None if self.strings else self.vertex_ids
        self.dtype = self.dense if numbers is None else numbers.dtype
        negative = numbers is not None and numbers.size > 0 and int(numbers[0]) < 0
        self.fill = int(np.iinfo(self.dtype).min if negative else -1 if self.dtype.kind == "i" else np.iinfo(self.dtype).max)
        self.ids = "dense" if ids == "dense" or self.strings else "original"
        self.partial = self.path.with_name(self.path.name + ".partial")
        self.bytes_written = 0
        self.groups = -(-instances // group_size)
        self._claim(resume, overwrite)

    @property
    def done(self) -> frozenset[int]:
        """Groups that are committed."""
        return frozenset(int(p.stem) for p in (self.partial / "groups").glob("[0-9]*.json"))

    @property
    def finished(self) -> bool:
        """Whether an earlier run has finished the whole store (resume only)."""
        return not self.partial.exists()

    def write(self, group: int, arrays: dict[str, np.ndarray]) -> None:
        """Commit one group; ids in ``arrays`` are dense, all ones where there is none."""
        try:
            sums = {}
            for name, array in arrays.items():
                data = self._in_store_ids(name, array)
                key = self._key(name, group, data)
                if self.layout != "subgraphs":
                    data = self._whole_chunk(name, data)
                sums[key] = _place(self.partial / key, data, self.partial)
                self.bytes_written += data.nbytes
            marker = self.partial / "groups" / f"{group:06d}.json"
            counts = {name: int(arrays[name].sum()) for name in ("counts", "source_counts") if name in arrays}
            _place(marker, np.frombuffer(json.dumps({"sha256": sums, **counts}).encode(), np.uint8), self.partial)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write group {group}: {error.strerror or error}; {len(self.done)} of {self.groups} groups "
                f"are safe in {self.partial}; make room and run the same command with --resume"
            ) from error

    def finish(self, results: dict[str, Any]) -> None:
        """Assemble, write the manifest, and give the store its name."""
        markers = {g: json.loads((self.partial / "groups" / f"{g:06d}.json").read_text()) for g in range(self.groups)}
        checksums = {k: v for g in range(self.groups) for k, v in markers[g]["sha256"].items()}
        try:
            self._metadata(markers)
            if self.layout == "subgraphs":
                checksums = self._assemble(markers)
            if self.strings:
                self._labels()
            attributes = {
                "csaw_kind": "samples", "format_version": FORMAT_VERSION, "layout": self.layout, "ids": self.ids,
                "instances": self.instances, "group_size": self.group_size, "fill": self.fill,
                "manifest": self.manifest, "checksums": checksums, "results": results,
            }  # fmt: skip
            import zarr

            zarr.open_group(str(self.partial), mode="a", zarr_format=3).attrs.update(attributes)
            shutil.rmtree(self.partial / "groups")
            sync_tree(self.partial)
            if self.path.exists():
                shutil.rmtree(self.path)
            self.partial.replace(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot finish: {error.strerror or error}; make room and run with --resume") from error

    def _claim(self, resume: bool, overwrite: bool) -> None:
        existing = self.path if self.path.exists() else self.partial if self.partial.exists() else None
        if existing and not (resume or overwrite):
            what = "exists; pass --overwrite to replace it" if existing == self.path else "is unfinished; pass --resume or --overwrite"
            raise StoreError(f"{existing} {what}")
        if self.path.exists() and not (self.path / "zarr.json").exists():
            raise StoreError(f"{self.path} exists and is not a sample store; it is not overwritten")
        if overwrite or existing is None:
            shutil.rmtree(self.partial, ignore_errors=True)
        elif self.path.exists():
            self._same_request(read_attributes(self.path)["manifest"], self.path)
            return
        else:
            self._same_request(json.loads((self.partial / "manifest.json").read_text()), self.partial)
        try:
            (self.partial / "groups").mkdir(parents=True, exist_ok=True)
            for stray in self.partial.glob("tmp-*"):
                stray.unlink()
            data = np.frombuffer(json.dumps(self.manifest).encode(), np.uint8)
            if not (self.partial / "manifest.json").exists():
                _place(self.partial / "manifest.json", data, self.partial)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _same_request(self, found: dict[str, Any], where: Path) -> None:
        ours = json.loads(json.dumps(self.manifest["request"]))
        for key, value in ours.items():
            if found["request"].get(key) != value:
                raise StoreError(
                    f"{where} was sampled with {key} = {found['request'].get(key)!r}, this run has {value!r}; "
                    f"resume with the same options or pass --overwrite"
                )

    def _in_store_ids(self, name: str, array: np.ndarray) -> np.ndarray:
        if name in ("lengths", "counts", "source_counts", "depth"):
            return np.ascontiguousarray(array, np.int64 if name != "depth" else np.int32)
        array = np.ascontiguousarray(array, self.dense)
        if self.vertex_ids is None or self.strings:
            return array
        none = self.dense.type(np.iinfo(self.dense).max)
        absent = array == none
        out = self.vertex_ids[np.where(absent, 0, array)] if self.vertex_ids.size else np.empty(array.shape, self.dtype)
        out[absent] = self.fill
        return np.ascontiguousarray(out)

    def _whole_chunk(self, name: str, data: np.ndarray) -> np.ndarray:
        """The last group filled up: a Zarr chunk has its full size on disk."""
        missing = self.group_size - data.shape[0]
        if missing == 0:
            return data
        filling = np.full((missing, *data.shape[1:]), 0 if name == "lengths" else self.fill, data.dtype)
        return np.concatenate([data, filling])

    def _key(self, name: str, group: int, data: np.ndarray) -> str:
        if self.layout == "subgraphs":
            return f"groups/{group:06d}/{name}.bin"
        return f"{name}/c/{group}" + "/0" * (data.ndim - 1)

    def _metadata(self, markers: dict[int, Any]) -> None:
        """zarr.json of every array whose chunks are the groups."""
        import zarr

        if self.layout == "subgraphs":
            return
        zarr.open_group(str(self.partial), mode="a", zarr_format=3)
        names = sorted({key.split("/")[0] for key in markers[0]["sha256"]})
        for name in names:
            dtype = np.dtype(np.int64) if name == "lengths" else self.dtype
            chunk = self.partial / (f"{name}/c/0" + ("" if name == "lengths" else "/0"))
            rows = self.group_size
            width = chunk.stat().st_size // dtype.itemsize // rows
            shape, chunks = ((self.instances,), (rows,)) if name == "lengths" else ((self.instances, width), (rows, max(width, 1)))
            _array_metadata(self.partial / name, shape, chunks, dtype, 0 if name == "lengths" else self.fill)

    def _assemble(self, markers: dict[int, Any]) -> dict[str, str]:
        """Top-level arrays of a subgraph store, copied group by group; a rerun after a kill starts over and gives the same."""
        checksums: dict[str, str] = {}
        for pointer, counts, members in (("instance_ptr", "counts", ("src", "dst", "depth")), ("sources_ptr", "source_counts", ("sources",))):
            per_instance = [np.fromfile(self._part(g, counts), np.int64) for g in range(self.groups)]
            data = np.concatenate([[0], np.cumsum(np.concatenate(per_instance))]).astype(np.int64)
            checksums |= self._whole(pointer, [data], data.size, data.dtype)
            for name in members:
                dtype = np.dtype(np.int32) if name == "depth" else self.dtype
                parts = (np.fromfile(self._part(g, name), dtype) for g in range(self.groups))
                checksums |= self._whole(name, parts, int(data[-1]), dtype)
        return checksums

    def _part(self, group: int, name: str) -> Path:
        return self.partial / "groups" / f"{group:06d}" / f"{name}.bin"

    def _whole(self, name: str, parts: Any, count: int, dtype: np.dtype) -> dict[str, str]:
        chunk = max(1, min(count, (16 << 20) // dtype.itemsize))
        shutil.rmtree(self.partial / name, ignore_errors=True)
        _array_metadata(self.partial / name, (count,), (chunk,), dtype, 0)
        sums, rest, number = {}, np.empty(0, dtype), 0
        for part in parts:
            rest = np.concatenate([rest, part])
            while rest.size >= chunk:
                sums[f"{name}/c/{number}"] = _place(self.partial / f"{name}/c/{number}", rest[:chunk], self.partial)
                rest, number = rest[chunk:], number + 1
        if rest.size:
            padded = np.concatenate([rest, np.zeros(chunk - rest.size, dtype)])
            sums[f"{name}/c/{number}"] = _place(self.partial / f"{name}/c/{number}", padded, self.partial)
        return sums

    def _labels(self) -> None:
        assert self.vertex_ids is not None or self.strings
        words = [str(w).encode("utf-8", "surrogateescape") for w in (self.vertex_ids if self.vertex_ids is not None else [])]
        text = np.frombuffer(b"".join(words), np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(w) for w in words])]).astype(np.int64)
        for name, data in (("vertex_ids", text), ("vertex_id_offsets", offsets)):
            self._whole(name, [data], data.size, data.dtype)


def _place(path: Path, data: np.ndarray, folder: Path) -> str:
    """Write a file whole, by rename, and return its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = np.ascontiguousarray(data)
    draft = folder / f"tmp-{os.getpid()}-{hashlib.md5(str(path).encode()).hexdigest()[:12]}"
    with open(draft, "wb") as file:
        file.write(memoryview(data).cast("B") if data.size else b"")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return hashlib.sha256(memoryview(data).cast("B") if data.size else b"").hexdigest()


def _array_metadata(path: Path, shape: tuple, chunks: tuple, dtype: np.dtype, fill: int) -> None:
    import zarr

    if not (path / "zarr.json").exists():  # a resumed finish has it already
        zarr.create_array(
            str(path), shape=shape, chunks=chunks, dtype=dtype, fill_value=fill, compressors=None, filters=None
        )
