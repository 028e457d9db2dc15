"""Checks of a sample store's files and metadata: against its checksums, and against what such a store can be.

Checksums find changes since csaw wrote the store. The other checks protect readers from a store that another program wrote: it must not mislead or crash them.
"""

import math
import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.files import AGAIN
from csaw.engine.samples.layout import BY_HOP, FORMAT_VERSION, KIND, LAYOUTS, OPTIONAL, RAGGED, VERTEX, WHOLE, kind_of
from csaw.partition.arrays.nodes import group_node
from csaw.partition.arrays.regular import LARGEST_JSON
from csaw.partition.arrays.replace import require_not_aside
from csaw.partition.errors import ChangedError, StoreError

IDS = ("original", "dense", "names")
ID_TYPES = ("uint32", "uint64", "int32", "int64")
LARGEST = 2**62  # of a side of an array
PER_INSTANCE = {"lengths": 0, "walk_ptr": 1, "hop_nodes": 0, "hop_edges": 0, "instance_ptr": 1, "sources_ptr": 1, "node_ptr": 1,
                "edge_ptr": 1, "seed_ptr": 1, "vertices_ptr": 1}  # fmt: skip
"""Arrays with a row for each instance, and how many more rows they have than there are instances."""
TEXT, COUNT, NONE = (str,), (int,), type(None)
MANIFEST: dict[str, dict[str, tuple[type, ...]]] = {
    "request": {
        **dict.fromkeys(("fingerprint", "algorithm", "sources", "select", "collision", "ids", "code"), TEXT),
        **dict.fromkeys(("seed", "instances", "group_size", "target"), COUNT),
        **dict.fromkeys(("weighted", "induced"), (bool,)),
        **dict.fromkeys(("parameters", "columns"), (dict,)),
        "edge_bias": (str, NONE),
    },
    "graph": {
        "path": TEXT,
        "fingerprint": TEXT,
        "vertices": COUNT,
        "edges": COUNT,
        "id_kind": TEXT,
        "directed": (bool,),
    },
}
"""The types of what a manifest says; integers are from 0 to 2^64 - 1."""
OWN = "sha256_of_these"
FILE = re.compile(r"(\w+/)?(zarr\.json|c(\.\d+)+)")
NAMES = {"vertex_ids": "uint8", "vertex_id_offsets": "int64"}


def refuse(where: Path, expected: str, found: Any) -> NoReturn:
    raise StoreError(f"{where}: expected {expected}, found {str(found)[:60]}; {AGAIN}")


def attributes_of(path: Path) -> dict[str, Any]:
    """The attributes of the finished sample store at ``path``; StoreError says what is there instead, or what is wrong with them."""
    require_not_aside(path)
    _check_there(path)
    found = files.read_json(path / "zarr.json", "remove the folder and sample again")
    attributes = found.get("attributes") if isinstance(found, dict) else None
    attributes = attributes if isinstance(attributes, dict) else {}
    if attributes.get("csaw_kind") != KIND:
        raise StoreError(
            f"{path}: expected a sample store, found {attributes.get('csaw_kind') or 'another Zarr group'}"
        )
    version = attributes.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StoreError(f"{path}: format version {version}, and this csaw reads up to {FORMAT_VERSION}; upgrade csaw")
    if path.name.endswith(".partial"):
        raise StoreError(f"{path} is not finished; run the same csaw sample again with --resume")
    _check_attributes(path / "zarr.json", attributes)
    return attributes


def _check_there(path: Path) -> None:
    partial = path.with_name(path.name + ".partial") if path.name else path
    if not path.exists():
        if partial.exists():
            done = len(list((partial / "groups").glob("[0-9]*.json")))
            raise StoreError(
                f"{path} is not finished: only {done} groups are complete; run the same csaw sample again with --resume"
            )
        raise StoreError(f"{path} does not exist; make one with csaw sample")
    if not (path / "zarr.json").is_file():
        raise StoreError(f"{path}: not a sample store; expected a folder that `csaw sample` wrote")


def _check_attributes(where: Path, attributes: dict[str, Any]) -> None:
    if attributes.get("layout") not in LAYOUTS:
        refuse(where, f"a layout of {', '.join(LAYOUTS)}", attributes.get("layout"))
    if attributes.get("ids") not in IDS:
        refuse(where, f"ids of {', '.join(IDS)}", attributes.get("ids"))
    for name, least in (("format_version", 1), ("instances", 0), ("group_size", 1)):
        if not _is_count(attributes.get(name), least):
            refuse(where, f"{name} of at least {least}", attributes.get(name))
    if type(attributes.get("fill")) is not int:
        refuse(where, "an integer as fill", attributes.get("fill"))
    manifest = attributes.get("manifest")
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(part, {}), dict) for part in ("request", "graph")
    ):
        refuse(where, "a manifest with request and graph", manifest)
    for part, said in MANIFEST.items():
        for name, kinds in said.items():
            value = manifest.get(part, {}).get(name)
            right = type(value) in kinds and (type(value) is not int or 0 <= value < 2**64)
            if name in manifest.get(part, {}) and not right:
                refuse(where, f"{part}: {name}: {' or '.join(kind.__name__ for kind in kinds)}", value)


