"""Checks of a sample store's files and metadata: against its checksums, and against what such a store can be.

Checksums find changes since csaw wrote the store. The other checks protect readers from a store that another program
wrote: it must not mislead or crash them.
"""

import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, cast

import numpy as np

from csaw.engine.samples import files
from csaw.engine.samples.files import AGAIN
from csaw.engine.samples.layouts import LAYOUTS, VERTEX, Stored, kind_of
from csaw.partition.arrays.files import LARGEST_JSON, sync_folder
from csaw.partition.arrays.nodes import group_node
from csaw.partition.arrays.replace import require_not_aside
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import ChangedError, OptionError, StoreError
from csaw.partition.graph.attributes import TYPED
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.types import DescribedTypes, Types

if TYPE_CHECKING:
    from csaw.engine.api.recorded import Request

# The format of sample stores: Zarr groups whose arrays the classes of `layouts/` declare.
#
# Chunks are uncompressed, little-endian, whole rows: `ARRAY/c.GROUP.0` (`ARRAY/c.N` in one dimension).

KIND = "samples"
FORMAT_VERSION = 4
"""The latest; a store has the earliest that it can.

In version 1, numbers of the input take 64 bits, however small they are. Version 3 adds ragged walks.
"""
EDGES_A_CHUNK = 1 << 22
VIRTUAL = "virtual"  # the attribute of a store that holds a request and no arrays: see engine/runs/virtual.py


def chunk_name(index: int, dimensions: int) -> str:
    """The file of a chunk in the folder of its array."""
    return f"c.{index}" + ".0" * (dimensions - 1)


def graph_facts(store: GraphStore) -> Record:
    """The facts about its graph in the manifest of a sample, without the path."""
    time = store.stored.time
    return {
        "fingerprint": store.fingerprint,
        "vertices": store.vertices,
        "edges": store.edges,
        "directed": store.directed,
        "id_kind": store.id_kind,
        **({} if time is None else {"time_units": time.units}),
        **({} if store.types is None else {TYPED: store.types.attributes}),
    }


# Checks of a sample store's files and metadata.

IDS = ("original", "dense", "names")
ID_TYPES = ("uint32", "uint64", "int32", "int64")
LARGEST = 2**62  # of a side of an array
TEXT, COUNT, NONE = (str,), (int,), type(None)
MANIFEST: dict[str, dict[str, tuple[type, ...]]] = {
    "request": {
        **dict.fromkeys(
            ("fingerprint", "algorithm", "sources", "metapath", "select", "collision", "ids", "code"), TEXT
        ),
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
        "time_units": TEXT,
        "directed": (bool,),
        TYPED: (dict,),
    },
}
"""The types of what a manifest says; integers are from 0 to 2^64 - 1."""


class SampledGraph(TypedDict, total=False):
    """What a manifest says of the graph that was sampled; one in memory has no path."""

    path: str
    fingerprint: str
    vertices: int
    edges: int
    id_kind: str
    time_units: str
    directed: bool
    types: DescribedTypes


class Manifest(TypedDict, total=False):
    """How a sample was drawn.

    ``draws``: the version of the random numbers. ``visited``: which vertices an instance of subgraphs visits.
    ``source``: of an algorithm that was given as a class.
    """

    version: str
    draws: int
    request: "Request"
    graph: SampledGraph
    visited: str
    source: str


NO_TYPES: DescribedTypes = {"vertices": {}, "relations": []}
OWN = "sha256_of_these"
FILE = re.compile(r"(\w+/)?(zarr\.json|c(\.\d+)+)")
NAMES = {"vertex_ids": "uint8", "vertex_id_offsets": "int64"}


def attributes_of(path: Path) -> Record:
    """Return the attributes of the finished sample store at ``path``.

    StoreError says what is there instead, or what is wrong with them.
    """
    require_not_aside(path)
    _check_there(path)
    attributes = files.read_record(path / "zarr.json", "remove the folder and sample again").get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    if attributes.get("csaw_kind") != KIND:
        raise StoreError(
            f"{path}: expected a sample store, found {attributes.get('csaw_kind') or 'another Zarr group'}"
        )
    version = attributes.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StoreError(
            f"{path}: format version {version}, but this csaw reads only versions up to {FORMAT_VERSION}; upgrade csaw"
        )
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
        raise StoreError(f"{path} does not exist; make a sample with csaw sample, or a graph store with csaw partition")
    if not (path / "zarr.json").is_file():
        raise StoreError(f"{path}: not a sample store; expected a folder that `csaw sample` wrote")


def _check_attributes(where: Path, attributes: Record) -> None:
    if attributes.get("layout") not in list(LAYOUTS):  # it may be no text
        files.refuse(where, f"a layout of {', '.join(LAYOUTS)}", attributes.get("layout"))
    if attributes.get("ids") not in IDS:
        files.refuse(where, f"ids of {', '.join(IDS)}", attributes.get("ids"))
    for name, least in (("format_version", 1), ("instances", 0), ("group_size", 1)):
        if not _is_count(attributes.get(name), least):
            files.refuse(where, f"{name} of at least {least}", attributes.get(name))
    if type(attributes.get("fill")) is not int:
        files.refuse(where, "an integer as fill", attributes.get("fill"))
    manifest = attributes.get("manifest")
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(part, {}), dict) for part in ("request", "graph")
    ):
        files.refuse(where, "a manifest with request and graph", manifest)
    for part, said in MANIFEST.items():
        for name, kinds in said.items():
            value = manifest.get(part, {}).get(name)
            right = type(value) in kinds and (type(value) is not int or 0 <= value < 2**64)
            if name in manifest.get(part, {}) and not right:
                files.refuse(where, f"{part}: {name}: {' or '.join(kind.__name__ for kind in kinds)}", value)
    try:
        Types.described(manifest.get("graph", {}).get(TYPED, NO_TYPES))
    except OptionError as error:
        raise StoreError(f"{where}: graph: {TYPED}: {error}; {AGAIN}") from error


