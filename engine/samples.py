"""Reading a sample store: a Zarr v3 group with a manifest, arrays by layout, and a checksum for every committed group.

    walks      walks [instances, length + 1] with ``fill`` after the end, lengths [instances] in steps
    hops       hop_0 [instances, m], hop_1 [instances, m f1], ...: child j of column i in column i f + j; ``fill`` where there is none
    subgraphs  instance_ptr [instances + 1], src, dst, depth; sources_ptr [instances + 1], sources
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.errors import StoreError

FORMAT_VERSION = 1


class Samples:
    """An open sample store. Arrays slice like NumPy's and are read when sliced; ids are original unless the manifest says dense."""

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
        self.path, self.manifest = path, attributes["manifest"]
        self.layout: str = attributes["layout"]
        self.instances: int = attributes["instances"]
        self.group_size: int = attributes["group_size"]
        self.fill: int = attributes["fill"]
        self.ids: str = attributes["ids"]
        self.checksums: dict[str, str] = attributes["checksums"]
        self.results: dict[str, Any] = attributes["results"]

    @cached_property
    def _group(self) -> Any:
        import zarr

        return zarr.open_group(str(self.path), mode="r")

    def __getitem__(self, name: str) -> Any:
        """One array by name, as Zarr's lazy array."""
        if name not in self._group:
            raise StoreError(f"{self.path} ({self.layout}) has no array {name!r}; it has {', '.join(sorted(self._group))}")
        return self._group[name]

    @property
    def walks(self) -> Any:
        return self["walks"]

    @property
    def lengths(self) -> Any:
        return self["lengths"]

    @property
    def hops(self) -> list[Any]:
        return [self[name] for name in self.hop_names()]

    def hop_names(self) -> list[str]:
        count = sum(name.startswith("hop_") for name in self._group)
        return [f"hop_{i}" for i in range(count)]

    def edge_index(self) -> np.ndarray:
        """All sampled edges of a subgraph store, [2, edges], as PyTorch Geometric wants them."""
        return np.stack([self["src"][:], self["dst"][:]])

    def labels(self) -> np.ndarray | None:
        """Original ids by dense id, where the arrays hold dense ids of string ids."""
        if "vertex_ids" not in self._group:
            return None
        offsets, text = self["vertex_id_offsets"][:], self["vertex_ids"][:].tobytes()
        return np.array([text[a:b].decode("utf-8", "surrogateescape") for a, b in zip(offsets[:-1], offsets[1:], strict=True)])


def read_attributes(path: Path) -> dict[str, Any]:
    """The attributes of a sample store; StoreError when there is none, only a partial one, or one of a later format."""
    file = path / "zarr.json"
    partial = path.with_name(path.name + ".partial")
    if not file.exists() and partial.exists():
        raise StoreError(f"{path} is not finished; run the same csaw sample again with --resume")
    if not file.exists():
        raise StoreError(f"{path} {'is not a sample store' if path.exists() else 'does not exist'}; make one with csaw sample")
    try:
        attributes = json.loads(file.read_text())["attributes"]
    except (ValueError, KeyError, OSError) as error:
        raise StoreError(f"{file} cannot be read: {error}; sample again with --overwrite") from error
    if attributes.get("csaw_kind") != "samples":
        raise StoreError(f"{path} is a Zarr group but not a sample store of csaw; make one with csaw sample")
    if attributes["format_version"] > FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {attributes['format_version']}, this csaw reads up to {FORMAT_VERSION}; upgrade csaw"
        )
    return attributes


def open_samples(path: str | Path) -> Samples:
    """The sample store at ``path``."""
    return Samples(Path(path), read_attributes(Path(path)))


def describe(path: str | Path) -> dict[str, Any]:
    """What ``csaw info`` shows of a sample store."""
    samples = open_samples(path)
    request = samples.manifest["request"]
    shown = {
        "path": str(path), "layout": samples.layout, "algorithm": request["algorithm"], "parameters": request["parameters"],
        "seed": request["seed"], "weighted": request["weighted"], "instances": samples.instances, "ids": samples.ids,
        "graph": samples.manifest["graph"], "select": request["select"], "results": samples.results,
    }  # fmt: skip
    if samples.layout == "walks":
        lengths = samples.lengths[:]
        shown["lengths"] = {"min": int(lengths.min()), "mean": float(lengths.mean()), "max": int(lengths.max())}
    return shown