def _is_count(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value < LARGEST


def checksums_of(path: Path) -> dict[str, str]:
    """The SHA-256 of each file, by name, as the store has them. ChangedError where the file that has them has changed."""
    where = path / "checksums" / "zarr.json"
    found = files.read_json(where)
    try:
        attributes = found["attributes"]
        checksums, own = attributes["sha256"], attributes.get(OWN)
        if not all(re.fullmatch("[0-9a-f]{64}", digest) for digest in checksums.values()):
            refuse(where, "a SHA-256 for each file", "something else")
        if strange := [name for name in checksums if not FILE.fullmatch(name)]:
            refuse(where, "names of files of the store", repr(strange[0]))  # csaw reads no file elsewhere for them
    except (TypeError, KeyError, AttributeError):
        refuse(where, "a SHA-256 for each file", "something else")
    if own not in (files.digest(checksums), None):  # early versions wrote none
        raise changed(where)
    return checksums


def write_checksums(path: Path, checksums: dict[str, str]) -> None:
    """Write the SHA-256 of each file of the store at ``path``, by name, with one of their own."""
    folder = path / "checksums"
    folder.mkdir(exist_ok=True)
    files.sync(path)
    files.write_json(folder / "zarr.json", group_node({"sha256": checksums, OWN: files.digest(checksums)}))


def changed(where: Path) -> ChangedError:
    return ChangedError(f"{where}: its bytes have changed since it was written (SHA-256); {AGAIN}")


def most_bytes(path: Path, names: Iterable[str]) -> dict[str, int]:
    """The bytes that each of these files of a store can have at most: a chunk what the metadata of its array say, and none where these are damaged."""

    @cache
    def of_chunk(array: str) -> int:
        try:
            _, dtype, chunk = array_of(path / array / "zarr.json")
        except StoreError:
            return 0
        return math.prod(chunk) * dtype.itemsize

    return {name: LARGEST_JSON if name.endswith("zarr.json") else of_chunk(name.rpartition("/")[0]) for name in names}


def check_file(path: Path, name: str, checksums: dict[str, str], most: int | None = LARGEST_JSON) -> None:
    """Raise ChangedError unless file ``name`` of the store at ``path`` has the bytes that were written, which are ``most`` at most."""
    if name not in checksums:
        raise StoreError(f"{path / name} is not one of the store's files: it has no checksum; {AGAIN}")
    try:
        found = files.sha256(path / name, most)
    except FileNotFoundError:
        raise not_as_written(path, checksums, ChangedError(f"{path / name}: missing; {AGAIN}")) from None
    except OSError as error:
        wrong = StoreError(f"{path / name} cannot be read: {error.strerror}; {AGAIN}")
        raise not_as_written(path, checksums, wrong) from error
    if found != checksums[name]:
        raise not_as_written(path, checksums, changed(path / name))


def not_as_written(path: Path, checksums: dict[str, str], wrong: StoreError) -> StoreError:
    """The error for a file of a store that was opened with these ``checksums``: ``wrong``, unless another store has its name since."""
    try:
        if checksums_of(path) == checksums:
            return wrong
    except StoreError:
        return wrong
    return StoreError(f"{path} was replaced by another sample while it was read; open it again")


def require_intact(path: Path) -> None:
    """Raise StoreError, naming the file, if a file of the complete store at ``path`` has changed or is missing."""
    checksums = checksums_of(path)
    if changed := files.differing(path, checksums, most_bytes(path, checksums)):
        raise StoreError(f"{path / changed[0]}: missing, or its bytes have changed since it was written; {AGAIN}")


def array_of(where: Path) -> tuple[tuple[int, ...], np.dtype, tuple[int, ...]]:
    """Shape, element type and chunk shape of the array whose zarr.json is ``where``."""
    found = files.read_json(where)
    try:
        shape, kind = found["shape"], found["data_type"]
        chunk = found["chunk_grid"]["configuration"]["chunk_shape"]
        sides = len(shape) == len(chunk) > 0 and all(map(_is_count, shape)) and _is_count(chunk[0], 1)
    except (TypeError, KeyError):
        refuse(where, "the metadata of an array", "something else")
    name = where.parent.name
    if not sides or chunk[1:] != [max(1, side) for side in shape[1:]]:
        refuse(where, "chunks of whole rows", f"chunks of {chunk} in {shape}")
    group = kind_of(name)
    known = (NAMES[name],) if name in NAMES else ID_TYPES if group == VERTEX else (np.dtype(group).name,)
    if kind not in known:
        refuse(where, f"elements of {' or '.join(known)}", kind)
    return tuple(shape), np.dtype(kind).newbyteorder("<"), tuple(chunk)


def check_arrays(path: Path, attributes: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise StoreError unless the arrays of a store, by name, are those of its layout and fit together. They need ``shape`` and ``dtype``."""
    layout, instances = attributes["layout"], attributes["instances"]
    wanted = _arrays_of(layout, arrays)
    names = list(NAMES) if attributes["ids"] == "names" else []
    if missing := [name for name in [*wanted, *names] if name not in arrays]:
        raise StoreError(f"{path} ({layout}) has no array {missing[0]!r}; {AGAIN}")
    for name in wanted:
        tables = {"walks": ["walks"], "hops": wanted}.get(layout, [])
        sides = 2 if name in (*tables, *BY_HOP) else 1
        each = PER_INSTANCE | dict.fromkeys(tables, 0)
        rows = instances + each[name] if name in each else arrays[name].shape[0]
        if len(arrays[name].shape) != sides or arrays[name].shape[0] != rows:
            refuse(path / name, f"{rows:,} rows in {sides} dimensions", f"a shape of {arrays[name].shape}")
    _check_layout(path, layout, wanted, arrays)
    vertices = [arrays[name].dtype for name in wanted if kind_of(name) == VERTEX]
    limits = np.iinfo(vertices[0])
    if len(set(vertices)) > 1 or not limits.min <= attributes["fill"] <= limits.max:
        refuse(path, f"vertex ids of one type that holds the fill value {attributes['fill']}", vertices)


def _arrays_of(layout: str, arrays: dict[str, Any]) -> list[str]:
    """The arrays that a store of this layout must have: those of all, and those that belong to others that it has."""
    if layout not in WHOLE:
        return ["walks", "lengths"] if layout == "walks" else hop_names(arrays) or ["hop_0"]
    found = {name for name in OPTIONAL if name in arrays}
    if layout == "subgraphs" and found & {"vertices", "layer", "probability"}:
        found |= {"vertices_ptr", "vertices"}
    return [name for name in WHOLE[layout] if name not in OPTIONAL or name in found]


def _check_layout(path: Path, layout: str, wanted: list[str], arrays: dict[str, Any]) -> None:
    shapes = {name: arrays[name].shape for name in wanted}
    if layout == "walks" and shapes["walks"][1] < 1:
        refuse(path / "walks", "at least one column", f"a shape of {shapes['walks']}")
    for first in ("src", "vertices"):
        same = [name for name in shapes if RAGGED["subgraphs"].get(name) == RAGGED["subgraphs"][first]]
        if layout == "subgraphs" and len({shapes[name] for name in same}) > 1:
            refuse(path, f"as many elements of {', '.join(same)}", ", ".join(str(shapes[name]) for name in same))
    if layout == "batches":
        _check_batches(path, shapes)
    if layout == "hops":
        widths = [shape[1] for shape in shapes.values()]
        if any(b % a if a else b for a, b in pairwise(widths)):
            refuse(path, "hops that are multiples of the hop before in width", widths)


def _check_batches(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    if not shapes["row"] == shapes["col"] == shapes["e_id"]:
        refuse(path, "as many elements of col and e_id as of row", f"{shapes['col']}, {shapes['e_id']}")
    if shapes.get("batch", shapes["n_id"]) != shapes["n_id"]:
        refuse(path / "batch", f"as many elements as n_id, {shapes['n_id']}", shapes["batch"])
    for name in ("y", "probability"):
        if shapes.get(name, shapes["input_id"]) != shapes["input_id"]:
            refuse(path / name, f"as many elements as input_id, {shapes['input_id']}", shapes[name])
    if shapes["hop_nodes"][0] and shapes["hop_nodes"][1] != shapes["hop_edges"][1] + 1:
        refuse(
            path / "hop_nodes", f"{shapes['hop_edges'][1] + 1} columns, one more than hop_edges", shapes["hop_nodes"][1]
        )


def hop_names(arrays: Any) -> list[str]:
    """Those of the names ``arrays`` that are hop_0, hop_1, ..., in order."""
    return [f"hop_{k}" for k in range(sum(name.startswith("hop_") for name in arrays))]
