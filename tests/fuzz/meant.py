"""The store that edges should become, built slowly from lists, and what is in a store, read without csaw."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

Edge = tuple[int | bytes, int | bytes, float]


@dataclass(frozen=True)
class Graph:
    """Original ids in order, and for each of them its (neighbor's place, weight) in order; weights are 1 where there
    are none.
    """

    ids: tuple[int | bytes, ...]
    rows: tuple[tuple[tuple[int, float], ...], ...]
    directed: bool
    weighted: bool


def build(
    edges: Sequence[Edge],
    *,
    directed: bool,
    weighted: bool,
    duplicates: str = "first",
    self_loops: str = "keep",
    vertices: Iterable[int | bytes] = (),
) -> Graph:
    """The graph of ``edges`` by the rules of ``csaw partition``, and of ``vertices`` that need not have any; a weight
    beyond float32 comes out infinite.
    """
    ids = sorted({end for edge in edges for end in edge[:2]} | set(vertices))
    place = {name: number for number, name in enumerate(ids)}
    rows: list[list[tuple[int, float]]] = [[] for _ in ids]
    for source, target, weight in edges:
        a, b, loop = place[source], place[target], source == target
        if loop and self_loops == "drop":
            continue
        kept = _float32(weight) if weighted else 1.0
        rows[a].append((b, kept))
        if not directed and not loop:
            rows[b].append((a, kept))
    is_weighted = weighted or duplicates == "sum"  # edges without weights count 1 each then
    return Graph(tuple(ids), tuple(tuple(_merged(row, duplicates)) for row in rows), directed, is_weighted)


def _merged(row: list[tuple[int, float]], duplicates: str) -> list[tuple[int, float]]:
    row = sorted(row, key=lambda entry: entry[0])  # stable: the first of a file stays the first
    if duplicates == "keep":
        return row
    sums: dict[int, float] = {}
    for target, weight in row:
        sums[target] = sums[target] + weight if target in sums and duplicates == "sum" else sums.get(target, weight)
    return [(target, _float32(weight)) for target, weight in sums.items()]


def _float32(weight: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(weight))


def read(store: Path) -> Graph:
    """What an uncompressed store holds."""
    attributes = json.loads((store / "zarr.json").read_text())["attributes"]
    rows: list[tuple[tuple[int, float], ...]] = []
    for number in range(len(attributes["partitions"])):
        folder = store / "partitions" / f"{number:05d}"
        indptr, indices = _array(folder / "indptr"), _array(folder / "indices")
        weights = _array(folder / "weights") if attributes["weighted"] else np.ones(indices.size)
        entries = list(zip(indices.tolist(), weights.tolist(), strict=True))
        rows += [tuple(entries[a:b]) for a, b in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)]
    return Graph(_ids(store, attributes), tuple(rows), attributes["directed"], attributes["weighted"])


def _ids(store: Path, attributes: dict) -> tuple[int | bytes, ...]:
    if attributes["id_kind"] == "identity":
        return tuple(range(attributes["vertices"]))
    ids = _array(store / "vertex_ids")
    if attributes["id_kind"] != "string":
        return tuple(ids.tolist())
    ends = _array(store / "vertex_id_offsets").tolist()
    return tuple(ids.tobytes()[a:b] for a, b in pairwise(ends))


def _array(folder: Path) -> np.ndarray:
    node = json.loads((folder / "zarr.json").read_text())
    size, dtype = node["shape"][0], np.dtype(node["data_type"])
    chunk = node["chunk_grid"]["configuration"]["chunk_shape"][0]
    chunks = [np.fromfile(folder / "c" / str(k), dtype) for k in range(-(-size // chunk))]
    return np.concatenate([np.empty(0, dtype), *chunks])[:size]
