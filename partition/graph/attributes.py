"""The attributes of a graph store: written once, and checked against their digest and for consistency whenever the
store is opened.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NotRequired, TypedDict, TypeGuard

from csaw.partition.arrays.loader import AGAIN
from csaw.partition.arrays.nodes import About, digest, read_group
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.clusters import MOST, DescribedClusters
from csaw.partition.graph.edge_columns import (
    EDGE_ID,
    TIME_ORDER,
    WEIGHT,
    DescribedColumn,
    EdgeColumn,
    distinct,
    time_of,
)
from csaw.partition.graph.types import RELATION, DescribedTypes, Types
from csaw.partition.graph.versions import base_of, folder_of

KIND = "graph"
FORMAT_VERSION = 5  # the latest
PLAIN, PARTITIONED, WITH_COLUMNS, WITH_TYPES = 2, 3, 4, 5
"""Versions of stores as they are written: 3 with a partitioner, whose original ids do not rise, 4 with further edge
columns and 5 with types, which earlier readers would leave out of the fingerprint. Version 1 had no checksums.
"""


class Block(TypedDict):
    """The kind of checksum of a store, and of how many bytes."""

    block: str
    block_bytes: int


class Checksums(Block):
    """The checksums of a store: ``arrays``, the digest of each by its path."""

    arrays: dict[str, str]


class Partitioner(TypedDict):
    """What numbered the vertices of a store."""

    method: str
    seed: NotRequired[int]


class Attributes(TypedDict):
    """The attributes of a graph store, as JSON has them.

    ``partitions``: of each the first vertex and the one after the last, the first edge, the number of edges, and bytes.
    ``window`` and ``factor``: of views, which no file has.
    """

    csaw_kind: NotRequired[str]
    format_version: NotRequired[int]
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    multigraph: bool
    max_degree: int
    weight_range: NotRequired[list[float]]
    id_dtype: str
    id_kind: str
    fingerprint: str
    partitions: Sequence[Sequence[int]]
    report: Record
    partitioner: NotRequired[Partitioner]
    clusters: NotRequired[DescribedClusters]
    edge_ids: NotRequired[int]
    edge_columns: NotRequired[list[DescribedColumn]]
    time_ordered: NotRequired[bool]
    types: NotRequired[DescribedTypes]
    checksums: NotRequired[Checksums]
    digest: NotRequired[str]
    window: NotRequired[list[int]]
    factor: NotRequired[list[str | list[float]]]


BLOCK: Block = {"block": "XXH64, lower 32 bits", "block_bytes": 4096}
"""The kind of checksum of a store, and of how many bytes, as its attributes say it."""
IDENTITY, STRING = "identity", "string"
EDGE_IDS: Final = "edge_ids"
"""The attribute with the number of edges of the input, where a store keeps the number that each of its edges has there;
and the arrays of these numbers.
"""
EDGE_COLUMNS: Final = "edge_columns"
"""The attribute that lists the edge columns beside weights and edge ids."""
WEIGHT_RANGE: Final = "weight_range"
"""The attribute with the least weight above 0 and the largest, where there is one above 0."""
ORDERED: Final = "time_ordered"
"""The attribute that says that the order of each row by time is stored, too."""
TYPED: Final = "types"
"""The attribute that describes the types of vertices and the relations, of a graph that has several."""
ID_KINDS = (IDENTITY, STRING, "int64", "uint64")
TYPES: dict[str, type] = {
    "vertices": int,
    "edges": int,
    "max_degree": int,
    "directed": bool,
    "weighted": bool,
    "multigraph": bool,
    "id_dtype": str,
    "id_kind": str,
    "fingerprint": str,
    "report": dict,
    "partitions": list,
}
PARTS: dict[str, dict[str, type]] = {
    "partitioner": {"method": str},
    "clusters": {"count": int, "method": str, "seed": int, "digest": str},
}
"""Attributes that a store may have, and the types of what is in them."""


def sealed(attributes: Attributes, arrays: dict[str, str]) -> Attributes:
    """Return ``attributes`` with the digests of all arrays, by path in the store, and with a digest of themselves."""
    complete: Attributes = {"csaw_kind": KIND, "format_version": _version_of(attributes), **attributes}
    complete["checksums"] = {**BLOCK, "arrays": arrays}
    complete["digest"] = digest(complete)
    return complete


def checked(path: Path, attributes: Record) -> Attributes:
    """The attributes of the store at ``path``; StoreError when they belong to something else, have a later format, or
    have changed since they were written.
    """
    if attributes.get("csaw_kind") == "samples":
        raise StoreError(f"{path} is a sample store; expected a graph store, such as the one it was drawn from")
    if attributes.get("csaw_kind") != KIND:
        raise StoreError(f"{path} is a Zarr group, but not a csaw graph store; make one with csaw partition")
    version = attributes.get("format_version")
    if type(version) is not int or version < 1:
        raise _wrong(path, "format_version", "a number from 1", version)
    if version > FORMAT_VERSION:
        raise StoreError(
            f"{path} has format version {version}, but this csaw reads only versions up to "
            f"{FORMAT_VERSION}; upgrade csaw"
        )
    if version > 1 or "checksums" in attributes or "digest" in attributes:
        _check_digest(path, attributes)
    return _with_sense(path, attributes)


def _version_of(attributes: Attributes) -> int:
    """The version of a store with checksums that has these attributes."""
    if TYPED in attributes:
        return WITH_TYPES
    if EDGE_COLUMNS in attributes:
        return WITH_COLUMNS
    return PARTITIONED if "partitioner" in attributes else PLAIN


def columns_of(attributes: Attributes) -> tuple[EdgeColumn, ...]:
    """The edge columns of a store. OptionError where those listed in its attributes cannot be any."""
    weight = (WEIGHT,) if attributes["weighted"] else ()
    edge_id = (EDGE_ID,) if EDGE_IDS in attributes else ()
    named = (EdgeColumn.named(one["name"], one["dtype"], one["units"]) for one in attributes.get(EDGE_COLUMNS, ()))
    listed = distinct(named)
    ordered = (TIME_ORDER,) if attributes.get(ORDERED) is True and time_of(listed) is not None else ()
    return (*weight, *edge_id, *listed, *ordered)


def weight_range(least_above_0: float, largest: float) -> list[float]:
    """The range of the weights; empty where none is above 0."""
    return [least_above_0, largest] if largest > 0 else []


def with_range(attributes: Attributes) -> Attributes:
    """The attributes, without the range of the weights if it is empty."""
    if not attributes[WEIGHT_RANGE]:
        del attributes[WEIGHT_RANGE]
    return attributes


def identity(attributes: Attributes) -> str:
    """Return a digest of what a store says of itself and of its files, for names in the cache: one that claims another
    graph's fingerprint has one of its own.
    """
    return digest({name: value for name, value in attributes.items() if name != "digest"})


def is_graph(path: str | Path) -> bool:
    """Whether the store at ``path`` says that it is a graph store, in its newest version or in its oldest."""
    for place in (folder_of, base_of):
        with suppress(StoreError):
            return read_group(place(Path(path))).get("csaw_kind") == KIND
    return False


def _check_digest(path: Path, attributes: Record) -> None:
    others = {name: value for name, value in attributes.items() if name != "digest"}
    arrays = attributes.get("checksums", {}).get("arrays") if isinstance(attributes.get("checksums"), dict) else None
    if attributes.get("digest") != digest(others) or not isinstance(arrays, dict):
        raise StoreError(f"{path}/zarr.json: its attributes have changed since they were written; {AGAIN}")


def _has_types(found: Mapping[str, object]) -> TypeGuard[Attributes]:
    """Whether the attributes that every store has are of their types."""
    return all(type(found.get(name)) is kind for name, kind in TYPES.items())


def _with_sense(path: Path, found: Record) -> Attributes:
    """Check the properties that the code relies on.

    A store with a digest has them; one of format version 1 may have been edited.
    """
    for name, kind in TYPES.items():
        value = found.get(name)
        if type(value) is not kind or (type(value) is int and not 0 <= value < 2**63):
            raise _wrong(path, name, f"a value of type {kind.__name__}", value)
    assert _has_types(found)
    _check_values(path, found)
    _check_agreement(path, found)
    _check_partitions(path, found)
    return found


def _check_values(path: Path, attributes: Attributes) -> None:
    """Check single attributes, whose types are right."""
    between = attributes.get(WEIGHT_RANGE, [1.0, 1.0])
    if not (
        isinstance(between, list) and [type(one) for one in between] == [float, float] and 0 < between[0] <= between[1]
    ):
        raise _wrong(path, WEIGHT_RANGE, "the least weight above 0 and the largest", between)
    if attributes["max_degree"] > attributes["edges"]:
        raise _wrong(path, "max_degree", f"at most the {attributes['edges']:,} edges", attributes["max_degree"])
    if type(attributes.get(EDGE_IDS, 0)) is not int or not 0 <= attributes.get(EDGE_IDS, 0) < 2**63:
        raise _wrong(path, EDGE_IDS, "a number of edges", attributes[EDGE_IDS])
    if not re.fullmatch("[0-9a-f]{32}|[0-9a-f]{64}", attributes["fingerprint"]):  # it names files of the cache
        raise _wrong(path, "fingerprint", "a digest", attributes["fingerprint"])
    if attributes["id_dtype"] not in ("uint32", "uint64"):
        raise _wrong(path, "id_dtype", "uint32 or uint64", attributes["id_dtype"])
    if attributes["id_kind"] not in ID_KINDS:
        raise _wrong(path, "id_kind", ", ".join(ID_KINDS), attributes["id_kind"])
    for name, parts in PARTS.items():
        if name in attributes and not _has(attributes.get(name), parts):
            raise _wrong(path, name, f"{', '.join(parts)} with values of their types", attributes.get(name))
    if "clusters" in attributes and attributes["clusters"]["count"] > MOST:
        raise _wrong(path, "clusters", f"at most {MOST:,}", attributes["clusters"])
    if EDGE_COLUMNS in attributes:
        _check_columns(path, attributes[EDGE_COLUMNS], attributes)
    if TYPED in attributes:
        _check_types(path, attributes)


def _check_agreement(path: Path, attributes: Attributes) -> None:
    """Check that the version is that of a store with these attributes, that an order by time has times, and that
    checksums are those that csaw computes.
    """
    version, wanted = attributes["format_version"], _version_of(attributes)
    if wanted == PLAIN and "checksums" not in attributes:
        wanted = 1
    if version != wanted:
        raise _wrong(path, "format_version", f"{wanted}, that of a store with these attributes", version)
    if ORDERED in attributes and TIME_ORDER not in columns_of(attributes):
        raise _wrong(path, ORDERED, "true, with an edge column time of int64", attributes[ORDERED])
    said: Mapping[str, object] = attributes.get("checksums", {})
    for name, expected in BLOCK.items():
        if said.get(name, expected) != expected:
            raise _wrong(path, f"checksums.{name}", str(expected), said[name])


def _check_columns(path: Path, listed: object, attributes: Attributes) -> None:
    of_column = {"name": str, "dtype": str, "units": str}
    if not isinstance(listed, list) or not listed or not all(_has(one, of_column) for one in listed):
        raise _wrong(path, EDGE_COLUMNS, "a list of columns, each with name, dtype and units", listed)
    try:
        columns_of(attributes)
    except OptionError as error:
        raise StoreError(f"{path}/zarr.json: {EDGE_COLUMNS}: {error}; {AGAIN}") from error


def _check_types(path: Path, attributes: Attributes) -> None:
    try:
        types = Types.described(attributes[TYPED])
    except OptionError as error:
        raise StoreError(f"{path}/zarr.json: {TYPED}: {error}; {AGAIN}") from error
    if (types.bounds[-1], sum(types.edges)) != (attributes["vertices"], attributes["edges"]):
        counts = f"as many vertices and edges as the graph, {attributes['vertices']:,} and {attributes['edges']:,}"
        raise _wrong(path, TYPED, counts, f"{types.bounds[-1]:,} and {sum(types.edges):,}")
    if RELATION not in columns_of(attributes):
        raise _wrong(path, TYPED, f"an edge column {RELATION.text}", attributes.get(EDGE_COLUMNS))


def _has(found: object, parts: Mapping[str, type]) -> bool:
    """Whether an attribute has values of these names and types; integers are from 0."""
    values = [found.get(name) for name in parts] if isinstance(found, dict) else [None]
    return list(map(type, values)) == list(parts.values()) and all(value >= 0 for value in values if type(value) is int)


def _check_partitions(path: Path, attributes: Attributes) -> None:
    vertex = edge = 0
    for number, row in enumerate(attributes["partitions"]):
        if not (isinstance(row, list) and len(row) == 5 and all(type(value) is int for value in row)):
            raise _wrong(path, f"partitions[{number}]", "five numbers", row)
        first, last, first_edge, edges, _ = row
        if first != vertex or last < first or first_edge != edge or edges < 0:
            raise _wrong(path, f"partitions[{number}]", f"vertices from {vertex} and edges from {edge} on", row)
        vertex, edge = last, edge + edges
    if (vertex, edge) != (attributes["vertices"], attributes["edges"]):
        counts = f"{attributes['vertices']:,} vertices and {attributes['edges']:,} edges"
        raise _wrong(path, "partitions", counts, f"{vertex:,} and {edge:,}")


def _wrong(path: Path, name: str, expected: str, found: object) -> StoreError:
    return StoreError(f"{path}/zarr.json: {name}: expected {expected}, found {quoted(found)}; {AGAIN}")


# The metadata that viewers such as xarray read of the arrays of a graph store: names of dimensions, and attributes as
# the CF conventions call them.
#
# Dimensions of partitions have other names than those of the whole store: below one name, xarray wants one length.

NUMBER, COUNT = "1", "count"  # units: of ids, weights and shares, and of what is counted
ARRAYS = {
    "indptr": (
        "row_bound",
        COUNT,
        "where the row of each vertex of the partition begins among its edges, and the end of the last row",
    ),
    "indices": ("edge", NUMBER, "dense id of the vertex that each edge of the partition leads to"),
    "weights": ("edge", NUMBER, "weight of each edge of the partition"),
    "time_order": ("edge", NUMBER, "place in its row of the edge that comes next by time, row after row"),
    "edge_ids": ("edge", NUMBER, "number of each edge of the partition in the input, from 0"),
    "vertex_ids": ("vertex", NUMBER, "original id of each vertex, by dense id"),
    "vertex_id_offsets": (
        "id_bound",
        COUNT,
        "where the original id of each vertex begins in vertex_ids, and the end of the last one",
    ),
    "clusters": ("vertex", NUMBER, "cluster of each vertex, by dense id"),
}
TEXT = ("byte", NUMBER, "text of all original ids, one after the other, in UTF-8")
"""Of ``vertex_ids`` where these are strings."""


def about(name: str, id_kind: str, fingerprint: str, columns: Iterable[EdgeColumn] = (), **made: str | int) -> About:
    """Describe the array ``name``, a path in the store.

    ``fingerprint``: of the graph; ``columns``: its edge columns beside weights and edge ids; ``made``: the algorithm
    and the seed that made the array, of clusters.
    """
    own = name.rpartition("/")[2]
    further = {
        column.array: ("edge", column.units, f"{column.name} of each edge of the partition") for column in columns
    }
    dimension, units, said = TEXT if own == "vertex_ids" and id_kind == STRING else (ARRAYS | further)[own]
    return About((dimension,), {"long_name": said, "units": units, **made, "fingerprint": fingerprint})
