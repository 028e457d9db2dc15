"""Readers of what a program gives to the methods of a graph store that read edges: columns, and arrays to fill."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from csaw.partition.base import arguments
from csaw.partition.base.arguments import maybe, refused
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.parts import Partition


class Held(Protocol):
    """A graph store, as it describes itself."""

    path: Path
    weighted: bool
    id_dtype: np.dtype
    edge_columns: tuple[EdgeColumn, ...]
    partitions: list[Partition]


def columns(name: str, value: object) -> tuple[EdgeColumn, ...]:
    """Columns of edges, as a graph store lists its own."""
    if (
        isinstance(value, Collection)
        and not isinstance(value, str | Mapping)
        and all(isinstance(one, EdgeColumn) for one in value)
    ):
        return tuple(value)
    raise refused(name, "a list of edge columns of the graph, of its attribute edge_columns", value)


def room(name: str, value: object) -> np.ndarray:
    """An array of one dimension that is filled."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not value.flags.c_contiguous:
        raise refused(name, "a contiguous array of NumPy of one dimension, which is filled", value)
    if not value.flags.writeable:
        raise OptionError(f"{name}: expected a writable array, found a read-only one; pass a copy of it")
    return value


PART = {"number": arguments.whole(), "indices_out": room, "weights_out": maybe(room)}


def require_columns(store: Held, wanted: Collection[EdgeColumn]) -> None:
    """OptionError for a column that a graph lacks; units are what they are there."""
    known = {(one.array, one.dtype) for one in store.edge_columns}
    if lacking := [one.text for one in wanted if (one.array, one.dtype) not in known]:
        has = ", ".join(one.text for one in store.edge_columns) or "none"
        raise OptionError(f"columns: expected edge columns of {store.path}, which has {has}, found {lacking[0]}")


def require_part(store: Held, number: int, indices: np.ndarray, weights: np.ndarray | None) -> None:
    """OptionError unless a graph has a partition of this number, and there is room for what it has of its edges."""
    if number >= len(store.partitions):
        last = len(store.partitions) - 1
        raise OptionError(f"number: expected a partition of {store.path}, from 0 to {last}, found {number}")
    if weights is not None and not store.weighted:
        raise OptionError(f"weights_out: expected None, because {store.path} has no weights, found {quoted(weights)}")
    edges = store.partitions[number].edges
    held = {"indices_out": (indices, store.id_dtype), "weights_out": (weights, np.dtype(np.float32))}
    for name, (array, dtype) in held.items():
        if array is not None and (array.dtype != dtype or array.size != edges):
            raise OptionError(
                f"{name}: expected an array of {dtype} for the {edges:,} edges of partition {number}, found one of "
                f"{array.dtype} for {array.size:,}"
            )