class Said(dict[str, Any]):
    """A part of the manifest of the store at ``where``: StoreError for what it lacks, as that of another program may.

    ``name``: that of the part.
    """

    def __init__(self, where: Path, name: str, found: Record) -> None:
        super().__init__(found)
        self.where, self.name = where, name

    def __missing__(self, key: str) -> NoReturn:
        files.refuse(self.where / "zarr.json", f"a {self.name} with {key}", None)


def as_said(where: Path, manifest: Record) -> Manifest:
    """The manifest, of which what is missing is a StoreError where it is read."""
    parts = {name: Said(where, name, part) if isinstance(part, dict) else part for name, part in manifest.items()}
    return cast(Manifest, Said(where, "manifest", parts))


def _is_count(value: object, least: int = 0) -> bool:
    return type(value) is int and least <= value < LARGEST


def checksums_of(path: Path) -> dict[str, str]:
    """The SHA-256 of each file, by name, as the store has them.

    ChangedError where the file that has them has changed.
    """
    where = path / "checksums" / "zarr.json"
    found = files.read_record(where)
    try:
        attributes = found["attributes"]
        checksums: dict[str, str] = attributes["sha256"]
        own = attributes.get(OWN)
        if not all(re.fullmatch("[0-9a-f]{64}", digest) for digest in checksums.values()):
            files.refuse(where, "a SHA-256 for each file", "something else")
        if strange := [name for name in checksums if not FILE.fullmatch(name)]:
            files.refuse(
                where, "names of files of the store", repr(strange[0])
            )  # csaw reads no file elsewhere for them
    except (TypeError, KeyError, AttributeError):
        files.refuse(where, "a SHA-256 for each file", "something else")
    if own not in (files.digest(checksums), None):  # early versions wrote none
        raise changed(where)
    return checksums


def write_checksums(path: Path, checksums: dict[str, str]) -> None:
    """Write the SHA-256 of each file of the store at ``path``, by name, with one of their own."""
    folder = path / "checksums"
    folder.mkdir(exist_ok=True)
    sync_folder(path)
    files.write_json(folder / "zarr.json", group_node({"sha256": checksums, OWN: files.digest(checksums)}))


def changed(where: Path) -> ChangedError:
    return ChangedError(f"{where}: its bytes have changed since it was written (SHA-256); {AGAIN}")


def most_bytes(path: Path, names: Iterable[str]) -> dict[str, int]:
    """The bytes that each of these files of a store can have at most: a chunk what the metadata of its array say, and
    none where these are damaged.
    """

    @cache
    def of_chunk(array: str) -> int:
        try:
            _, dtype, chunk = array_of(path / array / "zarr.json")
        except StoreError:
            return 0
        return math.prod(chunk) * dtype.itemsize

    return {name: LARGEST_JSON if name.endswith("zarr.json") else of_chunk(name.rpartition("/")[0]) for name in names}


def check_file(path: Path, name: str, checksums: dict[str, str], most: int | None = LARGEST_JSON) -> None:
    """Raise ChangedError unless file ``name`` of the store at ``path`` has the bytes that were written.

    The file has ``most`` bytes at most.
    """
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
    """The error for a file of a store that was opened with these ``checksums``: ``wrong``, unless another store has its
    name since.
    """
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
    found = files.read_record(where)
    try:
        shape, kind = found["shape"], found["data_type"]
        chunk = found["chunk_grid"]["configuration"]["chunk_shape"]
        sides = len(shape) == len(chunk) > 0 and all(map(_is_count, shape)) and _is_count(chunk[0], 1)
    except (TypeError, KeyError):
        files.refuse(where, "the metadata of an array", "something else")
    name = where.parent.name
    if not sides or chunk[1:] != [max(1, side) for side in shape[1:]]:
        files.refuse(where, "chunks of whole rows", f"chunks of {chunk} in {shape}")
    group = kind_of(name)
    known = (NAMES[name],) if name in NAMES else ID_TYPES if group == VERTEX else (np.dtype(group).name,)
    if kind not in known:
        files.refuse(where, f"elements of {' or '.join(known)}", kind)
    return tuple(shape), np.dtype(kind).newbyteorder("<"), tuple(chunk)


def check_arrays(path: Path, attributes: Record, arrays: Stored) -> None:
    """Raise StoreError unless the arrays of a store, by name, are those of its layout and fit together."""
    layout, instances = LAYOUTS[attributes["layout"]], attributes["instances"]
    wanted = layout.wanted(arrays)
    names = list(NAMES) if attributes["ids"] == "names" else []
    if missing := [name for name in [*wanted, *names] if name not in arrays]:
        raise StoreError(f"{path} ({layout}) has no array {missing[0]!r}; {AGAIN}")
    shapes = {name: arrays[name].shape for name in wanted}
    for name, shape in shapes.items():
        declared = layout.declared(name)
        sides, rows = len(declared.dimensions), declared.rows(instances)
        if len(shape) != sides or rows not in (None, shape[0]):
            rows = shape[0] if rows is None else rows
            files.refuse(path / name, f"{rows:,} rows in {sides} dimensions", f"a shape of {shape}")
    layout.check_shapes(path, shapes)
    vertices = [arrays[name].dtype for name in wanted if kind_of(name) == VERTEX]
    limits = np.iinfo(vertices[0])
    if len(set(vertices)) > 1 or not limits.min <= attributes["fill"] <= limits.max:
        files.refuse(path, f"vertex ids of one type that holds the fill value {attributes['fill']}", vertices)
